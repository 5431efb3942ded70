#!/usr/bin/env python3
"""Gives ironlaw programs whose trouble is known, and prints whether its first finding names the cause.

usage: situations.py IRONLAW [--only NAME,...] [--all] [--load] [--as-user] [--threads N] [--keep FOLDER]

`right`: the first finding is the cause, at its place, and nothing is said that is known to be false. `unknown`: no finding, and
the rule that would tell the cause is undecided; never worse than a guess. `poor`: the cause is found after something else, or
without its place. `wrong`: it is not found, or something false is said. Exit code 1 if any is wrong.

Each row runs once at its own width, as whoever runs this. --all: at 1, 2 and 4 threads, with and without --load (a program that
keeps one CPU busy), as root and as nobody. What a row needs and this machine lacks is skipped, with the reason.
"""
import argparse, contextlib, dataclasses, json, os, pathlib, re, shutil, subprocess, sys, tempfile, time

HERE = pathlib.Path(__file__).resolve().parent.parent
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"]
TOTAL = "regex:total ([0-9]+)"
# What others on the machine take is no cause in the program: found first beside a load, it is passed over.
MACHINE = {"steal", "cpu-queue", "frequency"}


@dataclasses.dataclass
class Row:
    """A program, and what must be found first: one of the rules, at a place whose frames match. `never`: what no finding may say."""
    name: str
    rules: str
    place: str
    command: str
    width: int = 2
    how: str = "record"  # record, attach, sweep or diff
    options: str = ""
    never: str = ""
    needs: str = ""
    # Rules that are right too beside a load, where nobody can see how much a thread would have worked.
    loaded: str = ""
    # Of a diff: the command of the other side. Of a sweep: its widths.
    other: str = ""


def built_in(name, rules, place, width=2, **more):
    return Row(name, rules, place, f"IRONLAW workload {name} --threads={{t}} --seconds=4", width, **more)


