#!/usr/bin/env python3
"""Causes the faults that take too long, or too many rights, for the tests, and prints for each what was promised and seen.
The table of all faults is assets/guide/faults.md.

usage: faults.py IRONLAW [--only NAME,NAME] [--kills 100] [--windows 86400] [--offline-cpu]

Some twenty minutes as root; what this machine cannot do is skipped aloud. Exit code 1 if a promise was broken.
"""
import argparse, glob, json, os, random, shutil, signal, statistics, subprocess, sys, tempfile, textwrap, time

ROWS = {}
NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]

class Broken(Exception):
    """A promise that was not kept."""

class Skipped(Exception):
    """Why a row cannot be tried here."""

def row(promise):
    def keep(function):
        ROWS[function.__name__.replace("_", "-")] = (promise, function)
        return function
    return keep

def holds(kept, what):
    if not kept: raise Broken(what)

def start(*words, **more):
    more = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL, **more}
    return subprocess.Popen([str(word) for word in words], **more)

def ran(*words, **more):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, stdin=subprocess.DEVNULL, **more)

def report(name):
    done = ran(IRONLAW, "report", name, "--format", "json", "--limit", "0")
    holds(done.returncode == 0, f"{name} cannot be read: {done.stderr.strip()[:300]}")
    return json.loads(done.stdout)

def topics(report):
    return {note["topic"] for note in report["notes"]}

def meta(name):
    with open(f"{name}/meta.json") as file: return json.load(file)

def needs_root():
    if os.geteuid(): raise Skipped("not running as root")

def compiled(name, source, *flags):
    if not shutil.which("cc"): raise Skipped("no C compiler")
    with open(f"{name}.c", "w") as file: file.write(source)
    subprocess.run(["cc", "-O1", "-o", name, f"{name}.c", *flags], check=True)
    return os.path.abspath(name)

def use(pid):
    """Resident memory in kB, descriptors and mappings of a process."""
    with open(f"/proc/{pid}/status") as file:
        resident = next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
    with open(f"/proc/{pid}/maps") as file: maps = sum(1 for _ in file)
    return resident, len(os.listdir(f"/proc/{pid}/fd")), maps

@row("every recording opens and lacks at most what the last second wrote")
def kills():
    rng = random.Random(5)
    target = start(IRONLAW, "workload", "churn", "--threads", 3, "--seconds", 3600)
    worst, early = 0.0, 0
    try:
        for number in range(ARGS.kills):
            shutil.rmtree("k.ironlaw", ignore_errors=True)
            recorder = start(IRONLAW, "record", "-p", target.pid, "-F", 2000, "-I", 20, "--neighbours", "-o", "k")
            begun = time.monotonic()
            while not os.path.exists("k.ironlaw/meta.json") and time.monotonic() - begun < 30: time.sleep(0.005)
            begun = time.monotonic()
            ran_for = rng.choice([rng.uniform(0, 0.3), rng.uniform(0.9, 1.3), rng.uniform(1, 4), rng.uniform(1, 4)])
            time.sleep(ran_for)
            recorder.kill()
            ran_for = time.monotonic() - begun
            recorder.wait()
            if not glob.glob("k.ironlaw/samples-*"):
                # Before the first flush there is nothing but the description.
                early += 1
                holds(ran_for < 3, f"kill {number} after {ran_for:.2f} s left no samples")
            found = report("k.ironlaw")
            holds(not [note for note in found["notes"] if "damage" in note["text"]], f"kill {number}: {found['notes']}")
            if found["samples"]["count"]: worst = max(worst, ran_for - found["duration_s"])
    finally: target.kill(); target.wait()
    holds(worst < 2, f"{worst:.2f} s are missing")
    return f"{ARGS.kills} kills, {early} before the first flush; at most {worst:.2f} s missing at the end"

@row("each of 10,000 processes is followed to its end, in bounded memory")
def forks():
    program = compiled("forks", textwrap.dedent("""\
        #include <stdlib.h>
        #include <sys/wait.h>
        #include <unistd.h>
        int main(int n, char **v) {
            for (int i = 0; i < atoi(v[1]); i++) {
                volatile long x = 0;
                if (!fork()) { for (int k = 0; k < 100000; k++) x++; _exit(0); }
                wait(0);
            }
            return 0;
        }
        """))
    recorder = start(IRONLAW, "record", "-f", "-o", "forks", "--", program, 10000)
    first, last = None, None
    while recorder.poll() is None:
        try: now = use(recorder.pid)
        except (OSError, StopIteration): break
        first, last = first or (now if os.path.exists("forks.ironlaw/samples-000001.parquet") else None), now
        time.sleep(0.1)
    holds(recorder.wait() == 0, f"exit code {recorder.returncode}")
    found = report("forks.ironlaw")
    coverage = found["samples"]["coverage"]["value"]
    holds(coverage is not None and coverage > 0.9, f"samples cover {coverage} of the CPU time")
    grown = last[0] - first[0] if first else 0
    holds(last[0] < 100_000, f"{last[0]} kB")
    return f"{coverage:.0%} of the CPU time sampled; {last[0] / 1000:.1f} MB at the end, {grown / 1000:.1f} MB grown since the first seconds"

