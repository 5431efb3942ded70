//! Converts a perf.data file to an event stream: records in time order, samples with their weights.
//! Unusable records are skipped and counted, and the recording notes their number.

use super::files::{LocalFiles, Recorded};
use super::kernel::KernelNames;
use super::names::Names;
use super::objects::{Objects, kernel_build};
use super::output::Output;
use super::stacks::{StackContext, Stacks};
use super::tasks::Tasks;
use super::{Options, Source, facts};
use crate::abi::perf::{MmapRecord, Mode};
use crate::collect::{accesses, host};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{
    CounterDef, CounterId, CounterReading, Definition, Event, LossKind, Lost, Meta, Note, Progress, ProgressUnit,
    Sample, Scope,
};
use crate::session::naming::HostFiles;
use crate::store::perfdata::{self, PerfData, ReadValues, Record, RecordBody};
use crate::symbols::is_jitdump;
use crate::sys::procfs::ProcFs;
use crate::units::Nanos;
use rustc_hash::FxHashMap;
use std::path::Path;

/// Bytes of the file after which its pages are given back.
const RELEASED: usize = 4 << 20;

/// Records between two updates of the progress.
const TOLD: u64 = 8192;

/// Problems that the recording must note.
#[derive(Debug, Default)]
struct ImportProblems {
    /// Records shorter than required.
    short: u64,
    /// Samples without a time, or without a CPU.
    timeless: u64,
    placeless: u64,
    /// Samples with branch records other than call stacks.
    branches: u64,
    /// Call chains that end in code that is not here, and in code that says nothing of its callers.
    unknown_ends: [u64; 2],
    /// Stacks without their inner frames.
    cut: u64,
    /// Number of samples, as counted by this program.
    samples: u64,
}

/// An import in progress.
struct Import<'a, O> {
    perf: &'a PerfData<'a>,
    local: LocalFiles,
    kernel_named: bool,
    objects: Objects,
    tasks: Tasks,
    stacks: Stacks,
    meta: Meta,
    output: O,
    dumps: FxHashMap<u32, String>,
    /// Counters that were read, by event.
    counters: FxHashMap<usize, CounterId>,
    /// The last value of each counter id, for samples with counter values; by thread where the counts are of threads.
    values: FxHashMap<(u64, u32), u64>,
    /// Time of the first sample, the origin of all times, and the last time seen.
    base: Option<u64>,
    now: Nanos,
    windows: facts::Windows,
    problems: ImportProblems,
}

/// Imports a file.
pub(super) fn import<O: Output>(
    source: &Source,
    options: &Options,
    output: impl FnOnce(&Meta) -> O,
) -> Result<O::Product> {
    let (bytes, progress) = ((*source.bytes).as_ref(), &options.progress);
    progress.begin(format!("reading {}", source.name), ProgressUnit::Bytes, bytes.len() as u64);
    let perf = PerfData::parse(bytes)?;
    let meta = facts::meta(&perf, source);
    let here = host::identity(&ProcFs::new("/proc"));
    let local = LocalFiles::new(options.symfs.as_deref(), &meta.host, &here);
    let recorded = kernel_build(&perf.builds);
    let kernel = KernelNames::choose(options, &local, recorded, &meta.host.kernel, Path::new("/"))?;
    let output = output(&meta);
    let mut import = Import::new(&perf, meta, local, kernel.text.is_some(), output);
    let mut records = perf.records();
    // Everything was read once to find the declarations.
    source.release(0..usize::MAX);
    let (mut released, mut taken) = (0, 0u64);
    while let Some(record) = records.next() {
        import.take(&record)?;
        taken += 1;
        if taken.is_multiple_of(TOLD) {
            progress.set(records.handed_out() as u64);
        }
        if records.position() - released > RELEASED {
            source.release(released..records.position());
            released = records.position();
        }
    }
    let mut notes = gaps(&perf, &records);
    if source.was_cut() {
        let text = "the file became shorter while it was read: what was cut off is missing".to_string();
        notes.push(Note { topic: "import-gap".into(), text, fix: None });
    }
    import.problems.unknown_ends = import.stacks.unknown_ends();
    import.problems.cut = import.stacks.cut();
    if import.problems.samples == 0 && !notes.is_empty() {
        let why: Vec<String> = notes.into_iter().map(|note| note.text).collect();
        return Err(Error::new(ErrorKind::Corrupt, format!("no sample could be read: {}", why.join("; "))));
    }
    notes.extend(import.problems.notes());
    import.finish(source, kernel, notes, progress)
}

