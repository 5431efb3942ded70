//! Recordings of which one file is the data, with a checksum that is right.

use super::Input;
use crate::analysis::Selection;
use crate::export::format::{FORMATS, WriteFormat};
use crate::export::{csv, json, markdown, text};
use crate::model::profile::Profile;
use crate::store::{self, Recording};
use crate::tables::{Table, filled, reseal, to_parquet};
use crate::view::flame::{FlameGraph, FlameOptions};
use crate::view::report::{Report, ReportOptions};
use crate::view::sampled::Sampled;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// A recording with something in most tables.
const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/golden-1.0.ironlaw");
const META: &str = "meta.json";
/// Rows of a table that is made up.
const MOST_ROWS: usize = 64;

/// The files of the fixture by name.
fn fixture() -> &'static [(String, Vec<u8>)] {
    static FILES: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    FILES.get_or_init(|| {
        let mut files: Vec<_> = fs::read_dir(FIXTURE)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| Some((entry.file_name().into_string().ok()?, fs::read(entry.path()).ok()?)))
            .collect();
        files.sort();
        files
    })
}

/// The profile of the fixture.
pub fn fixture_profile() -> Option<&'static Profile> {
    static PROFILE: OnceLock<Option<Profile>> = OnceLock::new();
    PROFILE.get_or_init(|| Recording::open(Path::new(FIXTURE)).ok().map(|recording| recording.profile())).as_ref()
}

/// An empty table of each kind.
fn layouts() -> &'static [(&'static str, Table)] {
    static LAYOUTS: OnceLock<Vec<(&'static str, Table)>> = OnceLock::new();
    LAYOUTS.get_or_init(|| store::layouts().unwrap_or_default())
}

/// A directory among the temporary files, removed when dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Option<Scratch> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name = format!("ironlaw-fuzz-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).ok().map(|()| Scratch(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed lies among temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The tables that rows of a table refer to, directly or not.
fn referred_to(table: &str) -> &'static [&'static str] {
    match table {
        "windows" => &["counters"],
        "frames" => &["mappings"],
        "names" | "stacks" => &["mappings", "frames"],
        "samples" | "off_cpu" => &["mappings", "frames", "stacks"],
        _ => &[],
    }
}

/// The profile of a recording with these files, and those of the fixture's tables that are `kept` and not among them.
fn profile_with(files: &[(String, Vec<u8>)], kept: impl Fn(&str) -> bool) -> Option<Profile> {
    let folder = Scratch::new()?;
    let table = |name: &str| name.split(['-', '.']).next().unwrap_or_default().to_string();
    let is_new = |name: &str| files.iter().any(|(new, _)| table(new) == table(name));
    let kept = fixture().iter().filter(|(name, _)| !is_new(name) && (name == META || kept(&table(name))));
    for (name, bytes) in files.iter().chain(kept) {
        fs::write(folder.0.join(name), bytes).ok()?;
    }
    Recording::open(&folder.0).ok().map(|recording| recording.profile())
}

/// A recording with the data as one of its tables, or as its metadata: as which, the first byte decides.
pub fn recording(data: &[u8]) {
    let Some((which, data)) = data.split_first() else { return };
    match layouts().get(usize::from(*which) % (layouts().len() + 1)) {
        Some((table, _)) => {
            let mut part = data.to_vec();
            reseal(&mut part);
            // The others would only be read again and again.
            let kept = |other: &str| referred_to(table).contains(&other);
            profile_with(&[(format!("{table}-000000.parquet"), part)], kept);
        }
        None => drop(profile_with(&[(META.to_string(), data.to_vec())], |_| true)),
    }
}

/// A recording with one or two tables of any values, to a report or a format of another tool: to which, the first byte
/// decides.
pub fn report(data: &[u8]) {
    let mut input = Input(data);
    let shown = input.byte();
    let mut parts: Vec<(String, Vec<u8>)> = Vec::new();
    for _ in 0..2 {
        let Some((table, layout)) = layouts().get(usize::from(input.byte()) % (layouts().len() + 1)) else { continue };
        let rows = usize::from(input.byte()) % MOST_ROWS;
        let part = filled(layout, rows, &mut input).and_then(|table| to_parquet(&table));
        parts.extend(part.map(|part| (format!("{table}-000000.parquet"), part)));
    }
    parts.dedup_by(|one, other| one.0 == other.0);
    if let Some(profile) = profile_with(&parts, |_| true) {
        show(&profile, shown);
    }
}

fn show(profile: &Profile, how: u8) {
    let how = usize::from(how) % (4 + FORMATS.len());
    if let Some(format) = FORMATS.get(how.wrapping_sub(4)) {
        let (selection, mut bytes) = (Selection::default(), Vec::new());
        return match format.write {
            WriteFormat::Stacks(render) => {
                drop(
                    FlameGraph::build(profile, &FlameOptions { selection, ..FlameOptions::default() })
                        .map(|flame| render(&flame)),
                );
            }
            WriteFormat::Samples(write) => {
                let sampled = Sampled::of(profile, selection, format.every_event);
                drop(sampled.and_then(|sampled| write(&sampled, &mut bytes)));
            }
        };
    }
    let Ok(report) = Report::build(profile, &ReportOptions::default()) else { return };
    drop(match how {
        0 => Ok(text::report(&report, text::Style::default())),
        1 => json::report(&report),
        2 => Ok(csv::report(&report)),
        _ => Ok(markdown::report(&report)),
    });
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_forged_part_of_any_table_ends_no_reader(
            part in any::<prop::sample::Index>(),
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..9),
        ) {
            let (name, part) = &fixture()[part.index(fixture().len())];
            let which = layouts().iter().position(|(table, _)| name.starts_with(&format!("{table}-")));
            let mut data = [&[which.unwrap_or(layouts().len()) as u8], &part[..]].concat();
            for (place, byte) in damage {
                let place = place.index(data.len() - 1) + 1;
                data[place] ^= byte;
            }
            recording(&data);
        }
    }

    /// What the targets feed gets past the checksum, and is shown.
    #[test]
    fn a_table_of_any_values_is_read_and_shown() {
        let whole = fixture_profile().unwrap();
        assert!(whole.samples.len() > 1 && layouts().len() == 19);
        let read = profile_with(&[], |_| true).unwrap();
        assert_eq!((read.samples.len(), &read.meta.notes), (whole.samples.len(), &whole.meta.notes));
        let (_, samples) = layouts().iter().find(|(table, _)| *table == "samples").unwrap();
        let mut input = Input(&[0; 9]);
        let part = to_parquet(&filled(samples, 3, &mut input).unwrap()).unwrap();
        let changed = profile_with(&[("samples-000000.parquet".into(), part)], |_| true).unwrap();
        assert_eq!(changed.samples.len(), 3);
        (0..11).for_each(|how| show(&changed, how));
    }
}