ROWS = [
    # Locks.
    built_in("mutex", "lock-wait", "handle_request|critical|update"),
    built_in("adaptive-mutex", "lock-wait", "."),
    Row("plain-mutex", "lock-wait", "update_table", "./mutex1 {t} 3", how="sweep", other="1,2"),
    built_in("spinlock", "lock-wait spin-wait contended-line", ".", how="sweep", other="1,2"),
    Row("sleep-in-lock", "lock-wait", "look_up", "./sleep_in_lock {t} 4", never="shorter|smaller section|allocator"),
    Row("pool-of-one", "lock-wait waiting-for-others", "take_connection", "./pool {t} 4", width=4, never="allocator|more CPUs"),
    Row("interpreter-lock", "lock-wait hand-over", "take_interpreter", "./interpreter {t} 4"),
    Row("file-lock", "lock-wait kernel-lock-spin", "store_block", "./same_file {t} 4", never="disk is slow"),
    Row("trim-holds-arena", "lock-wait", "handle_request", "./trim 5", width=1, never="threads contend|more arenas|another allocator"),
    Row("log-pipe", "lock-wait", "log_line", "./app {t} 7", width=4, how="attach", options="--neighbours",
        never="hold it for less time|fewer threads|others were idle"),
    # Wake-ups.
    Row("broadcast", "useless-wake-ups", "take_job", "./broadcast {t} 4", width=8, never="hold it for less time"),
    Row("accept-herd", "useless-wake-ups", "wait_and_serve", "./herd {t} 3", how="sweep", other="1,8,32",
        never="bpf_|other programs use the CPUs"),
    Row("never-drained", "useless-wake-ups kernel-time", "wait_for_events", "./never_drained {t} 4", width=1),
    Row("polling", "useless-wake-ups kernel-time", "poll_queue", "./polling {t} 4", width=4),
    # Who works.
    built_in("imbalance", "load-imbalance", "", loaded="lock-wait"),
    # With two threads a serial part and an uneven load look the same.
    built_in("serial", "serial-section serial-thread load-imbalance hand-over", "", loaded="lock-wait"),
    Row("one-producer", "serial-thread one-worker", "produce_item|take_item", "./producer {t} 4", width=4, loaded="lock-wait"),
    Row("one-worker", "one-worker hot-function", "", "./oneworker {t} 3", how="sweep", other="1,2", never="a lock"),
    built_in("scaling", "hot-function", "crunch_numbers"),
    built_in("syscall", "kernel-time", "."),
    # CPUs.
    Row("pinned", "cpu-queue", "", "./pinned {t} 4", width=4, never="other programs use|stress-ng"),
    Row("quota", "cgroup-throttling", "", "IRONLAW workload scaling --threads={t} --seconds=4", needs="quota"),
    Row("oversubscribed", "cpu-queue", "", "IRONLAW workload scaling --threads={t} --seconds=4", width=8),
    # The kernel.
    Row("small-writes", "kernel-time", "emit_field", "./small_writes {t} 4", width=1),
    Row("shell-hook", "process-starts", "run_hook", "./hook {t} 4", width=1),
    Row("cputime-clock", "more-work cpu-time-growth kernel-time", "trace_span|clock_gettime|thread_group_cputime", "./cputime 1 3 {t}",
        how="sweep", other="1,100,400", options="--place none", never="too few threads|one thread does all|lock"),
    Row("cputime-clock-diff", "", "thread_group_cputime|clock_gettime", "./cputime 1 3 0", how="diff", other="./cputime 1 3 400",
        never="1 / utilisation"),
    # Memory.
    built_in("faults", "page-faults mmap-lock tlb-shootdown", "."),
    built_in("mmap-storm", "mmap-lock", ".", how="sweep", other="1,2"),
    built_in("tlb-shoot", "tlb-shootdown", ".", how="sweep", other="1,2"),
    built_in("allocator", "allocator", ".", how="sweep", other="1,2"),
    Row("give-back", "page-faults", "fill_buffer", "./give_back {t} 4", width=1),
    Row("patching", "mmap-lock tlb-shootdown kernel-time", "patch_code", "./patching {t} 4"),
    Row("fork-snapshot", "page-faults", "store_value|begin_snapshot", "./store 9", how="attach", width=1, never="fresh memory|first touch|keep memory"),
    # Outside.
    Row("commit", "block-io waits-outside lock-wait", "commit_record", "./commit {t} 4"),
    Row("slow-backend", "waiting-for-others waits-outside", "query_backend", "./backend {t} 4", never="hold it for less"),
    Row("blocked-throughout", "blocked-throughout", ".", "sleep 30", how="attach", width=1),
    # Code.
    Row("backtracking", "hot-function", "match_group", "./backtrack {t} 3", width=1),
    Row("quadratic", "hot-function", "end_of|append_field", "./append {t} 3 2000", width=1),
    Row("quadratic-growth", "more-work cpu-time-growth", "end_of|append_field|build_page", "./append 1 3 {t}", how="sweep", other="100,400,1600",
        options="--place none", never=r"too few threads|\block"),
    Row("mitigation", "", "index_text", "./index 3", how="diff", other="./sandbox ./index 3", never="does more work|neighbour",
        needs="speculation"),
]


def under(command, user):
    return [*NOBODY, *command] if user == "nobody" else command


class Missing(Exception):
    """What a row needs and this machine lacks."""


@contextlib.contextmanager
def load(ironlaw, wanted):
    """Another program that keeps one CPU busy."""
    busy = subprocess.Popen([ironlaw, "workload", "spin", "--threads=1", "--seconds=86400"], stdout=subprocess.DEVNULL) if wanted else None
    try: yield
    finally:
        if busy: busy.kill(); busy.wait()