impl<'a, O: Output> Import<'a, O> {
    fn new(perf: &'a PerfData<'a>, meta: Meta, local: LocalFiles, kernel_named: bool, mut output: O) -> Self {
        let objects = Objects::new(local.clone(), &perf.builds, kernel_named, &mut output);
        let stacks = Stacks::new(&meta.host.arch);
        Import {
            perf,
            local,
            kernel_named,
            objects,
            tasks: Tasks::default(),
            stacks,
            meta,
            output,
            dumps: FxHashMap::default(),
            counters: FxHashMap::default(),
            values: FxHashMap::default(),
            base: None,
            now: Nanos(0),
            windows: facts::Windows::default(),
            problems: ImportProblems::default(),
        }
    }

    fn take(&mut self, record: &Record<'_>) -> Result<()> {
        let Some(body) = self.perf.read_record(record) else {
            self.problems.short += 1;
            return Ok(());
        };
        // Records that perf synthesizes for the time before have no time, or zero.
        let time = record.stamp.time.filter(|time| *time != 0);
        if let RecordBody::Sample(_) = body {
            self.base = self.base.or(time);
        }
        let at = time.map(|time| Nanos(time.saturating_sub(self.base.unwrap_or(time))));
        self.now = at.unwrap_or(self.now).max(self.now);
        match body {
            RecordBody::Mmap(mapping) => self.mapped(&mapping),
            RecordBody::KernelSymbol(symbol) => self.objects.map_generated(&symbol, &mut self.output),
            RecordBody::Comm(comm) => {
                let event = self.tasks.named(at, &comm);
                self.output.push(event);
            }
            RecordBody::Cgroup(cgroup) => self.tasks.cgroup(&cgroup),
            RecordBody::Fork(task) => {
                if task.pid != task.parent_pid {
                    self.objects.forget(task.pid);
                }
                if let Some(event) = self.tasks.born(at, &task) {
                    self.output.push(event);
                }
            }
            RecordBody::Exit(task) => {
                let (event, forgotten) = self.tasks.ended(self.now, task.pid, task.tid);
                forgotten.into_iter().for_each(|pid| self.objects.forget(pid));
                self.output.push(event);
            }
            RecordBody::Lost(count) => self.lost(record, LossKind::Ring, count),
            RecordBody::Throttle => self.lost(record, LossKind::Throttled, 1),
            RecordBody::Read { tid, values } => self.read(record.event, tid, &values),
            RecordBody::Sample(sample) => self.sample(record, &sample),
            RecordBody::Other => {}
        }
        self.output.settle(&self.meta)
    }

    fn mapped(&mut self, mapping: &MmapRecord<'_>) {
        let Some(end) = mapping.end() else { return };
        match mapping.mode {
            Mode::Kernel => self.objects.map_kernel(mapping, self.kernel_named, &mut self.output),
            Mode::GuestKernel | Mode::GuestUser | Mode::Hypervisor => {}
            Mode::User | Mode::Unknown => {
                self.remember_dump(mapping);
                let placed = self.objects.place(mapping, &mut self.output);
                self.tasks.mapped(mapping.pid, mapping.start, end, &placed);
            }
        }
    }

    /// Remembers the jitdump file that a runtime mapped for profilers.
    fn remember_dump(&mut self, mapping: &MmapRecord<'_>) {
        let path = String::from_utf8_lossy(mapping.path);
        if self.local.trusts_runtimes() && is_jitdump(Path::new(&*path)) {
            self.dumps.insert(mapping.pid, format!("0-1 r-xp 00000000 00:00 0 {path}\n"));
        }
    }

    fn lost(&mut self, record: &Record<'_>, kind: LossKind, count: u64) {
        let cpu = record.stamp.cpu.unwrap_or_default();
        self.output.push(Event::Lost(Lost { at: self.now, cpu, kind, count }));
    }

    fn read(&mut self, event: usize, tid: u32, reads: &ReadValues<'_>) {
        for (value, id) in reads.iter() {
            let event = id.and_then(|id| self.perf.event_by_id(id)).unwrap_or(event);
            let Some(counter) = self.counter(event) else { continue };
            let enabled = Nanos(reads.enabled.unwrap_or_default());
            let running = reads.running.map_or(enabled, Nanos);
            let scope = Scope::Thread(tid);
            self.output.push(Event::Reading(CounterReading { counter, scope, at: self.now, value, enabled, running }));
        }
    }

