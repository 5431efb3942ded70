#!/usr/bin/env python3
"""What the terminal session costs beside perf top and btm: CPU of one core and resident memory, in one run.

    session.py IRONLAW [--pid PID] [--seconds 20] [--memory-minutes 0]

Each tool watches the same process (btm the machine) in a pseudo-terminal of 160x50 whose output is read and thrown away.
Without --pid a sleeping process is watched: the cost at rest. With --memory-minutes ironlaw alone runs that long on the
process, and its memory is printed every minute.
"""
import argparse
import fcntl
import os
import pty
import shutil
import signal
import struct
import subprocess
import sys
import termios
import threading
import time

TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


class InTerminal:
    """A program in a pseudo-terminal, its output counted and dropped."""

    def __init__(self, argv):
        self.bytes = 0
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm-256color"
            os.execvp(argv[0], argv)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
        threading.Thread(target=self._drain, daemon=True).start()

    def _drain(self):
        try:
            while chunk := os.read(self.master, 65536):
                self.bytes += len(chunk)
        except OSError:
            pass

    def type(self, keys):
        os.write(self.master, keys.encode())

    def cpu_seconds(self):
        with open(f"/proc/{self.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def resident_mb(self):
        with open(f"/proc/{self.pid}/statm") as statm:
            return int(statm.read().split()[1]) * PAGE / 1e6

    def end(self):
        os.kill(self.pid, signal.SIGTERM)
        os.waitpid(self.pid, 0)


def measure(name, argv, seconds, keys=""):
    tool = InTerminal(argv)
    try:
        time.sleep(5)
        tool.type(keys)
        time.sleep(2)
        cpu, shown = tool.cpu_seconds(), tool.bytes
        time.sleep(seconds)
        share = (tool.cpu_seconds() - cpu) / seconds
        rate = (tool.bytes - shown) / seconds
        print(f"{name:<28} {share:8.2%} {tool.resident_mb():9.1f} {rate:12,.0f}", flush=True)
    except FileNotFoundError:
        print(f"{name:<28} ended early", flush=True)
        return
    tool.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ironlaw")
    parser.add_argument("--pid", type=int)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--memory-minutes", type=int, default=0)
    args = parser.parse_args()
    sleeper = None if args.pid else subprocess.Popen(["sleep", "infinity"])
    pid = str(args.pid or sleeper.pid)
    os.chdir(os.environ.get("TMPDIR", "/tmp"))
    ironlaw = os.path.abspath(shutil.which(args.ironlaw) or args.ironlaw)
    try:
        if args.memory_minutes:
            return watch_memory(ironlaw, pid, args.memory_minutes)
        print(f"{'tool':<28} {'CPU':>8} {'RSS MB':>9} {'bytes/s out':>12}")
        measure("ironlaw top, overview", [ironlaw, "top", "-p", pid], args.seconds)
        measure("ironlaw top, flame", [ironlaw, "top", "-p", pid], args.seconds, "2")
        measure("ironlaw top, no off-CPU", [ironlaw, "top", "--no-off-cpu", "-p", pid], args.seconds, "2")
        if shutil.which("perf"):
            measure("perf top -g (997 Hz)", ["perf", "top", "-g", "-F", "997", "-p", pid], args.seconds)
        if shutil.which("btm"):
            measure("btm", ["btm"], args.seconds)
    finally:
        if sleeper:
            sleeper.kill()
    return None


def watch_memory(ironlaw, pid, minutes):
    tool = InTerminal([ironlaw, "top", "-p", pid])
    time.sleep(5)
    print(f"{'minute':>6} {'RSS MB':>9} {'CPU s':>9}")
    for minute in range(minutes + 1):
        print(f"{minute:6} {tool.resident_mb():9.1f} {tool.cpu_seconds():9.1f}", flush=True)
        # Another screen each minute, so that every one of them is held to the bound.
        tool.type(str(1 + minute % 6))
        time.sleep(60)
    tool.end()


if __name__ == "__main__":
    sys.exit(main())
