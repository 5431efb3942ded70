//! Imports folded stacks, `outer;inner 42` per line, as a recording with names and counts but no times, threads or
//! addresses. Counts may be fractions. Two counts per line are the two sides of a comparison, as `difffolded.pl` writes
//! them: each is an event of its own. Lines without a count are skipped and reported.

use super::Source;
use super::facts::WINDOW;
use super::output::Output;
use crate::collect::sampler::Interner;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{
    CallGraph, Definition, Event, EventKind, EventSpec, MICROSAMPLES, Meta, ModuleDef, ModuleId, ModuleKind, Note,
    Plan, Rate, Sample, StackEnd, StackId, Symbol, Target, TaskChange, TaskEvent, Unit,
};
use crate::store::FORMAT;
use crate::units::Nanos;
use rustc_hash::FxHashMap;

/// Suffixes that tools append to a frame to say whose code it is (`stackcollapse-perf.pl --kernel --jit`, async-profiler).
const MARKS: [(&str, CodeOrigin); 4] =
    [("_[k]", CodeOrigin::Kernel), ("_[j]", CodeOrigin::Jit), ("_[0]", CodeOrigin::Jit), ("_[1]", CodeOrigin::Jit)];

/// The suffix of a call that was inlined into its caller.
const INLINED: &str = "_[i]";

/// Digits behind the point that a count keeps.
const DIGITS: usize = 6;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum CodeOrigin {
    Kernel,
    Program,
    Jit,
}

/// A line: the stack, outermost first, and its count in millionths.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line<'a> {
    frames: &'a str,
    count: u128,
}

impl<'a> Line<'a> {
    fn of(text: &'a str) -> Option<Line<'a>> {
        let (frames, count) = text.rsplit_once([' ', '\t'])?;
        Some(Line { frames: frames.trim_end(), count: millionths(count)? }).filter(|line| !line.frames.is_empty())
    }

    /// The line without its second count, and that one: the last.
    fn with_second(text: &'a str) -> Option<(Line<'a>, u128)> {
        let last = Line::of(text)?;
        Some((Line::of(last.frames)?, last.count))
    }
}

/// A count: digits, and if there is a point, any number of digits behind it.
fn millionths(text: &str) -> Option<u128> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(part) {
        return None;
    }
    let part = format!("{part:0<DIGITS$.DIGITS$}");
    Some(u128::from(whole.parse::<u64>().ok()?) * u128::from(MICROSAMPLES) + part.parse::<u128>().ok()?)
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim_end).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Whether most lines of a text end in a count.
pub(super) fn is_folded(text: &str) -> bool {
    Contents::of(text).is_folded()
}

/// What kind of lines a file holds.
#[derive(Debug, Default, PartialEq)]
struct Contents {
    good: u64,
    bad: u64,
    /// Lines with two counts.
    twice: u64,
    fractions: bool,
}

impl Contents {
    fn of(text: &str) -> Contents {
        let mut found = Contents::default();
        let is_fraction = |count: u128| !count.is_multiple_of(u128::from(MICROSAMPLES));
        for line in lines(text) {
            if let Some((first, second)) = Line::with_second(line) {
                found.twice += 1;
                found.fractions |= is_fraction(first.count) || is_fraction(second);
            }
            match Line::of(line) {
                Some(line) => {
                    found.good += 1;
                    found.fractions |= is_fraction(line.count);
                }
                None => found.bad += 1,
            }
        }
        found
    }

    fn is_folded(&self) -> bool {
        self.good > self.bad
    }

    /// Whether every line has two counts: a name may end in a number.
    fn compares(&self) -> bool {
        self.good > 0 && self.twice == self.good
    }

    fn unit(&self) -> Unit {
        if self.fractions { Unit::Microsamples } else { Unit::Samples }
    }

    /// A weight in the unit of this file.
    fn weight(&self, millionths: u128) -> u64 {
        let weight = if self.fractions { millionths } else { millionths / u128::from(MICROSAMPLES) };
        u64::try_from(weight).unwrap_or(u64::MAX)
    }

    /// The second count comes first: it is what flame graphs of such files are drawn to.
    fn events(&self) -> Vec<EventSpec> {
        let names = if self.compares() { vec![AFTER, BEFORE] } else { vec![SAMPLES] };
        // The kernel's dummy event, because the file does not name the counted event.
        names.into_iter().map(|name| EventSpec::new(name, EventKind::Software(9), self.unit())).collect()
    }

