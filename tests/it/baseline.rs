//! Baselines from the outside: built of recordings, shown, extended, refused where they do not fit, kept in a recording, and
//! never believed when they were damaged.

use crate::program::{Dir, IRONLAW, Ran, Running, WORKLOADS};
use crate::schema::keeps_to;
use crate::synthetic::{Synthetic, ms};
use ironlaw::{model, store, units};
use model::profile::Profile;
use model::{BuildId, HostFacts, OpsSpec, Scope};
use serde_json::Value;
use units::{Nanos, Ops};

const WINDOWS: u64 = 40;
const START: u64 = 1_767_225_600_000_000_000;

/// A program that does 1000 operations a second of half a millisecond each, `day` days after the first.
fn profile(day: u64) -> Profile {
    let mut synthetic = Synthetic::new();
    synthetic.weight = 10_000_000;
    synthetic.alive(41, "app").alive(42, "app").alive(43, "app").alive(44, "app").samples(
        0,
        41,
        "/opt/app!main;/opt/app!serve",
        75,
    );
    synthetic.samples(2000, 41, "/opt/app!main", 25);
    let mut cpu = 0;
    synthetic.reading("task-clock", Scope::Target, 0, 0).reading("thread-time", Scope::Target, 0, 0);
    for at in 1..=WINDOWS {
        cpu += 500_000_000 + (at * 7919 + day * 31) % 17 * 500_000;
        synthetic.reading("task-clock", Scope::Target, at * 1000, cpu);
        synthetic.reading("thread-time", Scope::Target, at * 1000, ms(at * 4000).0);
        synthetic.tick(at * 1000, 1000);
    }
    let mut profile = synthetic.finish();
    profile.meta.duration_ns = Some(ms(WINDOWS * 1000).0);
    profile.meta.started_unix_ns = START + day * 86_400_000_000_000;
    profile.meta.plan.ops = Some(OpsSpec::File { path: "/run/ops".into() });
    profile.ops = (0..=WINDOWS).map(|at| (ms(at * 1000), Ops(at * 1000))).collect();
    profile.modules.iter_mut().for_each(|module| module.build_id = Some(BuildId(vec![0xab, 0xcd])));
    profile
}

/// Writes a recording that is given as a profile.
fn write(dir: &Dir, name: &str, profile: &Profile) {
    let mut writer = store::Writer::create(&dir.join(name), &profile.meta, false).unwrap();
    writer.write(&profile.events(Nanos(0)).collect::<Vec<_>>()).unwrap();
    writer.finish(&profile.meta).unwrap();
}

fn two_days(dir: &Dir) {
    write(dir, "mon.ironlaw", &profile(0));
    write(dir, "tue.ironlaw", &profile(1));
}

fn json(ran: Ran) -> Value {
    serde_json::from_str(&ran.succeeds().out).unwrap()
}

fn show(dir: &Dir, name: &str) -> Value {
    json(dir.line(&format!("baseline show {name} --format json")))
}

fn usual(view: &Value, name: &str) -> f64 {
    let all = view["levels"][0]["expected"].as_array().unwrap();
    all.iter().find(|row| row["name"] == name).unwrap()["centre"].as_f64().unwrap()
}

#[test]
fn a_baseline_is_built_shown_and_extended() {
    let dir = Dir::new();
    two_days(&dir);
    write(&dir, "wed.ironlaw", &profile(2));
    let built = dir.line("baseline build mon.ironlaw tue -o app").succeeds();
    assert!(built.out.is_empty() && built.err.contains("80 windows of 2 recordings at 1 level"), "{}", built.err);
    let view = show(&dir, "app.baseline");
    assert_eq!((&view["strength"]["false_alarms"], &view["axis"]), (&0.0.into(), &"ops_per_second".into()), "{view:#}");
    assert!((usual(&view, "cpu_ns_per_op") / 504_000.0 - 1.0).abs() < 0.01, "{view:#}");
    assert_eq!((&view["key"]["program"], &view["key"]["build_id"]), (&"/opt/app".into(), &"abcd".into()));
    assert_eq!(view["stacks"], 2);

    let exists = dir.line("baseline build mon.ironlaw -o app");
    assert!(exists.code == Some(2) && exists.err.contains("exists already"), "{}", exists.err);
    let line = "baseline build app wed.ironlaw mon.ironlaw -o app.baseline -f";
    let extended = dir.line(line).succeeds();
    assert!(extended.err.contains("mon.ironlaw: already in it"), "{}", extended.err);
    let view = show(&dir, "app");
    assert_eq!((&view["strength"]["windows"], &view["strength"]["sources"]), (&120.into(), &3.into()));

    let text = dir.line("baseline show app").succeeds().out;
    assert!(text.contains("120 windows of 3 recordings") && text.contains("cpu_ns_per_op"), "{text}");
    assert!(text.contains("CPU model: Xeon Platinum 8383C then"), "this machine is another one: {text}");
    let part = dir.line("baseline build mon.ironlaw --time 10s-20s -o part").succeeds();
    assert!(part.err.contains("part.baseline") && part.err.contains("10 windows of 1 recording"), "{}", part.err);
}

