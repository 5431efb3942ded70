"""What is known on the amd64 machine: 2 sockets of 4 cores of 2 threads, each socket a memory node; no PMU."""
import memory_nodes
import topology

SMP = "16,sockets=2,cores=4,threads=2"
LOAD = "-- ironlaw -q workload scaling --threads={threads} --seconds=300ms"


def placement(checks, guest):
    """Which CPUs each width gets on cores with siblings in two sockets, for each --place, and the regions they form."""
    measure = "\n".join(
        f"{topology.SWEEP} --place {how} -L threads {widths} --ops 'regex:ops ([0-9]+)' -o {how} {LOAD} >/share/out/{how}.json"
        for how, widths in (("cores", "1,2,4,8,16"), ("smt", "1,2,4,8,16"), ("spread", "1,2,4,8,16"), ("none", "1,2")))
    _, sweeps = guest.run(f"cd /tmp\n{measure}", smp=SMP)
    # QEMU numbers the threads of a core one after the other, unlike most servers.
    evens = list(range(0, 16, 2))
    everything = list(range(16))
    topology.check_places(checks, "cores", sweeps["cores"], {
        1: ([0], "cores"), 2: ([0, 2], "cores"), 4: ([0, 2, 4, 6], "cores"), 8: (evens, "nodes 2"), 16: (everything, "smt")})
    topology.check_places(checks, "smt", sweeps["smt"], {
        1: ([0], "cores"), 2: ([0, 1], "smt"), 4: ([0, 1, 2, 3], "smt"), 8: (everything[:8], "smt"), 16: (everything, "smt")})
    topology.check_places(checks, "spread", sweeps["spread"], {
        1: ([0], "cores"), 2: ([0, 8], "nodes 2"), 4: ([0, 2, 8, 10], "nodes 2"), 8: (evens, "nodes 2"), 16: (everything, "smt")})
    topology.check_places(checks, "none", sweeps["none"], {1: ([], "unplaced"), 2: ([], "unplaced")})
    places = [(cpu["package"], cpu["node"], cpu["core"]) for cpu in sweeps["cores"]["sweep"]["host"]["cpus"]]
    checks.same("cores of the machine", len(set(places)), 8)
    checks.same("packages are nodes", {(package, node) for package, node, _ in places}, {(0, 0), (1, 1)})


def no_pmu(checks, guest):
    """Without a PMU nothing is invented: counts are missing with their reason, and what time says remains."""
    output, reports = guest.run("""
        ironlaw -q record -F 199 --ops 'regex:ops ([0-9]+)' -o a -- ironlaw -q workload scaling --threads 1 --seconds 1s
        echo "exit $?"; report a.ironlaw a; ironlaw -q report a.ironlaw; ironlaw -q doctor""", smp="2")
    report = reports["a"]
    metrics = report["metrics"]
    checks.holds("the recording succeeds", "exit 0" in output.splitlines(), "exit status")
    for metric in ("cycles", "instructions", "ipc", "frequency", "path_length", "cycles_per_op"):
        checks.same(f"{metric} is missing", metrics[metric].get("missing"), "not_supported")
    for metric in ("operations", "throughput", "cpu_per_op", "cpu_time"):
        checks.holds(f"{metric} is measured", metrics[metric].get("value", 0) > 0, metrics[metric])
    checks.same("samples are of the CPU clock", [event["name"] for event in report["events"]], ["cpu-clock"])
    checks.holds("the report says so", any(note["topic"] == "no-pmu" for note in report["notes"]), [n["topic"] for n in report["notes"]])
    checks.same("the hot function", report["functions"][0]["name"], "crunch_numbers")


def throttling(checks, guest):
    """A control group with half a CPU is recorded, one with a whole CPU swept: the finding is the quota."""
    _, found = guest.run("""
        mkdir /sys/fs/cgroup/half; echo '50000 100000' >/sys/fs/cgroup/half/cpu.max
        sh -c 'echo 0 >/sys/fs/cgroup/half/cgroup.procs; exec ironlaw -q workload scaling --threads 2 --seconds 8s' &
        sleep 1; ironlaw -q record -G /sys/fs/cgroup/half -d 4 -F 97 -o g; report g.ironlaw g; wait
        mkdir /sys/fs/cgroup/one; echo '100000 100000' >/sys/fs/cgroup/one/cpu.max
        sh -c 'echo 0 >/sys/fs/cgroup/one/cgroup.procs; exec ironlaw -q sweep --headless -L threads 1,4 -r 3 --seed 1 \
            -F 19 --call-graph none --format json --ops "regex:ops ([0-9]+)" -o s -- loop 60000 {threads} all' >/share/out/s.json""", smp="4")
    report, sweep = found["g"], found["s"]
    rules = [finding["rule"] for finding in report["findings"]["found"]]
    checks.same("the recording's first finding", rules[:1], ["cgroup-throttling"])
    # Half a CPU of two busy threads: every period ends throttled.
    checks.between("share of periods throttled", report["metrics"]["throttled_share"].get("value"), 0.9, 1.0)
    checks.near("busy cores", report["metrics"]["cpu_utilisation"].get("value"), 0.5, 0.05, "quota 50 ms of 100 ms, cut at both ends")
    checks.holds("the sweep's finding", "cgroup-throttling" in [f["rule"] for f in sweep["findings"]], [f["rule"] for f in sweep["findings"]])


def affinity(checks, guest):
    """A live sweep gives back the CPUs it found: at its end, after SIGTERM, and by its journal after kill -9."""
    script = """
        allowed() { for t in /proc/$1/task/*; do grep Cpus_allowed_list $t/status | cut -f2; done | sort -u | tr '\\n' ' '; }
        confined() { for i in $(seq 120); do [ "$(allowed $load)" = "0-14 " ] || return 0; sleep 1; done; }
        start() { taskset 7fff ironlaw -q workload scaling --threads 4 --seconds 600s & load=$!; sleep 1; }
        start; echo "before: $(allowed $load)"
        sweep() { ironlaw -q sweep --headless --no-off-cpu -F 97 -p $load --cpus 1,2,4 --dwell "$1" -o "$2" --format json; }
        sweep 500ms whole >/share/out/live.json; echo "ended: $(allowed $load)"
        ironlaw -q sweep --headless --no-off-cpu -F 97 -p $load --cpus 1,2,4 --dwell 60s -o cut >/dev/null 2>&1 & tool=$!
        confined; echo "confined: $(allowed $load)"; kill -TERM $tool; wait $tool; echo "terminated: $(allowed $load)"
        ironlaw -q sweep --headless --no-off-cpu -F 97 -p $load --cpus 1,2,4 --dwell 60s -o dead >/dev/null 2>&1 & tool=$!
        confined; kill -9 $tool; wait $tool; echo "killed: $(allowed $load)"
        ironlaw sweep --restore; echo "restored: $(allowed $load)"
        kill -9 $load"""
    output, found = guest.run(script, smp=SMP)
    seen = dict(line.split(": ", 1) for line in output.splitlines() if ": " in line)
    seen = {key: text.strip() for key, text in seen.items()}
    for when in ("before", "ended", "terminated", "restored"):
        checks.same(f"CPUs of its threads, {when}", seen.get(when), "0-14")
    for when in ("confined", "killed"):
        checks.holds(f"CPUs of its threads, {when}", seen.get(when) in ("0", "0,2", "0,2,4,6"), seen.get(when))
    topology.check_places(checks, "live", found["live"], {
        1: ([0], "cores"), 2: ([0, 2], "cores"), 4: ([0, 2, 4, 6], "cores")})


PARTS = [placement, no_pmu, throttling, affinity, memory_nodes.numa]
