"""Runs programs and says what they cost: CPU time and peak memory of every process below, how long, what was printed."""
import dataclasses, fcntl, os, pty, re, select, shutil, signal, statistics, struct, subprocess, tempfile, termios, threading, time

TICK = os.sysconf("SC_CLK_TCK")
# A shell that says on standard error what its command alone cost.
TARGET = ["bash", "-c", 'TIMEFORMAT="target %3R %3U %3S"; time "$@"', "target"]


class Missing(Exception):
    """Why something cannot be measured here."""


@dataclasses.dataclass
class Usage:
    wall: float
    cpu: float
    peak_mb: float
    text: str
    # Of the started program alone, where it was watched.
    own_peak_mb: float | None

    def target(self):
        """Wall, user and system time of what TARGET ran."""
        return list(map(float, re.findall(r"^target (\S+) (\S+) (\S+)$", self.text, re.M)[-1]))

    def target_wall(self):
        return self.target()[0]

    def target_cpu(self):
        return sum(self.target()[1:])

    def own_cpu(self):
        """Without what the target used, where the command line starts it as TARGET."""
        return max(0.0, self.cpu - self.target_cpu())

    def number(self, pattern):
        found = re.search(pattern, self.text)
        if not found: raise Missing(f"nothing printed matches {pattern}: {last_line(self.text)}")
        return float(found.group(1).replace(",", ""))


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("target ")]
    return lines[-1].strip() if lines else "nothing was printed"


def need(*programs):
    for program in programs:
        if not shutil.which(program): raise Missing(f"{program} is not installed")


def run(*words, timeout=240, folder=None, watched=False, env=None):
    """To its end. CPU time is that of all processes below, from wait4; peak memory is the largest one's, from GNU time, whose
    own process is small: one started by Python begins with Python's peak."""
    words = [str(word) for word in words]
    need("time", words[0])
    with tempfile.NamedTemporaryFile("r") as peak, tempfile.TemporaryFile("w+", errors="replace") as output:
        start = time.monotonic()
        process = subprocess.Popen([shutil.which("time"), "-q", "-f", "%M", "-o", peak.name, *words], stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=output, cwd=folder, env=env and {**os.environ, **env}, start_new_session=True)
        recorder = Recorder(process.pid) if watched else None
        timer = threading.Timer(timeout, os.killpg, (process.pid, signal.SIGKILL))
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - start
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
        if process.returncode:
            why = f"took more than {timeout} s" if wall >= timeout else f"ended with {process.returncode}: {last_line(text)}"
            raise Missing(f"{' '.join(words)[:80]}: {why}")
        return Usage(wall, usage.ru_utime + usage.ru_stime, float(peak.read().split()[-1]) / 1e3, text, recorder.end() if recorder else None)


class Recorder:
    """Watches the peak memory of the program that a process of GNU time has started, apart from what that starts itself: read
    every 10 ms, as the kernel keeps it only while the program lives."""

    def __init__(self, pid):
        self.pid, self.peak_mb, self.ended = pid, 0.0, threading.Event()
        self.thread = threading.Thread(target=self._watch, daemon=True)
        self.thread.start()

    def _watch(self):
        while not self.ended.wait(0.01):
            try:
                child = open(f"/proc/{self.pid}/task/{self.pid}/children").read().split()[0]
                self.peak_mb = max(self.peak_mb, int(re.search(r"VmHWM:\s+(\d+)", open(f"/proc/{child}/status").read()).group(1)) / 1e3)
            except (OSError, IndexError, AttributeError): pass

    def end(self):
        self.ended.set()
        self.thread.join()
        return self.peak_mb


class Background:
    """Programs that run meanwhile."""

    def __init__(self, *lines):
        self.lines, self.running = lines, []

    def __enter__(self):
        for line in self.lines:
            need(line[0])
            self.running.append(subprocess.Popen([str(word) for word in line], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                                 stderr=subprocess.DEVNULL, start_new_session=True))
        return self.running[0].pid if self.running else None

    def __exit__(self, *_):
        for process in self.running:
            try: os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError: pass
            process.wait()


class InTerminal:
    """A program in a pseudo-terminal, of which only what it has drawn is kept."""

    def __init__(self, *words):
        need(words[0])
        self.start, self.drawn, self.bytes = time.monotonic(), b"", 0
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm-256color"
            os.execvp(words[0], [str(word) for word in words])
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try: os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError: return
        os.waitpid(self.pid, 0)

    def read(self, seconds, until=None):
        """For so long, or until something that matches was drawn: seconds since the start."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not select.select([self.master], [], [], left)[0]: break
            try: chunk = os.read(self.master, 65536)
            except OSError: raise Missing(f"ended early: {self.drawn[-200:]!r}") from None
            self.bytes += len(chunk)
            self.drawn = self.drawn[-65536:] + chunk
            if until and re.search(until, self.drawn): return time.monotonic() - self.start
        if until: raise Missing(f"{until} was not drawn within {seconds} s")
        return time.monotonic() - self.start

    def type(self, keys):
        os.write(self.master, keys.encode())

    def cpu(self):
        with open(f"/proc/{self.pid}/stat") as stat: fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def memory_mb(self, which="VmHWM"):
        with open(f"/proc/{self.pid}/status") as status: return int(re.search(rf"{which}:\s+(\d+)", status.read()).group(1)) / 1e3


def rounded(value):
    """Three digits that count."""
    if value is None: return "-"
    if abs(value) >= 1000: return f"{value:,.0f}"
    return f"{value:.{0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3}f}"


def spread(values, ends=True):
    """Median, and the least and most."""
    if not values: return "-"
    if not ends: return rounded(statistics.median(values))
    middle, least, most = (rounded(value) for value in (statistics.median(values), min(values), max(values)))
    return middle if least == most else f"{middle} ({least}..{most})"
