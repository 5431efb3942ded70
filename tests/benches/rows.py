"""The rows: what each measures stands in its documentation, which is printed above its table.

A row gets the bench and returns its variants, which every round runs once in random order, and what else there is to tell of
the last one. A variant returns lines of the table, `{(case, name): {metric: value}}`; lines of one case are compared.
"""
import gzip, json, os, pathlib, re, shutil, socket, tempfile, time

import inputs
from measuring import TARGET, Background, InTerminal, Missing, need, run

CPUS = os.cpu_count()
ROWS = {}


def row(title, ratio=None, rounds=3, default=True):
    """`ratio`: the metric by which a case's others are compared with its first line of ironlaw. Metrics named `speed` become
    parts of what the case's (or the row's) line without a recorder reached in the same round."""
    def register(function):
        function.title, function.ratio, function.rounds, function.default = title, ratio, rounds, default
        ROWS[function.__name__] = function
        return function
    return register


def cost(*usages, **more):
    return {"CPU s": sum(usage.cpu for usage in usages), "peak MB": max(usage.peak_mb for usage in usages), **more}


def size(path):
    path = pathlib.Path(path)
    return sum(file.stat().st_size for file in path.rglob("*")) if path.is_dir() else path.stat().st_size


def piped(line, *words):
    return run("bash", "-c", "set -o pipefail; " + line, "bench", *words)


def each(measure, *cases):
    """One variant for each case."""
    return [lambda case=case: measure(*case) for case in cases]


@row("Analysis of many stacks", ratio="CPU s")
def many(bench):
    """The whole machine compiling Rust, recorded by `perf record -a -g`: from perf.data to a flame graph as SVG, and to a
    report. ironlaw reads the file itself, or its own recording once that is imported. perf's report is of functions without
    call graphs (`--stdio -g none`). samply writes a profile of addresses, and names them when somebody looks at it.
    The pictures differ: ironlaw, like perf report, weighs samples by their periods and parts processes, inferno counts samples
    and parts threads by name."""
    return analysis(bench, inputs.many_stacks(bench))


@row("Analysis of few stacks", ratio="CPU s")
def few(bench):
    """The same for a file of `sysbench cpu` on every CPU: many samples, few different stacks."""
    return analysis(bench, inputs.few_stacks(bench))


def analysis(bench, data):
    at = lambda name: os.path.join(bench.folder, name)
    recording, ironlaw = at("imported.ironlaw"), bench.ironlaw

    def draw(**env):
        return run(ironlaw, "-q", "flamegraph", "-o", at("ours.svg"), data, env=env)

    def with_ironlaw():
        return {("SVG", "ironlaw flamegraph"): cost(draw()), ("report", "ironlaw report"): cost(run(ironlaw, "report", "-o", at("ours.txt"), data))}

    def with_empty_cache():
        with tempfile.TemporaryDirectory() as cache: return {("SVG", "the same, nothing cached"): cost(draw(XDG_CACHE_HOME=cache))}

    def by_recording():
        imported = run(ironlaw, "-q", "import", "-f", "-o", recording, data)
        drawn = run(ironlaw, "-q", "flamegraph", "-o", at("ours.svg"), recording)
        report = run(ironlaw, "report", "-o", at("ours.txt"), recording)
        return {("SVG", "import, then flamegraph"): cost(imported, drawn), ("report", "report of the import"): cost(report)}

    def with_inferno():
        need("perf", "inferno-collapse-perf", "inferno-flamegraph")
        line = 'perf script -i "$1" | inferno-collapse-perf > "$2" && inferno-flamegraph "$2" > "$3"'
        return {("SVG", "perf script, inferno"): cost(piped(line, data, at("theirs.folded"), at("theirs.svg")))}

    def with_samply():
        return {("SVG", "samply import, no names"): cost(run("samply", "import", "--save-only", "-o", at("samply.json.gz"), data))}

    def with_perf():
        need("perf")
        return {("report", "perf report"): cost(piped('perf report -i "$1" --stdio -g none > "$2"', data, at("perf.txt")))}

    def same():
        boxes = lambda name: f"{pathlib.Path(at(name)).read_text(errors='replace').count('<rect'):,}" if os.path.exists(at(name)) else "none"
        return (f"{size(data) / 1e6:.0f} MB. Samples: perf {perf_samples(data):,.0f}, ironlaw {samples_of('ironlaw', data, ironlaw):,.0f}. "
                f"Boxes in the picture: ironlaw {boxes('ours.svg')}, inferno {boxes('theirs.svg')}.")

    return [with_ironlaw, with_empty_cache, by_recording, with_inferno, with_samply, with_perf], same


