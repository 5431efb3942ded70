//! The report and the flame graph of one small profile, in every format.

use ironlaw::model;

use crate::synthetic::{Synthetic, ms};
use ironlaw::analysis::{Axis, GroupKey, Selection, TimeRange};
use ironlaw::export;
use ironlaw::export::svg::SvgOptions;
use ironlaw::view::flame::{FlameGraph, FlameOptions};
use ironlaw::view::report::{Report, ReportOptions};
use model::profile::Profile;
use model::{InstructionClass, LossKind, Note, Scope, StackEnd, Target, TaskChange, TaskState};

/// A server with two workers on a machine without hardware counters; one function has a hostile name.
fn profile() -> Profile {
    let mut s = Synthetic::new();
    s.weight = 1_003_009;
    s.meta.plan.off_cpu = true;
    s.meta.sample_cost_ns = Some(5_500);
    s.meta.plan.target = Target::Processes { pids: vec![41], children: false };
    s.meta.notes = vec![Note {
        topic: "no-pmu".to_string(),
        text: "No hardware counters in this virtual machine: samples come from the CPU clock.".to_string(),
        fix: Some("Have the host expose its PMU.".to_string()),
    }];
    s.alive(41, "redis-server").alive(42, "io_thd_1").alive(43, "io_thd_2");
    s.task(2_000, 41, 44, TaskChange::Born { parent: 41, comm: "bio_lazy_free".to_string() });
    s.task(2_004, 41, 44, TaskChange::Ended);
    samples(&mut s);
    waits(&mut s);
    counters(&mut s);
    s.lost(500, LossKind::Ring, 3);
    s.finish()
}

const MAIN: &str = "/usr/bin/redis-server!_start;/usr/lib/libc.so.6!__libc_start_main;/usr/bin/redis-server!main";

fn samples(s: &mut Synthetic) {
    let lookup = format!("{MAIN};/usr/bin/redis-server!processCommand;/usr/bin/redis-server!dictFindHash < dictFind");
    let send = format!("{MAIN};/usr/lib/libc.so.6!write;[kernel]!entry_SYSCALL_64;[kernel]!tcp_sendmsg");
    let long = "/usr/bin/redis-server!std::unordered_map<std::string, redis::Object*, redis::SipHash>::\
                find_or_insert_default(std::string const&, redis::Object*) const";
    s.samples(100, 41, &lookup, 520)
        .samples(105, 42, &send, 210)
        .samples(110, 43, &format!("{MAIN};{long}"), 90)
        .samples(120, 43, "[jit]!lua:call;[jit]!+0x7f00", 40)
        .samples(130, 41, "/usr/lib/libm.so.6!+0x2a40", 20)
        .ended(140, 42, "/usr/bin/redis-server!deep", 80, StackEnd::Truncated)
        .samples(150, 43, "/usr/bin/redis-server!</text><script>alert(1)</script>", 25)
        .samples(2_001, 44, "/usr/bin/redis-server!\u{1b}[31mlazy\u{202e}eerf", 5)
        .samples(200, 41, "", 10);
}

fn waits(s: &mut Synthetic) {
    let futex =
        format!("{MAIN};/usr/lib/libc.so.6!pthread_cond_wait;[kernel]!do_futex;[kernel]!futex_wait;[kernel]!schedule");
    let epoll = format!("{MAIN};/usr/bin/redis-server!aeProcessEvents;[kernel]!ep_poll;[kernel]!schedule");
    let fault = format!("{MAIN};/usr/bin/redis-server!rdbLoad;[kernel]!io_schedule;[kernel]!schedule");
    for n in 0..40 {
        s.off_cpu(100 + n * 100, 42, TaskState::Sleeping, 60, Some(1), &futex);
    }
    s.off_cpu(1_000, 41, TaskState::Sleeping, 900, None, &epoll)
        .off_cpu(3_000, 41, TaskState::DiskSleep, 35, Some(0), &fault)
        .off_cpu(4_000, 43, TaskState::Runnable, 0, Some(12), MAIN)
        .off_cpu(5_000, 43, TaskState::Sleeping, 5, Some(0), MAIN);
}

