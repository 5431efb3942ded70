"""What is known on the arm64 machine: its PMU counts instructions and cycles exactly.

With `--icount K` an instruction takes 2^K cycles of 1 ns, so a run is the same each time as long as one CPU is busy."""
import math
import topology

# What tests/vm/loop.c retires for one operation, and in which function.
PER_OP, HEAVY, LIGHT = 2000, 1496, 500
OPS = r"--ops 'regex:ops ([0-9]+)'"
# Starting and ending a static program, in user mode: measured with no operations, and for more of them it prints more
# digits, at some ten instructions each.
DIGITS = 500


def value(report, metric):
    """A metric's value; None if it is missing."""
    return report["metrics"][metric].get("value")


def counted(report):
    """Instructions, cycles, operations."""
    return [value(report, metric) for metric in ("instructions", "cycles", "operations")]


def path_length(checks, guest):
    """Instructions per operation and IPC of a known loop, user mode only, equal on repeats."""
    for power in (0, 2):
        runs = {f"n{ops}-{run}": ops for ops in (0, 50_000, 100_000) for run in (1, 2, 3)}
        measure = "\n".join(
            f"su user -c \"ironlaw -q record -F 97 {OPS} -o {name} -- loop {ops}\" && report {name}.ironlaw {name}"
            for name, ops in runs.items())
        # Who may not see the kernel counts user mode alone: nothing but the program.
        _, reports = guest.run(f"""
            echo 2 >/proc/sys/kernel/perf_event_paranoid; mkdir /tmp/user; chown user /tmp/user; cd /tmp/user
            {measure}""".replace('\\"', "'"), icount=str(power))
        tag = f"icount {power}"
        base, small, large = ([counted(reports[f"n{ops}-{run}"]) for run in (1, 2, 3)] for ops in (0, 50_000, 100_000))
        for name, repeats in (("0", base), ("50000", small), ("100000", large)):
            checks.same(f"{tag}: instructions of {name} operations are equal on repeats", {r[0] for r in repeats}, {repeats[0][0]})
        start = base[0][0]
        checks.near(f"{tag}: instructions of 50000 operations, start subtracted", small[0][0] - start, 50_000 * PER_OP, DIGITS,
                    "a longer number is printed")
        checks.near(f"{tag}: of 50000 operations more", large[0][0] - small[0][0], 50_000 * PER_OP, DIGITS, "one digit more")
        report = reports["n100000-1"]
        checks.near(f"{tag}: path length", value(report, "path_length"), PER_OP + start / 100_000, DIGITS / 100_000,
                    f"start-up is {start} instructions")
        # An instruction takes 2^K cycles; the rest are entries into the kernel, a few cycles counted on the wrong side.
        checks.near(f"{tag}: IPC", value(report, "ipc"), 2.0 ** -power, 1e-3 * 2.0 ** -power, "entries into the kernel")
        checks.near(f"{tag}: cycles per operation", value(report, "cycles_per_op"), (PER_OP + start / 100_000) * 2 ** power,
                    PER_OP * 2 ** power * 1e-3, "as IPC")


def whole_program(checks, guest):
    """As root, with what the kernel does for the program: cost, frequency and the identity between them."""
    _, reports = guest.run(f"ironlaw -q record -F 97 {OPS} -o a -- loop 100000; report a.ironlaw a")
    report = reports["a"]
    law = [value(report, metric) for metric in ("path_length", "cpi", "frequency", "cpu_per_op")]
    length, cpi, frequency, cost = law
    # Ticks (250 Hz of 5 us at most) and samples (97 Hz of 50 us at most) are 0.6% of the time.
    checks.between("path length", length, PER_OP, PER_OP * 1.02, "the kernel's ticks, samples and the program's start")
    checks.near("frequency", frequency, 1e9, 1e7, "cycles of 1 ns; reading both takes time")
    checks.near("CPI", cpi, 1.0, 1e-3, "an instruction a cycle")
    checks.near("path length x CPI / frequency over the cost", length * cpi / frequency / cost, 1, 1e-9, "an identity")