def perf_samples(path):
    found = re.search(r"SAMPLE events:\s+(\d+)", run("perf", "report", "-i", path, "--stats").text)
    return float(found.group(1)) if found else 0.0


def samples_of(name, path, ironlaw):
    if name.startswith("perf"): return perf_samples(path)
    if name.startswith("ironlaw"): return float(json.loads(run(ironlaw, "report", "--format", "json", path).text)["samples"]["count"])
    with gzip.open(path) as file: return float(sum(thread["samples"]["length"] for thread in json.load(file)["threads"]))


def recorders(bench, rate):
    """How each tool records a command: name, start of its command line, where it writes."""
    output = os.path.join(bench.folder, "out")
    perf = ["perf", "record", "-q", "-F", rate, "-o", output]
    return [("ironlaw", [bench.ironlaw, "-q", "record", "-f", "-F", rate, "-o", output + ".ironlaw", "--"], output + ".ironlaw"),
            ("perf -g", [*perf, "-g", "--"], output),
            ("samply, no names", ["samply", "record", "--save-only", "-r", rate, "-o", output + ".json.gz", "--"], output + ".json.gz"),
            ("perf, dwarf stacks", [*perf, "--call-graph", "dwarf", "--"], output)]


@row("Recording a busy machine", rounds=5)
def record(bench):
    """`sysbench cpu` with a thread for each CPU, for 3 s. Own CPU is that of the recorder and all it starts without the
    target's, which a shell measures: the line without a recorder is the shell's own. Throughput is of the target's events a
    second; no CPU is idle, so what a recorder uses is taken from the target too."""
    target = [*TARGET, "sysbench", "cpu", f"--threads={CPUS}", f"--time={1 if bench.quick else 3}", "--cpu-max-prime=2000", "run"]

    def measure(case, name, words, path):
        need("sysbench")
        usage = run(*words, *target)
        line = {"own CPU s": usage.own_cpu(), "speed": usage.number(r"events per second:\s+([\d.]+)")}
        if path:
            line |= {"peak MB": usage.peak_mb, "samples": samples_of(name, path, bench.ironlaw), "kB a CPU s": size(path) / 1e3 / usage.target_cpu()}
        return {(case, name): line}

    return each(measure, ("", "no recorder", [], None), *[("999 Hz", *tool) for tool in recorders(bench, 999)],
                *[("4,999 Hz", *tool) for tool in recorders(bench, 4999)[:3]]), None


@row("Recording a command that ends at once", ratio="CPU s", rounds=9)
def true(bench):
    """`record true`: what it costs to begin and to end."""
    def measure(name, words, path):
        usage = run(*words, "true")
        return {("", name): cost(usage, **{"wall s": usage.wall})}
    return each(measure, *recorders(bench, 999)[:3]), None


@row("Recording 5,000 threads", ratio="peak MB")
def threads(bench):
    """`sysbench cpu` with 5,000 threads for 5 s. Peak memory is the recorder's own, read every 10 ms: the target has more. The
    line without a recorder is the target's."""
    target = [*TARGET, "sysbench", "cpu", f"--threads={500 if bench.quick else 5000}", f"--time={1 if bench.quick else 5}", "run"]

    def measure(name, words, path):
        need("sysbench")
        usage = run(*words, *target, watched=True)
        return {("", name): {"peak MB": usage.own_peak_mb if words else usage.peak_mb, "own CPU s": usage.own_cpu()}}

    return each(measure, *recorders(bench, 997)[:3], ("no recorder", [], None)), None


@row("The terminal session", rounds=2)
def top(bench):
    """In a pseudo-terminal of 160x50 whose output is read and dropped, for 7 s after 3 s to start: CPU of one core, peak
    memory of the tool, bytes drawn a second. Watched are a sleeping process, `sysbench cpu` on every CPU, and the whole machine
    meanwhile."""
    asleep, busy = ["sleep", "1000"], ["sysbench", "cpu", f"--threads={CPUS}", "--time=1000", "run"]

    def measure(case, name, words, beside):
        with Background(beside) as pid, InTerminal(*words, *(["-a"] if case == "machine" else ["-p", str(pid)])) as session:
            session.read(1 if bench.quick else 3)
            cpu, drawn, start = session.cpu(), session.bytes, time.monotonic()
            session.read(2 if bench.quick else 7)
            lasted = time.monotonic() - start
            return {(case, name): {"CPU %": 100 * (session.cpu() - cpu) / lasted, "peak MB": session.memory_mb(),
                                   "bytes/s drawn": (session.bytes - drawn) / lasted}}

    tools = [("ironlaw top", [bench.ironlaw, "top"]), ("perf top -g", ["perf", "top", "-g", "-F", "997"])]
    return each(measure, *[(case, *tool, beside) for case, beside in (("asleep", asleep), ("busy", busy), ("machine", busy)) for tool in tools]), None


