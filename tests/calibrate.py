#!/usr/bin/env python3
"""Measures how often what ironlaw says is right, on programs whose truth is known, and prints it beside what is claimed.

usage: calibrate.py IRONLAW [--quick] [--only PART,PART] [--seconds S] [--watch MINUTES] [--write] [--keep FOLDER]

Parts: simulated (the ignored tests that print `calibration:` lines), aa (two sides of one program: how often a difference is
called beyond chance), ab (operations that are dearer by a known part: whether the interval holds it, and whether it is found),
alarms (a quiet program watched: false alarms), shares (threads of 50 us to 50 ms against their own clocks), answers
(tests/known_answers.py with and without tracefs, beside a busy neighbour and as an ordinary user), locked (workloads and real
programs that contend at locked instructions and that do not, each recorded again and again). A row is off when the
claim lies outside the measured interval, on the wrong side. Comparisons are drawn from one pool of recordings for each
program, so their intervals take the number of recordings for that of the trials. --write replaces the sections of assets/calibration.md that were
measured and keeps the others, so the parts may run on different days. Needs a C compiler; --quick takes some ten minutes on
two CPUs. Exit code 1 if a row is off.
"""
import argparse, contextlib, itertools, json, math, os, pathlib, platform, random, re, shutil, signal, subprocess, sys, tempfile, time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
STEPS = 50_000
# Arguments of tests/calibrate/load.c after its seconds: steps, rate and swing; what differs from run to run.
PROGRAMS = {
    "steady": ("pace", lambda run: (STEPS, 1000, 0)),
    "load varies within runs": ("pace", lambda run: (STEPS, 1000, 60)),
    "load varies between runs": ("pace", lambda run: (STEPS, (500, 800, 1100, 1400, 1700)[run % 5], 0)),
    "short threads": ("born", lambda run: (STEPS, 500, 0)),
    "noisy neighbour": ("pace", lambda run: (STEPS, 1000, 0)),
}
DEARER = (1, 3, 10, 40)
LIVES = (50, 200, 1000, 5000, 50_000)


class Table:
    """Rows as they are measured."""

    def __init__(self):
        self.rows, self.off = [], 0

    def add(self, part, conditions, claimed, hits, trials, holds=None, unit="", independent=None):
        """A rate with its 95% interval (Wilson); `holds` says whether an interval agrees with the claim. Trials that share
        recordings tell no more than so many independent ones."""
        if trials == 0:
            return self.say(part, conditions, claimed, "nothing could be decided", 0)
        counted = min(trials, independent or trials)
        low, high = wilson(hits / trials * counted, counted)
        wrong = holds is not None and not holds(low, high)
        text = f"{100 * hits / trials:.1f}% ({100 * low:.1f}..{100 * high:.1f}%){unit}" + (" **off**" if wrong else "")
        self.say(part, conditions, claimed, text, trials, wrong)

    def say(self, part, conditions, claimed, measured, n, wrong=False):
        self.off += wrong
        self.rows.append((part, conditions, claimed, measured, str(n)))
        print(f"{part}: {conditions}: claimed {claimed}, measured {measured}, n={n}", file=sys.stderr, flush=True)

    def markdown(self):
        """The rows since the last call, as a table."""
        head = ("what", "conditions", "claimed", "measured (95% interval)", "n")
        lines = ["| " + " | ".join(row) + " |" for row in [head, ("---",) * len(head), *self.rows]]
        self.rows = []
        return "\n".join(lines)


def wilson(hits, trials, z=1.96):
    part, spread = hits / trials, z * z / trials
    middle = (part + spread / 2) / (1 + spread)
    half = z * math.sqrt(part * (1 - part) / trials + spread / trials / 4) / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)


def at_most(claim):
    return lambda low, high: low <= claim


def at_least(claim):
    return lambda low, high: high >= claim


