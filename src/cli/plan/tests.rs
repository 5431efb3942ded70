//! Every combination of flags is a row: the command line in, the plan or the error message out.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use super::capture::CapturePlan;
use super::output::fnv;
use super::*;
use crate::cli::args::{Cli, Command, FlameFormat, RecordArgs};
use crate::error::Result;
use crate::model::{CallGraph, EventKind, EventSpec, Plan, Rate, Target};
use crate::pmu::fake::{FakeSources, INTEL};
use crate::units::Nanos;
use clap::Parser;
use std::fmt;
use std::path::{Path, PathBuf};

const MACHINE: Environment<'_> =
    Environment { max_sample_rate: Some(5000), online_cpus: &[0, 1, 2, 3], event_sources: &INTEL, cores: &[] };

fn words(line: &str) -> impl Iterator<Item = &str> {
    ["ironlaw"].into_iter().chain(line.split_whitespace())
}

fn record(line: &str) -> RecordArgs {
    match Cli::try_parse_from(words(&format!("record {line}"))).unwrap().command {
        Some(Command::Record(args)) => args,
        other => panic!("{other:?}"),
    }
}

fn plan(line: &str) -> Result<CapturePlan> {
    capture(&record(line).capture, &MACHINE)
}

/// The message and the hint, for comparison.
fn complaint<T: fmt::Debug>(result: Result<T>) -> (String, String) {
    let error = result.unwrap_err();
    (error.to_string(), error.remedy().unwrap_or("").to_string())
}

#[test]
fn each_way_to_name_a_target_names_one() {
    let processes = |pids: &[u32], children| Target::Processes { pids: pids.to_vec(), children };
    let command = |argv: &[&str]| Target::Command { argv: argv.iter().map(ToString::to_string).collect() };
    for (line, expected) in [
        ("-p 41", processes(&[41], false)),
        ("--pid 41,42,41 -p 43", processes(&[41, 42, 43], false)),
        ("-p 41 --children", processes(&[41], true)),
        ("-t 7,8", Target::Threads { tids: vec![7, 8] }),
        ("-a", Target::Cpus { cpus: vec![] }),
        ("-C 0-1,3", Target::Cpus { cpus: vec![0, 1, 3] }),
        ("-a -C 2", Target::Cpus { cpus: vec![2] }),
        ("-- make -j8", command(&["make", "-j8"])),
        ("make -j8 -p 1", command(&["make", "-j8", "-p", "1"])),
        ("-d 5 -F 99 -- ./app --threads 2 -- x", command(&["./app", "--threads", "2", "--", "x"])),
        ("--children -- ./app", command(&["./app"])),
    ] {
        assert_eq!(target(&record(line).target, MACHINE.online_cpus).unwrap(), TargetChoice::Ready(expected), "{line}");
    }
    let cgroup = target(&record("-G web.service").target, &[]).unwrap();
    assert_eq!(cgroup, TargetChoice::Cgroups("web.service".into()));
}

#[test]
fn anything_but_one_target_is_refused_with_the_way_out() {
    for (line, message, hint) in [
        ("", "no target is named", "-p PID"),
        ("-p 1 -t 2", "two targets are named: -p and -t", "one after the other"),
        ("-p 1 -G web", "two targets are named: -p and -G", "one after the other"),
        ("-a -- sleep 5", "two targets are named: -a and a command", "-d 5"),
        ("-p 1 -C 0", "two targets are named: -p and -C", "leave it away"),
        ("-a --children", "--children says nothing about -a", "-p PID"),
        ("-t 5 --children", "--children says nothing about -t", "-p PID"),
        ("-C 0,4", "CPU 4 is not online", "Online are: 0,1,2,3."),
        ("1234", "'1234' is not a command", "write -p 1234"),
    ] {
        let (found, remedy) = complaint(target(&record(line).target, MACHINE.online_cpus));
        assert_eq!(found, message, "{line}");
        assert!(remedy.contains(hint), "{line}: {remedy}");
    }
}