#[test]
fn what_has_no_common_normal_is_refused_by_name_and_nothing_is_written() {
    let dir = Dir::new();
    write(&dir, "a.ironlaw", &profile(0));
    let refused = |name: &str, change: &dyn Fn(&mut Profile), expected: &str| {
        let mut other = profile(1);
        change(&mut other);
        write(&dir, name, &other);
        for line in [format!("a.ironlaw {name} -o x"), format!("a.baseline {name} -o x")] {
            let ran = dir.line(&format!("baseline build {line}"));
            assert_eq!(ran.code, Some(1), "{}", ran.err);
            assert!(ran.err.contains("do not match") && ran.err.contains(expected), "{}", ran.err);
            assert!(!dir.join("x.baseline").exists());
        }
    };
    dir.line("baseline build a.ironlaw -o a").succeeds();
    let build = |profile: &mut Profile| {
        profile.modules.iter_mut().for_each(|module| module.build_id = Some(BuildId(vec![1, 2])));
    };
    refused("build.ironlaw", &build, "build-id of the program: abcd and 0102");
    refused("cpu.ironlaw", &|p| p.meta.host.cpu_model = "EPYC".into(), "CPU model: Xeon Platinum 8383C and EPYC");
    refused("set.ironlaw", &|p| p.meta.plan.target = model::Target::Cpus { cpus: vec![1] }, "CPU set: all and 1");
    refused("ops.ironlaw", &|p| p.meta.plan.ops = None, "what counts operations");

    let mut idle = profile(3);
    idle.readings.update(|reading| reading.value /= 4);
    write(&dir, "idle.ironlaw", &idle);
    let ran = dir.line("baseline build idle.ironlaw -o x");
    assert!(ran.code == Some(1) && ran.err.contains("of its 40 windows 40 kept less than 0.25"), "{}", ran.err);
    std::fs::create_dir(dir.join("s.sweep")).unwrap();
    std::fs::write(dir.join("s.sweep/sweep.json"), "{}").unwrap();
    let ran = dir.line("baseline build s -o x");
    assert!(ran.code == Some(2) && ran.err.contains("it is a sweep"), "{}", ran.err);
}

#[test]
fn a_damaged_or_hostile_file_is_told_and_never_replaced() {
    let dir = Dir::new();
    two_days(&dir);
    dir.line("baseline build mon.ironlaw tue.ironlaw -o app").succeeds();
    let whole = std::fs::read_to_string(dir.join("app.baseline")).unwrap();
    let newer = whole.replacen("\"format\":[1,1]", "\"format\":[2,0]", 1);
    let stray = whole.replacen("\"source\":0", "\"source\":9", 1);
    for (name, text, expected) in [
        ("cut", &whole[..whole.len() / 2], "not a baseline"),
        ("empty", "", "not a baseline"),
        ("other", "{\"format\":[1,0],\"rows\":{}}", "missing field"),
        ("newer", newer.as_str(), "this version reads up to 1.x"),
        ("stray", stray.as_str(), "refers to source 9, and there are 2"),
    ] {
        let file = dir.join(&format!("{name}.baseline"));
        std::fs::write(&file, text).unwrap();
        for line in [format!("show {name}"), format!("build {name}.baseline mon.ironlaw -o x")] {
            let ran = dir.line(&format!("baseline {line}"));
            assert!(ran.code == Some(1) && ran.err.contains(expected), "{name}: {}", ran.err);
        }
        if name != "newer" {
            let ran = dir.line(&format!("baseline build mon.ironlaw -o {name} -f"));
            assert!(ran.code == Some(2) && ran.err.contains("is not a baseline"), "{name}: {}", ran.err);
            assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        }
    }
    let ran = dir.line("baseline show mon.ironlaw");
    assert!(ran.code == Some(1) && ran.err.contains("mon.ironlaw contains no baseline"), "{}", ran.err);
}