def sampling(checks, guest):
    """Samples by period: their number, and the planted functions' shares within the binomial error."""
    period = 99_391  # No divisor in common with an operation's cycles, else every sample would hit the same instruction.
    script = f"""
        ironlaw -q record -e cycles:u -c {period} --call-graph none {OPS} -o c -- loop 100000; report c.ironlaw c
        ironlaw -q record -e cycles:u -c {period} {OPS} -o stacks -- loop 100000; report stacks.ironlaw stacks
        echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent; loop --beat 20000 & beat=$!; sleep 1
        ironlaw -q record -e instructions:u -c 1000000 --call-graph none {OPS} -o i -- loop 100000; report i.ironlaw i
        kill $beat"""
    _, reports = guest.run(script)
    for name in ("c", "stacks"):
        report = reports[name]
        event, samples = report["events"][0], report["samples"]["count"]
        expected = 100_000 * PER_OP / period
        checks.near(f"{name}: samples of cycles", event["samples"], expected, 0.01 * expected, "start-up, entries into the kernel")
        checks.same(f"{name}: weight is samples times period", event["weight"], samples * period)
        checks.same(f"{name}: none lost, none throttled", (report["samples"]["lost"], report["samples"]["throttled"]), (0, 0))
        rows = {row["name"]: row for row in report["functions"]}
        for function, instructions in (("heavy_part", HEAVY), ("light_part", LIGHT)):
            share = instructions / PER_OP
            error = 4 * math.sqrt(share * (1 - share) / samples)
            checks.near(f"{name}: share of {function}", rows[function]["self_share"], share, error, "4 standard errors")
        checks.holds(f"{name}: the stated error is the binomial one",
                     abs(rows["light_part"]["self_error"] - math.sqrt(rows["light_part"]["self_share"]
                         * (1 - rows["light_part"]["self_share"]) / samples)) < 1e-6, rows["light_part"]["self_error"])
    below = {row["name"]: row["total_share"] for row in reports["stacks"]["functions"]}
    checks.near("stacks: all of it below main", below.get("main", 0), 1.0, 0.02, "start-up")
    event = reports["i"]["events"][0]
    checks.near("samples of instructions", event["samples"], 100_000 * PER_OP / 1_000_000, 1, "the last period is not full")
    checks.near("their weight", event["weight"], 100_000 * PER_OP, 1_100_000, "a period, and start-up")


def multiplexing(checks, guest):
    """More events than counters: scaled counts agree with the truth within what rotation can miss."""
    # Six counters; cycles have one of their own. Ten events to sample and the group of two do not fit at once.
    events = ",".join(f"r{0x08:02x}:u" if i % 2 else "instructions:u" for i in range(10))
    _, reports = guest.run(f"""
        ironlaw -q record -e {events} -c 10000000 --call-graph none {OPS} -o m -- loop 1000000; report m.ironlaw m
        ironlaw -q record -F 97 --call-graph none {OPS} -o plain -- loop 1000000; report plain.ironlaw plain""")
    found, plain = reports["m"], reports["plain"]
    metric = found["metrics"]["instructions"]
    checks.same("alone it is counted all the time", plain["metrics"]["instructions"].get("coverage"), 1.0)
    checks.between("among twelve it is not", metric.get("coverage"), 0.2, 0.9)
    # A turn is 4 ms of the 2 s: the count is off by two turns at most, one at each end.
    seconds = value(found, "cpu_time")
    error = 2 * 0.004 / seconds
    checks.near("scaled instructions over operations", metric["value"] / 1e6 / PER_OP, 1, error + 0.02, f"two turns of 4 ms in {seconds:.2f} s, kernel")
    checks.same("IPC of the group", round(value(found, "ipc"), 3), 1.0)
    coverages = [event["coverage"] for event in found["events"]]
    checks.holds("each event's coverage is stated", all(0.1 < c < 1 for c in coverages), [round(c, 3) for c in coverages])


def control_group(checks, guest):
    """Only what is inside the control group counts."""
    _, reports = guest.run(f"""
        mkdir /sys/fs/cgroup/inside
        ironlaw -q record -G /sys/fs/cgroup/inside -d 3 -e cycles:u -c 99391 -o g & tool=$!; sleep 1
        sh -c 'echo 0 >/sys/fs/cgroup/inside/cgroup.procs; exec loop 30000'; loop 100000
        wait $tool; report g.ironlaw g""")
    report = reports["g"]
    inside = 30_000 * PER_OP
    checks.between("instructions inside", value(report, "instructions"), inside, inside * 1.1, "start of the program and ticks; 200000000 outside")
    samples, expected = report["events"][0]["samples"], inside / 99_391
    checks.near("samples inside", samples, expected, 0.01 * expected + 1, "start of the program")
    shares = {row["name"]: row["self_share"] for row in report["functions"]}
    checks.near("share of heavy_part", shares.get("heavy_part", 0), HEAVY / PER_OP, 4 * math.sqrt(0.748 * 0.252 / expected), "4 standard errors")


