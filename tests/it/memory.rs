//! Sampled memory accesses of real perf.data: levels, latency and shared lines are those that perf shows of the same file.

use crate::program::{Dir, WORKLOADS};
use crate::schema::{breach, keeps_to};
use ironlaw::model::profile::Profile;
use ironlaw::model::{NodeMemory, PageKind};
use ironlaw::units::Nanos;
use ironlaw::view::report::{Report, ReportOptions};
use ironlaw::{export, session};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/perfdata").join(name)
}

/// The report on a fixture as it is read directly, and once imported.
fn reports(name: &str) -> [Value; 2] {
    let (dir, path) = (Dir::new(), fixture(name));
    let path = path.to_str().unwrap();
    dir.ironlaw(&["import", path, "-o", "run"]).succeeds();
    [dir.report(path, ""), dir.report("run.ironlaw", "")]
}

/// The accesses of the fixture, as if pages of its first process had been read on both nodes.
fn with_pages() -> Profile {
    let mut profile = session::open(&fixture("perf.data.lines-written")).unwrap();
    let (at, pid) = (Nanos(1_000_000_000), profile.samples.pid[0]);
    let row = |node, kind, pages: u64| NodeMemory { at, pid, node, kind, bytes: pages << 12 };
    profile.memory = vec![row(0, PageKind::Anonymous, 256), row(1, PageKind::File, 768)];
    profile
}

/// Samples, percent of the latency, and mean cycles of each place.
fn levels(report: &Value) -> Vec<(String, u64, f64, f64)> {
    let rows = report["memory"]["levels"].as_array().unwrap();
    let row = |row: &Value| {
        let place = format!("{} {}", row["kind"].as_str().unwrap(), row["level"].as_str().unwrap());
        let share = (row["latency_share"]["value"].as_f64().unwrap_or(f64::NAN) * 1e4).round() / 100.0;
        (
            place,
            row["samples"].as_u64().unwrap(),
            share,
            row["latency"]["mean_cycles"]["value"].as_f64().unwrap_or(f64::NAN),
        )
    };
    rows.iter().map(row).collect()
}

#[test]
fn levels_and_latencies_are_those_of_perf_mem_report() {
    for report in reports("perf.data.memory-5.17") {
        // `perf mem report --sort mem` has 42.26% of 5, 29.39% of 4, 23.88% of 4 and 4.46% of 1 in 1,725 cycles.
        let expected = [
            ("load fill_buffer", 5, 42.26, 145.8),
            ("load l3", 4, 29.39, 126.75),
            ("load l1", 4, 23.88, 103.0),
            ("load l2", 1, 4.46, 77.0),
        ];
        let expected: Vec<_> = expected.map(|(place, n, share, mean)| (place.to_string(), n, share, mean)).into();
        assert_eq!(levels(&report), expected);
        let memory = &report["memory"];
        // `perf c2c report`: 2 locked operations, no store, no HITM. `perf script`: one TLB miss.
        assert_eq!(
            [&memory["accesses"], &memory["loads"], &memory["stores"], &memory["locked"]],
            [14, 14, 0, 2].map(Value::from).each_ref()
        );
        assert_eq!(memory["tlb_miss_share"]["value"].as_f64().unwrap(), 1.0 / 14.0);
        assert_eq!((memory["lines"].as_array().unwrap().len(), &memory["lines_of_one_thread"]), (0, &Value::from(14)));
        assert_eq!(memory["latency"]["median_cycles"]["value"], 90.5);
    }
}

