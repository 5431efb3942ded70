//! What load generators really print and write, and what nobody should.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::bins::LatencyBins;
use super::file::LatencyFiles;
use super::generators::parse;
use super::histogram::{self, Growth};
use super::log_line::{Ended, Format};
use super::output::OutputLatencies;
use super::{hostile, page};
use crate::model::{CallGraph, LatencyCount, LatencySpec, LoadGenerator, Plan, Rate, Target, TimeUnit};
use crate::ops::output::Stream;
use crate::units::Nanos;
use proptest::prelude::*;
use std::io::Write;
use std::path::Path;

macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!("../../../tests/fixtures/latency/", $name))
    };
}

/// The bounds within which the operation of a rank lies, nanoseconds.
fn at_rank(rows: &[LatencyCount], rank: u64) -> (u64, Option<u64>) {
    let nth = |mut ends: Vec<(u64, u64)>| {
        ends.sort_unstable();
        let mut before = 0;
        ends.into_iter().find_map(|(end, count)| {
            before += count;
            (before >= rank).then_some(end)
        })
    };
    let low = nth(rows.iter().map(|row| (row.low.0, row.count)).collect()).unwrap();
    let high = nth(rows.iter().map(|row| (row.high.map_or(u64::MAX, |high| high.0), row.count)).collect()).unwrap();
    (low, Some(high).filter(|high| *high < u64::MAX))
}

fn rows(generator: LoadGenerator, text: &str, arguments: &str) -> Vec<LatencyCount> {
    let arguments: Vec<_> = arguments.split_whitespace().map(String::from).collect();
    parse(generator, text, &arguments).unwrap().bins.take(Nanos(1))
}

fn count(rows: &[LatencyCount]) -> u64 {
    rows.iter().map(|row| row.count).sum()
}

/// The middle of where the operation of that share lies, microseconds to a tenth.
fn quantile_us(rows: &[LatencyCount], share: f64) -> f64 {
    let (low, high) = at_rank(rows, (count(rows) as f64 * share).ceil() as u64);
    let middle = (low as f64 + high.unwrap() as f64 - 1.0) / 2.0;
    (middle / 100.0).round() / 10.0
}

fn check(generator: LoadGenerator, text: &str, arguments: &str, operations: u64, expected: &[(f64, f64)]) {
    let rows = rows(generator, text, arguments);
    assert_eq!(count(&rows), operations, "{generator:?}");
    for (share, us) in expected {
        assert_eq!(quantile_us(&rows, *share), *us, "{generator:?} {share}");
    }
}

#[test]
fn printed_quantiles_of_real_output_come_out_as_printed() {
    use LoadGenerator::{Fio, RedisBenchmark, Sysbench, Wrk};
    let wrk = &[(0.5, 50.0), (0.75, 55.0), (0.9, 63.0), (0.99, 178.0), (1.0, 2960.0)];
    check(Wrk, fixture!("wrk.txt"), "", 270_289, wrk);
    // The middle of a step of 8 us that ends with what is printed.
    let median = &[(0.5, 60.0)];
    check(RedisBenchmark, fixture!("redis-benchmark-q.txt"), "-n 20000 -q", 40_000, median);
    check(RedisBenchmark, fixture!("redis-benchmark-csv.txt"), "-n 20000 --csv", 40_000, &[(0.5, 60.0)]);
    check(RedisBenchmark, fixture!("redis-benchmark.txt"), "-n 20000", 40_000, &[(0.5, 60.0)]);
    check(Sysbench, fixture!("sysbench.txt"), "", 16_902, &[(0.95, 270.1)]);
    check(Sysbench, fixture!("sysbench-histogram.txt"), "", 17_717, &[(0.5, 218.0), (1.0, 2264.1)]);
    check(Fio, fixture!("fio.json"), "", 14_249, &[(0.5, 55.6), (0.99, 132.1), (0.999, 3850.2)]);
}