SWITCHER = """\
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
static int to[2], back[2];
static void *echo(void *x) { char c; while (read(to[0], &c, 1) == 1) if (write(back[1], &c, 1) != 1) break; return x; }
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }
int main(int n, char **v) {
    if (pipe(to) || pipe(back)) return 1;
    pthread_t thread; pthread_create(&thread, 0, echo, 0);
    char c = 0; double end = now() + atof(v[1]);
    while (now() < end) for (int i = 0; i < 100; i++) if (write(to[1], &c, 1) != 1 || read(back[0], &c, 1) != 1) return 1;
    struct rusage used; getrusage(RUSAGE_SELF, &used);
    printf("%ld\\n", used.ru_nvcsw + used.ru_nivcsw);
    return 0;
}
"""

@row("received and lost records are together those that were made, by kind, and the loss is told")
def ring_overflow():
    needs_root()
    program = compiled("switcher", SWITCHER, "-lpthread")
    os.chmod(".", 0o777)
    # An ordinary user has two records for each switch; root's waits are summed in the kernel.
    with open("switches", "w") as out:
        recorder = start(*NOBODY, IRONLAW, "record", "-f", "-o", "overflow", "--off-cpu", "-F", 99, "--",
                         "taskset", "-c", "0", program, 6, stdout=out)
        time.sleep(2)
        recorder.send_signal(signal.SIGSTOP)
        time.sleep(2.5)
        recorder.send_signal(signal.SIGCONT)
        holds(recorder.wait() == 0, f"exit code {recorder.returncode}")
    with open("switches") as file: made = 2 * int(file.read())
    kinds = {one["kind"]: one for one in meta("overflow.ironlaw")["records"]}
    read, lost = kinds["switches"]["read"], kinds["switches"]["lost"]
    holds(lost > 0, f"nothing was lost of {read}: the machine was too slow to overflow the ring")
    # Those before the exec and after the program looked are not in its own count.
    holds(abs(read + lost - made) <= 20 + made / 10_000, f"{read} read and {lost} lost, but {made} made")
    found = report("overflow.ironlaw")
    holds("lost-switches" in topics(found), f"notes: {topics(found)}")
    others = {kind: one["lost"] for kind, one in kinds.items() if kind != "switches"}
    return f"{made / 12:.0f} switches a second: {read} records read + {lost} lost = {read + lost}, made: {made}; lost of others: {others}"

@row("the recording ends with its target: who gets the process id next is not sampled for longer than a round")
def pid_reuse():
    needs_root()
    script = textwrap.dedent("""\
        echo 500 > /proc/sys/kernel/ns_last_pid
        "$1" workload spin --threads 1 --seconds 60 >/dev/null 2>&1 & first=$!
        sleep 0.5
        "$1" record -q -f -o reuse -p $first -d 20 & recorder=$!
        sleep 2
        kill -9 $first; wait $first 2>/dev/null
        for try in 1 2 3 4 5 6 7 8 9; do
            echo $((first - 1)) > /proc/sys/kernel/ns_last_pid
            "$1" workload spin --threads 1 --seconds 60 >/dev/null 2>&1 & second=$!
            [ $second = $first ] && break
            kill -9 $second
        done
        [ $second = $first ] || exit 9
        wait $recorder; code=$?
        kill -9 $second
        exit $code
        """)
    done = ran("unshare", "--pid", "--fork", "--mount-proc", "bash", "-c", script, "bash", IRONLAW)
    if done.returncode == 9 or "unshare" in done.stderr: raise Skipped("the process id was not given again")
    holds(done.returncode == 0, f"exit code {done.returncode}: {done.stderr[-300:]}")
    lasted = report("reuse.ironlaw")["duration_s"]
    holds(lasted < 4, f"the recording went on for {lasted:.1f} s")
    return f"the target was killed after 2 s and its id given again at once; the recording is {lasted:.2f} s long"

