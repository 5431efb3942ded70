//! What a report warns of, and what it does not: each warning with its limit, its number and what to do.
#![expect(clippy::unwrap_used, reason = "tests")]

use crate::analysis::testing::{Synthetic, event};
use crate::analysis::{Coverage, Interpreted, KindLoss, Summary};
use crate::model::{
    CallGraph, EventKind, EventSpec, LossKind, Measure, Meta, ModuleKind, Note, Runtime, SampleSource, Target, Unit,
    Why,
};
use crate::view::notes::notes;

/// The metadata of a capture that sampled cycles, and nothing to warn of.
fn meta() -> Meta {
    let cycles = EventSpec { kind: EventKind::Hardware(0), ..event("cycles", Unit::Cycles) };
    Meta { events: vec![cycles], ..Synthetic::new().meta }
}

/// A thousand samples with whole stacks, all of the CPU time, and no loss.
fn summary() -> Summary {
    Summary {
        count: 1000,
        whole: 1000,
        truncated: 0,
        broken: 0,
        broken_in: None,
        interpreted: None,
        not_taken: 0,
        all_samples: 1000,
        lost: 0,
        losses: vec![],
        throttled: 0,
        off_cpu_lost: 0,
        waits: None,
        events: vec![],
        coverage: covered(1.0, 0.0),
        sampling: Measure::Missing(Why::NotRecorded),
        switching: Measure::Missing(Why::NotRecorded),
    }
}

#[test]
fn stacks_that_break_in_a_file_get_no_advice_about_generated_code() {
    let fix = |path: &str, kind| {
        let broken_in = Some((path.to_string(), kind));
        let found = notes(&meta(), &Summary { broken: 900, whole: 100, broken_in, ..summary() }).remove(0);
        (found.text.contains("most of them in nest"), found.fix.unwrap().contains("32-bit"))
    };
    assert_eq!(fix("/tmp/nest", ModuleKind::File), (true, true));
    assert_eq!(fix("[jit]", ModuleKind::Jit), (false, false));
}

fn covered(share: f64, error: f64) -> Measure<Coverage> {
    Measure::exact(Coverage { share, error, counter: "task-clock" })
}

fn topics(meta: &Meta, summary: &Summary) -> Vec<String> {
    notes(meta, summary).into_iter().map(|note| note.topic).collect()
}

/// The one note, which must have a remedy.
fn only(meta: &Meta, summary: &Summary) -> (String, String) {
    let mut found = notes(meta, summary);
    assert_eq!(found.len(), 1, "{found:?}");
    let note = found.remove(0);
    (note.text, note.fix.unwrap())
}

#[test]
fn a_complete_profile_has_no_note_and_every_limit_is_one_that_must_be_passed() {
    let quiet: [(&str, Summary); 8] = [
        ("nothing unusual", summary()),
        ("just enough samples", Summary { count: 100, ..summary() }),
        ("as many short stacks as are tolerated", Summary { truncated: 50, whole: 950, ..summary() }),
        ("as many broken stacks as are tolerated", Summary { broken: 50, whole: 950, ..summary() }),
        ("as many lost samples as are tolerated", Summary { lost: 10, all_samples: 990, ..summary() }),
        ("stacks that were not asked for", Summary { whole: 0, not_taken: 1000, ..summary() }),
        ("a coverage that its error explains", Summary { coverage: covered(0.90, 0.06), ..summary() }),
        ("little switching", Summary { switching: Measure::exact(0.05), ..summary() }),
    ];
    for (case, summary) in quiet {
        assert_eq!(topics(&meta(), &summary), [""; 0], "{case}");
    }
    let noted: [(&str, &str, Summary); 11] = [
        ("no samples", "no-samples", Summary { count: 0, all_samples: 0, whole: 0, ..summary() }),
        ("one sample", "few-samples", Summary { count: 1, whole: 1, ..summary() }),
        ("one sample too few", "few-samples", Summary { count: 99, ..summary() }),
        ("more short stacks", "truncated-stacks", Summary { truncated: 51, whole: 949, ..summary() }),
        ("more broken stacks", "broken-stacks", Summary { broken: 51, whole: 949, ..summary() }),
        ("all stacks broken", "broken-stacks", Summary { broken: 1000, whole: 0, ..summary() }),
        ("more lost samples", "lost-records", Summary { lost: 11, all_samples: 989, ..summary() }),
        ("losses beyond counting", "lost-records", Summary { lost: u64::MAX, all_samples: u64::MAX, ..summary() }),
        ("a low coverage", "low-coverage", Summary { coverage: covered(0.90, 0.04), ..summary() }),
        ("an impossible coverage", "high-coverage", Summary { coverage: covered(1.10, 0.04), ..summary() }),
        ("much switching", "switch-cost", Summary { switching: Measure::exact(0.051), ..summary() }),
    ];
    for (case, topic, summary) in noted {
        assert_eq!(topics(&meta(), &summary), [topic], "{case}");
        let note = notes(&meta(), &summary).remove(0);
        assert!(note.text.ends_with('.') && note.fix.is_some_and(|fix| fix.len() > 10), "{case}");
    }
}