    fn notes(&self) -> Vec<Note> {
        let note = |topic: &str, text: String, fix: Option<&str>| Note {
            topic: topic.into(),
            text,
            fix: fix.map(String::from),
        };
        let mut notes = vec![note("folded", "folded stacks carry no times, threads or addresses".into(), None)];
        if self.bad > 0 {
            let text = format!("{} lines have no count at their end and were left out", self.bad);
            notes.push(note("import-gap", text, None));
        }
        if self.compares() {
            notes.push(note(
                "folded-two-counts",
                "every line has two counts: they are the events before and after, and after is shown".into(),
                Some("`--event before` shows the first; `ironlaw diff FILE` compares both."),
            ));
        }
        if self.fractions {
            let text = "the counts are fractions: weights are millionths of a sample".into();
            notes.push(note("folded-fractions", text, None));
        }
        notes
    }
}

/// The event of a file with one count per line.
pub(super) const SAMPLES: &str = "samples";

/// The events of a file with two counts per line.
pub(crate) const BEFORE: &str = "before";
pub(crate) const AFTER: &str = "after";

/// Whether a file holds both sides of a comparison: folded stacks with two counts per line.
pub(super) fn compares(source: &Source) -> bool {
    Contents::of(&String::from_utf8_lossy((*source.bytes).as_ref())).compares()
}

/// Imports the lines.
pub(super) fn import<O: Output>(source: &Source, output: impl FnOnce(&Meta) -> O) -> Result<O::Product> {
    let text = String::from_utf8_lossy((*source.bytes).as_ref());
    let contents = Contents::of(&text);
    if !contents.is_folded() {
        return Err(Error::new(ErrorKind::Corrupt, "most of its lines are not folded stacks (`main;parse 42`)"));
    }
    let meta = meta(source, &contents);
    let mut folded = Folded::new(source, output(&meta));
    for line in lines(&text) {
        if contents.compares() {
            let Some((line, after)) = Line::with_second(line) else { continue };
            folded.line(line.frames, &[contents.weight(after), contents.weight(line.count)]);
        } else if let Some(line) = Line::of(line) {
            folded.line(line.frames, &[contents.weight(line.count)]);
        }
        folded.output.settle(&meta)?;
    }
    folded.output.finish(meta)
}

fn meta(source: &Source, contents: &Contents) -> Meta {
    let target = Target::Command { argv: vec![source.name.clone()] };
    let plan = Plan::new(target, Rate::Period(1), CallGraph::FramePointer);
    let plan = Plan { events: contents.events(), interval: WINDOW, ..plan };
    Meta {
        started_unix_ns: source.written_unix_ns.unwrap_or_default(),
        notes: contents.notes(),
        ..Meta::new(FORMAT, plan)
    }
}

struct Folded<'a, O> {
    interner: Interner,
    output: O,
    /// A function with what was inlined into it gets an address of its own: its number.
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

    /// Adds a stack with its weight of each event.
    fn line(&mut self, frames: &'a str, weights: &[u64]) {
        let (mut stack, mut kernel, mut end) = (None, false, StackEnd::Whole);
        for call in calls(frames) {
            let origin = origin(base(call)).0;
            kernel = origin == CodeOrigin::Kernel;
            let Some(next) = self.call(stack, origin, call) else {
                end = StackEnd::Truncated;
                break;
            };
            stack = Some(next);
        }
        for (event, weight) in (0..).zip(weights).filter(|(_, weight)| **weight > 0) {
            let (at, pid, tid, cpu) = (Nanos(0), 0, 0, 0);
            self.output.push(Event::Sample(Sample { at, pid, tid, cpu, event, weight: *weight, stack, end, kernel }));
        }
    }

    fn call(&mut self, parent: Option<StackId>, origin: CodeOrigin, call: &'a str) -> Option<StackId> {
        let next = self.names.len() as u64;
        let new = !self.names.contains_key(&(origin, call));
        let address = *self.names.entry((origin, call)).or_insert(next);
        let module = Some(ModuleId(origin as u32));
        let (frame, stack) = self.interner.call(parent, module, address, &mut self.output)?;
        if new {
            self.output.define(Definition::Names { frame, symbols: symbols(call) });
        }
        Some(stack)
    }
}

/// The functions of a stack, outermost first, each with the calls that were inlined into it.
fn calls(frames: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(frames);
    std::iter::from_fn(move || {
        let text = rest?;
        let mut end = text.find(';').unwrap_or(text.len());
        while let Some(behind) = text.get(end + 1..) {
            let next = behind.find(';').unwrap_or(behind.len());
            if !behind[..next].ends_with(INLINED) {
                break;
            }
            end += 1 + next;
        }
        rest = text.get(end + 1..);
        Some(&text[..end])
    })
}

/// The function that the others of a call are inlined into.
fn base(call: &str) -> &str {
    call.split(';').next().unwrap_or_default()
}

