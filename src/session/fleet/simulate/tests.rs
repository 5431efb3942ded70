//! A small simulated fleet on a disk.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::fleet::{PLATFORMS, Role};
use super::*;
use std::collections::BTreeMap;
use std::fs;

const SMALL: Settings = Settings { hosts: 8, days: 1, jobs: 10, seed: 5 };

fn contents(dir: &Path, root: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            contents(&path, root, found);
        } else {
            found.insert(path.strip_prefix(root).unwrap().display().to_string(), fs::read(&path).unwrap());
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_files_and_another_does_not() {
    let run = |seed| {
        let dir = tempfile::tempdir().unwrap();
        let written = simulate(dir.path(), Settings { seed, ..SMALL }).unwrap();
        let mut found = BTreeMap::new();
        contents(dir.path(), dir.path(), &mut found);
        let again = simulate(dir.path(), SMALL).unwrap_err();
        assert_eq!(again.kind(), ErrorKind::Usage);
        (written, found)
    };
    let (first, second, other) = (run(5), run(5), run(6));
    assert_eq!(first.0, second.0);
    assert!(first.1 == second.1 && first.1.keys().eq(second.1.keys()));
    assert!(first.1["truth.json"] != other.1["truth.json"]);
    let names: Vec<&String> = first.1.keys().filter(|name| name.starts_with("windows/")).collect();
    assert_eq!(names.len(), 8 * 3, "a file for each job of a host and day");
    assert!(names[0].contains("/day=2026-01-05/host=host-"), "{names:?}");
    let minutes = 8 * 3 * 1440;
    assert!(first.0.rows >= minutes * 4 + 8 * 3 * 24 * 10, "{:?}", first.0);
}

#[test]
fn what_is_planted_is_in_the_rows() {
    let settings = Settings { hosts: 60, days: 1, jobs: 10, seed: 5 };
    let (fleet, noise) = (Fleet::new(settings), SkewedNoise::new(SHAPE));
    let truth = serde_json::to_value(fleet.truth()).unwrap();
    let kinds = |kind: &str| {
        truth["causes"].as_array().unwrap().iter().filter(|cause| cause["kind"] == kind).cloned().collect::<Vec<_>>()
    };
    assert_eq!((kinds("bad_host").len(), kinds("lowered_clock").len(), kinds("config").len()), (2, 2, 1));
    assert_eq!((kinds("version").len(), kinds("same_version").len(), kinds("noisy_neighbour").len()), (1, 1, 1));
    let size = |value: f64, expected: f64, slack: f64, what: &str| {
        assert!((value - expected).abs() < slack, "{what}: {value}, {expected} planted");
    };
    // CPI over what the job has on that platform, by host; means over a day of minutes.
    let (mut bad, mut good, mut lowered) = (Vec::new(), Vec::new(), Vec::new());
    let (mut quiet, mut disturbed) = (Vec::new(), Vec::new());
    for (number, host) in fleet.hosts.iter().enumerate() {
        let rows = HostDays::new(&fleet, host, number, &noise).day(0);
        for (place, own) in rows.iter().enumerate() {
            let job = host.jobs[place];
            let victim = matches!(fleet.jobs[job].role, Role::Victim(noisy) if host.jobs.contains(&noisy));
            for row in &own.windows {
                let cpi = row.cycles.unwrap() / row.instructions.unwrap() / fleet.jobs[job].cpi[host.platform];
                let clock = row.cycles.unwrap() / row.cpu_s.unwrap() / PLATFORMS[host.platform].hertz;
                if host.lowered.is_some_and(|(from, to)| (from..to).contains(&row.start_s)) {
                    lowered.push(clock);
                }
                if !victim {
                    if host.bad { &mut bad } else { &mut good }.push(cpi);
                } else if !host.bad {
                    let Role::Victim(noisy) = fleet.jobs[job].role else { continue };
                    let name = &fleet.jobs[noisy].name;
                    let used = own.neighbours.iter().find(|it| it.start_s == row.start_s && it.neighbour == *name);
                    let heavy = used.unwrap().cpu_s / 60.0 > 2.2 * fleet.jobs[noisy].cores;
                    if heavy { &mut disturbed } else { &mut quiet }.push(cpi / fleet.cpi(host, job));
                }
            }
        }
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    size(mean(&bad) / mean(&good), 1.4, 0.06, "bad hosts");
    size(mean(&lowered), 0.7, 1e-6, "clock");
    assert!(disturbed.len() > 300, "{}", disturbed.len());
    assert!(mean(&disturbed) / mean(&quiet) > 1.08, "{} {}", mean(&disturbed), mean(&quiet));
}
