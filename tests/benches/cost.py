#!/usr/bin/env python3
"""What profiling costs, against perf, interleaved: the profiler's own CPU per sample, the target's slowdown, bytes per sample.

usage: cost.py IRONLAW [--seconds 5] [--repeats 3] [--rates 97,997,4999] [--modes fp,dwarf] [--threads 2]

The target is `sysbench cpu`; its operations per second of its own CPU time are compared with a run without a profiler, so
that a profiler sharing the target's CPUs is charged for slowing the target, not for taking turns with it.
"""
import argparse, json, os, random, re, shutil, statistics, subprocess, sys, tempfile

def target(seconds, threads):
    return ["sysbench", "cpu", f"--threads={threads}", f"--time={seconds}", "--cpu-max-prime=2000", "run"]

def run(tool, rate, mode, seconds, threads, folder, ironlaw):
    """One run: (operations per target CPU second, profiler CPU seconds, samples, bytes, lost)."""
    timing, output = os.path.join(folder, "time"), os.path.join(folder, "out")
    shutil.rmtree(output + ".ironlaw", ignore_errors=True)
    if os.path.exists(output): os.remove(output)
    command = ["/usr/bin/time", "-f", "%U %S", "-o", timing] + target(seconds, threads)
    if tool == "perf":
        graph = ["--call-graph", mode]
        command = ["perf", "record", "-F", str(rate), "-o", output] + graph + ["--"] + command
    elif tool == "ironlaw":
        command = [ironlaw, "record", "-F", str(rate), "--call-graph", mode, "-o", output + ".ironlaw", "--"] + command
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    text = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0: sys.exit(f"failed ({status}): {' '.join(command)}\n{text}")
    operations = float(re.search(r"total number of events:\s+(\d+)", text).group(1))
    cpu = sum(map(float, open(timing).read().split()[-2:]))
    own = usage.ru_utime + usage.ru_stime - cpu
    samples, size, lost = counts(tool, output, ironlaw)
    return operations / cpu, own, samples, size, lost

def counts(tool, output, ironlaw):
    if tool == "perf":
        text = subprocess.run(["perf", "report", "-i", output, "--stats"], capture_output=True, text=True).stdout
        find = lambda name: int((re.search(rf"{name} events:\s+(\d+)", text) or [0, 0])[1])
        return find("SAMPLE"), os.path.getsize(output), find("LOST")
    if tool == "ironlaw":
        text = subprocess.run([ironlaw, "report", output + ".ironlaw", "--format", "json"], capture_output=True, text=True).stdout
        samples = json.loads(text)["samples"]
        size = sum(os.path.getsize(os.path.join(root, name)) for root, _, names in os.walk(output + ".ironlaw") for name in names)
        return samples["count"], size, samples["lost"]
    return 0, 0, 0

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ironlaw")
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rates", default="97,997,4999")
    parser.add_argument("--modes", default="fp,dwarf")
    options = parser.parse_args()
    cases = [("none", 0, "-")] + [(tool, int(rate), mode) for rate in options.rates.split(",")
                                  for mode in options.modes.split(",") for tool in ("perf", "ironlaw")]
    results = {case: [] for case in cases}
    with tempfile.TemporaryDirectory() as folder:
        one = lambda case: run(*case, options.seconds, options.threads, folder, options.ironlaw)
        one(cases[0])  # discarded: the first run after an idle pause is slower
        for _ in range(options.repeats):
            for case in random.sample(cases, len(cases)):
                results[case].append(one(case))
    median = lambda case, column: statistics.median(row[column] for row in results[case])
    base = median(cases[0], 0)
    print(f"{'tool':8} {'Hz':>5} {'stacks':6} {'speed':>6} {'own CPU s':>9} {'us/sample':>9} {'samples':>8} {'B/sample':>8} {'lost':>5}")
    for case in cases:
        own, samples, size = (median(case, column) for column in (1, 2, 3))
        per = lambda value: f"{value / samples:.1f}" if samples else "-"
        print(f"{case[0]:8} {case[1]:5} {case[2]:6} {median(case, 0) / base:6.3f} {own:9.3f} {per(own * 1e6):>9} {samples:8.0f} {per(size):>8} {median(case, 4):5.0f}")

main()