#[test]
fn a_command_beside_a_target_is_the_clock() {
    for (line, command) in [
        ("-a -- sleep 5", Some("sleep 5")),
        ("-p 1 sleep 5", Some("sleep 5")),
        ("-G web -- make -j8", Some("make -j8")),
        ("-C 0 -- ./app -p 7", Some("./app -p 7")),
        ("-p 1", None),
        ("-- sleep 5", None),
        ("--children -- sleep 5", None),
    ] {
        let args = record(line).target;
        let (target, found) = clock(&args);
        assert_eq!(found.map(|words| words.join(" ")).as_deref(), command, "{line}");
        assert_eq!(target.command.is_empty(), command.is_some() || line == "-p 1", "{line}");
        assert!(super::target(&target, MACHINE.online_cpus).is_ok(), "{line}");
    }
}

#[test]
fn without_flags_a_plan_has_the_documented_defaults() {
    let found = plan("-a").unwrap();
    let expected = Plan {
        target: Target::Threads { tids: vec![7] },
        events: vec![],
        accesses: vec![],
        only: None,
        rate: Rate::Frequency(997),
        call_graph: CallGraph::Auto,
        off_cpu: false,
        interval: Nanos(1_000_000_000),
        duration: None,
        delay: Nanos(0),
        ops: None,
        latency: None,
        beside: None,
        slo: None,
        neighbours: false,
        probe: false,
        max_overhead: Some(2.0),
        max_sampling: Some(2.0),
        hardware: vec![],
    };
    assert_eq!(found.on(Target::Threads { tids: vec![7] }), expected);
    assert!(found.notes.is_empty());
}

#[test]
fn memory_accesses_are_sampled_besides_the_events_that_are_asked_for() {
    let found = plan("-a --mem -e cycles:u").unwrap().on(Target::Cpus { cpus: vec![] });
    let names = |events: &[EventSpec]| events.iter().map(|event| event.name.clone()).collect::<Vec<_>>();
    assert_eq!(
        (names(&found.events), names(&found.accesses)),
        (vec!["cycles:u".into()], vec!["cpu/mem-loads,ldlat=30/P".into()])
    );
    let nothing = Environment { event_sources: &FakeSources(&[]), ..MACHINE };
    let (text, hint) = complaint(capture(&record("-a --mem").capture, &nothing));
    assert!(text.contains("memory accesses cannot be sampled here") && hint.contains("doctor"), "{text}: {hint}");
}

#[test]
fn every_capture_flag_reaches_the_plan() {
    let found =
        plan("-a -d 2m -F 99 -e cycles:u --event {cs,faults} --off-cpu -I 100 -D 1500 --call-graph fp -g --neighbours --probe").unwrap();
    let plan = found.on(Target::Cpus { cpus: vec![] });
    let kinds: Vec<_> = plan.events.iter().map(|event| (&event.kind, event.group)).collect();
    assert_eq!(
        kinds,
        [(&EventKind::Hardware(0), None), (&EventKind::Software(3), Some(0)), (&EventKind::Software(2), Some(0))]
    );
    assert_eq!((plan.rate, plan.call_graph, plan.off_cpu), (Rate::Frequency(99), CallGraph::FramePointer, true));
    let ms = |ms: u64| Nanos(ms * 1_000_000);
    assert_eq!((plan.interval, plan.duration, plan.delay), (ms(100), Some(ms(120_000)), ms(1500)));
    assert!(plan.neighbours && plan.probe);
}

#[test]
fn hardware_counters_have_a_budget_unless_they_are_asked_for() {
    for (line, expected) in [
        ("-a", Some(2.0)),
        ("-a --max-overhead 0.5", Some(0.5)),
        ("-a --max-overhead 0", Some(0.0)),
        ("-a --max-overhead 100", None),
        ("-a -M cache", None),
        ("-a -M none", Some(2.0)),
        ("-a -e cycles", None),
        ("-a -e cpu-clock", Some(2.0)),
        ("-a -e cycles --max-overhead 5%", Some(5.0)),
    ] {
        let plan = plan(line).unwrap().on(Target::Cpus { cpus: vec![] });
        assert_eq!(plan.max_overhead, expected, "{line}");
    }
}

