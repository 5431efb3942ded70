"""What the rows work on: perf.data files of real workloads, made here or given, and made-up recordings."""
import os, pathlib, random, tempfile

from measuring import Background, Missing, need, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMITS = {"kernel.perf_event_max_sample_rate": "100000", "kernel.perf_cpu_time_max_percent": "0"}


class SampleRates:
    """Lets perf sample as often as is asked while it lasts; otherwise the kernel lowers the limit on a busy machine."""

    def __enter__(self):
        self.before = {}
        for name, value in LIMITS.items():
            path = pathlib.Path("/proc/sys") / name.replace(".", "/")
            try: self.before[path] = path.read_text().strip(); path.write_text(value)
            except OSError: self.before.pop(path, None)

    def __exit__(self, *_):
        # The kernel takes a rate only while the part of the CPU time has a limit.
        for path, value in reversed(self.before.items()):
            try: path.write_text(value)
            except OSError: print(f"cannot write {value} back to {path}", flush=True)


def generated_source(functions=150):
    """A crate that keeps the compiler busy in many ways: generic code, traits, closures, iterators, formatting."""
    choose = random.Random(1)
    source = ["use std::collections::{BTreeMap, HashMap};\npub trait Step { fn step(&self, x: u64) -> u64; }"]
    for number in range(functions):
        a, b = choose.randint(1, 99), choose.randint(1, 99)
        source.append(f"""
pub struct S{number}<T>(pub T);
impl<T: Into<u64> + Copy> Step for S{number}<T> {{ fn step(&self, x: u64) -> u64 {{ (0..x % {a}).map(|y| y ^ self.0.into()).sum() }} }}
pub fn f{number}(words: &[String]) -> String {{
    let mut counts: HashMap<&str, u64> = HashMap::new();
    for word in words.iter().filter(|word| word.len() > {b % 7}) {{ *counts.entry(word).or_default() += S{number}({a}u32).step({b}); }}
    let sorted: BTreeMap<u64, Vec<&str>> = counts.iter().fold(BTreeMap::new(), |mut map, (k, v)| {{ map.entry(*v).or_insert_with(Vec::new).push(*k); map }});
    sorted.iter().rev().take({a}).map(|(n, all)| format!("{{n}}: {{all:?}}")).collect::<Vec<_>>().join("{number}")
}}""")
    return "\n".join(source)


def compiling(folder, quick):
    """The Rust compiler on a generated crate, over and over, once for each CPU."""
    need("rustc")
    source = os.path.join(folder, "generated.rs")
    with open(source, "w") as file: file.write(generated_source(30 if quick else 150))
    line = "while :; do rustc --edition 2021 --crate-type lib -O -C debuginfo=1 --out-dir $0 $1; done"
    outs = [tempfile.mkdtemp(dir=folder) for _ in range(os.cpu_count())]
    return [["sh", "-c", line, out, source] for out in outs]


def perf_data(bench, name, lines, samples):
    """About so many samples of the whole machine, with stacks, while these programs run."""
    need("perf")
    path = os.path.join(bench.folder, name)
    rate = 15_000
    seconds = min(60, max(1, samples / rate / os.cpu_count()))
    with Background(*lines): run("perf", "record", "-a", "-g", "-F", rate, "-o", path, "--", "sleep", seconds)
    return path


def many_stacks(bench):
    return bench.options.many or perf_data(bench, "many.data", compiling(bench.folder, bench.quick), 20_000 if bench.quick else 600_000)


def few_stacks(bench):
    line = ["sysbench", "cpu", f"--threads={os.cpu_count()}", "--time=120", "run"]
    return bench.options.few or perf_data(bench, "few.data", [line], 20_000 if bench.quick else 423_000)


def synthetic(bench, samples, stacks, threads):
    """A made-up recording; its functions are named `process_N`."""
    path = os.path.join(bench.folder, f"synthetic-{samples}-{stacks}-{threads}.ironlaw")
    if os.path.exists(path): return path
    program = pathlib.Path(bench.ironlaw).parent / "examples/synthesize"
    if not program.exists(): raise Missing(f"{program} is not built: cargo build --release --example synthesize")
    run(program, path, samples, stacks, threads)
    return path