def run(command, **options):
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit(f"calibrate: {' '.join(map(str, command))} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout


class Bench:
    """What all parts share: the program under test, the load and a folder."""

    def __init__(self, options, folder):
        self.ironlaw, self.folder = options.ironlaw, pathlib.Path(folder)
        self.quick, self.seconds, self.watch = options.quick, options.seconds, options.watch
        self.load = self.folder / "load"
        run(["cc", "-O2", "-D_GNU_SOURCE", "-pthread", "-o", self.load, HERE / "calibrate/load.c", "-lm"])
        self.table = Table()

    def record(self, name, seconds, mode, *arguments):
        path = self.folder / f"{name}.ironlaw"
        run([self.ironlaw, "-q", "record", "--force", "-M", "none", "--call-graph", "none", "-I", "250", "--ops", "regex:ops ([0-9]+)",
             "-o", path, "--", self.load, mode, seconds, *arguments])
        return path

    def compare(self, base, new):
        """The answer of a comparison, all its costs, and whether a function is said to have changed."""
        sides = [",".join(map(str, side)) for side in (base, new)]
        found = json.loads(run([self.ironlaw, "-q", "diff", *sides, "--force", "--format", "json"]))["comparisons"][0]
        functions = found["code"]["functions"] if found["code"] else []
        return found["answer"], [change for change in found["metrics"] if change["role"] == "cost"], any(row["real"] for row in functions)

    def neighbour(self):
        """A busy thread on every CPU, off and on."""
        script = "while :; do timeout 0.4 sh -c 'while :; do :; done'; sleep 0.3; done"
        return [subprocess.Popen(["sh", "-c", script], start_new_session=True) for _ in range(os.cpu_count())]


def stop(processes):
    for process in processes:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def splits(recordings, wanted, seed=1):
    """Pairs of three recordings each, drawn without order."""
    every = [(base, new) for base in itertools.combinations(recordings, 3)
             for new in itertools.combinations([one for one in recordings if one not in base], 3) if base < new]
    return random.Random(seed).sample(every, min(wanted, len(every)))


def beyond(change):
    return change["verdict"] in ("more", "less")


def aa(bench):
    """Two sides of one program: any difference beyond chance is false."""
    count, seconds, wanted = (8, 2, 40) if bench.quick else (30, bench.seconds, 200)
    for name, (mode, arguments) in PROGRAMS.items():
        noise = bench.neighbour() if "neighbour" in name else []
        try:
            recordings = [bench.record(f"aa-{name.replace(' ', '-')}-{at}", seconds, mode, *arguments(at)) for at in range(count)]
        finally:
            stop(noise)
        random.Random(2).shuffle(recordings)
        answers, costs, functions = [], {}, []
        for base, new in splits(recordings, wanted):
            answer, metrics, function = bench.compare(base, new)
            answers.append(answer)
            functions.append(function)
            for change in metrics:
                if change["verdict"]:
                    costs.setdefault(change["name"], []).append(beyond(change))
        said = f"{name}; {count} recordings of {seconds} s, 3 a side"
        decided = [answer for answer in answers if answer and answer["verdict"]]
        bench.table.add("A/A: the answer is beyond chance", said, "5%", sum(map(beyond, decided)), len(decided), at_most(0.05),
                        independent=count)
        bench.table.add("A/A: a function has changed", said, "5%", sum(functions), len(functions), at_most(0.05), independent=count)
        if costs:
            worst = max(costs, key=lambda key: sum(costs[key]) / len(costs[key]))
            bench.table.add(f"A/A: of all costs the worst, {worst}", said, "5%", sum(costs[worst]), len(costs[worst]), None,
                            independent=count)


def ab(bench):
    """Operations dearer by a known part."""
    count, seconds, wanted = (6, 2, 20) if bench.quick else (15, bench.seconds, 100)
    # Waking up costs the same however dear an operation is: operations of a millisecond make little of it. Runs take turns, so
    # that what the machine does in the meantime falls on all of them.
    recordings = {percent: [] for percent in (0, *DEARER)}
    for at in range(count):
        for percent, side in recordings.items():
            steps = 20 * STEPS * (100 + percent) // 100
            side.append(bench.record(f"ab-{percent}-{at}", seconds, "pace", steps, 200, 0))
    plain = recordings.pop(0)
    for percent, dearer in recordings.items():
        pairs = list(itertools.product(itertools.combinations(plain, 3), itertools.combinations(dearer, 3)))
        held, found, able, n = 0, 0, 0, 0
        for base, new in random.Random(3).sample(pairs, min(wanted, len(pairs))):
            answer, _, _ = bench.compare(base, new)
            if not answer or answer["low"] is None:
                continue
            truth = percent / 100
            n += 1
            held += answer["low"] <= truth and answer["high"] >= truth * 0.9
            if answer["detectable"] is not None and answer["detectable"] <= truth:
                able += 1
                found += answer["verdict"] == "more"
        said = f"+{percent}%; {count} recordings of {seconds} s a side, 3 against 3"
        bench.table.add("A/B: the interval holds the truth", said, "95%", held, n, at_least(0.95), independent=count)
        bench.table.add("A/B: found, of changes called detectable", said, "80%", found, able, at_least(0.8), independent=count)


def alarms(bench):
    """A quiet program under watch."""
    length, minutes = (20, 2) if bench.quick else (60, bench.watch)
    parts = [bench.record(f"learn-{at}", length, "pace", 8 * STEPS, 1000, 30) for at in range(3)]
    baseline = bench.folder / "quiet.baseline"
    run([bench.ironlaw, "-q", "baseline", "build", *parts, "-o", baseline])
    lines = run([bench.ironlaw, "-q", "watch", "--baseline", baseline, "--stale-ok", "--listen", "off", "-I", "250", "-M", "none", "--",
                 bench.load, "pace", minutes * 60, 8 * STEPS, 1000, 30])
    events = [json.loads(line) for line in lines.splitlines() if line.startswith("{")]
    raised = sum(event.get("event") == "alarm" and not event.get("update") for event in events)
    bench.table.say("alarms of a quiet program", f"baseline of 3 x {length} s, watched for {minutes} minutes", "1 of 100 hours",
                    f"{raised} alarms in {minutes / 60:.2f} hours", raised)


def shares(bench):
    """Shares of short-lived threads against the threads' own clocks."""
    seconds, repeats = (3, 2) if bench.quick else (bench.seconds, 20)
    for life in LIVES:
        held, n, apart, covered = 0, 0, [], []
        for at in range(repeats):
            path, log = bench.folder / f"churn-{life}-{at}.ironlaw", bench.folder / "churn.out"
            with open(log, "w") as out:
                done = subprocess.run([bench.ironlaw, "-q", "record", "--force", "-M", "none", "--call-graph", "none", "-o", path, "--",
                                       bench.load, "churn", str(seconds), str(life)], stdin=subprocess.DEVNULL, stdout=out)
            if done.returncode:
                sys.exit(f"calibrate: recording the churn of {life} us ended with {done.returncode}")
            truth = float(re.search(r"truth ([0-9.]+)", log.read_text()).group(1))
            report = json.loads(run([bench.ironlaw, "-q", "report", path, "--format", "json", "--limit", "0"]))
            rows = {row["name"]: row for row in report["functions"]}
            weight = {name: rows.get(name, {}).get("self_weight", 0) for name in ("short_part", "long_part")}
            samples = sum(rows.get(name, {}).get("self_samples", 0) for name in weight)
            coverage = report["samples"].get("coverage", {}).get("value")
            covered += [coverage] if isinstance(coverage, (int, float)) else []
            if samples == 0:
                continue
            share = weight["short_part"] / sum(weight.values())
            error = math.sqrt(max(truth * (1 - truth), 1e-9) / samples)
            n += 1
            held += abs(share - truth) <= 1.96 * error
            apart.append(share - truth)
        said = f"threads of {life} us; {repeats} recordings of {seconds} s"
        if covered:
            said += f", {100 * sum(covered) / len(covered):.0f}% of the CPU time sampled"
        mean = f", off by {100 * sum(apart) / len(apart):+.1f} points on average" if apart else ""
        bench.table.add("shares: truth within 1.96 standard errors", said, "95%", held, n, at_least(0.95), mean)


def answers(bench):
    """The confusion matrix of the findings, in four surroundings."""
    fewer = ["--only", "mutex,spinlock,imbalance,spin", "--runs", "1", "--seconds", "1"] if bench.quick else []
    surroundings = {"root, with tracefs": ["--tracefs"], "root, without tracefs": ["--no-tracefs"],
                    "root, without tracefs, beside a busy neighbour": ["--no-tracefs", "--neighbour"],
                    "an ordinary user, without tracefs": ["--no-tracefs", "--as-user"]}
    for name, flags in surroundings.items():
        command = [HERE / "known_answers.py", bench.ironlaw, "--seconds", min(3, bench.seconds), *flags, *fewer]
        done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, text=True)
        # The matrix alone: a name and one sign for each rule.
        print(done.stdout, file=sys.stderr)
        rows = re.findall(r"^([a-z-]+) +((?:[#+~?!.-] ?)+)$", done.stdout, re.M)
        if done.returncode not in (0, 1) or not rows:
            why = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            bench.table.say("known answers", name, "100%", f"not measured: {why}", 0, True)
            continue
        right = sum(not set(cells) & set("-!") for _, cells in rows)
        wrong = ", ".join(row for row, cells in rows if set(cells) & set("-!"))
        named = sum("#" in cells for _, cells in rows)
        bench.table.add("known answers: right or undecided", name, "100%", right, len(rows), lambda low, high: right == len(rows),
                        f", {named} led by the cause's name" + (f", wrong: {wrong}" if wrong else ""))


