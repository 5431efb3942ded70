#!/usr/bin/env python3
"""Measures what recording costs a program that switches some 50,000 times a second, beside what ironlaw states of it.

Usage: own_cost.py IRONLAW [--rounds N] [--work LOOPS]

Two threads take turns on one CPU (benches/turns.c). In each round the program runs once for each recorder, in random order, and
once without any; what it did while it was recorded is compared with what it did without. ironlaw's statement is right if it is
within a fifth of what the program lost, or within 3 points, whichever is more. Needs cc and the right to see switches (root).
"""
import argparse, json, os, pathlib, random, shutil, statistics, subprocess, sys, tempfile, time

HERE = pathlib.Path(__file__).parent
# While a recorder opens its events, nothing is measured.
OPENING, MEASURED = 1.2, 3.0
PARTS = ["target_samples", "target_waits", "target_counters", "target_probes", "target_total"]


def recorders(ironlaw, folder):
    """By name: the command line that attaches to a process, and ironlaw's recording. `lifted` is without the limit."""
    lasts = str(OPENING + MEASURED + 0.5)
    def own(name, *options):
        path = str(folder / f"{name}.ironlaw")
        return [ironlaw, "record", "-q", "--force", "-o", path, "-d", lasts, *options, "-p", "PID"], path
    perf = ["perf", "record", "-q", "-g", "-F", "997", "-o", str(folder / "perf.data"), "-p", "PID", "--", "sleep", lasts]
    found = {
        "ironlaw": own("samples"),
        "ironlaw --off-cpu": own("waits", "--off-cpu"),
        "ironlaw --off-cpu, limit lifted": own("lifted", "--off-cpu", "--max-overhead", "100"),
    }
    return {**found, **({"perf record -g": (perf, None)} if shutil.which("perf") else {})}


def run(program, words, folder):
    """Turns a second and CPU time per turn while the recorder was attached, or in the same time without."""
    with open(folder / "turns", "w+") as output:
        target = subprocess.Popen(["taskset", "-c", "0", *program], stdout=output)
        time.sleep(0.3)
        words = [str(target.pid) if word == "PID" else word for word in words or []]
        recorder = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) if words else None
        time.sleep(OPENING)
        begin = time.monotonic()
        time.sleep(MEASURED)
        end = time.monotonic()
        if recorder and recorder.wait(30): sys.exit(f"{' '.join(words)} ended with {recorder.returncode}")
        target.kill()
        target.wait()
        output.seek(0)
        lines = [list(map(float, line.split())) for line in output if line.count(" ") == 2 and line.endswith("\n")]
    within = [line for line in lines if begin <= line[0] <= end]
    (from_time, from_turns, from_cpu), (to_time, to_turns, to_cpu) = within[0], within[-1]
    return (to_turns - from_turns) / (to_time - from_time), (to_cpu - from_cpu) / (to_turns - from_turns)


def stated(ironlaw, path):
    text = subprocess.run([ironlaw, "report", "--format", "json", path], stdout=subprocess.PIPE, check=True).stdout
    return json.loads(text)["own_cost"]


def median(values):
    values = [value for value in values if isinstance(value, float)]
    return statistics.median(values) if values else None


def percent(value):
    return "-" if value is None else f"{100 * value:.1f}%"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ironlaw")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--work", default="20000", help="loops in a turn; fewer are more switches a second")
    options = parser.parse_args()
    ironlaw = os.path.abspath(options.ironlaw)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        turns = folder / "turns-program"
        subprocess.run(["cc", "-O2", "-pthread", "-o", turns, HERE / "benches/turns.c"], check=True)
        program = [str(turns), str(OPENING + MEASURED + 60), options.work]
        tools = recorders(ironlaw, folder)
        lost, longer, said = ({name: [] for name in tools} for _ in range(3))
        rates = []
        for number in range(1, options.rounds + 1):
            results = {}
            for name in random.sample([None, *tools], 1 + len(tools)):
                words, path = tools.get(name, (None, None))
                results[name] = run(program, words, folder)
                if path: said[name].append(stated(ironlaw, path))
            speed, cpu = results[None]
            rates.append(speed)
            for name in tools:
                lost[name].append(1 - results[name][0] / speed)
                longer[name].append(1 - cpu / results[name][1])
            print(f"round {number} of {options.rounds}", file=sys.stderr)
    print(f"{statistics.median(rates):,.0f} turns a second without a recorder; medians of {options.rounds} rounds\n")
    print(f"{'':32} {'throughput':>10} {'lost':>7} {'of CPU':>7}  stated: " + ", ".join(part.removeprefix("target_") for part in PARTS))
    wrong = 0
    for name in tools:
        truth = median(lost[name])
        parts = [median([cost[part] for cost in said[name]]) for part in PARTS]
        print(f"{name:32} {1 - truth:>10.3f} {percent(truth):>7} {percent(median(longer[name])):>7}  " + ", ".join(map(percent, parts)), end="")
        if said[name]:
            right = abs((parts[-1] or 0.0) - truth) <= max(abs(truth) / 5, 0.03)
            wrong += not right
            print("" if right else "  NOT within a fifth or 3 points", end="")
        print()
    print("\nlost: part of the throughput; of CPU: part of the CPU time of a turn, which other load on the machine does not change.")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