    fn counter(&mut self, event: usize) -> Option<CounterId> {
        if let Some(counter) = self.counters.get(&event) {
            return Some(*counter);
        }
        let spec = self.meta.events.get(event)?;
        let id = CounterId(u16::try_from(self.counters.len()).ok()?);
        let def = CounterDef { id, name: spec.name.clone(), unit: spec.unit, group: spec.group };
        self.output.define(Definition::Counter(def));
        self.counters.insert(event, id);
        Some(id)
    }

    fn sample(&mut self, record: &Record<'_>, sample: &perfdata::Sample<'_>) {
        let Some(attr) = self.perf.events.get(record.event).map(|event| event.attr) else { return };
        let (pid, tid) = (sample.pid.unwrap_or_default(), sample.tid.unwrap_or_default());
        let at = self.now;
        if let Some(tick) = self.windows.advance(at) {
            self.output.push(tick);
        }
        if let Some(event) = self.tasks.meet(at, pid, tid) {
            self.output.push(event);
        }
        if let Some(event) = sample.cgroup.and_then(|id| self.tasks.joined(at, pid, tid, id)) {
            self.output.push(event);
        }
        let guest = (sample.mode == Mode::GuestKernel).then(|| self.objects.guest_kernel(&mut self.output));
        let (space, objects) = (self.tasks.space(pid), &self.objects);
        let around = StackContext { space, objects, guest, event: record.event };
        let (stack, end) = self.stacks.build(sample, &attr, around, &mut self.output);
        let kernel = !matches!(sample.mode, Mode::User | Mode::Unknown | Mode::GuestUser);
        let cpu = record.stamp.cpu.unwrap_or_default();
        self.problems.samples += 1;
        self.problems.timeless += u64::from(record.stamp.time.is_none());
        self.problems.placeless += u64::from(record.stamp.cpu.is_none());
        self.problems.branches += u64::from(attr.has_branches() && !attr.has_call_stack());
        let number = |event: usize| u16::try_from(event).unwrap_or_default();
        let own = Sample { at, pid, tid, cpu, event: number(record.event), weight: 1, stack, end, kernel };
        if let Some(access) = accesses::decode(sample.access, &own) {
            self.output.push(Event::Access(access));
        }
        let fixed = if attr.is_frequency() { 1 } else { attr.rate };
        let alone = [(record.event, sample.period.unwrap_or(fixed))];
        let weights = sample.reads.map(|reads| {
            let of_thread = if attr.reads_by_thread() { tid } else { 0 };
            self.grown(record.event, of_thread, &reads)
        });
        for (event, weight) in weights.as_deref().unwrap_or(&alone) {
            self.output.push(Event::Sample(Sample { event: number(*event), weight: *weight, ..own }));
        }
    }

    /// A leader's sample with counter values represents one sample of every group member. Each weighs the increase of
    /// its counter; a counter without an increase has no sample.
    fn grown(&mut self, event: usize, of_thread: u32, reads: &ReadValues<'_>) -> Vec<(usize, u64)> {
        let grown = reads.iter().filter_map(|(value, id)| {
            let (event, id) = match id {
                Some(id) => (self.perf.event_by_id(id)?, id),
                None => (event, 0),
            };
            let before = self.values.insert((id, of_thread), value).unwrap_or_default();
            Some((event, value.wrapping_sub(before))).filter(|(_, weight)| *weight > 0)
        });
        grown.collect()
    }

    fn finish(
        mut self,
        source: &Source,
        kernel: KernelNames,
        mut notes: Vec<Note>,
        progress: &Progress,
    ) -> Result<O::Product> {
        let Import { objects, stacks, mut meta, mut output, local, now, base, .. } = self;
        let frames = stacks.into_frames();
        let host = HostFiles::of_user(false);
        let files = Recorded { host, local, kallsyms: kernel.text.clone(), dumps: std::mem::take(&mut self.dumps) };
        let recorded = self.perf.features.symbols();
        let missing = objects.note(&frames, &recorded);
        let mut names = Names::new(&objects, recorded, files, &kernel);
        progress.begin("naming functions".to_string(), ProgressUnit::Addresses, frames.len() as u64);
        names.name(&frames, progress, |definition| {
            output.define(definition);
            output.settle(&meta)
        })?;
        notes.extend(missing);
        notes.extend(names.notes());
        let start = self
            .perf
            .features
            .clock()
            .map(|(wall, clock)| wall.saturating_add(base.unwrap_or(clock)).saturating_sub(clock));
        let ended = source.written_unix_ns.unwrap_or_default();
        meta.started_unix_ns = start.unwrap_or(ended.saturating_sub(now.0));
        meta.started_mono_ns = base.unwrap_or_default();
        meta.duration_ns = Some(now.0);
        meta.notes = notes;
        output.finish(meta)
    }
}