#[test]
fn the_full_output_of_redis_benchmark_counts_every_step() {
    let one = fixture!("redis-benchmark.txt").split("====== GET").next().unwrap();
    let rows = rows(LoadGenerator::RedisBenchmark, one, "");
    assert_eq!(count(&rows), 20_000);
    assert_eq!(at_rank(&rows, 1), (16_000, Some(24_000)));
    assert_eq!(at_rank(&rows, 10_000), (56_000, Some(64_000)));
    assert_eq!(at_rank(&rows, 13_250), (56_000, Some(64_000)), "as many took at most that");
    assert_eq!(at_rank(&rows, 13_251), (64_000, Some(72_000)));
    assert_eq!(at_rank(&rows, 19_600), (128_000, Some(160_000)), "between two lines");
    assert_eq!(at_rank(&rows, 19_800), (168_000, Some(176_000)), "the p99 of the summary");
    assert_eq!(at_rank(&rows, 19_850), (192_000, Some(208_000)), "narrowed by the second table");
    assert_eq!(at_rank(&rows, 20_000), (608_000, Some(616_000)));
}

#[test]
fn fio_prints_both_directions_and_json_plus_every_step() {
    let rows = rows(LoadGenerator::Fio, fixture!("fio.txt"), "");
    assert_eq!(count(&rows), 16_675 + 16_682);
    let (low, high) = at_rank(&rows, count(&rows));
    assert!(low <= 15_930_000 && 15_930_000 < high.unwrap() && high.unwrap() - low < 10_000, "{low} {high:?}");
    let plus = self::rows(LoadGenerator::Fio, fixture!("fio-plus.json"), "");
    let exact = plus.iter().filter(|row| row.high.unwrap().0 - row.low.0 <= row.low.0 / 63).count();
    assert_eq!(exact, plus.len(), "steps of 1.6%");
}

#[test]
fn summaries_of_programs_that_are_not_installed_here_follow_their_documentation() {
    let wrk2 = "  Latency Distribution (HdrHistogram - Recorded Latency)\n 50.000%    6.67ms\n 99.000%   11.18ms\n\n  \
                Detailed Percentile spectrum:\n       Value   Percentile   TotalCount 1/(1-Percentile)\n\n       \
                0.921     0.000000            1         1.00\n       6.675     0.500000        19800         2.00\n      \
                12.503     1.000000        39500          inf\n#[Mean    =        6.5, StdDeviation   =        1.9]\n\
                #[Max     =       12.496, Total count    =        39500]\n#[Buckets =           27, SubBuckets     =         \
                2048]\n  60018 requests in 30.00s, 19.81MB read\n";
    let rows = rows(LoadGenerator::Wrk2, wrk2, "");
    assert_eq!((count(&rows), at_rank(&rows, 19_750)), (39_500, (6_667_981, Some(6_675_501))));
    let brief = wrk2.split("  Detailed").next().unwrap().to_string() + "  60018 requests in 30.00s, 19.81MB read\n";
    check(LoadGenerator::Wrk2, &brief, "", 60_018, &[(0.99, 11_180.0)]);
    let db_bench = "Microseconds per read:\nCount: 30 Average: 4.1  StdDev: 2.0\nMin: 0  Median: 3.0  Max: 14\n\
                    Percentiles: P50: 3.00 P75: 5.00 P99: 14.00\n------\n[       0,       1 ]        4  13.333%  13.333% ###\n\
                    (       3,       4 ]       20  66.667%  80.000% ####\n(      10,      15 ]        6  20.000% 100.000% #\n";
    let rows = self::rows(LoadGenerator::DbBench, db_bench, "");
    assert_eq!((count(&rows), at_rank(&rows, 1), at_rank(&rows, 10)), (30, (0, Some(2_000)), (4_000, Some(5_000))));
    assert_eq!(at_rank(&rows, 30), (11_000, Some(15_000)));
}

#[test]
fn output_without_latencies_says_how_to_get_them() {
    let without = |text: &'static str| fixture!("wrk.txt").replace(text, "");
    for (generator, text, says) in [
        (LoadGenerator::Wrk, without("%"), "--latency"),
        (LoadGenerator::Wrk, "connection refused\n".to_string(), "wrk -d TIME"),
        (LoadGenerator::RedisBenchmark, "Could not connect\n".to_string(), "to its end"),
        (LoadGenerator::Sysbench, String::new(), "to its end"),
        (LoadGenerator::Fio, "fio: bad option\n{\n  \"jobs\" : [\n".to_string(), "--output-format=json"),
        (LoadGenerator::DbBench, "readrandom : 3.1 micros/op\n".to_string(), "--histogram"),
    ] {
        let error = parse(generator, &text, &[]).unwrap_err();
        assert!(error.remedy().unwrap().contains(says), "{generator:?} {error:?}");
    }
    let found = parse(LoadGenerator::Pgbench, fixture!("pgbench.txt"), &[]).unwrap();
    assert!(found.bins.count() == 74_820 && found.lacks.unwrap().1.contains("--log"));
}