def simulated(bench):
    """What the ignored tests find on made-up runs. An interval of a USL peak is right in 95% of all fits, those without an end
    included, where no peak is claimed; where noise hides most peaks, those that show lie nearer than the true one."""
    environment = dict(os.environ, CALIBRATE_TRIALS="300", WATCHES="50") if bench.quick else dict(os.environ)
    profile = [] if bench.quick else ["--release"]
    done = subprocess.run(["cargo", "test", "--locked", "--lib", *profile, "--", "--ignored", "--nocapture", "simulated_table", "calibration"],
                          cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    lines = re.findall(r"^calibration: (.*) claimed (.*?) measured (.*) n=(\d+)$", done.stdout, re.M)
    for name, claimed, measured, n in lines:
        # What is found although nothing is claimed of it is for who runs this.
        if claimed in ("-", "nothing"):
            print(f"simulated: {name}: measured {measured}, n={n}", file=sys.stderr)
        else:
            bench.table.say("simulated", name, claimed, measured, n)
    if done.returncode or not lines:
        bench.table.say("simulated", "cargo test", "all pass", f"ended with {done.returncode}", len(lines), True)


@contextlib.contextmanager
def redis(folder):
    """A server that clients keep busy: its process, or `None` where it is not installed."""
    if not shutil.which("redis-benchmark"):
        yield None
        return
    port, quiet = "16399", {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
    server = subprocess.Popen(["redis-server", "--port", port, "--save", "", "--dir", str(folder)], **quiet)
    time.sleep(1)
    clients = subprocess.Popen(["redis-benchmark", "-p", port, "-l", "-q", "-t", "get,set"], **quiet)
    try:
        time.sleep(1)
        yield server.pid
    finally:
        stop([clients, server])


@contextlib.contextmanager
def postgres(folder):
    """The same of PostgreSQL under pgbench."""
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not found or os.geteuid() != 0:
        yield None
        return
    binaries, data, port = found[-1].parent, tempfile.mkdtemp(prefix="ironlaw-postgres-"), "16432"
    shutil.chown(data, "postgres")
    user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True, "cwd": data}
    client = [*user, str(binaries / "pgbench"), "-h", data, "-p", port]
    run([*user, binaries / "initdb", "-D", f"{data}/db", "-A", "trust"], cwd=data)
    server = subprocess.Popen([*user, str(binaries / "postgres"), "-D", f"{data}/db", "-p", port, "-k", data, "-h", ""], **quiet)
    time.sleep(3)
    run([*client, "-q", "-i", "-s", "5", "postgres"], cwd=data)
    clients = subprocess.Popen([*client, "-S", "-c", "4", "-T", "100000", "postgres"], **quiet)
    try:
        time.sleep(1)
        yield server.pid
    finally:
        stop([clients, server])
        shutil.rmtree(data)


@contextlib.contextmanager
def running(command):
    """A command's process while it runs; afterwards none of its own is left."""
    process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               start_new_session=True)
    try:
        yield process.pid
    finally:
        stop([process])