@row("a file system that turns read-only ends the recording by name, the command goes on, and what was written opens")
def read_only():
    needs_root()
    script = textwrap.dedent("""\
        mount -t tmpfs tmpfs "$2" && cd "$2" || exit 9
        "$1" record -o ro -I 100 -- sh -c "'$1' workload spin --threads 1 --seconds 5; touch ../done; exit 3" & recorder=$!
        while ! [ -e ro.ironlaw/samples-000000.parquet ]; do sleep 0.05; done
        # Refused while a file is being written.
        until mount -o remount,ro "$2" 2>/dev/null; do sleep 0.05; done
        wait $recorder; code=$?
        "$1" report ro.ironlaw --format json > ../report.json
        exit $code
        """)
    os.makedirs("mounted", exist_ok=True)
    done = ran("unshare", "--mount", "bash", "-c", script, "bash", IRONLAW, os.path.abspath("mounted"))
    if done.returncode == 9: raise Skipped("no tmpfs can be mounted")
    holds(os.path.exists("done"), "the command did not reach its end")
    holds("ro.ironlaw" in done.stderr and "panicked" not in done.stderr, done.stderr[-300:])
    with open("report.json") as file: found = json.load(file)
    holds(found["samples"]["count"] > 0, "no samples were kept")
    said = next((line for line in done.stderr.splitlines() if "ead-only" in line), done.stderr.splitlines()[-1])
    return f"exit code {done.returncode}; {found['samples']['count']} samples kept; it said: {said.strip()}"

SLOW = """\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
ssize_t write(int fd, const void *bytes, size_t length) {
    static ssize_t (*real)(int, const void *, size_t);
    char link[64], path[512];
    if (!real) real = dlsym(RTLD_NEXT, "write");
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t read = readlink(link, path, sizeof path - 1);
    if (read > 0 && (path[read] = 0, strstr(path, ".ironlaw/"))) usleep(400000);
    return real(fd, bytes, length);
}
"""

@row("a disk that takes 0.4 s for each write loses no sample, and the recording keeps its length")
def slow_disk():
    library = compiled("slow.so", SLOW, "-shared", "-fPIC", "-ldl")
    target = start(IRONLAW, "workload", "spin", "--threads", 1, "--seconds", 60)
    try:
        begun = time.monotonic()
        done = ran(IRONLAW, "record", "-f", "-o", "slow", "-p", target.pid, "-d", 6, "-I", 100, env={**os.environ, "LD_PRELOAD": library})
        took = time.monotonic() - begun
    finally: target.kill(); target.wait()
    holds(done.returncode == 0, done.stderr[-300:])
    found = report("slow.ironlaw")
    holds(found["samples"]["lost"] == 0 and found["samples"]["coverage"]["value"] > 0.9, str(found["samples"]))
    holds(5.9 < found["duration_s"] < 7, f"{found['duration_s']} s")
    return f"{found['samples']['count']} samples in {found['duration_s']:.1f} s, none lost, written after {took:.1f} s"

@row("a CPU taken away and brought back costs its samples only: the recording ends in order")
def cpu_offline():
    needs_root()
    switch = "/sys/devices/system/cpu/cpu1/online"
    if not ARGS.offline_cpu: raise Skipped("changes the machine: ask for it with --offline-cpu")
    if not os.access(switch, os.W_OK): raise Skipped(f"{switch} cannot be written")
    target = start(IRONLAW, "workload", "spin", "--threads", 2, "--seconds", 60)
    recorders = [start(IRONLAW, "record", "-f", "-o", name, *words, "-d", 5, stderr=subprocess.PIPE, text=True)
                 for name, words in (("one", ["-p", target.pid]), ("all", ["-a"]))]
    try:
        time.sleep(1.5)
        with open(switch, "w") as file: file.write("0")
        time.sleep(1)
    finally:
        with open(switch, "w") as file: file.write("1")
    said = [recorder.communicate()[1] for recorder in recorders]
    target.kill(); target.wait()
    holds(all(recorder.returncode == 0 for recorder in recorders) and "panicked" not in str(said), str(said))
    counts = [report(f"{name}.ironlaw")["samples"]["count"] for name in ("one", "all")]
    holds(min(counts) > 100, str(counts))
    return f"samples of the process and of the machine: {counts}"

MAPPER = """\
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static char image[1 << 17];
static void *nothing(void *x) { return x; }
int main(int n, char **v) {
    char name[64];
    long files = atol(v[1]), ends = atol(v[2]);
    ssize_t length = read(open("/proc/self/exe", O_RDONLY), image, sizeof image);
    for (long i = 0; i < files || !ends; i++) {
        snprintf(name, sizeof name, "mapped-%ld", i % files);
        int file = open(name, O_RDWR | O_CREAT, 0700);
        if (i < files && write(file, image, length) != length) return 1;
        void *at = mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
        close(file);
        if (ends) continue;
        pthread_t thread; pthread_create(&thread, 0, nothing, 0); pthread_join(thread, 0);
        if (i % 10 == 0) { if (!fork()) _exit(0); wait(0); }
        volatile long x = 0; for (long k = 0; k < 3000000; k++) x++;
        munmap(at, 4096);
    }
    sleep(60);
    return 0;
}
"""

