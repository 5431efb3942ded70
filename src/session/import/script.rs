//! Imports the text of `perf script`, which other profilers and viewers exchange, too: samples with times, threads and
//! names, but no counters, losses or waits. Two lines of text that are equal are one frame.

use super::Source;
use super::facts::{WINDOW, Windows};
use super::folded::{AFTER, BEFORE, SAMPLES};
use super::objects::module_name;
use super::output::Output;
use super::script_text::{Frame, Line, Sample as SampleLine};
use crate::analysis::TRUNCATED;
use crate::collect::sampler::Interner;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{
    CallGraph, Definition, Event, EventKind, EventSpec, Meta, ModuleDef, ModuleId, ModuleKind, Note, Plan, Rate,
    Sample, StackEnd, Symbol, Target, TaskChange, TaskEvent, Unit,
};
use crate::pmu;
use crate::store::FORMAT;
use crate::units::Nanos;
use rustc_hash::{FxHashMap, FxHashSet};

/// Imports the text.
pub(super) fn import<O: Output>(source: &Source, output: impl FnOnce(&Meta) -> O) -> Result<O::Product> {
    let text = String::from_utf8_lossy((*source.bytes).as_ref());
    let contents = Contents::of(&text);
    if contents.samples == 0 {
        return Err(Error::new(ErrorKind::Corrupt, "it has no sample in the form that `perf script` prints"));
    }
    let mut meta = contents.meta(source);
    let mut script = Script::new(&contents, output(&meta));
    for line in text.lines() {
        script.line(line);
        script.output.settle(&meta)?;
    }
    script.flush();
    meta.duration_ns = Some(script.now.0);
    meta.started_unix_ns = source.written_unix_ns.unwrap_or_default().saturating_sub(script.now.0);
    script.output.finish(meta)
}

/// What a text says of its samples.
#[derive(Debug, Default)]
struct Contents<'a> {
    /// The events, in order of appearance.
    events: Vec<EventLines<'a>>,
    samples: u64,
    unknown_lines: u64,
    /// Samples without a time, a CPU, a process and a thread.
    timeless: u64,
    placeless: u64,
    no_process: u64,
    no_thread: u64,
    /// Whether any sample has callers.
    stacks: bool,
    first_time: Option<u64>,
}

/// The samples of an event.
#[derive(Debug)]
struct EventLines<'a> {
    name: &'a str,
    samples: u64,
    /// Samples with a period, and the sum of these.
    with_period: u64,
    period: u64,
}

