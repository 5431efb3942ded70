//! What is accepted, and the value it becomes.

use super::*;
use crate::model::{CallGraph, NumberKind, OpsSpec};
use crate::units::Nanos;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1000 * MS;

#[test]
fn a_duration_is_seconds_and_an_interval_milliseconds_unless_they_have_a_unit() {
    for (typed, as_duration, as_interval) in [
        ("5", 5 * SECOND, 5 * MS),
        ("0.25", SECOND / 4, MS / 4),
        (".5", SECOND / 2, MS / 2),
        ("5.", 5 * SECOND, 5 * MS),
        ("007", 7 * SECOND, 7 * MS),
        ("1ns", 1, 1),
        ("1us", 1_000, 1_000),
        ("1µs", 1_000, 1_000),
        ("1ms", MS, MS),
        ("1s", SECOND, SECOND),
        ("1sec", SECOND, SECOND),
        ("1m", 60 * SECOND, 60 * SECOND),
        ("1min", 60 * SECOND, 60 * SECOND),
        ("1h", 3600 * SECOND, 3600 * SECOND),
        ("1.5h", 5400 * SECOND, 5400 * SECOND),
        ("0.4ns", 0, 0),
    ] {
        let interval = record(&format!("-I {typed} -p 1")).capture.interval;
        assert_eq!(interval, Nanos(as_interval), "-I {typed}");
        let delay = record(&format!("-D {typed} -p 1")).capture.delay;
        assert_eq!(delay, Nanos(as_interval), "-D {typed}");
        if as_duration > 0 {
            let duration = record(&format!("-d {typed} -p 1")).capture.duration;
            assert_eq!(duration, Some(Nanos(as_duration)), "-d {typed}");
        }
    }
    let capture = record("-d '5 s' -p 1").capture;
    assert_eq!(capture.duration, Some(Nanos(5 * SECOND)), "a blank before the unit");
    assert_eq!((capture.interval, capture.delay), (Nanos(SECOND), Nanos(0)), "the defaults");
}

#[test]
fn a_rate_is_a_number_or_the_most_and_a_watch_may_do_without() {
    for (typed, expected) in [
        ("1", FrequencyArg::Hertz(1)),
        ("997", FrequencyArg::Hertz(997)),
        ("18446744073709551615", FrequencyArg::Hertz(u64::MAX)),
        ("max", FrequencyArg::Max),
    ] {
        assert_eq!(record(&format!("-F {typed} -p 1")).capture.freq, Some(expected), "{typed}");
        let Command::Watch(watch) = command(&format!("watch --baseline b -F {typed} -p 1")) else { panic!("{typed}") };
        assert_eq!(watch.freq, WatchRate::Some(expected), "{typed}");
    }
    let Command::Watch(watch) = command("watch --baseline b -F 0 -p 1") else { panic!("no watch") };
    assert_eq!(watch.freq, WatchRate::None);
    assert_eq!(record("-c 18446744073709551615 -p 1").capture.count, Some(u64::MAX));
}

#[test]
fn targets_are_lists_and_repeats() {
    for (typed, pids, tids) in [
        ("-p 1", vec![1], vec![]),
        ("-p 1,2,3", vec![1, 2, 3], vec![]),
        ("-p 1 -p 2", vec![1, 2], vec![]),
        ("--pid=4294967295", vec![u32::MAX], vec![]),
        ("-t 7,8 -t 9", vec![], vec![7, 8, 9]),
    ] {
        let target = record(typed).target;
        assert_eq!((target.pid, target.tid), (pids, tids), "{typed}");
    }
    for (typed, cpus) in [
        ("0", vec![0]),
        ("0-3", vec![0, 1, 2, 3]),
        ("3,1,2,1", vec![1, 2, 3]),
        ("8,0-2,1-3", vec![0, 1, 2, 3, 8]),
        ("5-5", vec![5]),
        ("'0, 1'", vec![0, 1]),
        ("8191", vec![8191]),
        ("007", vec![7]),
    ] {
        assert_eq!(record(&format!("-C {typed}")).target.cpu, Some(CpuList(cpus)), "{typed}");
    }
}

