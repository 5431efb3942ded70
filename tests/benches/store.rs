//! What a recording costs: CPU time to write and read 100,000 samples, and bytes per sample.
//! Run with `cargo bench --bench store`; with `KEEP=DIR` the recording stays there.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark may panic and reports to the terminal")]

mod synthetic;

use ironlaw::model::{Event, Meta};
use ironlaw::store::{Recording, Writer};
use std::path::Path;
use std::sync::LazyLock;
use synthetic::{Shape, Synthetic};

const SHAPE: Shape = Shape { samples: 100_000, stacks: 20_000, threads: 4 };

static SOFTWARE: LazyLock<Capture> = LazyLock::new(|| Capture::new(false));
static HARDWARE: LazyLock<Capture> = LazyLock::new(|| Capture::new(true));

/// What a capture hands to the writer.
struct Capture {
    chunks: Vec<Vec<Event>>,
    meta: Meta,
}

impl Capture {
    fn new(wandering: bool) -> Capture {
        let mut events = Synthetic::new(SHAPE, wandering);
        Capture { chunks: events.by_ref().collect(), meta: events.meta() }
    }
}

fn main() {
    LazyLock::force(&SOFTWARE);
    LazyLock::force(&HARDWARE);
    for (name, capture) in [("cpu-clock", &*SOFTWARE), ("cycles", &*HARDWARE)] {
        let dir = tempfile::tempdir().unwrap();
        let before = cpu_ms();
        record(dir.path(), capture);
        let write_ms = cpu_ms() - before;
        let before = cpu_ms();
        assert_eq!(Recording::open(dir.path()).unwrap().profile().samples.len(), SHAPE.samples as usize);
        println!("{name}: {write_ms:.0} ms of CPU time to write, {:.0} ms to read", cpu_ms() - before);
        let mut files: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(Result::unwrap).collect();
        files.sort_by_key(std::fs::DirEntry::file_name);
        let sizes: Vec<_> = files.iter().map(|file| (file.file_name(), file.metadata().unwrap().len())).collect();
        let total: u64 = sizes.iter().map(|(_, size)| size).sum();
        println!("{name}: {:.2} bytes per sample in {total} bytes", total as f64 / f64::from(SHAPE.samples));
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

fn record(dir: &Path, capture: &Capture) {
    let mut writer = Writer::create(dir, &capture.meta, false).unwrap();
    for chunk in &capture.chunks {
        writer.write(chunk).unwrap();
        writer.flush().unwrap();
    }
    writer.finish(&capture.meta).unwrap();
}