impl<'a> Contents<'a> {
    fn of(text: &'a str) -> Contents<'a> {
        let mut found = Contents::default();
        let mut frames = 0;
        for line in text.lines() {
            match Line::of(line) {
                Line::Sample(sample, frame) => {
                    found.sample(&sample);
                    frames = u32::from(frame.is_some());
                }
                Line::Frame(_) => {
                    frames += 1;
                    found.stacks |= frames > 1;
                }
                Line::Unknown => found.unknown_lines += 1,
                Line::Source { .. } | Line::End | Line::Comment => {}
            }
        }
        found
    }

    fn sample(&mut self, sample: &SampleLine<'a>) {
        let name = name_of(sample);
        let at = self.events.iter().position(|event| event.name == name).unwrap_or_else(|| {
            self.events.push(EventLines { name, samples: 0, with_period: 0, period: 0 });
            self.events.len() - 1
        });
        let event = &mut self.events[at];
        event.samples += 1;
        event.with_period += u64::from(sample.period.is_some());
        event.period = event.period.saturating_add(sample.period.unwrap_or_default());
        self.samples += 1;
        self.timeless += u64::from(sample.time.is_none());
        self.placeless += u64::from(sample.cpu.is_none());
        self.no_process += u64::from(sample.pid.is_none());
        self.no_thread += u64::from(sample.tid.is_none() && sample.pid.is_none());
        self.first_time = self.first_time.or(sample.time);
    }

    fn meta(&self, source: &Source) -> Meta {
        let target = Target::Command { argv: vec![source.name.clone()] };
        let stacks = if self.stacks { CallGraph::FramePointer } else { CallGraph::None };
        // The text does not say how often samples were to be taken, but what they stand for.
        let mean = self.events.first().map_or(1, |event| event.period / event.with_period.max(1));
        let plan = Plan::new(target, Rate::Period(mean.max(1)), stacks);
        let events = self.events.iter().map(EventLines::spec).collect();
        Meta {
            started_mono_ns: self.first_time.unwrap_or_default(),
            notes: self.notes(),
            ..Meta::new(FORMAT, Plan { events, interval: WINDOW, ..plan })
        }
    }

    fn notes(&self) -> Vec<Note> {
        let share = |count: u64| if count == self.samples { "no" } else { "not every" };
        let periodless: u64 = self.events.iter().map(|event| event.samples - event.with_period).sum();
        let notes = [
            (true, "perf-script", "the text of perf script carries no counters, losses or waits".to_string()),
            (
                self.unknown_lines > 0,
                "import-gap",
                format!("{} lines are neither samples nor frames and were left out", self.unknown_lines),
            ),
            (
                self.timeless > 0,
                "no-times",
                format!("{} sample has a time: such samples get the time of the sample before", share(self.timeless)),
            ),
            (
                self.placeless > 0,
                "no-cpus",
                format!("{} sample has a CPU: such samples are shown on CPU 0", share(self.placeless)),
            ),
            (
                periodless > 0,
                "no-periods",
                format!("{} sample has a period: each of them counts as one", share(periodless)),
            ),
            (
                self.no_process > self.no_thread,
                "no-processes",
                "samples have no process id: threads of the same name are shown as one process".to_string(),
            ),
            (
                self.no_thread > 0,
                "no-threads",
                "samples have no thread id: each name is shown as one thread, numbered in order".to_string(),
            ),
        ];
        let stated = notes.into_iter().filter(|(is_stated, ..)| *is_stated);
        stated.map(|(_, topic, text)| Note { topic: topic.into(), text, fix: None }).collect()
    }
}

fn name_of<'a>(sample: &SampleLine<'a>) -> &'a str {
    sample.event.unwrap_or(SAMPLES)
}

impl EventLines<'_> {
    fn spec(&self) -> EventSpec {
        let inner = self.name.split('/').nth(1).unwrap_or(self.name);
        let plain = inner.split(':').next().unwrap_or(inner);
        let known = pmu::event_of(plain);
        let kind = match (&known, self.name.split_once(':')) {
            (Some((kind, _)), _) => kind.clone(),
            (None, Some((category, name))) => EventKind::Tracepoint { category: category.into(), name: name.into() },
            // The kernel's dummy event stands for one that is known by name only.
            (None, None) => EventKind::Software(9),
        };
        let (name, unit) = match self.name {
            // Without periods, weights are numbers of samples.
            name if self.with_period == 0 => (name, Unit::Samples),
            name @ (SAMPLES | BEFORE | AFTER) => (name, Unit::Samples),
            // What the export calls samples whose number is a fraction.
            "microsamples" => (SAMPLES, Unit::Microsamples),
            name @ ("off-cpu" | "offcpu-time") => (name, Unit::Nanos),
            name => (name, known.map_or(Unit::Count, |(_, unit)| unit)),
        };
        EventSpec::new(name, kind, unit)
    }
}

/// A place in code: what the interner tells frames apart by.
type Place = (Option<ModuleId>, u64);

struct Script<'c, 'a, O> {
    contents: &'c Contents<'a>,
    output: O,
    interner: Interner,
    windows: Windows,
    now: Nanos,
    /// The sample whose stack is being read.
    open: Option<SampleLine<'a>>,
    /// Its frames, innermost first.
    frames: Vec<Frame<'a>>,
    modules: FxHashMap<(ModuleKind, String), ModuleId>,
    kernel: FxHashSet<ModuleId>,
    /// Where each function is, with what was inlined into it.
    places: FxHashMap<Vec<Frame<'a>>, Place>,
    taken: FxHashSet<Place>,
    /// Places whose names are defined.
    defined: FxHashSet<Place>,
    /// The last name of each thread.
    comms: FxHashMap<u32, &'a str>,
    /// The process, or the first thread, of each name.
    first_of: FxHashMap<&'a str, u32>,
}