fn counters(s: &mut Synthetic) {
    for counter in ["cycles", "instructions", "cgroup-periods", "cgroup-throttled-periods", "cgroup-throttled-time"] {
        s.define(counter);
    }
    for second in 1..=10 {
        let at = second * 1000;
        for (counter, per_second) in [
            ("task-clock", ms(1_870).0),
            ("thread-time", ms(3_000).0),
            ("user-time", ms(1_500).0),
            ("system-time", ms(370).0),
            ("run-delay", ms(21).0),
            ("blkio-delay", ms(4).0),
            ("voluntary-switches", 310),
            ("involuntary-switches", 12),
            ("migrations", 2),
            ("minor-faults", 1_234),
            ("major-faults", 0),
        ] {
            s.reading(counter, Scope::Target, at, per_second * second);
        }
        for (tid, cpu) in [(41, 990), (42, 480), (43, 400)] {
            s.reading("task-clock", Scope::Thread(tid), at, ms(cpu).0 * second);
            s.reading("run-delay", Scope::Thread(tid), at, ms(7).0 * second);
            s.reading("voluntary-switches", Scope::Thread(tid), at, 100 * second);
            s.reading("involuntary-switches", Scope::Thread(tid), at, 4 * second);
        }
        s.reading("host-time", Scope::Host, at, ms(2_000).0 * second);
        s.reading("host-busy", Scope::Host, at, ms(1_930).0 * second);
        s.reading("host-steal", Scope::Host, at, ms(11).0 * second);
        s.reading("psi-cpu-some", Scope::Host, at, ms(43).0 * second);
        s.reading("tool-cpu", Scope::Tool, at, ms(6).0 * second);
        s.reading("tool-memory", Scope::Tool, at, 33_900_000);
        s.tick(at, 1000);
    }
}

fn report(change: impl FnOnce(&mut ReportOptions)) -> Report {
    let mut options = ReportOptions::default();
    change(&mut options);
    Report::build(&profile(), &options).expect("the selection can be met")
}

fn text(report: &Report, style: export::text::Style) -> String {
    String::from_utf8(export::text::report(report, style)).expect("text is UTF-8")
}

#[test]
fn the_text_report() {
    insta::assert_snapshot!(text(&report(|_| ()), export::text::Style::default()));
}

#[test]
fn the_text_report_by_module_of_some_threads_in_part_of_the_time() {
    let report = report(|options| {
        options.by = vec![GroupKey::Module];
        let time = TimeRange::parse("1.5s-4s").expect("a range");
        options.selection = Selection { comms: vec!["io_*".to_string()], time, ..Selection::default() };
    });
    insta::assert_snapshot!(text(&report, export::text::Style { width: Some(120), colour: false }));
}

/// Two threads that are short of CPUs and wait for each other's lock, in functions with hostile names.
fn held_up() -> Report {
    let mut s = Synthetic::new();
    (s.weight, s.meta.plan.off_cpu) = (ms(10).0, true);
    s.alive(42, "io_thd_1").alive(43, "\u{1b}[31mred`|").tick(10_000, 10_000);
    let long =
        "/usr/bin/redis-server!std::unordered_map<std::string, redis::Object*>::find_or_insert(std::string const&)";
    for tid in [42, 43] {
        s.samples(0, tid, &format!("{MAIN};{long}"), 150).samples(1, tid, &format!("{MAIN};app!\u{1b}[2Jx`y|z"), 140);
        let lock = format!("{MAIN};app!\u{1b}[2Jx`y|z;/usr/lib/libc.so.6!__lll_lock_wait;[kernel]!futex_wait");
        for n in 0..60 {
            s.off_cpu(n * 100, tid, TaskState::Sleeping, 90, Some(5), &lock);
        }
        s.reading("task-clock", Scope::Thread(tid), 10_000, ms(2_900).0);
        s.reading("run-delay", Scope::Thread(tid), 10_000, ms(1_500).0);
    }
    for (counter, value) in
        [("task-clock", ms(5_800).0), ("run-delay", ms(3_000).0), ("timeslices", 900), ("thread-time", ms(20_000).0)]
    {
        s.reading(counter, Scope::Target, 10_000, value);
    }
    s.reading("host-time", Scope::Host, 10_000, ms(20_000).0).reading("host-busy", Scope::Host, 10_000, ms(19_900).0);
    Report::build(&s.finish(), &ReportOptions::default()).expect("the selection can be met")
}