/// The names of a call, innermost first.
fn symbols(call: &str) -> Vec<Symbol> {
    let symbol = |name: &str, inlined| Symbol { inlined, ..Symbol::named(name) };
    let inlined = call.split(';').skip(1).map(|name| symbol(name.strip_suffix(INLINED).unwrap_or(name), true));
    let own = symbol(origin(base(call)).1, false);
    let mut symbols: Vec<Symbol> = std::iter::once(own).chain(inlined).collect();
    symbols.reverse();
    symbols
}

/// The kind of code of a frame, and its name without the suffix.
fn origin(frame: &str) -> (CodeOrigin, &str) {
    let marked = MARKS.iter().find_map(|(mark, origin)| Some((*origin, frame.strip_suffix(mark)?)));
    marked.unwrap_or((CodeOrigin::Program, frame.strip_suffix(INLINED).unwrap_or(frame)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::profile::Profile;
    use crate::session::import::testing::profile;

    fn weights(profile: &Profile) -> Vec<(u16, u64)> {
        profile.samples.iter().map(|sample| (sample.event, sample.weight)).collect()
    }

    #[test]
    fn a_line_ends_in_its_count_and_names_may_hold_spaces() {
        let text =
            "main;operator new(unsigned long);f 42\n\n# a comment\nno count\n;x 7.5\nonly 3\n 5\nx 1.2.3\nx .5\n";
        let found: Vec<_> =
            lines(text).map(|line| Line::of(line).map(|line| (line.frames, line.count as f64 / 1e6))).collect();
        let expected = [
            Some(("main;operator new(unsigned long);f", 42.0)),
            None,
            Some((";x", 7.5)),
            Some(("only", 3.0)),
            None,
            None,
            None,
        ];
        assert_eq!(found, expected);
        assert_eq!(millionths("0.12345678"), Some(123_456));
        assert_eq!(millionths("1."), Some(1_000_000));
        assert_eq!(millionths("99999999999999999999"), None);
    }

    #[test]
    fn counts_stay_what_they_are_however_large_and_however_equal() {
        for counts in [[1_000_000, 1_000_000], [1, 1], [7, 1 << 40]] {
            let profile = profile(&format!("main;a {}\nmain;b {}\n", counts[0], counts[1]));
            assert_eq!(weights(&profile), [(0, counts[0]), (0, counts[1])]);
            assert_eq!(profile.meta.events[0].unit, Unit::Samples);
        }
    }

    #[test]
    fn fractions_make_every_weight_millionths() {
        let profile = profile("main;a 0.5\nmain;b 10\nmain;c 3.25\n");
        assert_eq!(weights(&profile), [(0, 500_000), (0, 10_000_000), (0, 3_250_000)]);
        assert_eq!(profile.meta.events[0].unit, Unit::Microsamples);
        assert!(profile.meta.notes.iter().any(|note| note.topic == "folded-fractions"));
    }

    #[test]
    fn two_counts_on_every_line_are_two_events_and_on_some_lines_a_name() {
        let both = profile("main;work;hot 10 20\nmain;work;cold 5 5\nmain;gone 3 0\n");
        let names: Vec<_> = both.meta.events.iter().map(|event| event.name.as_str()).collect();
        assert_eq!(names, [AFTER, BEFORE]);
        assert_eq!(weights(&both), [(0, 20), (1, 10), (0, 5), (1, 5), (1, 3)]);
        assert!(both.meta.notes.iter().any(|note| note.topic == "folded-two-counts"));
        let one = profile("main;worker 3 20\nmain;b 5\n");
        assert_eq!((weights(&one), one.meta.events.len()), (vec![(0, 20), (0, 5)], 1));
    }

    #[test]
    fn marks_say_whose_code_a_frame_is() {
        assert_eq!(origin("do_syscall_64_[k]"), (CodeOrigin::Kernel, "do_syscall_64"));
        assert_eq!(origin("LazyCompile:~f_[j]"), (CodeOrigin::Jit, "LazyCompile:~f"));
        assert_eq!(origin("plain[k]"), (CodeOrigin::Program, "plain[k]"));
    }

    #[test]
    fn inlined_calls_belong_to_the_function_that_they_are_inlined_into() {
        assert_eq!(calls("a;b;c_[i];d_[i];e").collect::<Vec<_>>(), ["a", "b;c_[i];d_[i]", "e"]);
        assert_eq!(calls("a_[i];b").collect::<Vec<_>>(), ["a_[i]", "b"]);
        assert_eq!(calls(";x;").collect::<Vec<_>>(), ["", "x", ""]);
        let names: Vec<_> = symbols("b_[j];c_[i];d_[i]").into_iter().map(|it| (it.function, it.inlined)).collect();
        assert_eq!(names, [("d".to_string(), true), ("c".to_string(), true), ("b".to_string(), false)]);
        assert_eq!(symbols("a_[i]").first().map(|it| (it.function.as_str(), it.inlined)), Some(("a", false)));
    }
}