fn plan(latency: LatencySpec, command: &str) -> Plan {
    let argv = command.split_whitespace().map(String::from).collect();
    let mut plan = Plan::new(Target::Command { argv }, Rate::Frequency(99), CallGraph::None);
    plan.latency = Some(latency);
    plan
}

#[test]
fn matches_in_output_are_operations_and_numbers_without_a_unit_are_noted() {
    let spec = |unit| LatencySpec::Matches { pattern: "took ([0-9.]+ ?[a-z]*)".into(), unit };
    let mut found = OutputLatencies::of(&plan(spec(None), "./app")).unwrap().unwrap();
    found.take(Stream::Out, b"took 12 m");
    found.take(Stream::Err, b"took 3us\n");
    found.take(Stream::Out, b"s\ntook 5\n\xff\xfe took 7 s and took 9ms");
    assert_eq!(count(&found.rows(Nanos(5))), 2, "the last line is unfinished");
    found.take(Stream::Out, b"");
    let (rows, notes) = found.finish(Nanos(9));
    assert_eq!((count(&rows), rows[0].at), (2, Nanos(9)));
    assert!(notes.len() == 1 && notes[0].text.contains("1 of 5 matches"), "{notes:?}");
    let mut found = OutputLatencies::of(&plan(spec(Some(TimeUnit::Milliseconds)), "./app")).unwrap().unwrap();
    found.take(Stream::Out, b"took 5\n");
    let (rows, notes) = found.finish(Nanos(9));
    assert!(notes.is_empty() && rows[0].low.0 <= 5_000_000 && 5_000_000 < rows[0].high.unwrap().0, "{rows:?}");
}

#[test]
fn a_command_that_is_no_load_generator_is_refused_and_one_that_printed_nothing_noted() {
    let output = |generator| LatencySpec::Output { generator };
    let error = OutputLatencies::of(&plan(output(None), "./bench.sh")).unwrap_err();
    assert!(error.to_string().contains("./bench.sh") && error.remedy().unwrap().contains("output:NAME"), "{error}");
    let mut attached = plan(output(None), "wrk");
    attached.target = Target::Processes { pids: vec![1], children: false };
    assert!(OutputLatencies::of(&attached).unwrap_err().remedy().unwrap().contains("-- CMD"));
    attached.beside = Some(vec!["/usr/bin/wrk".into()]);
    let mut found = OutputLatencies::of(&attached).unwrap().unwrap();
    found.take(Stream::Out, b"unable to connect\n");
    let (rows, notes) = found.finish(Nanos(1));
    assert!(rows.is_empty() && notes[0].text.contains("no summary") && notes[0].fix.is_some(), "{notes:?}");
}

#[test]
fn of_endless_output_only_the_end_is_kept() {
    let mut found = OutputLatencies::of(&plan(LatencySpec::Output { generator: None }, "wrk")).unwrap().unwrap();
    let line = vec![b'x'; 1 << 20];
    (0..40).for_each(|_| found.take(Stream::Out, &line));
    found.take(Stream::Out, format!("\n{}", fixture!("wrk.txt")).as_bytes());
    let (rows, notes) = found.finish(Nanos(1));
    assert!(count(&rows) == 270_289 && notes.len() == 1 && notes[0].text.contains("only the last"), "{notes:?}");
}

const SECOND: Nanos = Nanos(1_000_000_000);

fn files(path: &Path, unit: Option<TimeUnit>, start_unix_ns: u64) -> LatencyFiles {
    LatencyFiles::new(path.to_path_buf(), unit, SECOND, start_unix_ns)
}