/// This machine, as a recording of it says.
fn here(dir: &Dir) -> (HostFacts, Option<String>) {
    dir.record("here", "", "spin --seconds 0.5");
    let profile = ironlaw::session::open(&dir.join("here.ironlaw")).unwrap();
    let key = ironlaw::analysis::baseline::key_of(&profile);
    (profile.meta.host, key.build_id)
}

#[test]
fn a_recording_keeps_the_baseline_it_is_held_against_and_one_that_does_not_fit_is_refused() {
    require!("perf");
    let dir = Dir::new();
    let (host, build_id) = here(&dir);
    let mut usual = profile(0);
    (usual.meta.host, usual.meta.plan.ops, usual.ops) = (host, None, vec![]);
    usual.modules.iter_mut().for_each(|module| {
        module.path = module.path.replace("/opt/app", IRONLAW);
        module.build_id = build_id.clone().and_then(|id| BuildId::try_from(id).ok());
    });
    write(&dir, "usual.ironlaw", &usual);
    dir.line("baseline build usual.ironlaw -o app").succeeds();

    let spin = format!("-- {WORKLOADS} workload spin --seconds 0.3");
    let ran = dir.line(&format!("record -o now --baseline app {spin}")).succeeds();
    assert!(ran.err.contains("may no longer apply: age"), "{}", ran.err);
    let view = show(&dir, "now.ironlaw");
    assert_eq!(
        (&view["strength"]["windows"], &view["key"]["cpu_model"]),
        (&40.into(), &usual.meta.host.cpu_model.clone().into())
    );
    let report = dir.line("report now.ironlaw").succeeds();
    assert!(!report.out.contains("damaged") && !report.err.contains("damaged"), "{}", report.out);
    // The next recording of that name must not inherit it.
    dir.line(&format!("record -o now --force {spin}")).succeeds();
    assert!(dir.line("baseline show now.ironlaw").err.contains("contains no baseline"));

    let ran = dir.line(&format!("record -o no --baseline app --ops rate:5 {spin}"));
    assert!(ran.code == Some(1) && ran.err.contains("what counts operations: nothing then"), "{}", ran.err);
    assert!(!dir.join("no.ironlaw").exists());
    let ran = dir.line(&format!("record -o yes --baseline app --stale-ok --ops rate:5 {spin}")).succeeds();
    assert!(ran.err.contains("no longer applies: what counts operations"), "{}", ran.err);
}

/// Writes a baseline beside another, in which an operation took an eighth of the CPU time.
fn eight_times_as_fast(dir: &Dir, from: &str, to: &str) {
    let mut baseline = store::baseline::read(&dir.join(from)).unwrap();
    let cost = baseline.quantities.iter().position(|name| name == "cpu_ns_per_op").unwrap();
    for cell in baseline.windows.iter_mut().filter_map(|window| window.cells[cost].as_mut()) {
        cell[0] /= 8.0;
    }
    store::baseline::write(&dir.join(to), &baseline, false).unwrap();
}