@row("a user's program that maps more files than descriptors may be open stops no recording, and others keep their names")
def mapped_files():
    needs_root()
    program = compiled("mapper", MAPPER, "-lpthread")
    os.chmod(".", 0o777)
    recorder = start("prlimit", "--nofile=4096:4096", IRONLAW, "record", "-a", "-f", "-o", "all", "-d", 25)
    time.sleep(2)
    mapper = start(*NOBODY, program, 8000, 1)
    time.sleep(13)
    victim = start(compiled("victim", "void burns(void) { volatile long x = 0; for (;;) x++; } int main(void) { burns(); }"))
    time.sleep(4)
    most = use(recorder.pid)[1]
    victim.kill(); victim.wait()
    code = recorder.wait()
    mapper.kill(); mapper.wait()
    holds(code == 0, f"exit code {code}")
    found = report("all.ironlaw")
    holds(found["duration_s"] > 24.5, f"the recording is {found['duration_s']} s long")
    holds("files-unread" in topics(found), f"notes: {topics(found)}")
    holds(any(row["name"] == "burns" for row in found["functions"]), "the function of the program that came later has no name")
    holds(most < 2048, f"{most} descriptors")
    return f"8000 files mapped at once; {most} of 4096 descriptors in use; {found['duration_s']:.1f} s recorded"

@row("as many windows as a day has leave memory, descriptors and mappings of a watch as they were")
def watch_day():
    program = compiled("mapper", MAPPER, "-lpthread")
    target = start(program, 500, 0)
    try:
        for number in range(3):
            done = ran(IRONLAW, "record", "-q", "-f", "-o", f"usual{number}", "-p", target.pid, "-I", 100, "-d", 8, "--ops", "rate:1000")
            holds(done.returncode == 0, done.stderr[-300:])
        done = ran(IRONLAW, "baseline", "build", *glob.glob("usual*.ironlaw"), "-f", "-o", "usual")
        if done.returncode: raise Skipped(f"no baseline could be learnt here: {done.stderr.strip()[-200:]}")
        with open("lines", "w") as lines:
            watch = start(IRONLAW, "watch", "--baseline", "usual", "-p", target.pid, "-I", 10, "--every", 1, "--listen", "off", stdout=lines)
            series, windows = [], 0
            while windows < ARGS.windows:
                time.sleep(5)
                holds(watch.poll() is None, f"the watch ended with {watch.returncode} after {windows} windows")
                with open("lines") as file: windows = sum('"event":"window"' in line for line in file)
                series.append((windows, *use(watch.pid)))
                if sys.stderr.isatty(): print(f"\r{series[-1]}", end="", file=sys.stderr)
            watch.send_signal(signal.SIGTERM)
            holds(watch.wait() == 0, f"exit code {watch.returncode}")
    finally: target.kill(); target.wait()
    # A minute and a quarter of windows is kept for the recording before an alarm: what comes after that must be flat. The
    # resident memory of a moment depends on how far the machine is behind.
    series = [use for use in series if use[0] >= 100 * 90]
    quarter = len(series) // 4
    holds(quarter > 2, f"{windows} windows are too few to tell")
    middle = lambda part, what: statistics.median(use[what] for use in part)
    first, last = ([middle(part, what) for what in range(4)] for part in (series[:quarter], series[-quarter:]))
    told = lambda use: f"{use[1] / 1000:.1f} MB, {use[2]:.0f} descriptors, {use[3]:.0f} mappings"
    seen = f"{windows} windows; medians about window {first[0]:.0f}: {told(first)}; about {last[0]:.0f}: {told(last)}"
    holds(last[1] < 1.1 * first[1] + 1000 and last[2] <= first[2] + 2 and last[3] <= first[3] + 20, seen)
    return seen

def main():
    global ARGS, IRONLAW
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ironlaw")
    parser.add_argument("--only", default="")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--windows", type=int, default=86_400)
    parser.add_argument("--offline-cpu", action="store_true")
    ARGS = parser.parse_args()
    IRONLAW = os.path.abspath(ARGS.ironlaw)
    chosen = [name for name in ARGS.only.split(",") if name] or list(ROWS)
    broken = 0
    for name in chosen:
        promise, function = ROWS[name]
        with tempfile.TemporaryDirectory(prefix="ironlaw-faults-") as folder:
            os.chdir(folder)
            try: verdict, seen = "kept", function()
            except Skipped as why: verdict, seen = "SKIPPED", why
            except Broken as what: verdict, seen, broken = "BROKEN", what, broken + 1
            os.chdir("/")
        print(f"{name}: {promise}\n    {verdict}: {seen}", flush=True)
    return min(broken, 1)

if __name__ == "__main__":
    sys.exit(main())