#[test]
fn transactions_belong_to_the_second_that_they_ended_in() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pgbench_log");
    // A transaction of the log ended 0.43 s after the start of a session that began at its second.
    let mut files = files(&path, None, 1_795_533_629_200_000_000);
    assert!(files.read(Nanos(0)).is_err() && !files.has_begun());
    let text = fixture!("pgbench_log.300");
    let (first, rest) = text.split_at(4000);
    std::fs::write(dir.path().join("pgbench_log.18064"), first).unwrap();
    std::fs::write(dir.path().join("pgbench_log.18064.1"), "0 1 500 0 1795533628 5\n0 2 failed 0 1795533630 9\n")
        .unwrap();
    std::fs::write(dir.path().join("pgbench_log.old"), "not one of them").unwrap();
    let known = files.read(Nanos(1_900_000_000)).unwrap();
    assert!(known.is_empty(), "the window is not over");
    std::fs::File::options()
        .append(true)
        .open(dir.path().join("pgbench_log.18064"))
        .unwrap()
        .write_all(rest.as_bytes())
        .unwrap();
    let all = files.finish(Nanos(1_950_000_000)).unwrap();
    assert_eq!((count(&all), files.early, files.without), (300, 1, 1));
    assert!(all.iter().all(|row| row.at == Nanos(1_950_000_000)), "the window ends with the session");
    // 300 transactions sorted by their third column.
    let mut us: Vec<u64> = text.lines().map(|line| line.split(' ').nth(2).unwrap().parse().unwrap()).collect();
    us.sort_unstable();
    for rank in [1, 150, 270, 297, 300] {
        let (low, high) = at_rank(&all, rank);
        let exact = us[rank as usize - 1] * 1000;
        assert!(
            low <= exact && exact < high.unwrap() && high.unwrap() - low <= 1001 + exact / 500,
            "{rank} {low} {exact}"
        );
    }
}

#[test]
fn what_a_file_held_before_does_not_count_unless_it_is_written_anew() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("lat");
    std::fs::write(&path, "1 ms\n2 ms\n").unwrap();
    let mut files = files(&path, None, 0);
    assert!(files.read(Nanos(1)).unwrap().is_empty());
    std::fs::write(&path, "1 ms\n2 ms\n3 ms\n4 m").unwrap();
    assert_eq!(count(&files.read(SECOND).unwrap()), 1);
    std::fs::write(&path, "9 ms\n").unwrap();
    assert_eq!(count(&files.read(Nanos(2 * SECOND.0)).unwrap()), 1, "shorter");
    std::fs::write(&path, "8 ms\n8 ms\n8 ms").unwrap();
    let rows = files.finish(Nanos(3 * SECOND.0)).unwrap();
    assert_eq!(count(&rows), 3, "another beginning, and a last line without its end");
}

#[test]
fn formats_are_known_by_their_first_line_and_what_says_no_quantiles_is_refused() {
    let ms = Some(TimeUnit::Milliseconds);
    for (line, unit, expected) in [
        ("0 1 830 0 1795533630 279547", None, Some(Format::Transactions)),
        ("0 1 830 0 1795533630 279547 99 0", None, Some(Format::Transactions)),
        ("0 1 failed 0 1795533630 279547", None, Some(Format::Transactions)),
        ("0, 249774, 0, 4096, 0", None, Some(Format::FioLog)),
        ("12.5 ms", None, Some(Format::Plain(None))),
        ("12.5", ms, Some(Format::Plain(ms))),
        ("{", None, Some(Format::FioJson)),
        ("  Value     Percentile TotalCount 1/(1-Percentile)", ms, Some(Format::Percentiles(TimeUnit::Milliseconds))),
        ("", None, None),
        ("# latencies", ms, None),
    ] {
        assert_eq!(Format::of(line, unit).unwrap(), expected, "{line}");
    }
    for (line, says) in [
        (fixture!("pgbench_log.aggregated").lines().next().unwrap(), "--aggregate-interval"),
        ("  Value     Percentile TotalCount 1/(1-Percentile)", "do not state their unit"),
        ("12.5", "none that is understood: '12.5'"),
        ("\u{1b}[31mred", "'?[31mred'"),
    ] {
        let error = Format::of(line, None).unwrap_err();
        assert!(error.to_string().contains(says) && error.remedy().is_some(), "{error}");
    }
    let line = fixture!("fio_lat.1.log").lines().next().unwrap();
    assert_eq!(Format::FioLog.operation(line).unwrap().0, Ended::After(0));
}