fn section<'a>(page: &'a str, from: &str, to: &str) -> &'a str {
    let page = &page[page.find(from).expect("it has findings")..];
    &page[..page.find(to).expect("metrics follow")]
}

#[test]
fn findings_stand_before_the_tables() {
    let report = held_up();
    let page = text(&report, export::text::Style::default());
    insta::assert_snapshot!("findings_in_text", section(&page, "Findings", "Metrics"));
    let page = String::from_utf8(export::markdown::report(&report)).expect("Markdown is UTF-8");
    insta::assert_snapshot!("findings_in_markdown", section(&page, "### Findings", "### Metrics"));
}

#[test]
fn every_line_of_text_fits_its_width() {
    for (report, width) in [(report(|_| ()), 80), (report(|_| ()), 132), (held_up(), 80), (held_up(), 100)] {
        let page = text(&report, export::text::Style { width: Some(width), colour: false });
        for line in page.lines() {
            let columns = unicode_width::UnicodeWidthStr::width(line);
            assert!(columns <= width, "{columns} columns, not {width}: {line}");
        }
    }
}

#[test]
fn colour_adds_nothing_but_colour() {
    let plain = text(&report(|_| ()), export::text::Style { width: Some(80), colour: false });
    let coloured = text(&report(|_| ()), export::text::Style { width: Some(80), colour: true });
    let mut stripped = coloured.clone();
    for code in ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[33m"] {
        stripped = stripped.replace(code, "");
    }
    assert!(!plain.contains('\u{1b}') && coloured.contains('\u{1b}'));
    let trimmed = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    assert_eq!(trimmed(&stripped), trimmed(&plain));
}

#[test]
fn the_markdown_report() {
    insta::assert_snapshot!(String::from_utf8_lossy(&export::markdown::report(&report(|o| o.limit = 9))));
}

#[test]
fn the_csv_report() {
    insta::assert_snapshot!(String::from_utf8_lossy(&export::csv::report(&report(|o| o.limit = 9))).replace('\r', ""));
}

#[test]
fn the_json_report() {
    let bytes = export::json::report(&report(|o| (o.limit, o.detail_limit) = (3, 2))).expect("it can be written");
    insta::assert_snapshot!(String::from_utf8_lossy(&bytes));
}

/// Everything the schema says, on every shape of report: whole, by group, of blocked time, of an empty recording.
#[test]
fn json_keeps_to_its_schema() {
    let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
    let schema = serde_json::from_str(export::json::SCHEMA).expect("the schema is JSON");
    compiler.add_resource("report.json", schema).expect("the schema is added");
    let id = compiler.compile("report.json", &mut schemas).expect("the schema is a schema");
    let mut reports = vec![report(|_| ()), report(|o| o.by = vec![GroupKey::Thread])];
    reports.push(report(|o| o.selection.axis = Axis::OffCpu));
    reports.push(Report::build(&Synthetic::new().finish(), &ReportOptions::default()).expect("empty is no error"));
    let mut mixed = report(|_| ());
    let mut classes = [Some(InstructionClass::Locked), Some(InstructionClass::LoadStore), None].into_iter().cycle();
    mixed.add_mix(&profile(), &ReportOptions::default(), |_| classes.next().flatten());
    reports.push(mixed);
    for report in reports {
        let bytes = export::json::report(&report).expect("it can be written");
        let value = serde_json::from_slice(&bytes).expect("it is JSON");
        if let Err(error) = schemas.validate(&value, id) {
            panic!("{error:#}");
        }
    }
    let wrong = serde_json::json!({ "schema_version": 1, "samples": { "count": -1 } });
    assert!(schemas.validate(&wrong, id).is_err(), "the schema would take anything");
}

