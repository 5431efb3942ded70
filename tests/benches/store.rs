//! What a recording costs: CPU time to write and read 100,000 samples, and bytes per sample.
//! Run with `cargo bench --bench store`; with `KEEP=DIR` the recording stays there.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark may panic and reports to the terminal")]

use ironlaw::model::{
    CallGraph, CounterDef, CounterId, CounterReading, Definition, Event, FrameDef, FrameId, Meta, ModuleDef, ModuleId,
    ModuleKind, Plan, Rate, Sample, Scope, StackDef, StackEnd, StackId, Symbol, Target, Tick, Unit,
};
use ironlaw::store::{Recording, Writer};
use ironlaw::units::Nanos;
use std::collections::HashMap;
use std::path::Path;
use std::sync::LazyLock;

const SAMPLES: u32 = 100_000;
const THREADS: u32 = 4;
/// What 997 Hz means to the kernel.
const PERIOD_NS: u64 = 1_003_009;
const FLUSH_NS: u64 = 2_000_000_000;

static SOFTWARE: LazyLock<Vec<Vec<Event>>> = LazyLock::new(|| Synthetic::default().capture(|_| PERIOD_NS));
/// Frequency mode on a hardware event: the period wanders.
static HARDWARE: LazyLock<Vec<Vec<Event>>> =
    LazyLock::new(|| Synthetic::default().capture(|random| 3_000_000 + random % 200_000));

fn main() {
    LazyLock::force(&SOFTWARE);
    LazyLock::force(&HARDWARE);
    for (name, chunks) in [("cpu-clock", &*SOFTWARE), ("cycles", &*HARDWARE)] {
        let dir = tempfile::tempdir().unwrap();
        let before = cpu_ms();
        record(dir.path(), chunks);
        let write_ms = cpu_ms() - before;
        let before = cpu_ms();
        assert_eq!(Recording::open(dir.path()).unwrap().profile().samples.len(), SAMPLES as usize);
        println!("{name}: {write_ms:.0} ms of CPU time to write, {:.0} ms to read", cpu_ms() - before);
        let mut files: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(Result::unwrap).collect();
        files.sort_by_key(std::fs::DirEntry::file_name);
        let sizes: Vec<_> = files.iter().map(|file| (file.file_name(), file.metadata().unwrap().len())).collect();
        let total: u64 = sizes.iter().map(|(_, size)| size).sum();
        println!("{name}: {:.2} bytes per sample in {total} bytes", total as f64 / f64::from(SAMPLES));
        sizes.iter().for_each(|(name, size)| println!("    {size:>8}  {}", name.display()));
        if let Ok(copy) = std::env::var("KEEP") {
            let _ = std::fs::rename(dir.path(), copy);
        }
    }
    divan::main();
}

/// CPU time of this thread so far, in milliseconds.
fn cpu_ms() -> f64 {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    schedstat.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e6
}

#[divan::bench(sample_count = 10)]
fn write_100k_samples(bencher: divan::Bencher<'_, '_>) {
    bencher.with_inputs(|| tempfile::tempdir().unwrap()).bench_values(|dir| {
        record(dir.path(), &SOFTWARE);
        dir
    });
}

#[divan::bench(sample_count = 10)]
fn read_100k_samples(bencher: divan::Bencher<'_, '_>) {
    let dir = tempfile::tempdir().unwrap();
    record(dir.path(), &SOFTWARE);
    bencher.bench(|| Recording::open(dir.path()).unwrap().profile().samples.len());
}

fn record(dir: &Path, chunks: &[Vec<Event>]) {
    let mut writer = Writer::create(dir, &meta(), false).unwrap();
    for chunk in chunks {
        writer.write(chunk).unwrap();
        writer.flush().unwrap();
    }
    writer.finish(&meta()).unwrap();
}

/// A server with some 1,500 functions: call trees of uneven popularity, several addresses in each function, jittery
/// timers, counters per thread and second.
#[derive(Default)]
struct Synthetic {
    seed: u64,
    frames: HashMap<u64, FrameId>,
    stacks: HashMap<(Option<StackId>, FrameId), StackId>,
    chunk: Vec<Event>,
}