/// Without line breaks, indentation and what Markdown needs to take text as it is.
fn flowing(text: &str) -> String {
    text.replace('\\', "").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_real_recording_is_held_against_its_baseline_in_every_format() {
    require!("perf");
    let dir = Dir::new();
    let flags = "-F 97 -I 100ms --ops rate:1000 --neighbours";
    // Enough threads for a quarter of a CPU on a busy machine: with less, nothing is learnt.
    dir.record("usual", flags, "spin --threads 4 --seconds 4");
    dir.record("now", flags, "spin --threads 4 --seconds 2.5");
    dir.line("baseline build usual.ironlaw -o app").succeeds();
    eight_times_as_fast(&dir, "app", "fast.baseline");
    for (name, slow) in [("app", false), ("fast.baseline", true)] {
        let report = json(dir.line(&format!("report now.ironlaw --baseline {name} --format json")));
        keeps_to("report", &report);
        let against = &report["baseline_comparison"];
        let count = |what: &str| against["windows"][what].as_u64().unwrap();
        assert!(count("all") >= 20, "{against:#}");
        assert_eq!(count("compared") + count("unknown_load") + count("idle"), count("all"), "{against:#}");
        assert_eq!(against["timeline"].as_array().map(Vec::len), Some(count("all") as usize));
        // On a machine that others keep busy it may never have the load that the baseline knows, or have learnt from windows
        // so unlike each other that hardly anything is unusual.
        let weaknesses = against["baseline"]["weaknesses"].as_array().unwrap().iter().filter_map(Value::as_str);
        let unlike = weaknesses.into_iter().any(|text| text.contains("unlike each other"));
        let quantity = |name: &str| {
            let all = against["quantities"].as_array().unwrap();
            all.iter().find(|quantity| quantity["name"] == name).unwrap()
        };
        // Half of the CPUs and more went to others, and now as much, now as little: eight times the cost is not unusual then.
        let (cost, busy) = (quantity("cpu_ns_per_op"), quantity("busy_cores"));
        let cpus = std::thread::available_parallelism().map_or(1, usize::from) as f64;
        if slow && busy["now"].as_f64() < Some(cpus / 2.0) && cost["band"][1].as_f64() > cost["now"].as_f64() {
            crate::support::skip("quiet", format!("beside other programs, the target had {} CPUs", busy["now"]));
        } else if slow && !unlike && count("compared") >= 10 {
            assert_eq!(against["alarms"][0]["active"], true, "{against:#}");
            assert!(against["evidence"].as_array().is_some_and(|all| !all.is_empty()), "{against:#}");
            assert!(against["location"].is_string(), "{against:#}");
        }
        let verdict: Vec<&str> = against["verdict"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(verdict[0].starts_with("Slower than usual from"), against["alarms"][0].is_object(), "{verdict:?}");
        for (format, heading) in
            [("text", "Compared with the baseline"), ("markdown", "### Compared with the baseline")]
        {
            let shown = dir.line(&format!("report now.ironlaw --baseline {name} --format {format}")).succeeds().out;
            assert!(shown.contains(heading), "{shown}");
            for sentence in &verdict {
                assert!(flowing(&shown).contains(&flowing(sentence)), "{sentence}: {shown}");
            }
        }
    }
    let alone = json(dir.line("report now.ironlaw --format json"));
    keeps_to("report", &alone);
    assert!(alone["baseline_comparison"].is_null(), "{:#}", alone["baseline_comparison"]);
    for (name, code, expected) in [("none", 1, "none"), ("now.ironlaw", 1, "is not a baseline")] {
        let ran = dir.line(&format!("report now.ironlaw --baseline {name}"));
        assert!(ran.code == Some(code) && ran.err.contains(expected) && ran.out.is_empty(), "{name}: {}", ran.err);
    }
}

#[test]
fn other_cpus_than_the_baselines_are_told_with_both_sets() {
    require!("perf");
    let allowed = ironlaw::sys::affinity::get(0).unwrap();
    let (Some(first), 2..) = (allowed.first().copied(), allowed.len()) else {
        crate::support::skip("cpus", "this machine has one CPU for tests");
        return;
    };
    let dir = Dir::new();
    let spin = ["workload", "spin", "--threads=1", "--seconds=30"];
    let everywhere = dir.start(&spin);
    // Ahead of what else runs on that CPU, as a baseline needs a busy program.
    let mut command = dir.command("nice", &[&["-n", "-10", WORKLOADS][..], &spin].concat());
    let start = move || {
        ironlaw::sys::affinity::set(0, &[first]).unwrap();
        Running::of(&mut command)
    };
    let confined = std::thread::spawn(start).join().unwrap();
    for (name, process) in [("one", &confined), ("all", &everywhere)] {
        let pid = process.pid();
        dir.line(&format!("-q record -o {name} -p {pid} -d 1 -F 97 -I 50ms")).succeeds();
    }
    dir.line("baseline build one.ironlaw -o app").succeeds();
    assert_eq!(show(&dir, "app")["key"]["allowed_cpus"], serde_json::json!([first]));
    let told = |name: &str| {
        let report = json(dir.line(&format!("report {name}.ironlaw --baseline app --format json")));
        let stale = report["baseline_comparison"]["baseline"]["stale"].as_array().unwrap().clone();
        stale.into_iter().find(|stale| stale["what"] == "CPUs it may run on")
    };
    assert_eq!(told("one"), None);
    let other = told("all").unwrap();
    assert_eq!((&other["then"], &other["incompatible"]), (&first.to_string().into(), &false.into()), "{other}");
    let ran = dir.line(&format!("record -o more --baseline app -p {} -d 0.3", everywhere.pid())).succeeds();
    assert!(ran.err.contains(&format!("CPUs it may run on: {first} then,")), "{}", ran.err);
}