impl<'c, 'a, O: Output> Script<'c, 'a, O> {
    fn new(contents: &'c Contents<'a>, output: O) -> Self {
        Script {
            contents,
            output,
            interner: Interner::default(),
            windows: Windows::default(),
            now: Nanos(0),
            open: None,
            frames: Vec::new(),
            modules: FxHashMap::default(),
            kernel: FxHashSet::default(),
            places: FxHashMap::default(),
            taken: FxHashSet::default(),
            defined: FxHashSet::default(),
            comms: FxHashMap::default(),
            first_of: FxHashMap::default(),
        }
    }

    fn line(&mut self, text: &'a str) {
        match Line::of(text) {
            Line::Sample(sample, frame) => {
                self.flush();
                self.open = Some(sample);
                self.frames.extend(frame);
            }
            Line::Frame(frame) if self.open.is_some() => self.frames.push(frame),
            Line::Source { file, line, inlined } => {
                if let Some(frame) = self.frames.last_mut() {
                    frame.inlined |= inlined;
                    frame.source = Some((file, line));
                }
            }
            Line::End => self.flush(),
            Line::Frame(_) | Line::Comment | Line::Unknown => {}
        }
    }

    /// Emits the sample that is being read.
    fn flush(&mut self) {
        let mut frames = std::mem::take(&mut self.frames);
        let Some(line) = self.open.take() else { return };
        let base = self.contents.first_time;
        let at = line.time.zip(base).map(|(time, base)| Nanos(time.saturating_sub(base)));
        self.now = at.unwrap_or(self.now).max(self.now);
        if let Some(tick) = self.windows.advance(self.now) {
            self.output.push(tick);
        }
        let (pid, tid) = self.task(&line);
        let heading = |frame: &Frame<'_>| frame.symbol == Some(TRUNCATED) && frame.object.is_none();
        let truncated = frames.pop_if(|frame| heading(frame)).is_some();
        let mut end = match (truncated, self.contents.stacks) {
            (true, _) => StackEnd::Truncated,
            (false, true) => StackEnd::Whole,
            (false, false) => StackEnd::NotTaken,
        };
        let functions: Vec<&[Frame<'a>]> = frames.split_inclusive(|frame| !frame.inlined).collect();
        let places: Vec<Place> = functions.iter().map(|function| self.place(function, pid)).collect();
        let kernel = places.first().is_some_and(|(module, _)| module.is_some_and(|id| self.kernel.contains(&id)));
        let mut stack = None;
        for ((module, address), function) in places.iter().zip(functions).rev() {
            let known = self.interner.call(stack, *module, *address, &mut self.output);
            let Some((frame, next)) = known else {
                end = StackEnd::Truncated;
                break;
            };
            stack = Some(next);
            if self.defined.insert((*module, *address)) {
                let symbols = symbols(function);
                if !symbols.is_empty() {
                    self.output.define(Definition::Names { frame, symbols });
                }
            }
        }
        let name = name_of(&line);
        let event = self.contents.events.iter().position(|event| event.name == name).unwrap_or_default();
        let event = u16::try_from(event).unwrap_or_default();
        let (cpu, weight) = (line.cpu.unwrap_or_default(), line.period.unwrap_or(1));
        self.output.push(Event::Sample(Sample { at: self.now, pid, tid, cpu, event, weight, stack, end, kernel }));
    }

    /// The process and thread of a sample, and a name that is new.
    fn task(&mut self, line: &SampleLine<'a>) -> (u32, u32) {
        let next = self.first_of.len() as u32 + 1;
        let first = *self.first_of.entry(line.comm).or_insert(line.tid.or(line.pid).unwrap_or(next));
        let pid = line.pid.unwrap_or(first);
        let tid = line.tid.unwrap_or(pid);
        let comm = || comm(line.comm, tid);
        let change = match self.comms.insert(tid, line.comm) {
            None => Some((Nanos(0), TaskChange::Alive { comm: comm() })),
            Some(known) if known != line.comm => Some((self.now, TaskChange::Renamed { comm: comm(), exec: false })),
            Some(_) => None,
        };
        if let Some((at, change)) = change {
            self.output.push(Event::Task(TaskEvent { at, pid, tid, change }));
        }
        (pid, tid)
    }

    /// Where a function is that others may be inlined into: its frames, innermost first.
    fn place(&mut self, function: &[Frame<'a>], pid: u32) -> Place {
        if let Some(place) = self.places.get(function) {
            return *place;
        }
        let own = function.last().copied().unwrap_or_default();
        let module = own.object.map(|object| self.module(object, pid));
        let address = own.address.unwrap_or_default();
        let is_named = function.iter().any(|frame| frame.symbol.is_some());
        // Texts name different functions at one address, above all at 0.
        let is_free = address > 0 && !self.taken.contains(&(module, address));
        let address = if is_free || !is_named { address } else { u64::MAX - self.places.len() as u64 };
        self.places.insert(function.to_vec(), (module, address));
        self.taken.insert((module, address));
        (module, address)
    }

    fn module(&mut self, object: &str, pid: u32) -> ModuleId {
        let (kind, path) = module_of(object);
        let next = ModuleId(self.modules.len() as u32);
        let id = *self.modules.entry((kind, path.clone())).or_insert(next);
        if id == next {
            if kind == ModuleKind::Kernel {
                self.kernel.insert(id);
            }
            self.output.define(Definition::Module(ModuleDef { id, kind, path, build_id: None, pid }));
        }
        id
    }
}

/// The name of a thread: perf has another one for those without, and the export for those that would break a line.
fn comm(shown: &str, tid: u32) -> String {
    if shown.strip_prefix(':').is_some_and(|number| number == tid.to_string()) {
        return String::new();
    }
    shown.strip_prefix('\\').filter(|rest| rest.starts_with('#')).unwrap_or(shown).replace('\u{a0}', " ")
}

/// The names of a function, innermost first.
fn symbols(function: &[Frame<'_>]) -> Vec<Symbol> {
    let named = function.iter().enumerate().filter_map(|(at, frame)| {
        let (file, line) = frame.source.unzip();
        Some(Symbol {
            function: frame.symbol?.to_string(),
            file: file.map(String::from),
            line: line.flatten(),
            inlined: at + 1 < function.len(),
            calls: None,
        })
    });
    named.collect()
}

/// The kind and path of a file as perf names it.
fn module_of(object: &str) -> (ModuleKind, String) {
    let path = object.replace('\u{a0}', " ");
    let path = path.strip_suffix(" (deleted)").unwrap_or(&path);
    let file = path.rsplit('/').next().unwrap_or(path);
    let is_generated = path.is_empty() || path.starts_with("//") || file.starts_with("perf-") && file.ends_with(".map");
    let is_kernel_module = file.ends_with(".ko") || file.contains(".ko.") || path.starts_with("bpf_");
    match path {
        "[vdso]" | "[vdso32]" => (ModuleKind::Vdso, "[vdso]".into()),
        "[heap]" | "[stack]" | "[anon]" | "[uprobes]" => (ModuleKind::Jit, "[jit]".into()),
        _ if is_generated => (ModuleKind::Jit, "[jit]".into()),
        _ if path.starts_with("[kernel") => (ModuleKind::Kernel, "[kernel]".into()),
        _ if path.starts_with("[guest.kernel") => (ModuleKind::Kernel, "[guest.kernel]".into()),
        _ if path.starts_with('[') || is_kernel_module => (ModuleKind::Kernel, module_name(path)),
        _ => (ModuleKind::File, path.into()),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::{Names, Tasks};
    use crate::model::profile::Profile;
    use crate::session::import::testing::profile;

    /// Each sample's time, thread, event and weight, and its stack, outermost first.
    fn samples(profile: &Profile) -> Vec<(u64, u32, u16, u64, String)> {
        let names = Names::of(profile);
        let text = |stack| {
            let mut calls: Vec<_> = names.walk(profile, stack).map(|call| names.text(call.label).to_string()).collect();
            calls.reverse();
            calls.join(";")
        };
        let all = profile.samples.iter();
        all.map(|it| (it.at.0, it.tid, it.event, it.weight, text(it.stack))).collect()
    }

    #[test]
    fn samples_have_their_times_threads_events_and_stacks() {
        let found = profile(
            "app 12/12 [000] 1.000001: 250000 cpu-clock:\n\t1234 work+0x4 (/bin/app)\n\t1300 main+0x10 (/bin/app)\n\n\
             app 12/13 [001] 2.500001: 3 page-faults:\n\tffff80 do_page_fault ([kernel.kallsyms])\n\
             \t1240 [unknown] (/bin/app)\n\t1300 main+0x10 (/bin/app)\n",
        );
        let expected = [
            (0, 12, 0, 250_000, "main;work".to_string()),
            (1_500_000_000, 13, 1, 3, "main;app+0x1240;do_page_fault".to_string()),
        ];
        assert_eq!(samples(&found), expected);
        let units: Vec<_> = found.meta.events.iter().map(|event| (event.name.as_str(), event.unit)).collect();
        assert_eq!(units, [("cpu-clock", Unit::Nanos), ("page-faults", Unit::Count)]);
        assert_eq!(
            found.samples.iter().map(|it| (it.pid, it.cpu, it.kernel)).collect::<Vec<_>>(),
            [(12, 0, false), (12, 1, true)]
        );
        assert_eq!((found.meta.started_mono_ns, found.ticks.len()), (1_000_001_000, 1));
        let topics: Vec<_> = found.meta.notes.iter().map(|note| note.topic.as_str()).collect();
        assert_eq!(topics, ["perf-script"]);
    }

    #[test]
    fn inlined_frames_and_sources_belong_to_the_frame_below() {
        let found = profile(
            "app 12 1.0: 9 cycles:\n\t10 leaf (inlined)\n  leaf.h:3\n\t10 caller (/bin/app)\n  app.c:7\n\t20 main (/bin/app)\n",
        );
        assert_eq!(samples(&found)[0].4, "main;caller;leaf");
        let frame = found.walk(found.samples.get(0).unwrap().stack).next().unwrap();
        let names: Vec<_> = found.names_at(frame).iter().map(|it| (it.inlined, it.line)).collect();
        assert_eq!(names, [(true, Some(3)), (false, Some(7))]);
    }

    #[test]
    fn what_the_text_leaves_out_is_noted_and_counts_as_one() {
        let found = profile("a cycles:\n\t0 f (x)\n\t0 g (x)\n\nb cycles:\n\t0 g (x)\n\na cycles:\n\t0 f (x)\n");
        let expected = [(0, 1, 0, 1, "g;f".to_string()), (0, 2, 0, 1, "g".to_string()), (0, 1, 0, 1, "f".to_string())];
        assert_eq!(samples(&found), expected);
        assert_eq!(found.meta.events[0].unit, Unit::Samples);
        let topics: Vec<_> = found.meta.notes.iter().map(|note| note.topic.as_str()).collect();
        assert_eq!(topics, ["perf-script", "no-times", "no-cpus", "no-periods", "no-threads"]);
        let named = profile("a 7 1.0: 5 cycles:\n\t1 f (x)\n\na 8 1.0: 5 cycles:\n\t1 f (x)\n");
        assert_eq!(named.samples.iter().map(|it| (it.pid, it.tid)).collect::<Vec<_>>(), [(7, 7), (7, 8)]);
    }

    #[test]
    fn a_thread_that_is_renamed_keeps_its_number_and_a_truncated_stack_its_mark() {
        let found = profile(
            "a 7/7 1.0: 5 cycles:\n\t1 f (x)\n\t0 [truncated stack] ([unknown])\n\nb 7/7 2.0: 5 cycles:\n\t1 f (x)\n\t2 g (x)\n",
        );
        let ends: Vec<_> = found.samples.iter().map(|it| it.end).collect();
        assert_eq!(ends, [StackEnd::Truncated, StackEnd::Whole]);
        assert_eq!(Tasks::of(&found).get(7).map(|task| task.comm.as_str()), Some("b"));
        assert_eq!(samples(&found)[0].4, "f");
    }

    #[test]
    fn the_name_of_a_file_says_whose_code_it_is() {
        for (object, kind, path) in [
            ("[kernel.kallsyms]", ModuleKind::Kernel, "[kernel]"),
            ("/lib/modules/6.1/nf-x.ko.xz", ModuleKind::Kernel, "[nf_x]"),
            ("[ext4]", ModuleKind::Kernel, "[ext4]"),
            ("/tmp/perf-12.map", ModuleKind::Jit, "[jit]"),
            ("//anon", ModuleKind::Jit, "[jit]"),
            ("[vdso]", ModuleKind::Vdso, "[vdso]"),
            ("/opt/my\u{a0}app (deleted)", ModuleKind::File, "/opt/my app"),
        ] {
            assert_eq!(module_of(object), (kind, path.to_string()), "{object}");
        }
    }
}
