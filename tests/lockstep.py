#!/usr/bin/env python3
"""Records a program that repeats itself at the sampling frequency, or at a simple fraction or multiple of it, and prints how often
the stated 95% interval of a function's share held the truth. Usage: lockstep.py IRONLAW [RUNS [SECONDS]] (root for -a).
"""

import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
RATES = (97, 99, 499, 997, 4999)
CYCLES = (0.5, 1, 1.5, 2, 3)
# What is recorded: the command, or all CPUs meanwhile.
TARGETS = {"command": (), "all CPUs": ("-a",)}


def share(ironlaw, folder, words, rate, cycle, seconds):
    """The share of decode_frame among both functions with its standard error, and the truth."""
    app = [folder / "app", str(seconds), str(round(cycle * 1e9 / rate))]
    done = subprocess.run([ironlaw, "-q", "record", "--force", "-o", folder / "run", "-F", str(rate), *words, "--", *app],
                          stdout=subprocess.PIPE, text=True, check=True)
    truth = float(done.stdout)
    line = [ironlaw, "report", folder / "run.ironlaw", "--format", "json", "--comm", "app"]
    report = json.loads(subprocess.run(line, stdout=subprocess.PIPE, check=True).stdout)
    rows = {row["name"]: row for row in report["functions"]}
    both = sum(rows[name]["self_share"] for name in ("decode_frame", "paint_frame") if name in rows)
    row = rows.get("decode_frame", {"self_share": 0.0, "self_error": 0.0})
    return row["self_share"] / both, row["self_error"] / both, truth


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    ironlaw = str(pathlib.Path(sys.argv[1]).resolve())
    runs, seconds = int((sys.argv[2:3] or ["4"])[0]), float((sys.argv[3:4] or ["3"])[0])
    total, held = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        subprocess.run(["cc", "-O2", "-o", folder / "app", HERE / "support/lockstep.c"], check=True)
        print(f"{'target':9} {'Hz':>5} {'cycle':>6}  {'truth':>6} {'mean':>6} {'deviation':>9} {'stated':>7} {'held':>6}")
        for target, words in TARGETS.items():
            for rate in RATES:
                for cycle in CYCLES:
                    found = [share(ironlaw, folder, words, rate, cycle, seconds) for _ in range(runs)]
                    inside = sum(abs(got - truth) <= 1.96 * error for got, error, truth in found)
                    off = math.sqrt(statistics.mean((got - truth) ** 2 for got, _, truth in found))
                    stated = math.sqrt(statistics.mean(error ** 2 for _, error, _ in found))
                    total, held = total + runs, held + inside
                    print(f"{target:9} {rate:5} {cycle:6}  {statistics.mean(f[2] for f in found):6.1%} "
                          f"{statistics.mean(f[0] for f in found):6.1%} {off:9.2%} {stated:7.2%} {inside:3}/{runs}", flush=True)
    print(f"held by {held} of {total}")


main()