fn flame(axis: Axis) -> FlameGraph {
    let selection = Selection { axis, ..Selection::default() };
    FlameGraph::build(&profile(), &FlameOptions { selection, ..FlameOptions::default() })
        .expect("the selection can be met")
}

fn svg(flame: &FlameGraph, options: &SvgOptions) -> String {
    let bytes = export::svg::render(flame, options).expect("there is something to draw");
    String::from_utf8(bytes).expect("an SVG is UTF-8")
}

#[test]
fn the_flame_graph_is_well_formed_and_shows_each_share() {
    let picture = svg(&flame(Axis::Event(0)), &SvgOptions::default());
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    let document = roxmltree::Document::parse_with_options(&picture, options).expect("well-formed XML");
    let titles: Vec<_> =
        document.descendants().filter(|node| node.has_tag_name("title")).filter_map(|node| node.text()).collect();
    for expected in [
        "all (1,000 samples, 100%)",
        "main (820 samples, 82.00%)",
        "dictFindHash (520 samples, 52.00%)",
        "tcp_sendmsg (210 samples, 21.00%)",
        "[truncated stack] (80 samples, 8.00%)",
        "</text><script>alert(1)</script> (25 samples, 2.50%)",
        "␛[31mlazy\\u{202e}eerf (5 samples, 0.50%)",
    ] {
        assert!(titles.contains(&expected), "{expected} is not in {titles:#?}");
    }
    let scripts = document.descendants().filter(|node| node.has_tag_name("script")).count();
    assert_eq!(scripts, 1, "only inferno's own");
}

#[test]
fn equal_flame_graphs_are_equal_bytes_in_every_palette_and_direction() {
    for palette in ["kind", "hot", "java"] {
        for inverted in [false, true] {
            let options = SvgOptions { inverted, palette: palette.to_string(), ..SvgOptions::default() };
            assert_eq!(svg(&flame(Axis::Event(0)), &options), svg(&flame(Axis::Event(0)), &options));
        }
    }
    let unknown = SvgOptions { palette: "plaid".to_string(), ..SvgOptions::default() };
    assert!(export::svg::render(&flame(Axis::Event(0)), &unknown).is_err());
}

#[test]
fn blocked_time_is_drawn_in_time_with_the_queue_apart() {
    let picture = svg(&flame(Axis::OffCpu), &SvgOptions::default());
    assert!(picture.contains("futex_wait (2,440,000 us"), "blocked and queued under one wait");
    assert!(picture.contains("[waiting for a CPU] (40,000 us"));
}

/// A space, a bracket and a dot sort before the `;` that ends a name in a line.
#[test]
fn names_that_sort_before_a_semicolon_do_not_tear_frames_apart() {
    let mut s = Synthetic::new();
    s.samples(0, 41, "app!operator", 1).samples(0, 41, "app!operator new;app!x", 2).samples(
        0,
        41,
        "app!operator;app!y",
        4,
    );
    s.samples(0, 41, "app!operator(int)", 8);
    let flame = FlameGraph::build(&s.finish(), &FlameOptions::default()).expect("the selection can be met");
    assert!(svg(&flame, &SvgOptions::default()).contains("operator (5 samples"));
}