def locked(bench):
    """How often threads are found to contend at locked instructions: where they do, and where they do not."""
    runs, seconds = (3, 1) if bench.quick else (20, 2)
    workload = lambda name, threads=2: [bench.ironlaw, "workload", name, "--threads", threads, "--seconds", 600]
    block, source = bench.folder / "block", bench.folder / "source.rs"
    block.write_bytes(random.Random(4).randbytes(1 << 20) + b"".join(b"%d " % at for at in range(1 << 20)))
    source.write_text("".join(f"pub fn f{at}(a: u64, v: &mut Vec<u64>) -> u64 {{ v.push(a); v.iter().map(|x| x ^ {at}).sum() }}\n"
                              for at in range(5_000)))
    lines = {"pigz -p 2": f"pigz -p 2 -c {block}", "xz -T 2": f"xz -T 2 -3 -c {block}", "zstd -T2": f"zstd -q -T2 -9 -c {block}",
             "openssl speed -multi 2": "openssl speed -seconds 1 -multi 2 sha256",
             "rustc -O": f"rustc -O --crate-type lib --emit obj -o {bench.folder}/o {source}"}
    # The locks of the allocator's arenas are what threads contend for, too.
    programs = {name: (True, workload(name)) for name in ("false-sharing", "atomic", "spinlock", "allocator")}
    programs |= {name: (False, workload(name)) for name in ("hotspot", "mutex", "spin", "scaling")}
    programs |= {f"{name}, one thread": (False, workload(name, 1)) for name in ("false-sharing", "atomic")}
    programs |= {name: (False, ["sh", "-c", f"while :; do {line}; done"]) for name, line in lines.items() if shutil.which(name.split()[0])}
    programs |= {"redis-server under redis-benchmark": (False, redis), "postgres under pgbench -S -c 4": (False, postgres)}
    for name, (contends, program) in programs.items():
        found, decided = 0, 0
        with program(bench.folder) if callable(program) else running(program) as target:
            for at in range(runs if target else 0):
                path = bench.folder / f"locked-{at}.ironlaw"
                run([bench.ironlaw, "-q", "record", "--force", "-M", "none", "-d", seconds, "-p", target, "--children", "-o", path])
                findings = json.loads(run([bench.ironlaw, "-q", "report", path, "--format", "json"]))["findings"]
                there = lambda kind: any(one["rule"] == "locked-instructions" for one in findings[kind])
                found, decided = found + there("found"), decided + (not there("undecided"))
                shutil.rmtree(path)
        said = f"{name}; {runs} recordings of {seconds} s" + (f", {runs - decided} of them undecided" if decided < runs else "")
        if target and contends:
            bench.table.add("locked instructions: found where threads contend", said, "95%", found, decided, at_least(0.95))
        elif target:
            bench.table.add("locked instructions: found where nothing contends", said, "5%", found, decided, at_most(0.05))