#[test]
fn a_frequency_that_is_asked_for_is_kept_unless_a_limit_is_asked_for_too() {
    for (line, expected) in [
        ("-a", Some(2.0)),
        ("-a -e cycles", Some(2.0)),
        ("-a -F 997", None),
        ("-a -F max --max-overhead 3", Some(3.0)),
        ("-a --max-overhead 100", None),
    ] {
        let plan = plan(line).unwrap().on(Target::Cpus { cpus: vec![] });
        assert_eq!(plan.max_sampling, expected, "{line}");
    }
}

#[test]
fn the_rate_is_a_period_or_a_frequency_the_kernel_allows() {
    for (line, limit, expected, noted) in [
        ("-c 100000", Some(5000), Rate::Period(100_000), false),
        ("-F max", Some(5000), Rate::Frequency(5000), false),
        ("-F 5000", Some(5000), Rate::Frequency(5000), false),
        ("-F 20000", Some(5000), Rate::Frequency(5000), true),
        ("-F 20000", None, Rate::Frequency(20_000), false),
        ("", Some(500), Rate::Frequency(500), true),
        ("", Some(0), Rate::Frequency(1), true),
    ] {
        let environment = Environment { max_sample_rate: limit, ..MACHINE };
        let found = capture(&record(line).capture, &environment).unwrap();
        assert_eq!(
            (found.on(Target::Cpus { cpus: vec![] }).rate, !found.notes.is_empty()),
            (expected, noted),
            "{line}"
        );
    }
    let blind = Environment { max_sample_rate: None, ..MACHINE };
    assert!(capture(&record("-F max").capture, &blind).is_err());
}

#[test]
fn a_plan_that_cannot_work_is_refused() {
    assert!(complaint(plan("-I 9ms")).0.contains("interval below 10ms"));
    assert!(plan("-I 10").is_ok());
    let (message, hint) = complaint(plan("-e cs -e cylces"));
    assert!(message.ends_with("unknown event 'cylces'") && hint.contains("'cycles'"), "{message} {hint}");
}

#[test]
fn the_parser_itself_refuses_what_no_machine_could_do() {
    for line in [
        "record -p 0",
        "record -p x",
        "record -F 99 -c 5 -a",
        "record -F 0 -a",
        "record -d 0 -a",
        "record --call-graph dwarf,70000 -a",
        "record -C 3-1",
        "record -v=3 -a",
        "record -Z",
        "report --format xml",
        "report --time-range 5s-1s",
        "report --sort colour",
        "flamegraph --off-cpu --event cycles",
        "flamegraph --min-width -1",
        "doctor -p 1,2",
        "demo --threads 0",
        "completions tcl",
        "nonesuch",
    ] {
        assert!(Cli::try_parse_from(words(line)).is_err(), "{line}");
    }
}

#[test]
fn a_recording_is_named_after_its_target_and_time() {
    let command = |program: &str| Target::Command { argv: vec![program.into(), "--port".into()] };
    for (target, at, expected) in [
        (command("/usr/bin/redis-server"), 0, "redis-server-19700101-000000.ironlaw"),
        (command(".hidden app"), 951_827_696, "hidden-app-20000229-123456.ironlaw"),
        (Target::Processes { pids: vec![41, 42], children: false }, 4_102_444_799, "pid-41-42-20991231-235959.ironlaw"),
        (Target::Cpus { cpus: vec![] }, 1_709_251_200, "all-CPUs-20240301-000000.ironlaw"),
        (command(".."), 0, "command-19700101-000000.ironlaw"),
    ] {
        assert_eq!(recording_name(&target, at), Path::new(expected));
    }
}