@contextlib.contextmanager
def quota(wanted):
    """A control group with half a CPU, as the words that start a command in it."""
    if not wanted:
        yield []
        return
    for root, setting, value in (("/sys/fs/cgroup", "cpu.max", "60000 100000"), ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "60000")):
        path = f"{root}/ironlaw-situations"
        try:
            if not os.path.exists(f"{root}/cgroup.procs"): continue
            os.makedirs(path, exist_ok=True)
            pathlib.Path(path, setting).write_text(value)
        except OSError:
            continue
        try: yield ["sh", "-c", f'echo $$ > {path}/cgroup.procs; exec "$@"', "sh"]
        finally:
            time.sleep(0.2)
            os.rmdir(path)
        return
    raise Missing("no control group with a CPU quota can be made here")


def run(command, folder, **more):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=180, **more)
    if done.returncode: raise RuntimeError(f"{' '.join(command)}: {done.returncode}\n{done.stderr}")
    return done.stdout


class Runner:
    def __init__(self, ironlaw, folder):
        self.ironlaw, self.folder = ironlaw, folder

    def words(self, command, width):
        return command.replace("IRONLAW", self.ironlaw).format(t=width).split()

    def json(self, *command, user):
        return json.loads(run(under([self.ironlaw, *command, "--format", "json"], user), self.folder))

    def ops(self, command):
        """How the command's operations are counted: in its output."""
        return r"regex:ops (\d+)" if "workload" in command else TOTAL

    def found(self, row, width, user):
        """The findings, as (rule, place, text), and the rules that could not be decided."""
        name = f"{row.name}-{width}-{user}"
        options = row.options.split()
        if row.needs == "speculation" and subprocess.run(["./sandbox", "true"], cwd=self.folder, capture_output=True).stderr:
            raise Missing("store bypass cannot be switched off here")
        with quota(row.needs == "quota") as confined:
            if row.how == "diff": return self.differences(row, name, user)
            if row.how == "sweep":
                template = row.command.replace("IRONLAW", self.ironlaw).replace("{t}", "{threads}").split()
                command = [self.ironlaw, "-q", "sweep", "--headless", "-L", "threads", row.other or f"1,{width}", "-r", "3", "--seed", "1", "-o", name, "-f",
                           *options, "--ops", self.ops(row.command), "--format", "json", "--", *template]
                report = json.loads(run(under(command, user), self.folder))
                return findings(report["findings"]), {rule["rule"] for rule in report["undecided"]}
            record = [self.ironlaw, "record", "-q", "--off-cpu", "-o", name, "-f", *options]
            if row.how == "record":
                run(under([*record, "--ops", self.ops(row.command), "--", *confined, *self.words(row.command, width)], user), self.folder)
            else:
                self.attach(row, record, width, user)
        report = self.json("report", f"{name}.ironlaw", user=user)["findings"]
        return findings(report["found"]), {rule["rule"] for rule in report["undecided"]}

    def attach(self, row, record, width, user):
        """Attaches to the program after 1.5 s, for 4 s."""
        output, reader = subprocess.DEVNULL, None
        if row.name == "log-pipe":
            ends = os.pipe()
            reader = subprocess.Popen(under(["./shipper"], user), cwd=self.folder, stdin=ends[0], stdout=subprocess.DEVNULL)
            output = ends[1]
            os.close(ends[0])
        target = subprocess.Popen(under(self.words(row.command, width), user), cwd=self.folder, stdout=output, stderr=subprocess.DEVNULL)
        if reader: os.close(output)
        try:
            time.sleep(1.5)
            run(under([*record, "-d", "4", "-p", str(target.pid)], user), self.folder)
        finally:
            for process in filter(None, (target, reader)): process.kill(); process.wait()

    def differences(self, row, name, user):
        """The changes of code beyond chance, the largest first, in the place of findings."""
        sides = ([], [])
        for turn in range(3):
            for side, command in enumerate((row.command, row.other)):
                output = f"{name}-{'ab'[side]}{turn}"
                run(under([self.ironlaw, "record", "-q", "--ops", TOTAL, "-o", output, "-f", "--", *self.words(command, row.width)], user), self.folder)
                sides[side].append(f"{output}.ironlaw")
        compared = self.json("diff", ",".join(sides[0]), ",".join(sides[1]), user=user)["comparisons"][0]
        # What changed by less says nothing.
        factors = [part for part in compared["factors"]["parts"] if abs(part["share"] or 0) > 0.1]
        words = " ".join(compared["headline"]) + json.dumps(factors)
        changes = [change for change in compared["code"]["functions"] if change["real"]]
        if compared["answer"]["verdict"] not in ("more", "less", "worse", "better") and not changes: return [], set()
        changes.sort(key=lambda change: -abs(change["difference"]))
        return [("", " < ".join([change["name"], *map(str, change["callers"])]), words) for change in changes], set()


