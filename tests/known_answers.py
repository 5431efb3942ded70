#!/usr/bin/env python3
"""Sweeps the workloads with known answers and prints which findings each gets: the confusion matrix of the findings.

usage: known_answers.py IRONLAW [--widths 1,2] [--runs 3] [--seconds 3] [--only NAME,NAME] [--keep FOLDER]
                        [--tracefs | --no-tracefs] [--neighbour] [--as-user]

One program, one leading finding: the first that is not the machine's doing (stolen time, too few CPUs). A row is a workload,
a column a rule. `#` expected and leading, `+` found after it and allowed, `~` a remainder after it and smaller, `?` undecided,
or a remainder where the expected finding is out of sight, `-` expected but missing, `!` found and wrong. Exit code 1 if any is
`-` or `!`.

--tracefs and --no-tracefs mount or unmount it for the sweeps alone, --neighbour keeps one CPU busy meanwhile, --as-user runs
them as nobody. They need root.
"""
import argparse, contextlib, json, os, shutil, subprocess, sys, tempfile

# What remains when no rule has a reason: last, and never an accusation.
REMAINDERS = {"cpu-time-growth", "cpi-growth", "more-work", "kernel-time", "unseen-wait"}
# What must lead: one of the names; nothing must be found where there is none. A second set: what may be found after it.
# Without hardware counters spinning, true and false sharing are one class (contended-line), and bandwidth, cache capacity,
# page walks and the clock are another (cpu-time-growth): the rules for each are then `?`.
ANSWERS = {
    "scaling":        (set(), set()),
    "spin":           (set(), set()),
    "mutex":          ({"lock-wait"}, set()),
    "adaptive-mutex": ({"lock-wait"}, set()),
    "spinlock":       ({"lock-wait"}, set()),
    "atomic":         ({"contended-line", "spin-wait", "false-sharing", "more-work"}, {"more-work"}),
    "false-sharing":  ({"contended-line", "false-sharing"}, set()),
    "retry":          ({"more-work", "cpu-time-growth", "contended-line", "spin-wait"}, set()),
    # With two threads an uneven load and a serial part look the same, and beside others who take the CPUs all that shows is
    # that threads wait for each other; the findings say so.
    "serial":         ({"serial-section", "load-imbalance", "hand-over"}, set()),
    "imbalance":      ({"load-imbalance", "hand-over"}, {"serial-section"}),
    "one-worker":     ({"one-worker"}, set()),
    "oversubscribed": ({"cpu-queue"}, set()),
    "throttled":      ({"cgroup-throttling"}, set()),
    "syscall":        (set(), set()),
    # All threads meet at the lock of the address space, and what they unmap the other CPUs forget.
    "faults":         ({"mmap-lock", "page-faults", "tlb-shootdown"}, {"mmap-lock", "page-faults", "tlb-shootdown"}),
    "mmap-storm":     ({"mmap-lock"}, set()),
    "tlb-shoot":      ({"tlb-shootdown"}, set()),
    "allocator":      ({"allocator"}, {"page-faults", "mmap-lock"}),
    "io":             (set(), {"block-io", "lock-wait", "waits-outside"}),
    "stream":         (set(), {"memory-bandwidth", "page-walks"}),
    "chase-llc":      (set(), {"cache-capacity", "page-walks"}),
    "chase-dram":     (set(), {"page-walks"}),
    "chase-tlb":      (set(), {"page-walks"}),
}
# What else runs on the machine, or shares it from outside, is no workload's doing.
MACHINE = {"steal", "cpu-queue", "frequency"}
# What may scale here or not, by caches and disks: where it does not, one of these must be found or said to be undecided.
IF_LOST = {"stream": {"memory-bandwidth", "cpi-growth", "cpu-time-growth"},
           "chase-llc": {"cache-capacity", "cpi-growth", "cpu-time-growth"}, "io": {"block-io"}}
LOST = 0.7  # efficiency
TRACEFS = "/sys/kernel/tracing"
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"]

def conditions(options, command):
    """The command under the conditions that were asked for."""
    if options.as_user: command = [*NOBODY, *command]
    mount = f"mountpoint -q {TRACEFS} || mount -t tracefs nodev {TRACEFS}; " if options.tracefs else f"umount -l {TRACEFS} 2>&-; "
    if options.tracefs or options.no_tracefs: command = ["unshare", "-m", "sh", "-c", mount + 'exec "$@"', "sh", *command]
    return command