def without_instructions(checks, guest):
    """A PMU that counts cycles but no instructions: the report says why, and nothing is invented."""
    output, reports = guest.run(f"""
        ironlaw -q record -F 97 {OPS} -o a -- loop 200000; echo "exit $?"; report a.ironlaw a; ironlaw -q report a.ironlaw
        ironlaw -q doctor; echo "doctor $?" """, icount="off")
    report = reports["a"]
    metrics = report["metrics"]
    checks.holds("the recording succeeds", "exit 0" in output.splitlines(), "exit status")
    for metric in ("instructions", "ipc", "cpi", "path_length"):
        checks.same(f"{metric} is missing", metrics[metric].get("missing"), "not_supported")
    checks.same("operations are counted", value(report, "operations"), 200_000)
    checks.same("samples are of cycles", [event["name"] for event in report["events"]], ["cycles"])
    checks.holds("a note says it", any("instructions" in note["text"] for note in report["notes"]), [note["text"] for note in report["notes"]])
    checks.same("the hot function", report["functions"][0]["name"], "heavy_part")


def sweep(checks, guest):
    """A whole sweep of threads that take turns: path length exact and the same at every width, the lost cores waited for."""
    ops, widths = 20_000, (1, 2, 4)
    listed = ",".join(map(str, widths))
    _, found = guest.run(f"""
        ironlaw -q sweep --headless -L threads {listed} -r 2 --seed 1 -F 97 {OPS} --format json -o s \\
            -- loop {ops} {{threads}} >/share/out/all.json
        echo 2 >/proc/sys/kernel/perf_event_paranoid; mkdir /tmp/user; chown user /tmp/user; cd /tmp/user
        su user -c "ironlaw -q sweep --headless --no-off-cpu --call-graph none -L threads {listed} -r 3 --seed 1 -F 97 \\
            {OPS} --format json -o s -- loop {ops} {{threads}}" >/share/out/user.json""", smp="4")
    base = None
    for point in found["user"]["points"]:
        width = point["threads"]
        # A worker takes some 2000 instructions to be made; starting and ending the program some 20000.
        checks.near(f"user mode: path length at {width}", point["path_length"], PER_OP, 3, "start-up of program and threads")
        checks.near(f"user mode: its interval over repeats at {width}", point["ci95"].get("path_length", -1), 0, 0.05, "lock words")
        base = base or point["path_length"]
    for point in found["all"]["points"]:
        width = point["threads"]
        checks.near(f"path length at {width}", point["path_length"], PER_OP * 1.01, PER_OP * 0.01, "ticks, samples")
        checks.near(f"path length x CPI / frequency over the cost at {width}",
                    point["path_length"] * point["cpi"] / point["frequency"] * 1e9 / point["cpu_ns_per_op"], 1, 1e-9, "an identity")
        checks.near(f"speed-up at {width}: one works at a time", point["speedup"], 1.0, 0.1, "threads are made and handed over")
    for column in found["all"]["stack"]:
        whole = column["useful"] + sum(slice["cores"] for slice in column["slices"])
        checks.near(f"useful and lost cores at {column['threads']}", whole, column["threads"], 1e-9 * column["threads"], "an identity")
    last = found["all"]["stack"][-1]
    waits = {slice["kind"]: slice["cores"] for slice in last["slices"]}
    checks.between("at 4, cores that wait for their turn", waits.get("blocked_lock", 0), 2.5, 3.0, "3 of 4, in a semaphore")


def placement(checks, guest):
    """8 CPUs in 2 memory nodes: which ones each width gets, and the regions they form."""
    measure = "\n".join(
        f"{topology.SWEEP} --place {how} -L cpus 1,2,4,8 {OPS} -o {how} -- loop 20000 >/share/out/{how}.json"
        for how in ("cores", "spread"))
    _, sweeps = guest.run(measure, smp="8,sockets=2,cores=4,threads=1", icount="off")
    eight = list(range(8))
    topology.check_places(checks, "cores", sweeps["cores"], {
        1: ([0], "cores"), 2: ([0, 1], "cores"), 4: ([0, 1, 2, 3], "cores"), 8: (eight, "nodes 2")})
    topology.check_places(checks, "spread", sweeps["spread"], {
        1: ([0], "cores"), 2: ([0, 4], "nodes 2"), 4: ([0, 1, 4, 5], "nodes 2"), 8: (eight, "nodes 2")})


PARTS = [path_length, whole_program, sampling, multiplexing, control_group, without_instructions, sweep, placement]