impl Synthetic {
    fn capture(mut self, weight: impl Fn(u64) -> u64) -> Vec<Vec<Event>> {
        self.prologue();
        let (mut chunks, mut clocks, mut flushed) = (Vec::new(), [0u64; THREADS as usize], 0);
        for number in 0..SAMPLES {
            let thread = (0..clocks.len()).min_by_key(|&thread| clocks[thread]).unwrap();
            clocks[thread] += PERIOD_NS - 1_500 + self.random() % 3_000;
            let (at, stack, random) = (clocks[thread], self.stack(), self.random());
            let (thread, kernel) = (u32::try_from(thread).unwrap(), random.is_multiple_of(9));
            self.chunk.push(Event::Sample(Sample {
                at: Nanos(at),
                pid: 4100,
                tid: 4100 + thread,
                cpu: if random.is_multiple_of(50) { number % 8 } else { thread },
                event: 0,
                weight: weight(random),
                stack: Some(stack),
                end: if random.is_multiple_of(70) { StackEnd::Truncated } else { StackEnd::Whole },
                kernel,
            }));
            if at > flushed + FLUSH_NS {
                flushed = at;
                self.tick(at);
                chunks.push(std::mem::take(&mut self.chunk));
            }
        }
        chunks.push(self.chunk);
        chunks
    }

    fn prologue(&mut self) {
        for id in 0..20 {
            let (path, kind) = (format!("/usr/lib/x86_64-linux-gnu/libexample-{id}.so.6"), ModuleKind::File);
            let module = ModuleDef { id: ModuleId(id), kind, path, build_id: None, pid: 4100 };
            self.chunk.push(Event::Define(Definition::Module(module)));
        }
        for id in 0..24 {
            let counter =
                CounterDef { id: CounterId(id), name: format!("counter-{id}"), unit: Unit::Count, group: None };
            self.chunk.push(Event::Define(Definition::Counter(counter)));
        }
    }

    /// xorshift64*.
    fn random(&mut self) -> u64 {
        let mut state = self.seed | 0x9e37_79b9;
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        self.seed = state;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 20
    }

    /// One of `count`, the first ones much more often than the last.
    fn popular(&mut self, count: u64) -> u64 {
        let uniform = (self.random() % (1 << 20)) as f64 / f64::from(1 << 20);
        (uniform.powi(3) * count as f64) as u64
    }

    /// One of some 4,000 call paths, which share their outer part with their neighbours, and any place in its leaf.
    fn stack(&mut self) -> StackId {
        let (path, mut parent) = (self.popular(4_000), None);
        let depth = 8 + path * 7 % 24;
        for level in 0..depth {
            let function = (path >> (depth - level - 1).min(12)).wrapping_mul(0x9e37_79b9).wrapping_add(level) % 1_500;
            let place = if level + 1 == depth { self.popular(40) } else { 1 };
            let frame = self.frame(function * 512 + place * 4, function);
            parent = Some(self.push(parent, frame));
        }
        parent.unwrap()
    }

    fn push(&mut self, parent: Option<StackId>, frame: FrameId) -> StackId {
        let next = StackId(u32::try_from(self.stacks.len()).unwrap());
        let id = *self.stacks.entry((parent, frame)).or_insert(next);
        if id == next {
            self.chunk.push(Event::Define(Definition::Stack(StackDef { id, parent, frame })));
        }
        id
    }

    fn frame(&mut self, address: u64, function: u64) -> FrameId {
        let next = FrameId(u32::try_from(self.frames.len()).unwrap());
        let frame = *self.frames.entry(address).or_insert(next);
        if frame == next {
            let module = Some(ModuleId(u32::try_from(function % 20).unwrap()));
            self.chunk.push(Event::Define(Definition::Frame(FrameDef { id: frame, module, address })));
            let symbol = |name: String, inlined| Symbol {
                function: name,
                file: Some(format!("/build/server/src/unit{}/part{}.cc", function % 40, function % 200)),
                line: u32::try_from(address % 2_000).ok(),
                inlined,
            };
            let outer = symbol(format!("server::unit{}::Handler<Request>::process_{function}", function % 40), false);
            let inner = symbol(format!("std::vector<Item>::operator[]_{}", function % 90), true);
            let symbols = if address.is_multiple_of(3) { vec![inner, outer] } else { vec![outer] };
            self.chunk.push(Event::Define(Definition::Names { frame, symbols }));
        }
        frame
    }

    fn tick(&mut self, at: u64) {
        for counter in 0..24 {
            for scope in (0..THREADS).map(|thread| Scope::Thread(4100 + thread)).chain([Scope::Target]) {
                let (value, at) = (at / 7 + self.random() % 100_000, Nanos(at));
                let reading =
                    CounterReading { counter: CounterId(counter), scope, at, value, enabled: at, running: at };
                self.chunk.push(Event::Reading(reading));
            }
        }
        self.chunk.push(Event::Tick(Tick { at: Nanos(at), span: Nanos(FLUSH_NS) }));
    }
}

fn meta() -> Meta {
    let plan =
        Plan::new(Target::Processes { pids: vec![4100], children: false }, Rate::Frequency(997), CallGraph::Auto);
    Meta { tool: "benchmark".into(), ..Meta::new((0, 0), plan) }
}