#[test]
fn a_command_keeps_its_own_flags_as_they_are() {
    for (typed, expected) in [
        ("-- make -j8", vec!["make", "-j8"]),
        ("make -j8 --help", vec!["make", "-j8", "--help"]),
        ("-- ./app -- -x", vec!["./app", "--", "-x"]),
        ("-- 'a b' größe \u{202e}x", vec!["a b", "größe", "\u{202e}x"]),
        ("-q -- ./app -q", vec!["./app", "-q"]),
        ("-- ./app --pid=0 -d 0", vec!["./app", "--pid=0", "-d", "0"]),
    ] {
        assert_eq!(record(typed).target.command, expected, "{typed}");
    }
}

#[test]
fn a_source_of_operations_is_read_in_every_form() {
    let output = |pattern: &str, reads| OpsSpec::Output { pattern: pattern.into(), reads };
    for (typed, expected) in [
        ("'regex:total ([0-9]+)'", output("total ([0-9]+)", NumberKind::Total)),
        ("'regex-sum:größe (\\d+)'", output("größe (\\d+)", NumberKind::Sum)),
        ("'regex-rate:([0-9.]+) req/s'", output("([0-9.]+) req/s", NumberKind::Rate)),
        ("uprobe:/a/b:c::d", OpsSpec::Uprobe { binary: "/a/b".into(), symbol: "c::d".into() }),
        ("usdt:/a/b:c:d", OpsSpec::Usdt { binary: "/a/b".into(), provider: Some("c".into()), name: "d".into() }),
        ("tracepoint:a:b:c", OpsSpec::Tracepoint { category: "a".into(), name: "b:c".into() }),
        ("file:/run/größe", OpsSpec::File { path: "/run/größe".into() }),
        ("page:a.b-c_9", OpsSpec::Page { name: "a.b-c_9".into() }),
        ("rate:5e3", OpsSpec::Rate { per_second: 5000.0 }),
        ("rate:0.001", OpsSpec::Rate { per_second: 0.001 }),
    ] {
        assert_eq!(record(&format!("--ops {typed} -p 1")).capture.ops, Some(expected), "{typed}");
    }
}

#[test]
fn widths_are_ascending_and_each_once() {
    for (typed, expected) in [
        ("1", vec![1]),
        ("8,4,2,1,4", vec![1, 2, 4, 8]),
        ("1-4", vec![1, 2, 3, 4]),
        ("1-64:x2", vec![1, 2, 4, 8, 16, 32, 64]),
        ("1-60:x2", vec![1, 2, 4, 8, 16, 32]),
        ("4-16:4", vec![4, 8, 12, 16]),
        ("1,2-3,4-8:2", vec![1, 2, 3, 4, 6, 8]),
        ("4294967295-4294967295", vec![u32::MAX]),
        ("4294967290-4294967295:4", vec![4_294_967_290, 4_294_967_294]),
        ("3000000000-4294967295:x2", vec![3_000_000_000]),
    ] {
        let Command::Sweep(sweep) = command(&format!("sweep -p 1 --cpus {typed}")) else { panic!("{typed}") };
        assert_eq!(sweep.cpus, Some(Widths(expected.clone())), "{typed}");
        assert_eq!(sweep_widths(typed), Ok(Widths(expected)), "{typed}");
    }
}

#[test]
fn a_warm_up_is_runs_or_with_a_unit_time() {
    for (typed, expected) in [
        ("0", WarmUp::Runs(0)),
        ("3", WarmUp::Runs(3)),
        ("3s", WarmUp::Time(Nanos(3 * SECOND))),
        ("1.5", WarmUp::Time(Nanos(1500 * MS))),
        ("250ms", WarmUp::Time(Nanos(250 * MS))),
    ] {
        let Command::Sweep(sweep) = command(&format!("sweep -L cpus 1 --warmup {typed} x")) else { panic!("{typed}") };
        assert_eq!(sweep.warmup, expected, "{typed}");
    }
}

#[test]
fn percentages_are_stored_as_parts_with_or_without_their_sign() {
    let diff = |flags: &str| match command(&format!("diff a b {flags}")) {
        Command::Diff(diff) => diff,
        other => panic!("{other:?}"),
    };
    let usual = diff("");
    assert_eq!((usual.confidence, usual.same_within, usual.run_noise), (0.95, 0.02, None));
    for (typed, expected) in [("0", 0.0), ("2%", 0.02), ("'2 %'", 0.02), ("1000", 10.0), ("5e-1", 0.005), ("+3", 0.03)]
    {
        assert_eq!(diff(&format!("--same-within {typed}")).same_within, expected, "{typed}");
        assert_eq!(diff(&format!("--run-noise {typed}")).run_noise, Some(expected), "{typed}");
    }
    for (typed, expected) in [("50", 0.5), ("99.9999", 0.999_999), ("90%", 0.9)] {
        assert!((diff(&format!("--confidence {typed}")).confidence - expected).abs() < 1e-12, "{typed}");
    }
}