#[test]
fn a_file_of_a_whole_run_is_read_at_its_end() {
    let dir = tempfile::tempdir().unwrap();
    for (text, unit, operations) in [
        (fixture!("fio.json"), None, 14_249),
        (
            "Value Percentile TotalCount 1/(1-Percentile)\n\n1.5 0.5 10 2\n3.0 1.0 20 inf\n",
            Some(TimeUnit::Milliseconds),
            20,
        ),
    ] {
        let path = dir.path().join("out");
        let mut files = files(&path, unit, 0);
        assert!(files.read(Nanos(1)).is_err());
        std::fs::write(&path, text).unwrap();
        assert!(files.read(SECOND).unwrap().is_empty());
        let rows = files.finish(Nanos(2 * SECOND.0)).unwrap();
        assert_eq!((count(&rows), rows[0].at), (operations, Nanos(2 * SECOND.0)));
        // It does not belong to a session that finds it.
        let mut later = self::files(&path, unit, 0);
        later.read(Nanos(1)).unwrap();
        assert!(later.finish(SECOND).unwrap().is_empty());
        std::fs::remove_file(&path).unwrap();
    }
}

fn metrics(counts: &[(&str, f64)]) -> String {
    let line = |(labels, count): &(&str, f64)| format!("req_seconds_bucket{{{labels}}} {count}\n");
    counts.iter().map(line).collect::<String>() + "req_seconds_sum 3\nother_bucket{le=\"1\"} 9\n"
}

fn grown(growth: &mut Growth, text: &str) -> Vec<(u64, Option<u64>, u64)> {
    let mut bins = LatencyBins::default();
    growth.read(histogram::buckets(text, "req_seconds", &[]).unwrap(), 1e9, &mut bins);
    bins.take(Nanos(0)).into_iter().map(|row| (row.low.0, row.high.map(|high| high.0), row.count)).collect()
}

#[test]
fn what_cumulative_buckets_grew_by_are_the_operations_of_a_window() {
    let mut growth = Growth::default();
    let first = [("le=\"0.1\"", 5.0), ("le=\"+Inf\"", 7.0)];
    assert!(grown(&mut growth, &metrics(&first)).is_empty());
    let then = [("le=\"0.1\"", 8.0), ("le=\"0.5\"", 9.0), ("le=\"+Inf\"", 12.0)];
    let expected = [(0, Some(100_000_001), 3), (100_000_001, Some(500_000_001), 6)];
    // The bucket at 0.5 is new, as after a restart of a server that was rebuilt: it counts from nothing.
    assert_eq!(grown(&mut growth, &metrics(&then)), expected);
    let restarted = [("le=\"0.1\"", 2.0), ("le=\"0.5\"", 2.0), ("le=\"+Inf\"", 3.0)];
    assert_eq!(grown(&mut growth, &metrics(&restarted)), [(0, Some(100_000_001), 2), (500_000_001, None, 1)]);
    let other = [("le=\"0.1\",m=\"b\"", 1.0), ("le=\"+Inf\",m=\"b\"", 1.0)];
    assert_eq!(grown(&mut growth, &metrics(&other)), [(0, Some(100_000_001), 1)]);
    let back = [("le=\"0.1\"", 2.0), ("le=\"0.5\"", 3.0), ("le=\"+Inf\"", 4.0)];
    assert_eq!(grown(&mut growth, &metrics(&back)), [(100_000_001, Some(500_000_001), 1)]);
}

#[test]
fn what_is_no_histogram_says_what_it_is() {
    let text = "a{quantile=\"0.5\"} 1\na_sum 2\na_count 3\nb_total 4\nreq_seconds_bucket{le=\"1\",m=\"x\"} 1\n";
    for (name, labels, says, hint) in [
        ("a", vec![], "is a Prometheus summary", "export a histogram"),
        ("b_total", vec![], "not a histogram", "--ops"),
        ("req_second", vec![], "unknown metric 'req_second_bucket'", "req_seconds_bucket"),
        ("req_seconds", vec![("m".to_string(), "y".to_string())], "bears m=\"y\"", "m=\"x\""),
    ] {
        let error = histogram::buckets(text, name, &labels).unwrap_err();
        assert!(error.to_string().contains(says) && error.remedy().unwrap().contains(hint), "{error:?}");
    }
    for (name, unit) in
        [("a_seconds", Some(1e9)), ("a_ms", Some(1e6)), ("a_duration_microseconds", Some(1e3)), ("a", None)]
    {
        assert_eq!(histogram::unit(name).map(TimeUnit::ns), unit, "{name}");
    }
}