class Redis:
    """A server of its own, and how much it has done."""

    def __enter__(self):
        need("redis-server", "redis-benchmark")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.server = Background(["redis-server", "--port", self.port, "--save", "", "--appendonly", "no"])
        self.pid = self.server.__enter__()
        self.load = ["redis-benchmark", "-p", self.port, "-t", "set", "-c", "8", "-n", "1000000000", "-q"]
        for _ in range(100):
            try: self.connection = socket.create_connection(("127.0.0.1", self.port)); return self
            except OSError: time.sleep(0.05)
        self.server.__exit__()
        raise Missing("the redis server did not answer")

    def __exit__(self, *_):
        self.connection.close()
        self.server.__exit__()

    def counts(self):
        """Commands served, switches of its threads, and the time."""
        self.connection.sendall(b"INFO stats\r\n")
        text = b""
        while not (found := re.search(rb"total_commands_processed:(\d+)\r", text)): text += self.connection.recv(65536)
        status = "".join(file.read_text() for file in pathlib.Path(f"/proc/{self.pid}/task").glob("*/status"))
        return int(found.group(1)), sum(map(int, re.findall(r"ctxt_switches:\s+(\d+)", status))), time.monotonic()


@row("Waits of a server", rounds=5)
def redis(bench):
    """redis under a load of eight clients; each recorder attaches for 4 s. Throughput is of commands a second from the
    recorder's start to its end. Quiet: nothing else runs; contended: `sysbench cpu` keeps every CPU busy as well. perf records
    each switch with its stack (`-e sched:sched_switch -g`), ironlaw samples and waits (`--off-cpu`), or samples alone."""
    seconds, output = "1" if bench.quick else "4", os.path.join(bench.folder, "out")
    busy = ["sysbench", "cpu", f"--threads={CPUS}", "--time=1000", "run"]

    def measure(case, name, words):
        with Redis() as redis, Background(redis.load, *[busy] * (case == "contended")):
            time.sleep(0.5)
            before = redis.counts()
            usage = run(*[redis.pid if word == "PID" else word for word in words])
            served, switches, lasted = (after - then for after, then in zip(redis.counts(), before))
        own = {} if name == "no recorder" else {"own CPU s": usage.cpu, "peak MB": usage.peak_mb}
        return {(case, name): {"speed": served / lasted, "commands/s": served / lasted, "switches/s": switches / lasted, **own}}

    ironlaw = [bench.ironlaw, "-q", "record", "-f", "-o", output + ".ironlaw", "-p", "PID", "-d", seconds]
    tools = [("ironlaw --off-cpu", [*ironlaw, "--off-cpu"]), ("ironlaw, no waits", ironlaw),
             ("perf sched_switch -g", with_tracefs(["perf", "record", "-q", "-e", "sched:sched_switch", "-g", "-o", output, "-p", "PID", "--", "sleep", seconds])),
             ("no recorder", ["sleep", seconds])]
    return each(measure, *[(case, *tool) for case in ("quiet", "contended") for tool in tools]), None


def with_tracefs(words):
    """Where tracefs is not mounted it is for this command alone."""
    if os.path.exists("/sys/kernel/tracing/events"): return words
    return ["unshare", "--mount", "sh", "-ec", 'mount -t tracefs tracefs /sys/kernel/tracing; exec "$@"', "sh", *words]