#[test]
fn lines_readers_and_writers_are_those_of_perf_c2c_report() {
    for report in reports("perf.data.lines-written") {
        let memory = &report["memory"];
        let totals =
            ["loads", "stores", "hitm_local", "hitm_remote", "locked"].map(|key| memory[key].as_u64().unwrap());
        assert_eq!(totals, [26, 8, 10, 5, 4], "as `perf c2c report` counts them");
        let line = |line: &Value| {
            let number = |key: &str| line[key].as_u64().unwrap();
            let text = |key: &str| line[key].as_str().unwrap().to_string();
            let counts = ["hitm_local", "hitm_remote", "loads", "stores", "threads"].map(number);
            (text("address"), text("sharing"), counts)
        };
        let found: Vec<_> = memory["lines"].as_array().unwrap().iter().map(line).collect();
        let expected = [
            ("0x460944001000", "false_sharing", [5, 4, 11, 6, 3]),
            ("0x460944001040", "true_sharing", [3, 1, 4, 2, 3]),
            ("0x4609440010c0", "undecided", [2, 0, 2, 0, 2]),
            // Never found modified, so it is not among perf's.
            ("0x460944001080", "read_only", [0, 0, 3, 0, 2]),
        ];
        assert_eq!(found, expected.map(|(address, word, counts)| (address.to_string(), word.to_string(), counts)));
        let uses = memory["lines"][0]["uses"].as_array().unwrap();
        let used: Vec<_> =
            uses.iter().map(|it| (it["offset"].as_u64(), it["loads"].as_u64(), it["stores"].as_u64())).collect();
        assert_eq!(used, [(Some(0), Some(2), Some(6)), (Some(8), Some(9), Some(0))]);
        assert_eq!(uses[1]["threads"], serde_json::json!(["ContainerMgr 19993", "Streamz_RPC 20391"]));
        // 3 local and 2 remote loads of DRAM, and the remote cache's 5, all of node 1; 1 was on its way.
        let node = &memory["nodes"][1];
        assert_eq!(
            ["local", "remote_cache", "remote_dram", "unknown"].map(|key| node[key].as_u64().unwrap()),
            [3, 5, 2, 1]
        );
        let pair = |it: &Value| ["cpu_node", "memory_node", "dram", "cache"].map(|key| it[key].as_u64().unwrap());
        let pairs: Vec<_> = memory["pairs"].as_array().unwrap().iter().map(pair).collect();
        assert_eq!(pairs, [[1, 0, 2, 5], [1, 1, 3, 0]]);
        let stores: Vec<_> = levels(&report).into_iter().filter(|row| row.0 == "store l1").collect();
        assert!(stores.len() == 2 && stores.iter().all(|row| row.2.is_nan() && row.3.is_nan()), "not 0: {stores:?}");
    }
}

#[test]
fn json_with_accesses_and_pages_keeps_to_its_schema() {
    reports("perf.data.memory-5.17").iter().for_each(|report| keeps_to("report", report));
    let report = Report::build(&with_pages(), &ReportOptions::default()).unwrap();
    let bytes = export::json::report(&report).unwrap();
    let mut value: Value = serde_json::from_slice(&bytes).unwrap();
    assert!(value["places"]["nodes"].as_array().unwrap().len() == 2 && value["memory"]["accesses"] == 34, "{value}");
    keeps_to("report", &value);
    for path in [
        "/places/nodes/0/anonymous_bytes",
        "/memory/pairs/0/dram",
        "/places/expected_pairs/0/share",
        "/memory/nodes/1/local",
        "/memory/lines/0/uses/0/loads",
    ] {
        let kept = std::mem::replace(value.pointer_mut(path).unwrap(), Value::from("many"));
        assert!(breach("report", &value).is_some(), "the schema takes a word for {path}");
        *value.pointer_mut(path).unwrap() = kept;
    }
}

#[test]
fn markdown_has_the_tables_of_the_text() {
    let report = Report::build(&with_pages(), &ReportOptions::default()).unwrap();
    let markdown = String::from_utf8(export::markdown::report(&report)).unwrap();
    for expected in [
        "### Memory by node",
        "pages of 1 process at 1.00 s: 2 NUMA nodes",
        "| node | anonymous | files and shared | huge pages | threads | samples |",
        "| 1 | 0 B | 3.15 MB | 0 B |",
        "34 sampled: 26 loads, 8 stores",
        "locked 4",
        "| CPUs of | local | remote cache | remote DRAM | unknown | remote |",
        "| node 1 | 3 | 5 | 2 | 1 | 70.0% |",
        "| CPUs of | memory of node 0 | memory of node 1 |",
        "| CPUs of | answered by | DRAM | cache | mean | median cycles |",
        "| node 1 | node 0 | 2 | 5 |",
    ] {
        assert!(markdown.contains(expected), "{expected}: {markdown}");
    }
}

