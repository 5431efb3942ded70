#!/usr/bin/env python3
"""Runs the tests that measure real programs again and again while stress-ng keeps two CPUs busy, and prints which failed how
often. Usage: flaky.py RUNS [TEST...]: those tests alone, by parts of their names. tracefs is mounted for them where it can be.
"""

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

PROGRAMS = ("it", "kernel")
LOAD = ("stress-ng", "--quiet", "--cpu", "2")
TRACEFS = ("unshare", "--mount", "--propagation", "private", "sh", "-ec",
           'mount -t tracefs tracefs /sys/kernel/tracing; exec "$@"', "sh")


def programs():
    """The test programs, built."""
    targets = [word for name in PROGRAMS for word in ("--test", name)]
    line = ["cargo", "test", "--locked", "--no-run", "--message-format=json", *targets]
    built = subprocess.run(line, stdout=subprocess.PIPE, text=True, check=True).stdout
    found = {}
    for message in map(json.loads, built.splitlines()):
        if message.get("executable") and message["target"]["name"] in PROGRAMS and message["profile"]["test"]:
            found[message["target"]["name"]] = message["executable"]
    return found


def run_once(wrapper, program, names):
    """Which tests ran and which failed, and what the program said."""
    done = subprocess.run([*wrapper, program, "--test-threads=1", *names], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    ran = re.findall(r"^test (\S+) \.\.\. (?!ignored)", done.stdout, re.M)
    failed = re.findall(r"^    ([\w:]+)$", done.stdout.rpartition("\nfailures:\n")[2], re.M) if done.returncode else []
    if done.returncode and not failed:
        failed = [f"(the program itself, with {done.returncode})"]
    return ran, failed, done.stdout


def main():
    if len(sys.argv) < 2 or not sys.argv[1].isdigit():
        sys.exit(__doc__)
    runs, names = int(sys.argv[1]), sys.argv[2:]
    if not shutil.which(LOAD[0]):
        sys.exit("stress-ng, which makes the load, is not installed: apt-get install stress-ng")
    os.chdir(pathlib.Path(__file__).parent.parent)
    built = programs()
    wrapper = TRACEFS if subprocess.run([*TRACEFS, "true"], stderr=subprocess.DEVNULL).returncode == 0 else ()
    folder = pathlib.Path("target/flaky") / time.strftime("%Y%m%d-%H%M%S")
    folder.mkdir(parents=True)
    times, failures = collections.Counter(), collections.Counter()
    load = subprocess.Popen(LOAD)
    try:
        for number in range(1, runs + 1):
            begun = time.monotonic()
            for name, program in built.items():
                ran, failed, said = run_once(wrapper, program, names)
                times.update(f"{name} {test}" for test in ran)
                failures.update(f"{name} {test}" for test in failed)
                if failed:
                    (folder / f"{number:04}-{name}.txt").write_text(said)
                    print(f"run {number}: failed: {name} {', '.join(failed)}", flush=True)
            print(f"run {number} of {runs}: {time.monotonic() - begun:.0f} s", flush=True)
            if load.poll() is not None:
                sys.exit(f"the load ended with {load.returncode}: {' '.join(LOAD)}")
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    finally:
        load.terminate()
        load.wait()
    for test, count in failures.most_common():
        print(f"{count} of {times[test] or runs} failed: {test}")
    print(f"{sum(failures.values())} failures in {sum(times.values())} runs of {len(times)} tests under {' '.join(LOAD)}")
    if failures:
        sys.exit(f"messages: {folder}")
    folder.rmdir()


main()