impl ImportProblems {
    fn notes(&self) -> Vec<Note> {
        let note = |topic: &str, text: String| Note { topic: topic.into(), text, fix: None };
        let share = |count: u64| if count == self.samples { "no".to_string() } else { "not every".to_string() };
        let mut notes = Vec::new();
        if self.samples == 0 {
            notes.push(note("no-samples", "the file holds no samples".into()));
        }
        if self.short > 0 {
            notes.push(note("import-gap", format!("{} records are shorter than their type requires", self.short)));
        }
        if self.timeless > 0 {
            notes.push(note(
                "no-times",
                format!("{} sample has a time: such samples get the time of the sample before", share(self.timeless)),
            ));
        }
        if self.placeless > 0 {
            notes.push(note(
                "no-cpus",
                format!("{} sample has a CPU: such samples are shown on CPU 0", share(self.placeless)),
            ));
        }
        let ends = [
            ("stack-ends-unknown", "code that is not on this machine"),
            ("stack-ends-mute", "code without unwind information that can be read, such as that of 32-bit programs"),
        ];
        for ((topic, what), count) in ends.into_iter().zip(self.unknown_ends).filter(|(_, count)| *count > 0) {
            notes.push(note(
                topic,
                format!(
                    "{count} stacks end in {what}, so whether they are complete is unknown: they count as truncated"
                ),
            ));
        }
        if self.cut > 0 {
            notes.push(Note {
                topic: "stacks-cut".into(),
                text: format!(
                    "more different stacks than are kept: {} samples lost their inner functions, and count for a caller",
                    self.cut
                ),
                fix: Some("Import a part of the time: perf record for less long, or with a lower frequency.".into()),
            });
        }
        if self.branches > 0 {
            notes.push(note(
                "branches-left-out",
                "branch stacks of the samples are left out: they are not call stacks".into(),
            ));
        }
        notes
    }
}

