//! Notes to read before trusting the numbers of a report.
//! Topics that the capture has already noted are not repeated.

use crate::analysis::{Axis, Ranking, Selection, Summary};
use crate::model::profile::Profile;
use crate::model::{CallGraph, EventKind, EventSpec, LossKind, Meta, ModuleKind, Note, SampleSource, Target, Why};
use crate::view::number;

/// Above this share of truncated stacks, totals and flame graphs are skewed.
const MANY_INCOMPLETE: f64 = 0.05;
/// Above this share of lost samples, a function can be missing.
const MANY_LOST: f64 = 0.01;
/// Above this share of CPU time, the extra cost that counters add to context switches skews shares and costs.
const MUCH_SWITCHING: f64 = 0.05;
/// From this share of the samples on, what an interpreter hides is most of the program.
const MOSTLY_INTERPRETED: f64 = 0.5;
/// From so many standard errors on, what samples of one period have in common is not due to chance; and from this factor
/// on the larger errors are worth a word.
const BEAT: f64 = 4.0;
const BEAT_FACTOR: f64 = 1.5;
/// With fewer samples, a share of 10% is uncertain by more than 3 points.
const FEW_SAMPLES: u64 = 100;

/// What a note is about, which decides where a report shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoteKind {
    /// The numbers must be read with it in mind.
    Caution,
    /// Something was not measured, or has no name. It leaves what was measured as it is.
    Missing,
    /// How functions of the kernel that ran with interrupts off are to be read.
    OfKernelRows,
}

/// Topics that say what is missing. A topic that stands in no list is a caution.
const MISSING: [&str; 22] = [
    "no-pmu",
    "no-cycles",
    "virtual-pmu",
    "no-hardware-counters",
    "hardware-events-left-out",
    "fewer-hardware-events",
    "counters-too-costly",
    "uncore",
    "probe",
    "neighbours",
    "memory-places",
    "no-debug-information",
    "debug-information-limited",
    "debug-information-elsewhere",
    "kernel-symbols-hidden",
    "kernel-symbols-foreign",
    "jit-without-names",
    INTERPRETED,
    "names-lost",
    "naming-failed",
    "files-not-here",
    "wait-causes-hidden",
];

/// Topic of the note that the target's children work and it does not.
const CHILDREN: &str = "children-not-profiled";
/// Topic of the note that an interpreter's functions stand for those of the program.
const INTERPRETED: &str = "interpreted-without-names";
const LATE_SAMPLES: &str = "late-samples";

/// What the note is about, by its topic.
pub(super) fn kind(note: &Note) -> NoteKind {
    match note.topic.as_str() {
        LATE_SAMPLES => NoteKind::OfKernelRows,
        topic if MISSING.contains(&topic) => NoteKind::Missing,
        _ => NoteKind::Caution,
    }
}

/// Which event is shown, if the first one has no samples and nobody chose another.
#[must_use]
pub fn other_event(profile: &Profile, selection: &Selection) -> Option<Note> {
    let Axis::Event(shown) = selection.axis else { return None };
    let events = &profile.meta.events;
    let (first, shown) = (events.first()?, events.get(usize::from(shown)).filter(|_| shown > 0)?);
    (Selection::first_sampled(profile) == selection.axis).then(|| Note {
        topic: "first-event-without-samples".to_string(),
        text: format!("{} has no samples: this shows {}, the first event that has some.", first.name, shown.name),
        fix: Some("Choose another with --event.".to_string()),
    })
}

/// That samples keep step with the program, if they do.
pub(super) fn lockstep(functions: &Ranking) -> Option<Note> {
    let factor = functions.lockstep.design_effect.sqrt();
    (functions.lockstep.deviations > BEAT && factor > BEAT_FACTOR).then(|| Note {
        topic: "lockstep".to_string(),
        text: format!(
            "The program repeats itself at a multiple of the sampling frequency: samples of the same period find it at the same \
             place. The errors of shares are {factor:.1} times as large as without that, and say so."
        ),
        fix: Some("A longer recording, or another --freq, makes them smaller.".to_string()),
    })
}