PARTS = [simulated, aa, ab, alarms, shares, answers, locked]


def conditions(options):
    model = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    version = run([options.ironlaw, "--version"]).strip()
    load = os.getloadavg()[0]
    return (f"{version}, Linux {platform.release()} {platform.machine()}, {os.cpu_count()} CPUs"
            f"{', ' + model.group(1) if model else ''}; load {load:.1f} at the start; {'quick' if options.quick else 'full'} run of "
            f"{time.strftime('%Y-%m-%d', time.gmtime())}.")


def write(sections):
    """Replaces these sections of the document and keeps the others."""
    path = ROOT / "assets/calibration.md"
    text = path.read_text() if path.exists() else ""
    there = dict(re.findall(r"^## (\w+)\n\n(.*?)\s*(?=^## |\Z)", text, re.M | re.S)) | sections
    head = "# Calibration\n\nWhat ironlaw claims and what was measured, written by `just calibrate --write`."
    body = [f"## {part.__name__}\n\n{there[part.__name__]}" for part in PARTS if part.__name__ in there]
    path.write_text("\n\n".join([head, *body]) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ironlaw", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--quick", action="store_true", help="fewer and shorter recordings: some ten minutes")
    parser.add_argument("--only", default=",".join(part.__name__ for part in PARTS), help="parts, with commas between")
    parser.add_argument("--seconds", type=int, default=5, help="length of a recording")
    parser.add_argument("--watch", type=int, default=60, help="minutes for which the quiet program is watched")
    parser.add_argument("--write", action="store_true", help="write the tables to assets/calibration.md as well")
    parser.add_argument("--keep", help="keep the recordings in this folder")
    options = parser.parse_args()
    wanted = options.only.split(",")
    unknown = set(wanted) - {part.__name__ for part in PARTS}
    if unknown:
        parser.error(f"unknown part {sorted(unknown)[0]}: there are {', '.join(part.__name__ for part in PARTS)}")
    folder = options.keep or tempfile.mkdtemp(prefix="ironlaw-calibrate-")
    os.makedirs(folder, exist_ok=True)
    try:
        bench = Bench(options, folder)
        for part in PARTS:
            if part.__name__ in wanted:
                where = conditions(options)
                part(bench)
                section = f"{part.__doc__}\n\n{where}\n\n{bench.table.markdown()}"
                print(f"## {part.__name__}\n\n{section}\n", flush=True)
                if options.write:
                    write({part.__name__: section})
    finally:
        if not options.keep:
            shutil.rmtree(folder)
    sys.exit(1 if bench.table.off else 0)


if __name__ == "__main__":
    main()