def sweep(ironlaw, name, options, folder):
    output = os.path.join(folder, name)
    workload = "scaling" if name in ("throttled", "oversubscribed") else name
    widths = f"1,{2 * os.cpu_count()}" if name == "oversubscribed" else options.widths
    command = conditions(options, [
        ironlaw, "-q", "sweep", "-L", "threads", widths, "-r", str(options.runs), "--seed", "1", "-o", output, "--force",
        "--headless", "--format", "json", "--ops", r"regex:ops (\d+)", "--",
        ironlaw, "workload", workload, "--threads={threads}", f"--seconds={options.seconds}"])
    def confine():
        with open(os.path.join(QUOTA, "cgroup.procs"), "w") as procs: procs.write(str(os.getpid()))
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, preexec_fn=confine if name == "throttled" else None)
    if done.returncode: sys.exit(f"{name}: {' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout)

@contextlib.contextmanager
def neighbour(ironlaw, wanted):
    """Another program that keeps one CPU busy."""
    busy = subprocess.Popen([ironlaw, "workload", "spin", "--threads=1", "--seconds=86400"], stdout=subprocess.DEVNULL) if wanted else None
    try: yield
    finally:
        if busy: busy.kill(); busy.wait()

QUOTA = ""

def quota():
    """A control group that may use 1.1 CPUs; None where there are no control groups with quotas."""
    for root, setting, value in (("/sys/fs/cgroup", "cpu.max", "110000 100000"), ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "110000")):
        path = os.path.join(root, "ironlaw-known-answers")
        try:
            if not os.path.exists(os.path.join(root, "cgroup.procs")): continue
            os.makedirs(path, exist_ok=True)
            with open(os.path.join(path, setting), "w") as file: file.write(value)
            return path
        except OSError: continue

def judged(name, report, kernel_hidden):
    """The cells of a row, and the leading finding. Where the kernel hides its functions and what blocks threads, the time in
    it and blocked that no rule explains may be the leading cause's as well, however much it is."""
    found, undecided = report["findings"], {rule["rule"] for rule in report["undecided"]}
    expected, allowed = ANSWERS[name]
    cells = {rule: "?" for rule in undecided}
    own = [finding for finding in found if finding["rule"] not in MACHINE - expected]
    lead = own[0] if own else None
    rank = [finding["rule"] for finding in own]
    # The most specific of the remainders says no more than that nobody can say.
    vague = lead is not None and lead["rule"] in REMAINDERS - expected
    for at, finding in enumerate(own):
        rule, smaller = finding["rule"], at == 0 or (finding["share"] or 0) <= (lead["share"] or 0)
        if rule in expected and at == 0: cells[rule] = "#"
        elif rule in expected | allowed: cells[rule] = "+"
        elif rule in REMAINDERS: cells[rule] = "?" if vague or not expected or kernel_hidden and rule in ("kernel-time", "unseen-wait") else "~" if smaller else "!"
        else: cells[rule] = "!"
    cells |= {finding["rule"]: "+" for finding in found if finding not in own}
    if expected and not expected & (set(rank) | undecided) and not vague: cells |= {rule: "-" for rule in expected}
    # A machine that has no CPU for it hides what a program loses itself.
    if expected and not own and found: cells |= {rule: "?" for rule in expected}
    return cells, lead

def main():
    global QUOTA
    parser = argparse.ArgumentParser()
    parser.add_argument("ironlaw")
    parser.add_argument("--widths", default="1,2")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", default="3")
    parser.add_argument("--only", default=",".join(ANSWERS))
    parser.add_argument("--keep")
    tracefs = parser.add_mutually_exclusive_group()
    tracefs.add_argument("--tracefs", action="store_true")
    tracefs.add_argument("--no-tracefs", action="store_true")
    parser.add_argument("--neighbour", action="store_true")
    parser.add_argument("--as-user", action="store_true")
    options = parser.parse_args()
    QUOTA = quota()
    rows, bad = [], 0
    with tempfile.TemporaryDirectory() as temporary:
        # Whoever runs the sweeps must be able to read the program and to write beside it.
        os.chmod(temporary, 0o777)
        ironlaw = shutil.copy(options.ironlaw, os.path.join(temporary, "ironlaw"))
        for name in options.only.split(","):
            if name == "throttled" and not QUOTA:
                print("throttled: skipped: no control group with a CPU quota can be made here"); continue
            with neighbour(ironlaw, options.neighbour):
                report = sweep(ironlaw, name, options, options.keep or temporary)
            cells, lead = judged(name, report, options.as_user)
            points = report["points"]
            gain = [point["ops_per_s"]["mean"] if isinstance(point["ops_per_s"], dict) else point["ops_per_s"] for point in points]
            widths = points[-1]["threads"] / points[0]["threads"]
            # What others take is no loss of the program's own.
            machine = sum(finding["share"] or 0 for finding in report["findings"] if finding["rule"] in MACHINE)
            own = (1 - gain[-1] / gain[0] / widths) * max(0, 1 - machine)
            known = {finding["rule"] for finding in report["findings"]} | {rule for rule, cell in cells.items() if cell == "?"}
            if name in IF_LOST and own > 1 - LOST and not IF_LOST[name] & known:
                cells |= {rule: "-" for rule in IF_LOST[name]}
            bad += sum(cell in "-!" for cell in cells.values())
            rows.append((name, cells))
            print(f"{name:15} x{gain[-1] / gain[0]:5.2f}  " + "; ".join(
                f"{cells[finding['rule']]} {finding['rule']} {finding.get('share') or 0:.0%} {finding['confidence']} "
                f"in {(finding.get('place') or {'frames': ['-']})['frames'][-1:]}" for finding in report["findings"]), flush=True)
    rules = sorted({rule for _, cells in rows for rule in cells})
    print("\n" + "\n".join(" " * 16 + "  " * at + rule for at, rule in enumerate(rules)))
    for name, cells in rows:
        print(f"{name:15} " + " ".join(cells.get(rule, ".") for rule in rules))
    if QUOTA: os.rmdir(QUOTA)
    print(f"\n{len(rows)} workloads, {bad} wrong cells")
    sys.exit(bad > 0)

main()