#[test]
fn code_is_ranked_by_where_its_data_was() {
    let (dir, path) = (Dir::new(), fixture("perf.data.lines-written"));
    let path = path.to_str().unwrap();
    let text = dir.ironlaw(&["report", "-i", path, "--sort", "mem,dso"]).succeeds().out;
    assert!(text.contains("share of the cycles of 34 sampled memory accesses"), "{text}");
    let row = text.lines().find(|line| line.contains("load from remote DRAM")).unwrap();
    assert!(row.contains("17.08%") && row.contains("borglet"), "{row}");
    assert!(text.contains("false sharing: threads use different bytes of it, and it is written"), "{text}");
    let markdown = dir.ironlaw(&["report", "-i", path, "--format", "md"]).succeeds().out;
    assert!(markdown.contains("### Shared cache lines") && markdown.contains("`Streamz_RPC 20391`"), "{markdown}");
    let none = fixture("perf.data.callgraph-3.8");
    let refused = dir.ironlaw(&["report", none.to_str().unwrap(), "--by", "memory"]);
    assert!(refused.code == Some(1) && refused.err.contains("perf mem record"), "{}", refused.err);
}

/// On a machine that samples none, as most virtual ones, the refusal says why.
#[test]
fn memory_accesses_are_sampled_live_or_refused_with_the_reason() {
    require!("perf");
    let dir = Dir::new();
    let load = [WORKLOADS, "workload", "stream", "--threads=2", "--seconds=3"];
    let ran = dir.ironlaw(&[&["-q", "record", "--mem", "-o", "run", "--"], &load[..]].concat());
    if ran.code == Some(0) {
        let report = dir.report("run.ironlaw", "");
        keeps_to("report", &report);
        assert!(report["memory"]["accesses"].as_u64() > Some(0) && report["places"]["at_s"].is_f64(), "{report}");
    } else {
        let expected = ["memory accesses cannot be sampled here: ", "the kernel refused event "];
        assert!(ran.code == Some(1) && expected.iter().any(|text| ran.err.contains(text)), "{}", ran.err);
        assert!(!dir.join("run.ironlaw").exists(), "nothing is left behind");
    }
}

#[test]
fn pages_and_threads_of_a_running_program_are_recorded_by_node() {
    require!("perf");
    let dir = Dir::new();
    dir.record("run", "", "spin --threads 2 --seconds 3");
    let report = dir.report("run.ironlaw", "");
    let places = &report["places"];
    assert!(places["at_s"].as_f64().unwrap() > 0.4 && places["processes"] == 1, "{places}");
    let nodes = places["nodes"].as_array().unwrap();
    let sum = |key: &str| nodes.iter().map(|node| node[key]["value"].as_f64().unwrap()).sum::<f64>();
    assert!(sum("anonymous_bytes") > 65536.0 && sum("file_bytes") > 65536.0, "{places}");
    assert!((sum("cpu_share") - 1.0).abs() < 1e-9, "{places}");
    assert!(nodes.iter().map(|node| node["threads"].as_u64().unwrap()).sum::<u64>() >= 2, "{places}");
    let text = dir.line("report run.ironlaw").succeeds().out;
    assert_eq!(text.contains("one NUMA node: all memory is local"), nodes.len() == 1, "{text}");
    assert_eq!(places["expected_remote"]["value"] == 0.0, nodes.len() == 1, "{places}");
    let pairs = places["expected_pairs"].as_array().unwrap();
    assert!((pairs.iter().map(|pair| pair["share"].as_f64().unwrap()).sum::<f64>() - 1.0).abs() < 1e-9, "{places}");
}
