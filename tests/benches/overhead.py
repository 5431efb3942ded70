#!/usr/bin/env python3
"""What being profiled costs a program: operations per second and per second of its own CPU time, with and without ironlaw.

usage: overhead.py IRONLAW [--repeats 6] [--seconds 3] [--only NAME,NAME]

Runs of one round stand next to each other in random order; the cost is the mean of the rounds' ratios to the run without,
with its 95% interval. Per second of its own CPU time leaves out what else runs on the machine; per second does not.
Programs that are not installed are skipped.
"""
import argparse, math, os, random, re, shutil, statistics, subprocess, sys, tempfile

T95 = [0, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13]

def programs(seconds, folder):
    text = os.path.join(folder, "text")
    with open(text, "wb") as file:
        source = random.Random(1)
        words = [bytes(source.choices(b"etaoinshrdlu", k=source.randint(2, 9))) for _ in range(5000)]
        for _ in range(12): file.write(b" ".join(source.choices(words, k=400_000)))
    events = r"total number of events:\s+(\d+)"
    return {
        "sysbench cpu": (["sysbench", "cpu", "--threads=2", f"--time={seconds}", "run"], events),
        "sysbench threads": (["sysbench", "threads", "--threads=2", f"--time={seconds}", "run"], events),
        "pigz": (["sh", "-c", f"exec pigz -6 -p 2 -c {text} | wc -c"], r"(\d+)"),
        "db_bench fillrandom": (["db_bench", f"--db={folder}/db", "--benchmarks=fillrandom", "--num=100000000", "--threads=2",
                                f"--duration={seconds}"], r"(\d+) operations;"),
        "stress-ng pipe": (["stress-ng", "--pipe", "1", "-t", str(seconds), "--metrics-brief"], r"metrc: \[\d+\] pipe\s+(\d+)"),
        "redis-benchmark": (["redis-benchmark", "-t", "set", "-n", str(40000 * seconds), "-q"], r"SET: ([\d.]+) requests"),
    }

def run(name, command, pattern, flags, folder, ironlaw):
    """(operations per second, operations per second of CPU time) of one run."""
    timing, output = os.path.join(folder, "time"), os.path.join(folder, "run.ironlaw")
    shutil.rmtree(output, ignore_errors=True)
    shutil.rmtree(os.path.join(folder, "db"), ignore_errors=True)
    line = ["/usr/bin/time", "-f", "%e %U %S", "-o", timing] + command
    if flags is not None: line = [ironlaw, "-q", "record", "-o", output] + flags + ["--"] + line
    done = subprocess.run(line, capture_output=True, text=True)
    if done.returncode: sys.exit(f"{name}: {' '.join(line)}\n{done.stdout}{done.stderr}")
    wall, user, system = map(float, open(timing).read().split()[-3:])
    found = re.search(pattern, (done.stdout + done.stderr).replace("\r", "\n"))
    if not found: sys.exit(f"{name}: nothing matches {pattern}\n{done.stdout}{done.stderr}")
    operations = float(found.group(1))
    if name == "redis-benchmark": return operations, operations * wall / (user + system)
    return operations / wall, operations / (user + system)

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ironlaw")
    parser.add_argument("--repeats", type=int, default=6)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--only")
    options = parser.parse_args()
    modes = {"none": None, "97 Hz": ["-F", "97"], "997 Hz": ["-F", "997"], "997 Hz, waits": ["-F", "997", "--off-cpu"]}
    print(f"{'program':20} {'capture':14} {'throughput':>16} {'per CPU second':>18}")
    with tempfile.TemporaryDirectory() as folder:
        for name, (command, pattern) in programs(options.seconds, folder).items():
            if options.only and name not in options.only.split(",") or not shutil.which(command[0]): continue
            ratios = {mode: [] for mode in modes}
            one = lambda mode: run(name, command, pattern, modes[mode], folder, options.ironlaw)
            one("none")  # discarded: the first run after an idle pause is slower
            for _ in range(options.repeats):
                round_ = {mode: one(mode) for mode in random.sample(list(modes), len(modes))}
                for mode, (speed, per_cpu) in round_.items():
                    ratios[mode].append((math.log(speed / round_["none"][0]), math.log(per_cpu / round_["none"][1])))
            for mode in list(modes)[1:]:
                print(f"{name:20} {mode:14}", *(interval([row[at] for row in ratios[mode]]) for at in (0, 1)), flush=True)

def interval(logs):
    half = T95[len(logs) - 1] * statistics.stdev(logs) / math.sqrt(len(logs))
    return f"{100 * math.expm1(statistics.mean(logs)):+7.2f} % ±{100 * half:5.2f}"

main()