/// The parts of the file that could not be read.
fn gaps(perf: &PerfData<'_>, records: &perfdata::Records<'_, '_>) -> Vec<Note> {
    let left_out = records.left_out();
    let counted = [
        (left_out.unknown_event, "samples are of events that the file does not describe"),
        (left_out.traces, "traces made by the processor were left out (perf script --itrace decodes them)"),
        (left_out.counts, "counter values of perf stat record were left out"),
        (left_out.switches, "context switches were left out: waits are not imported"),
    ];
    let counted = counted.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
    let texts = perf.gaps.iter().cloned().chain(records.gap().map(String::from)).chain(counted);
    texts.map(|text| Note { topic: "import-gap".into(), text, fix: None }).collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::session::import;

    #[test]
    fn a_file_that_is_cut_while_it_is_read_is_noted_and_what_is_left_is_imported() {
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/perfdata/perf.data.callgraph-3.8");
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("perf.data");
        std::fs::copy(fixture, &path).unwrap();
        let options = Options { symfs: Some(dir.path().to_path_buf()), ..Options::default() };
        let source = Source::open(&path).unwrap();
        let whole = import::profile(&source, &options).unwrap();
        std::fs::File::options().write(true).open(&path).unwrap().set_len(200_000).unwrap();
        source.release(0..usize::MAX);
        let cut = import::profile(&source, &options).unwrap();
        assert!(!cut.samples.is_empty() && cut.samples.len() < whole.samples.len(), "{}", cut.samples.len());
        let cuts = |meta: &Meta| meta.notes.iter().filter(|note| note.text.contains("became shorter")).count();
        assert_eq!((cuts(&whole.meta), cuts(&cut.meta)), (0, 1));
    }

    #[test]
    fn stacks_that_lost_their_inner_functions_are_noted() {
        let topics = |cut| -> Vec<String> {
            let problems = ImportProblems { cut, samples: 9, ..ImportProblems::default() };
            problems.notes().into_iter().map(|note| note.topic).collect()
        };
        assert_eq!((topics(0), topics(3)), (vec![], vec!["stacks-cut".to_string()]));
    }

    /// A perf.data of `{cycles,instructions}:S`: samples of thread, CPU, and the counts so far of both events.
    fn of_a_group(inherited: bool, samples: &[(u32, u32, [u64; 2])]) -> Vec<u8> {
        const HEAD: u64 = 104;
        const EVENT: u64 = 96 + 16;
        const IDS: u64 = HEAD + 2 * EVENT;
        const DATA: u64 = IDS + 2 * 8;
        // Address, task, time, counts, id and CPU; counts with ids, of the group.
        const SAMPLE: u64 = 1 | 1 << 1 | 1 << 2 | 1 << 4 | 1 << 6 | 1 << 7;
        const READ: u64 = 1 << 2 | 1 << 3;
        let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
        let halves = |halves: &[u32]| halves.iter().flat_map(|half| half.to_le_bytes()).collect::<Vec<_>>();
        let event = |config: u64| {
            let period = if config == 0 { 1000 } else { 0 };
            let flags = u64::from(inherited) << 1 | 1 << 18;
            let attr = [halves(&[0, 96]), words(&[config, period, SAMPLE, READ, flags]), vec![0; 48]].concat();
            [attr, words(&[IDS + config * 8, 8])].concat()
        };
        let record = |(at, (tid, cpu, [cycles, instructions])): (usize, &(u32, u32, [u64; 2]))| {
            let body = [
                words(&[0x1000]),
                halves(&[5, *tid]),
                words(&[1_000_000 * (1 + at as u64), 1]),
                halves(&[*cpu, 0]),
                words(&[2, *cycles, 1, *instructions, 2]),
            ]
            .concat();
            [halves(&[9]), [2u16.to_le_bytes(), (8 + body.len() as u16).to_le_bytes()].concat(), body].concat()
        };
        let records: Vec<u8> = samples.iter().enumerate().flat_map(record).collect();
        // The description of the groups: one, from the first event on, of two.
        let groups = [halves(&[1, 8]), b"{a,b}\0\0\0".to_vec(), halves(&[0, 2])].concat();
        let end = DATA + records.len() as u64;
        let header = words(&[HEAD, EVENT, HEAD, 2 * EVENT, DATA, records.len() as u64, 0, 0, 1 << 17, 0, 0, 0]);
        let table = words(&[end + 16, groups.len() as u64]);
        [b"PERFILE2".to_vec(), header, event(0), event(1), words(&[1, 2]), records, table, groups].concat()
    }

    #[test]
    fn counts_in_samples_weigh_what_was_counted_since_the_last_of_the_same_event_and_if_inherited_of_the_thread() {
        let samples = [(5, 0, [1000, 700]), (6, 1, [1500, 900]), (5, 1, [2000, 1600]), (6, 1, [3500, 900])];
        let dir = tempfile::tempdir().unwrap();
        for (inherited, expected) in [
            // The counts of everything where the event is.
            (false, [(0, 1000), (1, 700), (0, 500), (1, 200), (0, 500), (1, 700), (0, 1500)].as_slice()),
            // Those of each thread, whatever CPU it is on. A thread that counted none has no sample of them.
            (true, &[(0, 1000), (1, 700), (0, 1500), (1, 900), (0, 1000), (1, 900), (0, 2000)]),
        ] {
            let path = dir.path().join("perf.data");
            // The last sample counted fewer instructions than the one before where threads are not told apart.
            let mut samples = samples;
            samples[3].2[1] = if inherited { 900 } else { 1600 };
            std::fs::write(&path, of_a_group(inherited, &samples)).unwrap();
            let profile = import::profile(&Source::open(&path).unwrap(), &Options::default()).unwrap();
            let weights: Vec<_> = profile.samples.iter().map(|sample| (sample.event, sample.weight)).collect();
            assert_eq!(weights, expected, "inherited: {inherited}");
            let events: Vec<_> = profile.meta.events.iter().map(|event| (event.group, event.read_by_leader)).collect();
            assert_eq!(events, [(Some(0), false), (Some(0), true)]);
        }
    }
}
