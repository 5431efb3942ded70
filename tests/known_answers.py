#!/usr/bin/env python3
"""Sweeps the workloads with known answers and prints which findings each gets: the confusion matrix of the findings.

usage: known_answers.py IRONLAW [--widths 1,2] [--runs 3] [--seconds 3] [--only NAME,NAME] [--keep FOLDER]

A row is a workload, a column a rule. `#` expected and found, `+` found beside it and allowed, `?` undecided for want of a
counter, as it must be without one, `-` expected but missing, `!` found and wrong. Exit code 1 if any is `-` or `!`.
"""
import argparse, json, os, subprocess, sys, tempfile

# What must be found: one of the names. A second set: what may be found as well, being a consequence of the first.
# Without hardware counters spinning, true and false sharing are one class (contended-line), and bandwidth, cache capacity,
# page walks and the clock are another (cpu-time-growth): the rules for each are then `?`.
GROWTH = {"cpu-time-growth", "cpi-growth"}
ANSWERS = {
    "scaling":        (set(), set()),
    "spin":           (set(), set()),
    "mutex":          ({"lock-wait"}, {"kernel-time", "kernel-lock-spin", "hand-over"} | GROWTH),
    "spinlock":       ({"spin-wait", "contended-line"}, GROWTH),
    "atomic":         ({"contended-line", "spin-wait"}, GROWTH | {"more-work"}),
    "false-sharing":  ({"contended-line", "false-sharing"}, GROWTH),
    "retry":          ({"more-work", "cpu-time-growth", "contended-line", "spin-wait"}, GROWTH),
    # With two threads an uneven load and a serial part look the same, and the finding says so.
    "serial":         ({"serial-section", "load-imbalance"}, {"hand-over", "lock-wait"}),
    "imbalance":      ({"load-imbalance"}, {"hand-over", "serial-section", "lock-wait"}),
    "oversubscribed": ({"cpu-queue"}, set()),
    "throttled":      ({"cgroup-throttling"}, set()),
    "syscall":        (set(), {"kernel-time"} | GROWTH),
    # Waiting for the lock of the address space is waiting for other threads as well.
    "faults":         ({"page-faults"}, {"kernel-time", "kernel-lock-spin", "lock-wait", "hand-over"} | GROWTH),
    "allocator":      ({"allocator"}, GROWTH | {"kernel-time", "page-faults", "lock-wait"}),
    "io":             (set(), {"block-io", "kernel-time", "lock-wait", "waits-outside"} | GROWTH),
    "stream":         (set(), GROWTH | {"memory-bandwidth", "page-walks"}),
    "chase-llc":      (set(), GROWTH | {"cache-capacity", "page-walks"}),
    "chase-dram":     (set(), GROWTH | {"page-walks"}),
    "chase-tlb":      (set(), GROWTH | {"page-walks"}),
}
# What else runs on the machine is no workload's doing.
ALWAYS_ALLOWED = {"steal", "cpu-queue"}
# What may scale here or not, by caches and disks: where it does not, one of these must be found or said to be undecided.
IF_LOST = {"stream": {"memory-bandwidth", "cpu-time-growth"}, "chase-llc": {"cache-capacity", "cpu-time-growth"}, "io": {"block-io"}}
LOST = 0.7  # efficiency

def sweep(ironlaw, name, options, folder):
    output = os.path.join(folder, name)
    workload = "scaling" if name in ("throttled", "oversubscribed") else name
    widths = f"1,{2 * os.cpu_count()}" if name == "oversubscribed" else options.widths
    command = [ironlaw, "-q", "sweep", "-L", "threads", widths, "-r", str(options.runs), "--seed", "1", "-o", output,
               "--force", "--headless", "--format", "json", "--ops", r"regex:ops (\d+)", "--",
               ironlaw, "workload", workload, "--threads={threads}", f"--seconds={options.seconds}"]
    def confine():
        with open(os.path.join(QUOTA, "cgroup.procs"), "w") as procs: procs.write(str(os.getpid()))
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=confine if name == "throttled" else None)
    if done.returncode: sys.exit(f"{name}: {' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout)

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

def main():
    global QUOTA
    parser = argparse.ArgumentParser()
    parser.add_argument("ironlaw")
    parser.add_argument("--widths", default="1,2")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", default="3")
    parser.add_argument("--only", default=",".join(ANSWERS))
    parser.add_argument("--keep")
    options = parser.parse_args()
    QUOTA = quota()
    rows, bad = [], 0
    with tempfile.TemporaryDirectory() as temporary:
        for name in options.only.split(","):
            if name == "throttled" and not QUOTA:
                print("throttled: skipped: no control group with a CPU quota can be made here"); continue
            report = sweep(options.ironlaw, name, options, options.keep or temporary)
            found = {finding["rule"]: finding for finding in report["findings"]}
            undecided = {rule["rule"] for rule in report["undecided"]}
            expected, allowed = ANSWERS[name]
            cells = {rule: "#" if rule in expected else "+" if rule in allowed | ALWAYS_ALLOWED else "!" for rule in found}
            cells |= {rule: "?" for rule in undecided}
            if expected and not expected & set(found): cells |= {rule: "-" for rule in expected}
            points = report["points"]
            gain = [point["ops_per_s"]["mean"] if isinstance(point["ops_per_s"], dict) else point["ops_per_s"] for point in points]
            first = next(iter(report["findings"]), None)
            widths = points[-1]["threads"] / points[0]["threads"]
            if name in IF_LOST and gain[-1] / gain[0] / widths < LOST and not IF_LOST[name] & (set(found) | undecided):
                cells |= {rule: "-" for rule in IF_LOST[name]}
            bad += sum(cell in "-!" for cell in cells.values())
            rows.append((name, gain[-1] / gain[0] if gain[0] else float("nan"), cells, first))
            print(f"{name:15} x{rows[-1][1]:5.2f}  " + "; ".join(
                f"{rule}{'' if cells[rule] == '#' else cells[rule]} {finding.get('share') or 0:.0%} {finding['confidence']} "
                f"in {(finding.get('place') or {'frames': ['-']})['frames'][-1:]}" for rule, finding in found.items()), flush=True)
    rules = sorted({rule for _, _, cells, _ in rows for rule in cells})
    print("\n" + "\n".join(" " * 16 + "  " * at + "| " * 0 + rule for at, rule in enumerate(rules)))
    for name, _, cells, _ in rows:
        print(f"{name:15} " + " ".join(cells.get(rule, ".") for rule in rules))
    if QUOTA: os.rmdir(QUOTA)
    print(f"\n{len(rows)} workloads, {bad} wrong cells")
    sys.exit(bad > 0)

main()