/// Weights no capture can have, from a damaged recording.
#[test]
fn absurd_weights_neither_panic_nor_vanish() {
    let mut s = Synthetic::new();
    s.weight = u64::MAX;
    s.samples(0, 41, "app!main;app!a", 2);
    s.weight = u64::MAX / 2;
    s.samples(0, 41, "app!main;app!b", 2);
    let profile = s.finish();
    let flame = FlameGraph::build(&profile, &FlameOptions::default()).expect("the selection can be met");
    assert!(svg(&flame, &SvgOptions::default()).contains("main ("));
    let report = Report::build(&profile, &ReportOptions::default()).expect("the selection can be met");
    assert!(report.functions.iter().all(|row| (0.0..=1.0).contains(&row.total_share)));
}

#[test]
fn the_folded_stacks() {
    insta::assert_snapshot!(String::from_utf8_lossy(&export::folded::render(&flame(Axis::Event(0)), true)));
}

#[test]
fn a_selection_that_nothing_can_meet_is_refused_with_what_to_do() {
    let plain = Synthetic::new().finish();
    let nobody = Selection { comms: vec!["nginx".to_string()], ..Selection::default() };
    for (profile, selection, message) in [
        (&profile(), nobody, "no thread of the recording is selected"),
        (&plain, Selection { axis: Axis::OffCpu, ..Selection::default() }, "the recording holds no time off the CPU"),
        (&plain, Selection { axis: Axis::Event(7), ..Selection::default() }, "the recording has no event number 7"),
    ] {
        let options = FlameOptions { selection: selection.clone(), ..FlameOptions::default() };
        let error = FlameGraph::build(profile, &options).expect_err("nothing can meet it");
        assert_eq!(error.to_string(), message);
        let options = ReportOptions { selection, ..ReportOptions::default() };
        assert!(Report::build(profile, &options).is_err());
    }
    let error = export::svg::render(
        &FlameGraph::build(&plain, &FlameOptions::default()).expect("an empty selection can be met"),
        &SvgOptions::default(),
    );
    assert_eq!(
        error.expect_err("nothing to draw").to_string(),
        "there is nothing to draw: no samples in this selection"
    );
}

#[test]
fn what_was_found_comes_first_and_what_is_missing_after_it_and_once() {
    let mut report = report(|_| ());
    let shown = |report: &Report| {
        let page = text(report, export::text::Style::default());
        let markdown = String::from_utf8(export::markdown::report(report)).expect("Markdown is UTF-8");
        [page, markdown]
    };
    for page in shown(&report) {
        let at = |wanted: &str| page.find(wanted).unwrap_or_else(|| panic!("{wanted}: {page}"));
        assert!(at("Findings") < at("8.0% of the stacks") && at("8.0% of the stacks") < at("Recording"), "{page}");
        assert!(at("Recording") < at("missing") && at("missing") < at("Metrics"), "{page}");
        assert_eq!(page.matches("No hardware counters").count(), 1, "{page}");
        assert!(!page.contains("metrics of hardware events"), "{page}");
    }
    report.all_notes = true;
    for page in shown(&report) {
        assert!(page.contains("metrics of hardware events"), "{page}");
        let begins = |note: &Note| note.text.split_whitespace().take(4).collect::<Vec<_>>().join(" ");
        report.notes.iter().for_each(|note| assert!(page.contains(&begins(note)), "{}: {page}", note.text));
    }
}

#[test]
fn thin_or_damaged_evidence_is_said_at_the_top_and_once() {
    let mut s = Synthetic::new();
    s.ended(0, 41, "app!f", 40, StackEnd::Broken).lost(10, LossKind::Ring, 10);
    s.meta.notes = vec![Note { topic: "lost-records".to_string(), text: "Rings overflowed.".to_string(), fix: None }];
    let report = Report::build(&s.finish(), &ReportOptions::default()).expect("the selection can be met");
    let topics: Vec<_> = report.notes.iter().map(|note| note.topic.as_str()).collect();
    assert_eq!(topics, ["lost-records", "few-samples", "late-samples", "broken-stacks"]);
}
