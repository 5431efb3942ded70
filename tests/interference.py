#!/usr/bin/env python3
"""Plants interference of known kinds beside a victim that is watched against its baseline, one at a time among innocent
neighbours, and prints what the watch told: a confusion matrix, who was named first, and how long it took.

usage: interference.py IRONLAW [--baseline 60] [--before 25] [--trial 20] [--quiet 600] [--repeat 1] [--only NAME,NAME]
                       [--probe] [--keep FOLDER]

Needs root (for the quota and the other CPU's neighbours) and at least two CPUs; run it on a quiet machine. Exit code 1 if an
alarm was raised without cause or a planted one was told as another's doing.
"""
import argparse, collections, ctypes, json, os, random, shutil, signal, statistics, subprocess, sys, tempfile, time

def siblings(cpu):
    """The other threads of a CPU's core."""
    try:
        with open(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list") as file: text = file.read().strip()
    except OSError: return set()
    parts = [part.split("-") for part in text.split(",") if part]
    return {number for part in parts for number in range(int(part[0]), int(part[-1]) + 1)} - {cpu}

# The other thread of the victim's core, if there is one, and a CPU of another core.
SIBLING = next((str(cpu) for cpu in sorted(siblings(0) & os.sched_getaffinity(0))), None)
APART = next((str(cpu) for cpu in sorted(os.sched_getaffinity(0) - siblings(0) - {0})), "1")

# Victim: workload, threads, function that is one operation. All run on CPU 0, and keep a good part of it busy: windows
# under a quarter of a CPU are not judged.
VICTIMS = {
    "paced": ("paced-long", 1, "serve_paced"),
    "steady": ("paced-steady", 1, "serve_paced"),
    "cache": ("chase-llc-paced", 1, "serve_pointers"),
    "memory": ("chase-dram-paced", 2, "serve_pointers"),
    "pages": ("chase-tlb-paced", 2, "serve_pointers"),
    "storage": ("io-paced", 4, "pack_block"),
}
# Which victim, what is planted (workload, threads, CPUs), the causes that are right, and where it must be looked for.
# Without hardware counters and without probes all that makes instructions slower is one class, cpu_time_other.
SLOWER = {"llc", "memory_bandwidth", "page_walk", "cpi_other", "cpu_time_other", "smt", "frequency"}
TRIALS = {
    "cpu-hog":    ("paced",   ("spin", 3, "0"),       {"run_queue"},           {"neighbours"}),
    "sibling":    ("paced",   ("spin", 1, SIBLING),   SLOWER,                  {"neighbours"}),
    "thrash":     ("cache",   ("thrash", 1, APART),     SLOWER,                  {"neighbours"}),
    "stream":     ("memory",  ("stream", 1, APART),     SLOWER,                  {"neighbours"}),
    "tlb-shoot":  ("pages",   ("tlb-shoot", 2, "0," + APART), SLOWER | {"run_queue"}, {"neighbours"}),
    "io-hog":     ("storage", ("io-bulk", 4, APART),    {"io"},                  {"neighbours"}),
    "quota":      ("paced",   "quota",                {"throttling"},          {"own_limits"}),
    "code":       ("paced",   "paced-long-dearer",    {"path_length"},         {"program"}),
    "starved":    ("steady",  ("stress-ng", 3, "0,1"), {"run_queue"},          {"neighbours"}),
    "fewer":      ("steady",  "paced-steady-half",    set(),                   set()),
    "load":       ("paced",   "paced-long-half",      set(),                   set()),
    "quiet":      ("paced",   None,                   set(),                   set()),
}
DELAYACCT = "/proc/sys/kernel/task_delayacct"
GROUPS = ("/sys/fs/cgroup/cpu", "/sys/fs/cgroup")

def name_self(name):
    ctypes.CDLL(None).prctl(15, name.encode(), 0, 0, 0)

def burn(name, cpu, busy, period):
    """A child that keeps a CPU busy for `busy` of every `period` seconds."""
    pid = os.fork()
    if pid: return pid
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    name_self(name)
    os.sched_setaffinity(0, {cpu})
    while True:
        end = time.monotonic() + busy
        while time.monotonic() < end: pass
        time.sleep(period - busy)

def innocents():
    return [burn("steady-5", 0, 0.005, 0.1), burn("steady-12", 1, 0.012, 0.1), burn("bursty-7", 1, 1.0, 7.0),
            burn("bursty-11", 1, 2.0, 11.0), burn("bursty-3", 1, 0.4, 3.1)]

class Bench:
    def __init__(self, options, folder):
        self.options, self.folder, self.running = options, folder, []
        self.ironlaw = os.path.abspath(options.ironlaw)

    def workload(self, name, what, threads, cpus, seconds, group=None):
        """A process of its own name, so that it can be told from the others."""
        link = os.path.join(self.folder, name)
        if not os.path.exists(link): os.symlink(self.ironlaw, link)
        def enter():
            if group:
                with open(os.path.join(group, "cgroup.procs"), "w") as procs: procs.write(str(os.getpid()))
        process = subprocess.Popen(["taskset", "-c", cpus, link, "workload", what, "--threads", str(threads), "--seconds", str(seconds)],
                                   stdout=subprocess.DEVNULL, preexec_fn=enter)
        self.running.append(process)
        return process

    def stress(self, threads, cpus, seconds):
        process = subprocess.Popen(["stress-ng", "-q", "--cpu", str(threads), "--taskset", cpus, "-t", str(int(seconds))])
        self.running.append(process)
        return process

    def victim(self, name, what=None, seconds=3600, group=None):
        workload, threads, function = VICTIMS[name]
        process = self.workload("victim-" + name, what or workload, threads, "0", seconds, group)
        time.sleep(3)
        return process, f"uprobe:{self.ironlaw}:{function}"

    def stop(self, process):
        if process in self.running: self.running.remove(process)
        # Killed, stress-ng would leave its workers behind.
        process.terminate()
        try: process.wait(2)
        except subprocess.TimeoutExpired: process.kill()
        process.wait()

    def baseline(self, name):
        path = os.path.join(self.folder, name + ".baseline")
        if os.path.exists(path): return path
        process, ops = self.victim(name)
        parts = []
        # Fewer than three recordings do not tell how far runs differ.
        for part in range(3):
            parts.append(os.path.join(self.folder, f"{name}-{part}.ironlaw"))
            self.run("record", "-p", process.pid, "-F", 97, "-d", f"{self.options.baseline / 3}s", "--neighbours", "--ops", ops,
                     *(["--probe"] if self.options.probe else []), "--force", "-o", parts[-1])
        self.stop(process)
        self.run("baseline", "build", *parts, "-o", path)
        return path

    def run(self, *arguments):
        command = [self.ironlaw, "-q", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode: sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
        return done.stdout

    def watch(self, process, baseline, ops, seconds, name):
        log = open(os.path.join(self.folder, name + ".jsonl"), "w+")
        command = [self.ironlaw, "-q", "watch", "-p", str(process.pid), "--baseline", baseline, "--ops", ops, "--listen", "off",
                   "-d", f"{seconds}s", "--every", "1", *(["--probe"] if self.options.probe else [])]
        return subprocess.Popen(command, stdout=log, stderr=subprocess.PIPE, text=True), log

def quota_group():
    for root in GROUPS:
        path = os.path.join(root, "ironlaw-interference")
        try:
            if not os.path.exists(os.path.join(root, "cgroup.procs")): continue
            os.makedirs(path, exist_ok=True)
            if any(os.path.exists(os.path.join(path, file)) for file in ("cpu.max", "cpu.cfs_quota_us")): return path
        except OSError: continue
    return None

def set_quota(path, share):
    """A share of one CPU; None: no limit."""
    v2 = os.path.join(path, "cpu.max")
    if os.path.exists(v2):
        with open(v2, "w") as file: file.write(f"{int(share * 100000)} 100000" if share else "max 100000")
    else:
        with open(os.path.join(path, "cpu.cfs_quota_us"), "w") as file: file.write(str(int(share * 100000)) if share else "-1")

def seconds_of(text):
    import datetime
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()

def trial(bench, name, number):
    options = bench.options
    victim, plant, causes, places = TRIALS[name]
    if isinstance(plant, tuple) and plant[0] == "stress-ng" and not shutil.which("stress-ng"): return "stress-ng is not installed"
    if isinstance(plant, tuple) and plant[2] is None: return "the victim's CPU shares its core with no other"
    baseline = bench.baseline(victim)
    group = quota_group() if plant == "quota" else None
    if plant == "quota" and not group: return "no control group with a CPU quota can be made here"
    if group: set_quota(group, None)
    other = plant if str(plant).startswith("paced-") else None
    process, ops = bench.victim(victim, other, group=group)
    length = options.quiet if plant is None else options.before + options.trial + 8
    watch, log = bench.watch(process, baseline, ops, length, f"{name}-{number}")
    planted, culprit, began = None, None, time.time()
    if plant is not None:
        if not other:
            time.sleep(options.before + random.random() * 3)
        planted = time.time()
        if isinstance(plant, tuple):
            workload, threads, cpus = plant
            culprit = bench.workload("hog-" + workload, workload, threads, cpus, options.trial) if workload != "stress-ng" \
                else bench.stress(threads, cpus, options.trial)
        elif plant == "quota": set_quota(group, 0.2)
    watch.wait()
    errors = watch.stderr.read()
    for one in [culprit, process]:
        if one: bench.stop(one)
    if group: set_quota(group, None); os.rmdir(group)
    log.seek(0)
    events = [json.loads(line) for line in log if line.strip()]
    if watch.returncode not in (0, None) and not events: sys.exit(f"{name}: watch failed: {errors}")
    result = judge(name, events, planted, culprit, causes, places, began)
    return dict(result, cost=cost(events, planted, planted + options.trial)) if planted and not other else result

def cost(events, begin, end):
    """What an operation cost while something was planted, by what it cost before: how much there was to be seen."""
    windows = [(seconds_of(event["at"]), event["ratio"]) for event in events if event["event"] == "window" and event["ratio"]]
    before, during = [ratio for at, ratio in windows if at < begin], [ratio for at, ratio in windows if begin + 1 < at <= end]
    return round(statistics.median(during) / statistics.median(before), 2) if before and during else None

def is_planted(who, culprit):
    return who["pid"] == culprit.pid or who["name"].startswith(("hog-", "stress-ng"))

def judge(name, events, planted, culprit, causes, places, began):
    alarms = [event for event in events if event["event"] == "alarm"]
    raised = [event for event in alarms if not event["update"]]
    windows = collections.Counter(event["state"] for event in events if event["event"] == "window")
    before = [event for event in raised if planted and culprit and seconds_of(event["time"]) < planted]
    early = [event for event in before if event["cause"] != "steal"]
    mine = [event for event in raised if event not in before]
    result = dict(name=name, windows=dict(windows), early=len(early), told=None, place=None, first=None, named=None, after=None)
    if mine:
        last = alarms[-1]
        result.update(told=last["cause"], place=last["place"], confidence=last["confidence"], after=seconds_of(mine[0]["time"]) - planted if planted else
                      seconds_of(mine[0]["time"]) - began, count=len(mine), text=last["evidence"][0]["text"] if last["evidence"] else "",
                      suspects=[(who["name"], round(who["score"], 2)) for who in last["suspects"]])
        if culprit:
            first = next(iter(last["suspects"]), None)
            result["named"] = bool(first and is_planted(first, culprit))
            started = next(iter(mine[0]["suspects"]), None)
            result["first"] = bool(started and is_planted(started, culprit))
    # What the kernel counted as stolen was taken by the host, which nobody here planted: that trial tells nothing.
    result["disturbed"] = result["told"] == "steal" or len(before) > len(early)
    wanted = bool(causes)
    # Missing an alarm is a weakness; accusing somebody of what another did, or for nothing, is an error.
    result["wrong"] = bool(early) or bool(mine) and not result["disturbed"] and (not wanted or result["told"] not in causes or result["place"] not in places | {"unknown", "outside"}
                                                     or result["named"] is False and result["place"] == "neighbours")
    return result

def show(results):
    causes = sorted({result["told"] or "nothing" for result in results})
    print("\nplanted x told\n" + " " * 12 + " ".join(f"{cause:>16}" for cause in causes))
    for name in TRIALS:
        mine = [result for result in results if result["name"] == name]
        if mine:
            row = collections.Counter(result["told"] or "nothing" for result in mine)
            print(f"{name:12}" + " ".join(f"{row[cause] or '.':>16}" for cause in causes))
    culprits = [result for result in results if result["named"] is not None]
    if culprits:
        print(f"\nnamed first: {sum(result['named'] for result in culprits)} of {len(culprits)} "
              f"(when raised: {sum(result['first'] for result in culprits)})")
    times = sorted(result["after"] for result in results if result["named"] is not None and result["after"] is not None)
    if times: print(f"seconds to the alarm: median {times[len(times) // 2]:.1f}, longest {times[-1]:.1f}")
    planted = [result for result in results if TRIALS[result["name"]][2]]
    print(f"missed: {sum(result['told'] is None for result in planted)} of {len(planted)}; wrong: {sum(result['wrong'] for result in results)}; "
          f"disturbed by the host: {sum(result['disturbed'] for result in results)}")

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ironlaw")
    parser.add_argument("--baseline", type=float, default=120, help="seconds that a baseline is learnt from")
    parser.add_argument("--before", type=float, default=25, help="seconds of watching before something is planted")
    parser.add_argument("--trial", type=float, default=20, help="seconds that it stays")
    parser.add_argument("--quiet", type=float, default=600, help="seconds of the quiet trial")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--only", default=",".join(TRIALS))
    parser.add_argument("--probe", action="store_true", help="probe caches and memory, in the baseline as well")
    parser.add_argument("--keep", help="folder for recordings, baselines and the watch's lines")
    options = parser.parse_args()
    if os.cpu_count() < 2: sys.exit("two CPUs are needed: one for the victim, one for its neighbours")
    accounted = None
    if os.path.exists(DELAYACCT):
        with open(DELAYACCT) as file: accounted = file.read()
        try:
            with open(DELAYACCT, "w") as file: file.write("1")
        except OSError: accounted = None
    results, beside = [], []
    with tempfile.TemporaryDirectory() as temporary:
        bench = Bench(options, options.keep or temporary)
        os.makedirs(bench.folder, exist_ok=True)
        try:
            beside = innocents()
            for number in range(options.repeat):
                for name in options.only.split(","):
                    result = trial(bench, name, number)
                    if isinstance(result, str): print(f"{name}: skipped: {result}"); continue
                    results.append(result)
                    print(" ".join(f"{key}={value}" for key, value in result.items() if value is not None), flush=True)
        finally:
            for process in list(bench.running): bench.stop(process)
            for pid in beside: os.kill(pid, signal.SIGKILL); os.waitpid(pid, 0)
            if accounted:
                with open(DELAYACCT, "w") as file: file.write(accounted)
    show(results)
    sys.exit(any(result["wrong"] for result in results))

main()