def findings(found):
    text = lambda finding: " ".join(str(finding.get(key) or "") for key in ("title", "claim", "next_step"))
    place = lambda finding: " < ".join(reversed((finding.get("place") or {}).get("frames") or []))
    return [(finding["rule"], place(finding), text(finding)) for finding in found]


def judge(row, found, undecided, loaded):
    """One word, and what was seen first."""
    rules = set(f"{row.rules} {row.loaded if loaded else ''}".split())
    matches = lambda it: (it[0] in rules if rules else not it[0]) and (not row.place or re.search(row.place, it[1]))
    own = [it for it in found if not loaded or it[0] not in MACHINE - rules]
    first = f"{own[0][0] or 'change'} at {own[0][1][:60] or '-'}" if own else "nothing found"
    false = next((it for it in found if row.never and re.search(row.never, it[2])), None)
    if false: return "wrong", f"{first}; says: {re.search(row.never, false[2])[0]} ({false[0]})"
    if not row.rules and row.how != "diff": return ("right" if not own else "poor" if own[0][0] in ("kernel-time", "hot-function") else "wrong"), first
    if own and matches(own[0]): return "right", first
    if any(map(matches, own)) or own and own[0][0] in rules: return "poor", first
    if not own and rules & undecided: return "unknown", "undecided"
    return "wrong", first


def programs(folder):
    """Compiles them into the folder."""
    for source in sorted((HERE / "native/situations").glob("*.c")):
        built = subprocess.run(["cc", "-O2", "-g", "-pthread", "-o", folder / source.stem, source])
        if built.returncode: sys.exit(f"{source} does not compile")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ironlaw")
    parser.add_argument("--only", default="")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--load", action="store_true")
    parser.add_argument("--as-user", action="store_true")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--keep")
    options = parser.parse_args()
    only = [name for name in options.only.split(",") if name]
    unknown = set(only) - {row.name for row in ROWS}
    if unknown: sys.exit(f"no such situation: {', '.join(sorted(unknown))}")
    counts, begun = {}, time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(options.keep or temporary).resolve()
        folder.mkdir(exist_ok=True)
        # Whoever records must be able to read the programs and to write beside them.
        folder.chmod(0o777)
        programs(folder)
        runner = Runner(str(shutil.copy(options.ironlaw, folder / "ironlaw")), folder)
        users = ["root", "nobody"] if options.all else ["nobody" if options.as_user else "root"]
        for loaded in ([False, True] if options.all else [options.load]):
            for user in users:
                for row in ROWS:
                    if only and row.name not in only: continue
                    widths = [1, 2, 4] if options.all and "{t}" in row.command and row.how in ("record", "attach") else [options.threads or row.width]
                    for width in widths:
                        try:
                            with load(runner.ironlaw, loaded): found, undecided = runner.found(row, width, user)
                            verdict, seen = judge(row, found, undecided, loaded)
                        except Missing as missing: verdict, seen = "skipped", str(missing)
                        except (RuntimeError, subprocess.TimeoutExpired) as error: verdict, seen = "wrong", str(error).strip().replace("\n", " ")[:300]
                        counts[verdict] = counts.get(verdict, 0) + 1
                        where = f"{width} threads, {user}{', loaded' if loaded else ''}"
                        print(f"{verdict:8} {row.name:18} {where:22} {seen}", flush=True)
    print(f"\n{sum(counts.values())} situations in {time.monotonic() - begun:.0f} s: " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    sys.exit(counts.get("wrong", 0) > 0)


main()