/// The capture's notes, then those for the selection.
pub(super) fn notes(meta: &Meta, summary: &Summary) -> Vec<Note> {
    let mut notes = meta.notes.clone();
    let mut add = |topic: &str, text: String, fix: &str| {
        if !notes.iter().any(|note| note.topic == topic) {
            notes.push(Note { topic: topic.to_string(), text, fix: Some(fix.to_string()) });
        }
    };
    if meta.notes.iter().any(|note| note.topic == CHILDREN) {
        // It says why there are few samples, and what gives more.
    } else if summary.count == 0 && summary.coverage.why() == Some(Why::Idle) {
        let fix = match meta.plan.off_cpu {
            true => "See below what its threads wait for.",
            false => "Record with --off-cpu to see what its threads wait for.",
        };
        add("no-samples", "Nothing ran in this selection.".to_string(), fix);
    } else if summary.count == 0 {
        add("no-samples", "Nothing was sampled in this selection.".to_string(), "Widen --time-range or --thread.");
    } else if summary.count < FEW_SAMPLES {
        let text = format!("Only {}: every share is rough.", number::several(summary.count, "sample"));
        add("few-samples", text, "Record for longer, or at a higher --freq.");
    }
    if let Some(event) = meta.events.iter().find(|event| is_late(event)).filter(|_| summary.count > 0) {
        let text = format!(
            "Samples of {} come from a timer: kernel code that runs with interrupts off shows at the function and line that \
             switch them on again.",
            event.name
        );
        add(LATE_SAMPLES, text, "Sample cycles where the CPU counts them (-e cycles; see `ironlaw doctor`).");
    }
    let percent = |share: f64| format!("{:.1}%", share * 100.0);
    if let Some(coverage) = summary.coverage.value() {
        let share = percent(coverage.share);
        if coverage.is_low() {
            let text = format!(
                "Samples cover only {share} of the CPU time: threads that ended soon, or that lost samples, have too small \
                 a share, and by more than the errors say."
            );
            add("low-coverage", text, low_coverage(meta));
        } else if coverage.is_high() {
            let text = format!(
                "Samples stand for {share} of the CPU time that was counted: one of the two is wrong, and cycles and \
                 instructions of threads shorter than the turns of counting groups are counted too low."
            );
            add("high-coverage", text, "Compare with --event cpu-clock, which needs no hardware counter.");
        }
    }
    if let Some(share) = summary.switching.value().filter(|share| **share > MUCH_SWITCHING) {
        let cost = number::seconds(meta.hardware.switch_cost_ns.unwrap_or(0) as f64 * 1e-9).joined();
        let text = format!(
            "Counting hardware events makes each context switch {cost} longer here: about {} of the CPU time is ironlaw's, in the \
             kernel and at the function that ends the switch.",
            percent(*share)
        );
        add("switch-cost", text, "Count less: -M none keeps cycles and instructions alone.");
    }
    if let Some(share) = summary.stack_share(summary.truncated).filter(|share| *share > MANY_INCOMPLETE) {
        let text = format!("{} of the stacks were cut short: totals of outer functions are too low.", percent(share));
        let fix = match meta.plan.call_graph {
            CallGraph::FramePointer => "Record with --call-graph dwarf.",
            _ => "Record with more stack bytes: --call-graph dwarf,65528.",
        };
        add("truncated-stacks", text, fix);
    }
    if let Some(share) = summary.stack_share(summary.broken).filter(|share| *share > MANY_INCOMPLETE) {
        let file = summary.broken_in.as_ref().filter(|(_, kind)| *kind == ModuleKind::File);
        let file = file.map(|(path, _)| path.rsplit('/').next().unwrap_or(path));
        let most = file.map_or(String::new(), |file| format!(", most of them in {file}"));
        let text = format!("{} of the stacks could not be unwound to their start{most}.", percent(share));
        let fix = match (meta.plan.call_graph, file) {
            (CallGraph::FramePointer, _) => "The code has no frame pointers: record with --call-graph dwarf.",
            (_, Some(_)) => {
                "It has no unwind information there that can be read: 32-bit programs, programs linked statically with musl \
                 and hand-written assembly have none. Compile it with -fno-omit-frame-pointer and record with --call-graph fp."
            }
            (_, None) => {
                "Code made just in time and hand-written assembly carry no unwind information; --call-graph fp may help."
            }
        };
        add("broken-stacks", text, fix);
    }
    if let Some(found) = &summary.interpreted {
        let share = found.samples as f64 / summary.count.max(1) as f64;
        let fix = found.runtime.names_interpreted(&found.path).filter(|_| share >= MOSTLY_INTERPRETED);
        if let Some(fix) = fix {
            let name = found.runtime.name;
            let text = format!(
                "{} of the samples are in functions that {name} interprets: they have no names, only the interpreter has.",
                percent(share)
            );
            add(INTERPRETED, text, &fix);
        }
    }
    let lost = summary.lost as f64 / (summary.lost.saturating_add(summary.all_samples)).max(1) as f64;
    if lost > MANY_LOST {
        let text = format!("{} of the samples were lost: shares may be bent.", percent(lost));
        add("lost-records", text, "Record at a lower --freq, or keep a CPU free for ironlaw.");
    }
    for loss in &summary.losses {
        let Some((topic, means, fix)) = other_loss(loss.kind).filter(|_| loss.lost > 0) else { continue };
        let share = loss.share.map_or(String::new(), |share| format!(" ({} of them)", percent(share)));
        add(topic, format!("{} {}{share} were lost: {means}.", number::count(loss.lost), loss.kind.text()), fix);
    }
    notes
}

/// Whether samples come from a clock interrupt that the kernel may defer.
fn is_late(event: &EventSpec) -> bool {
    const CPU_CLOCK: u64 = 0;
    const TASK_CLOCK: u64 = 1;
    matches!(event.kind, EventKind::Software(CPU_CLOCK | TASK_CLOCK)) && !event.exclude_kernel
}

fn low_coverage(meta: &Meta) -> &'static str {
    let everything = matches!(meta.plan.target, Target::Cpus { .. } | Target::Cgroup { .. });
    match meta.samples {
        Some(SampleSource::Cpus) if everything => {
            "Whole CPUs were sampled: see what was lost or throttled, and record at a lower --freq."
        }
        // The events are those of the CPUs, and the kernel drops what is not the target's.
        Some(SampleSource::Cpus) => {
            "Only the target was sampled, on every CPU: see what was lost or throttled, and record at a lower --freq."
        }
        _ => "Record as root, so that whole CPUs are sampled in place of threads.",
    }
}

/// What it means that records other than samples were lost, and how to avoid it.
fn other_loss(kind: LossKind) -> Option<(&'static str, &'static str, &'static str)> {
    Some(match kind {
        LossKind::Switches => (
            "lost-switches",
            "waits that were open then are left out",
            "Record with --call-graph fp or none, which makes these records small, or keep a CPU free for ironlaw.",
        ),
        LossKind::Wakeups => (
            "lost-wakeups",
            "time blocked may include the wait for a CPU after a wake-up",
            "Keep a CPU free for ironlaw.",
        ),
        LossKind::Tasks => (
            "lost-tasks",
            "names and mappings were read again from /proc, but those of what had ended are missing",
            "Keep a CPU free for ironlaw.",
        ),
        _ => return None,
    })
}
