"""Assertions as lines: name, measured, expected, tolerance and where the tolerance comes from."""
import sys


class Checks:
    """Prints each result as it is known and counts them."""

    def __init__(self):
        self.passed, self.failed, self.skipped = 0, 0, 0

    def near(self, name, measured, expected, tolerance, why=""):
        """A number within an absolute tolerance; 0 asks for equality."""
        holds = isinstance(measured, (int, float)) and abs(measured - expected) <= tolerance
        within = f"within {number(tolerance)}" + (f": {why}" if why else "") if tolerance else "exact"
        self.line(holds, f"{name}: {number(measured)} vs {number(expected)} ({within})")

    def between(self, name, measured, low, high, why=""):
        """A number within bounds."""
        holds = isinstance(measured, (int, float)) and low <= measured <= high
        self.line(holds, f"{name}: {number(measured)} in {number(low)}..{number(high)}" + (f" ({why})" if why else ""))

    def same(self, name, measured, expected):
        """Anything that must be equal."""
        self.line(measured == expected, f"{name}: {measured} vs {expected}")

    def holds(self, name, condition, seen):
        """Something that is true of what was seen."""
        self.line(bool(condition), f"{name}: {seen}")

    def fail(self, name, why):
        """A part that could not be carried out."""
        self.line(False, f"{name}: {why}")

    def skip(self, name, why):
        """A part this machine cannot run."""
        self.skipped += 1
        print(f"SKIPPED {name}: {why}", flush=True)

    def line(self, holds, text):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
        print(("ok   " if holds else "FAIL ") + text, flush=True)

    def summary(self):
        """The last line; returns the exit code."""
        print(f"emulated machines: {self.passed} ok, {self.failed} failed, {self.skipped} skipped")
        sys.stdout.flush()
        return 1 if self.failed else 0


def number(value):
    """Digits enough to see an error of one instruction in a billion."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    return f"{value:.10g}" if isinstance(value, float) else str(value)
