//! Imports folded stacks, `outer;inner 42` per line, as a recording with names and counts but no times, threads or
//! addresses. Lines without a count are skipped and reported.

use super::Source;
use super::facts::WINDOW;
use super::output::Output;
use crate::collect::sampler::Interner;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{
    CallGraph, Definition, Event, EventKind, EventSpec, Meta, ModuleDef, ModuleId, ModuleKind, Note, Plan, Rate,
    Sample, StackEnd, Symbol, Target, TaskChange, TaskEvent, Unit,
};
use crate::store::FORMAT;
use crate::units::Nanos;
use rustc_hash::FxHashMap;

/// Up to this total, a count of N becomes N samples; above, each line becomes one sample of weight N.
const MOST_SAMPLES: u64 = 1 << 20;

/// Suffixes that tools append to a frame to mark kernel, JIT or inlined code (`stackcollapse-perf.pl --kernel --jit`).
const MARKS: [(&str, CodeOrigin); 3] =
    [("_[k]", CodeOrigin::Kernel), ("_[j]", CodeOrigin::Jit), ("_[i]", CodeOrigin::Program)];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum CodeOrigin {
    Kernel,
    Program,
    Jit,
}

/// A line: the stack, outermost first, and its count.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line<'a> {
    frames: &'a str,
    count: u64,
}

fn lines(text: &str) -> impl Iterator<Item = Option<Line<'_>>> {
    let kept = text.lines().map(str::trim_end).filter(|line| !line.is_empty() && !line.starts_with('#'));
    kept.map(|line| {
        let (frames, count) = line.rsplit_once([' ', '\t'])?;
        Some(Line { frames: frames.trim_end(), count: count.parse().ok()? }).filter(|line| !line.frames.is_empty())
    })
}

/// Imports the lines.
pub(super) fn import<O: Output>(source: &Source, output: impl FnOnce(&Meta) -> O) -> Result<O::Product> {
    let text = String::from_utf8_lossy((*source.bytes).as_ref());
    let (mut total, mut bad, mut good) = (0u64, 0u64, 0u64);
    for line in lines(&text) {
        match line {
            Some(line) => (total, good) = (total.saturating_add(line.count), good + 1),
            None => bad += 1,
        }
    }
    if good <= bad {
        return Err(Error::new(
            ErrorKind::Corrupt,
            "it is neither perf.data nor folded stacks (`main;parse 42` per line)",
        ));
    }
    let mut meta = meta(source);
    let mut folded = Folded::new(source, output(&meta));
    for line in lines(&text).flatten() {
        folded.line(&line, total <= MOST_SAMPLES);
        folded.output.settle(&meta)?;
    }
    meta.notes = notes(bad, total);
    folded.output.finish(meta)
}

fn notes(bad: u64, total: u64) -> Vec<Note> {
    let note = |topic: &str, text: String| Note { topic: topic.into(), text, fix: None };
    let mut notes = vec![note("folded", "folded stacks carry no times, threads or addresses".into())];
    if bad > 0 {
        notes.push(note("import-gap", format!("{bad} lines have no count at their end and were left out")));
    }
    if total > MOST_SAMPLES {
        notes.push(note(
            "folded-weights",
            "the counts are too large for samples: each line is one sample of that weight".into(),
        ));
    }
    notes
}

fn meta(source: &Source) -> Meta {
    // The kernel's dummy event, because the file does not name the counted event.
    let events = vec![EventSpec::new("samples", EventKind::Software(9), Unit::Count)];
    let target = Target::Command { argv: vec![source.name.clone()] };
    let plan = Plan { events, interval: WINDOW, ..Plan::new(target, Rate::Period(1), CallGraph::FramePointer) };
    Meta { started_unix_ns: source.written_unix_ns.unwrap_or_default(), ..Meta::new(FORMAT, plan) }
}

struct Folded<'a, O> {
    interner: Interner,
    output: O,
    /// Each name gets an address of its own: its number.
    names: FxHashMap<(CodeOrigin, &'a str), u64>,
}

impl<'a, O: Output> Folded<'a, O> {
    fn new(source: &Source, mut output: O) -> Folded<'a, O> {
        let modules = [(ModuleKind::Kernel, "[kernel]"), (ModuleKind::Jit, "[folded]"), (ModuleKind::Jit, "[jit]")];
        for (id, (kind, path)) in (0..).zip(modules) {
            let def = ModuleDef { id: ModuleId(id), kind, path: path.into(), build_id: None, pid: 0 };
            output.define(Definition::Module(def));
        }
        let comm = source.name.rsplit('/').next().unwrap_or_default().to_string();
        output.push(Event::Task(TaskEvent { at: Nanos(0), pid: 0, tid: 0, change: TaskChange::Alive { comm } }));
        Folded { interner: Interner::default(), output, names: FxHashMap::default() }
    }

    fn line(&mut self, line: &Line<'a>, singly: bool) {
        let (mut stack, mut kernel, mut end) = (None, false, StackEnd::Whole);
        for frame in line.frames.split(';') {
            let (home, name) = home(frame);
            kernel = home == CodeOrigin::Kernel;
            let Some(next) = self.call(stack, home, name) else {
                end = StackEnd::Truncated;
                break;
            };
            stack = Some(next);
        }
        let (samples, weight) = if singly { (line.count, 1) } else { (1, line.count) };
        let (at, pid, tid, cpu, event) = (Nanos(0), 0, 0, 0, 0);
        let sample = Sample { at, pid, tid, cpu, event, weight, stack, end, kernel };
        (0..samples).for_each(|_| self.output.push(Event::Sample(sample)));
    }

    fn call(
        &mut self,
        parent: Option<crate::model::StackId>,
        home: CodeOrigin,
        name: &'a str,
    ) -> Option<crate::model::StackId> {
        let next = self.names.len() as u64;
        let new = !self.names.contains_key(&(home, name));
        let address = *self.names.entry((home, name)).or_insert(next);
        let module = Some(ModuleId(home as u32));
        let (frame, stack) = self.interner.call(parent, module, address, &mut self.output)?;
        if new {
            let symbols = vec![Symbol { function: name.to_string(), file: None, line: None, inlined: false }];
            self.output.define(Definition::Names { frame, symbols });
        }
        Some(stack)
    }
}

/// The kind of code of a frame, and its name without the suffix.
fn home(frame: &str) -> (CodeOrigin, &str) {
    let marked = MARKS.iter().find_map(|(mark, home)| Some((*home, frame.strip_suffix(mark)?)));
    marked.unwrap_or((CodeOrigin::Program, frame))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_in_its_count_and_names_may_hold_spaces() {
        let text = "main;operator new(unsigned long);f 42\n\n# a comment\nno count\n;x 7\nonly 3\n 5\n";
        let found: Vec<_> = lines(text).map(|line| line.map(|line| (line.frames, line.count))).collect();
        assert_eq!(
            found,
            [Some(("main;operator new(unsigned long);f", 42)), None, Some((";x", 7)), Some(("only", 3)), None]
        );
    }

    #[test]
    fn marks_say_whose_code_a_frame_is() {
        assert_eq!(home("do_syscall_64_[k]"), (CodeOrigin::Kernel, "do_syscall_64"));
        assert_eq!(home("LazyCompile:~f_[j]"), (CodeOrigin::Jit, "LazyCompile:~f"));
        assert_eq!(home("plain[k]"), (CodeOrigin::Program, "plain[k]"));
    }
}