#[test]
fn a_note_has_its_number_and_the_remedy_that_fits_the_capture() {
    let with = |call_graph| {
        let mut meta = meta();
        meta.plan.call_graph = call_graph;
        meta
    };
    let (short, broken) =
        (Summary { truncated: 250, whole: 750, ..summary() }, Summary { broken: 250, whole: 750, ..summary() });
    for (case, meta, summary, text, fix) in [
        ("few", meta(), Summary { count: 7, ..summary() }, "Only 7 samples", "at a higher --freq"),
        (
            "short, frame pointers",
            with(CallGraph::FramePointer),
            short.clone(),
            "25.0% of the stacks were cut",
            "--call-graph dwarf.",
        ),
        (
            "short, copied stacks",
            with(CallGraph::Dwarf { stack_bytes: 8192 }),
            short,
            "25.0% of the stacks were cut",
            "dwarf,65528",
        ),
        (
            "broken, frame pointers",
            with(CallGraph::FramePointer),
            broken.clone(),
            "25.0% of the stacks could not",
            "--call-graph dwarf",
        ),
        (
            "broken, copied stacks",
            with(CallGraph::Dwarf { stack_bytes: 8192 }),
            broken,
            "25.0% of the stacks could not",
            "--call-graph fp",
        ),
        ("lost", meta(), Summary { lost: 1000, ..summary() }, "50.0% of the samples were lost", "lower --freq"),
        (
            "too much",
            meta(),
            Summary { coverage: covered(1.2, 0.0), ..summary() },
            "stand for 120.0% of the CPU time",
            "--event cpu-clock",
        ),
    ] {
        let (found, remedy) = only(&meta, &summary);
        assert!(found.contains(text), "{case}: {found}");
        assert!(remedy.contains(fix), "{case}: {remedy}");
    }
    let mut counted = meta();
    counted.hardware.switch_cost_ns = Some(1500);
    let (text, _) = only(&counted, &Summary { switching: Measure::exact(0.125), ..summary() });
    assert!(text.contains("each context switch 1.50 us longer") && text.contains("12.5% of the CPU time"), "{text}");
}

#[test]
fn a_low_coverage_asks_for_root_only_where_whole_cpus_were_not_sampled() {
    let low = Summary { coverage: covered(0.5, 0.0), ..summary() };
    let (one, all) = (Target::Processes { pids: vec![41], children: false }, Target::Cpus { cpus: vec![] });
    for (samples, target, fix) in [
        (None, &one, "Record as root"),
        (Some(SampleSource::Threads), &one, "Record as root"),
        (Some(SampleSource::Cpus), &one, "Only the target was sampled"),
        (Some(SampleSource::Cpus), &all, "Whole CPUs were sampled"),
    ] {
        let mut meta = Meta { samples, ..meta() };
        meta.plan.target = target.clone();
        let (text, remedy) = only(&meta, &low);
        assert!(text.contains("only 50.0% of the CPU time") && remedy.starts_with(fix), "{samples:?}: {remedy}");
    }
}