/// A page with latencies for two slots, as `ironlaw.h` lays it out.
fn latency_page(taken: u32, counts: &[(usize, u64)]) -> Vec<u8> {
    let (line, slots, steps) = (128_usize, 2_u32, 2369_usize);
    let mut bytes = vec![0; line * 3 + 2 * steps * 8];
    bytes[..8].copy_from_slice(b"IRONLAWP");
    let words = [1, line as u32, slots, taken].map(u32::to_ne_bytes).concat();
    bytes[8..24].copy_from_slice(&words);
    bytes[24..32].copy_from_slice(&77_u64.to_ne_bytes());
    bytes[32..40].copy_from_slice(&[1, steps as u32].map(u32::to_ne_bytes).concat());
    bytes[40..48].copy_from_slice(&(line as u64 * 3).to_ne_bytes());
    for (at, count) in counts {
        let at = line * 3 + at * 8;
        bytes[at..at + 8].copy_from_slice(&count.to_ne_bytes());
    }
    bytes
}

fn read_page(bytes: &[u8]) -> Result<page::Counts, crate::error::Error> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("page");
    std::fs::write(&path, bytes).unwrap();
    page::read(&path)
}

#[test]
fn the_steps_of_all_threads_in_a_page_are_added_up() {
    // 5 ns twice by one thread and once by the other, 129 ns, and one beyond all steps.
    let before = read_page(&latency_page(2, &[(5, 2)])).unwrap();
    let after = read_page(&latency_page(2, &[(5, 2), (2369 + 5, 1), (128, 1), (2368, 4)])).unwrap();
    let mut bins = LatencyBins::default();
    after.since(Some(&before), &mut bins);
    let found: Vec<_> =
        bins.take(Nanos(0)).into_iter().map(|row| (row.low.0, row.high.map(|it| it.0), row.count)).collect();
    assert_eq!(found, [(5, Some(6), 1), (128, Some(130), 1), (1 << 42, None, 4)]);
    let one = read_page(&latency_page(1, &[(5, 2), (2369 + 5, 1)])).unwrap();
    one.since(None, &mut bins);
    assert_eq!(bins.count(), 2, "no thread has taken the second slot");
}

#[test]
fn a_hostile_page_is_refused() {
    let whole = latency_page(2, &[]);
    for (at, value, says) in [
        (32, 0_u32, "counts no latencies"),
        (32, 2, "version 2"),
        (36, u32::MAX, "latencies have version"),
        (40, u32::MAX, "shorter"),
        (44, u32::MAX, "shorter"),
        (16, 65_536, "threads count latencies"),
    ] {
        let mut bytes = whole.clone();
        bytes[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        if at == 16 {
            bytes[20..24].copy_from_slice(&u32::MAX.to_ne_bytes());
        }
        let error = read_page(&bytes).unwrap_err();
        assert!(error.to_string().contains(says), "{at}: {error}");
    }
    assert!(read_page(&whole[..whole.len() - 1]).unwrap_err().to_string().contains("shorter"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Real output with a piece of it replaced by a number that no program should print.
    #[test]
    fn hostile_numbers_end_no_parser(
        which in 0..10_usize,
        at in any::<prop::sample::Index>(),
        number in prop::sample::select(vec!["1e400", "-1", "18446744073709551615", "99999999999999999999999", "nan", "\u{fffd}", "", "0", "0.0000000000000000000001"]),
    ) {
        let texts = [
            fixture!("wrk.txt"), fixture!("redis-benchmark.txt"), fixture!("redis-benchmark-q.txt"),
            fixture!("redis-benchmark-csv.txt"), fixture!("sysbench.txt"), fixture!("sysbench-histogram.txt"),
            fixture!("fio.txt"), fixture!("fio.json"), fixture!("pgbench.txt"), fixture!("fio_lat.1.log"),
        ];
        let text = texts[which];
        let digits: Vec<_> = text.match_indices(|c: char| c.is_ascii_digit()).map(|(at, _)| at).collect();
        let at = digits[at.index(digits.len())];
        let hostile = format!("{}{number}{}", &text[..at], &text[at + 1..]);
        hostile::parse_anything(hostile.as_bytes());
    }
}