@row("Growth")
def growth(bench):
    """Made-up recordings (`examples/synthesize.rs`): 10,000 stacks and 4 threads where samples grow, a million samples where
    stacks or threads do. The first screen is the time until `ironlaw view` has drawn function names in a pseudo-terminal."""
    small = bench.quick
    samples, stacks = (10**5 if small else 10**6), 10**4
    shapes = [("samples", number, number, min(number, stacks), 4) for number in (10**4, 10**5, *([] if small else (10**6, 10**7)))]
    shapes += [("stacks", number, samples, number, 4) for number in (10**2, 10**3, 10**4, 10**5, *([] if small else (10**6,)))]
    shapes += [("threads", number, samples, stacks, number) for number in (1, 10, 100, 1000, *([] if small else (5000,)))]

    def measure(case, number, *shape):
        recording = inputs.synthetic(bench, *shape)
        report = run(bench.ironlaw, "report", "-o", os.path.join(bench.folder, "ours.txt"), recording)
        with InTerminal(bench.ironlaw, "view", recording) as session:
            shown = session.read(120, until=rb"(process|operator\[\])_\d")
            return {(case, f"{number:,}"): {"report CPU s": report.cpu, "screen s": shown, "its CPU s": session.cpu(),
                                            "report MB": report.peak_mb, "view MB": session.memory_mb()}}

    return each(measure, *shapes), None


@row("A long terminal session", rounds=1, default=False)
def long(bench):
    """`ironlaw top` on redis under load, another screen every minute (`--minutes`)."""
    def watch():
        with Redis() as redis, Background(redis.load), InTerminal(bench.ironlaw, "top", "-p", str(redis.pid)) as session:
            lines = {}
            for minute in range(bench.options.minutes + 1):
                session.read(60 if minute else 5)
                lines["minutes", str(minute)] = {"memory MB": session.memory_mb("VmRSS"), "peak MB": session.memory_mb(), "CPU s": session.cpu()}
                session.type(str(1 + minute % 6))
            return lines
    return [watch], None


@row("What being profiled costs real programs", rounds=6, default=False)
def programs(bench):
    """Throughput with ironlaw as part of that without, a second and a second of the program's own CPU time: the latter leaves out
    what else runs on the machine."""
    seconds = 1 if bench.quick else 3
    text = pathlib.Path(bench.folder, "text")
    text.write_text(inputs.generated_source() * 60)
    events = r"total number of events:\s+(\d+)"
    targets = {
        "sysbench threads": (["sysbench", "threads", "--threads=2", f"--time={seconds}", "run"], events),
        "sysbench memory": (["sysbench", "memory", "--threads=2", "--memory-total-size=1P", f"--time={seconds}", "run"], r"Total operations: (\d+)"),
        "pigz": (["sh", "-c", f"pigz -6 -p 2 -c {text} | wc -c"], r"^(\d+)\n"),
        "db_bench fillrandom": (["db_bench", f"--db={bench.folder}/db", "--benchmarks=fillrandom", "--num=100000000", "--threads=2",
                                 f"--duration={seconds}"], r"(\d+) operations;"),
        "stress-ng pipe": (["stress-ng", "--pipe", "1", "-t", str(seconds), "--metrics-brief"], r"metrc: \[\d+\] pipe\s+(\d+)"),
    }

    def measure(case, name, words, target, pattern):
        need(case.split()[0])
        shutil.rmtree(os.path.join(bench.folder, "db"), ignore_errors=True)
        usage = run(*words, *TARGET, *target)
        count = usage.number(pattern)
        return {(case, name): {"speed": count / usage.target_wall(), "speed of its CPU": count / usage.target_cpu()}}

    ironlaw = [bench.ironlaw, "-q", "record", "-f", "-o", os.path.join(bench.folder, "out.ironlaw")]
    modes = [("no recorder", []), ("ironlaw, 97 Hz", [*ironlaw, "-F", "97", "--"]), ("ironlaw, 997 Hz", [*ironlaw, "--"]),
             ("ironlaw, 997 Hz, waits", [*ironlaw, "--off-cpu", "--"])]
    return each(measure, *[(case, *mode, *target) for case, target in targets.items() for mode in modes]), None


@row("Building it", rounds=1, default=False)
def build(bench):
    """A clean build in a folder of its own: `cargo build --release`, then `cargo test --no-run`."""
    def measure():
        lines = {}
        with tempfile.TemporaryDirectory() as folder:
            for name, words in (("release", ["build", "--release"]), ("tests", ["test", "--no-run"])):
                usage = run("cargo", *words, "--locked", "--quiet", timeout=3600, folder=inputs.ROOT, env={"CARGO_TARGET_DIR": folder})
                lines["", name] = {"CPU minutes": usage.cpu / 60, "wall minutes": usage.wall / 60}
            lines["", "release"]["program MB"] = os.path.getsize(os.path.join(folder, "release/ironlaw")) / 1e6
        return lines
    return [measure], None