#[test]
fn targets_whose_names_are_cut_alike_keep_names_of_their_own() {
    let group = |leaf: &str| {
        let name = format!("kubepods.slice/kubepods-burstable.slice/pod-{leaf}");
        target_name(&Target::Cgroup { path: PathBuf::from("/sys/fs/cgroup").join(&name), name, others: vec![] })
    };
    let (one, other) = (group("a"), group("b"));
    assert_ne!(one, other);
    assert_eq!((one.len(), &one[..41]), (49, &other[..41]));
    let command = |name: String| target_name(&Target::Command { argv: vec![name] });
    assert_eq!(command("x".repeat(40)), "x".repeat(40), "a name that fits stays as it is");
    assert_eq!(
        command("foobar".repeat(10)),
        format!("{}-{:08x}", &"foobar".repeat(10)[..40], fnv("foobar".repeat(10).as_bytes()))
    );
    assert_eq!(fnv(b"foobar"), 0xbf9c_f968, "the published value");
}

#[test]
fn the_newest_recording_is_the_one_meant() {
    let found = [("a.ironlaw", 5), ("b.ironlaw", 9), ("c.svg", 11), ("d.ironlaw", 9)];
    let found = found.map(|(name, at)| (PathBuf::from(name), at));
    assert_eq!(newest_recording(found).unwrap(), Path::new("d.ironlaw"));
    assert_eq!(newest_recording([(PathBuf::from("c.svg"), 1)]).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn a_flame_graph_goes_where_its_name_says() {
    let file = |name: &str| Destination::File(name.into());
    for (line, expected) in [
        ("", Some((FlameFormat::Svg, file("runs/x.svg")))),
        ("-o y.svg", Some((FlameFormat::Svg, file("y.svg")))),
        ("-o y.folded", Some((FlameFormat::Folded, file("y.folded")))),
        ("-o y.svg --format folded", Some((FlameFormat::Folded, file("y.svg")))),
        ("--format folded", Some((FlameFormat::Folded, file("runs/x.folded")))),
        ("-o -", Some((FlameFormat::Svg, Destination::Stdout))),
        ("-o y.png", None),
    ] {
        let Some(Command::Flamegraph(args)) =
            Cli::try_parse_from(words(&format!("flamegraph {line}"))).unwrap().command
        else {
            panic!("{line}");
        };
        assert_eq!(flame_output(&args, Path::new("runs/x.ironlaw"), false).ok(), expected, "{line}");
    }
}

#[test]
fn colour_follows_the_flag_then_the_environment_then_the_terminal() {
    for (line, terminal, no_color, expected) in [
        ("report", true, None, true),
        ("report", false, None, false),
        ("report", true, Some("1"), false),
        ("report", true, Some(""), true),
        ("report --color always", false, Some("1"), true),
        ("--color never report", true, None, false),
    ] {
        let cli = Cli::try_parse_from(words(line)).unwrap();
        assert_eq!(use_color(&cli.global, terminal, no_color), expected, "{line} {no_color:?}");
    }
}

#[test]
fn hardware_metrics_are_planned_for_each_kind_of_core() {
    let table = crate::pmu::Table::built_in().unwrap();
    let core = |id| crate::pmu::assumed(&crate::pmu::Machine::default(), table.by_id(id).unwrap());
    let cores = [core("intel-spr"), core("generic-intel")];
    let environment = Environment { cores: &cores, ..MACHINE };
    let planned = |line: &str| capture(&record(line).capture, &environment);
    let hardware = |line| planned(line).unwrap().on(Target::Cpus { cpus: vec![] }).hardware;
    assert_eq!(hardware("-a -M none").iter().map(|plan| plan.groups.len()).collect::<Vec<_>>(), [1, 1]);
    assert!(hardware("-a")[0].groups.len() > 3);
    let only = &hardware("-a --metrics llc_mpki")[1];
    assert_eq!(
        (only.uarch.as_str(), only.groups[1].events.last().unwrap().role.as_str()),
        ("generic-intel", "llc-miss")
    );
    assert!(planned("-a -M llc_mpkl").unwrap_err().remedy().unwrap().contains("llc_mpki"));
    // An event by its vendor's name.
    let events = planned("-a -e MEM_INST_RETIRED.LOCK_LOADS:u").unwrap().on(Target::Cpus { cpus: vec![] }).events;
    assert_eq!(events[0].kind, crate::model::EventKind::Raw { pmu: 4, config: 0x21d0, config1: 0, config2: 0 });
}