#[test]
fn a_gate_and_an_expectation_keep_their_text_and_name() {
    for (typed, name) in [
        ("cpi > 1.2", "cpi"),
        ("path_length>+1%", "path_length"),
        ("  cpu_ns_per_op  >=  +50 ", "cpu_ns_per_op"),
        ("ops_per_second < -3 %", "ops_per_second"),
        ("contradicted", "contradicted"),
        (" unconfirmed ", "unconfirmed"),
    ] {
        let Command::Diff(diff) = command(&format!("diff a b --fail-if '{typed}'")) else { panic!("{typed}") };
        assert_eq!((diff.fail_if[0].name.as_str(), diff.fail_if[0].text.as_str()), (name, typed.trim()), "{typed}");
    }
    for (typed, name) in [
        ("cpi up", "cpi"),
        ("cpi\tdown", "cpi"),
        ("l3_mpki same", "l3_mpki"),
        ("cpi<-10%", "cpi"),
        ("cpi > +0.1", "cpi"),
    ] {
        let Command::Diff(diff) = command(&format!("diff a b --expect '{typed}'")) else { panic!("{typed}") };
        assert_eq!((diff.expect[0].name.as_str(), diff.expect[0].text.as_str()), (name, typed), "{typed}");
    }
}

#[test]
fn a_listening_address_stays_on_this_machine_unless_it_says_otherwise() {
    for (typed, expected) in [
        ("off", None),
        ("0", Some("127.0.0.1:0")),
        ("65535", Some("127.0.0.1:65535")),
        ("localhost:9500", Some("127.0.0.1:9500")),
        ("0.0.0.0:1", Some("0.0.0.0:1")),
        ("[::]:9469", Some("[::]:9469")),
    ] {
        let Command::Watch(watch) = command(&format!("watch --baseline b --listen {typed} -p 1")) else { panic!() };
        let expected = expected.map_or(Listen::Off, |address| Listen::At(address.parse().unwrap()));
        assert_eq!(watch.listen, Some(expected), "{typed}");
    }
}

#[test]
fn a_thread_is_an_id_or_a_name_and_may_be_any_text() {
    let Command::Report(report) = command("report --thread 41 --thread '4 1' --thread größe --thread=-1") else {
        panic!()
    };
    assert_eq!(
        report.selection.thread,
        [
            ThreadFilter::Tid(41),
            ThreadFilter::Name("4 1".into()),
            ThreadFilter::Name("größe".into()),
            ThreadFilter::Name("-1".into())
        ]
    );
}

#[test]
fn call_graphs_are_named_and_sizes_rounded_up_to_what_the_kernel_takes() {
    for (typed, expected) in [
        ("auto", CallGraph::Auto),
        ("fp", CallGraph::FramePointer),
        ("lbr", CallGraph::Lbr),
        ("none", CallGraph::None),
        ("no", CallGraph::None),
        ("dwarf,1", CallGraph::Dwarf { stack_bytes: 8 }),
        ("dwarf,8", CallGraph::Dwarf { stack_bytes: 8 }),
        ("dwarf,9", CallGraph::Dwarf { stack_bytes: 16 }),
        ("dwarf,65521", CallGraph::Dwarf { stack_bytes: 65_528 }),
    ] {
        assert_eq!(record(&format!("--call-graph {typed} -p 1")).capture.call_graph, expected, "{typed}");
    }
}

#[test]
fn the_capture_flags_default_to_what_the_default_capture_has() {
    let typed = record("-p 1").capture;
    assert_eq!(format!("{typed:?}"), format!("{:?}", CaptureArgs::default()));
}

#[test]
fn the_global_flags_stand_anywhere() {
    for line in ["-q report", "report -q", "--quiet report --format json", "report --color never -q r.ironlaw"] {
        assert!(parse(line).unwrap().global.quiet, "{line}");
    }
    for (line, expected) in [
        ("report", ColorArg::Auto),
        ("--color always report", ColorArg::Always),
        ("report --color=never", ColorArg::Never),
    ] {
        assert_eq!(parse(line).unwrap().global.color, expected, "{line}");
    }
    assert!(parse("").unwrap().command.is_none(), "without a command the session opens");
}