#[test]
fn samples_of_a_timer_are_late_in_the_kernel_and_only_there() {
    let clock = |number, exclude_kernel| Meta {
        events: vec![EventSpec { kind: EventKind::Software(number), exclude_kernel, ..event("clock", Unit::Nanos) }],
        ..meta()
    };
    for (case, meta, late) in [
        ("the CPU's clock", clock(0, false), true),
        ("the task's clock", clock(1, false), true),
        ("the clock of a program alone", clock(0, true), false),
        ("context switches", clock(3, false), false),
        ("a hardware event", meta(), false),
    ] {
        assert_eq!(topics(&meta, &summary()).contains(&"late-samples".to_string()), late, "{case}");
    }
    let nothing = Summary { count: 0, ..summary() };
    assert_eq!(topics(&clock(0, false), &nothing), ["no-samples"], "without samples none is late");
}

#[test]
fn lost_records_of_each_kind_say_what_they_lack_and_samples_are_not_told_twice() {
    let lost = |kind, lost, share| Summary { losses: vec![KindLoss { kind, lost, share }], ..summary() };
    for (kind, topic, means) in [
        (LossKind::Switches, "lost-switches", "waits that were open then are left out"),
        (LossKind::Wakeups, "lost-wakeups", "may include the wait for a CPU"),
        (LossKind::Tasks, "lost-tasks", "those of what had ended are missing"),
    ] {
        let found = notes(&meta(), &lost(kind, 1234, Some(0.25))).remove(0);
        assert_eq!(found.topic, topic);
        assert!(found.text.starts_with("1,234 ") && found.text.contains("(25.0% of them)"), "{}", found.text);
        assert!(found.text.contains(means), "{}", found.text);
        let unknown = notes(&meta(), &lost(kind, 1, None)).remove(0);
        assert!(!unknown.text.contains('%'), "a share that is not known is not written: {}", unknown.text);
        assert_eq!(topics(&meta(), &lost(kind, 0, Some(0.0))), [""; 0], "nothing was lost");
    }
    for kind in [LossKind::Ring, LossKind::Samples, LossKind::Throttled, LossKind::OffCpu] {
        assert_eq!(topics(&meta(), &lost(kind, 5, None)), [""; 0], "{kind:?} is counted elsewhere");
    }
}

#[test]
fn one_sample_is_one_and_several_are_several() {
    for (count, text) in [(1, "Only 1 sample: every share is rough."), (7, "Only 7 samples: every share is rough.")] {
        assert_eq!(only(&meta(), &Summary { count, whole: count, ..summary() }).0, text);
    }
}

#[test]
fn what_the_capture_noted_comes_first_and_is_not_repeated() {
    let own = |topic: &str| Note { topic: topic.to_string(), text: "as the capture saw it".to_string(), fix: None };
    let few = Summary { count: 3, lost: 500, ..summary() };
    let captured = Meta { notes: vec![own("other"), own("few-samples")], ..meta() };
    assert_eq!(topics(&captured, &few), ["other", "few-samples", "lost-records"]);
    assert_eq!(notes(&captured, &few)[1].text, "as the capture saw it");
    assert_eq!(topics(&captured, &summary()), ["other", "few-samples"], "they stay without a reason of ours");
}

#[test]
fn what_an_interpreter_hides_is_noted_with_the_switch_where_it_is_most_of_the_program() {
    let with = |path: &str, samples| {
        let runtime = Runtime::of_file(path).unwrap();
        Summary { interpreted: Some(Interpreted { runtime, path: path.to_string(), samples }), ..summary() }
    };
    let (text, fix) = only(&meta(), &with("/usr/lib/libpython3.13.so.1.0", 742));
    assert_eq!(
        text,
        "74.2% of the samples are in functions that Python interprets: they have no names, only the interpreter has."
    );
    assert!(fix.contains("python -X perf") && fix.contains("PYTHONPERFSUPPORT=1"), "{fix}");
    assert!(only(&meta(), &with("/usr/bin/python3.11", 500)).1.starts_with("Python 3.11 cannot name them."));
    assert!(only(&meta(), &with("/usr/lib/libruby-3.1.so.3.1.2", 990)).1.contains("--yjit-perf"));
    assert!(only(&meta(), &with("/usr/bin/php8.2", 990)).1.contains("opcache.jit_debug"));
    assert_eq!(topics(&meta(), &with("/usr/bin/python3.11", 499)), [""; 0], "less than half");
}
