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
# A load-exclusive and its store are done again when an interrupt falls between them: some instructions in a run.
REPEATED = 8


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
            found = [r[0] for r in repeats]
            checks.near(f"{tag}: instructions of {name} operations, most over least of three repeats", max(found) - min(found), 0, REPEATED,
                        "atomic sequences that an interrupt made start again")
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


def windows(checks, guest):
    """Windows of 37 ms, which no tick of the kernel divides: each window's counters are of one moment, together they are the whole."""
    # The last window may be a short one: there the looks are close.
    looks = " ".join(str(at) for at in [*range(5, 740, 12), *range(740, 880, 2)])
    _, reports = guest.run(f"""
        ironlaw -q record -F 97 --call-graph none -M none -I 37 {OPS} -o w -- loop 300000; report w.ironlaw whole
        for at in {looks}; do
            ironlaw -q report w.ironlaw --time-range ${{at}}ms-$((at + 1))ms --format json --limit 0 >/tmp/look.json && cp /tmp/look.json /share/out/at$at.json
        done""")
    whole = reports.pop("whole")
    # A look grows to the window it falls into; some fall into the same one, or upon the border of two.
    found = {(look["selection"]["metrics_from_s"], look["selection"]["metrics_to_s"]): look for look in reports.values()}
    found = {(begin, end): look for (begin, end), look in found.items() if begin < end}
    within = lambda one, other: one != other and other[0] <= one[0] and one[1] <= other[1]
    spans = sorted((span, look) for span, look in found.items() if not any(within(other, span) for other in found))
    checks.between("windows of 37 ms that were looked at", len(spans), 19, 24, "600 ms of work, ironlaw's own beside it, start and end")
    gaps = [begin for (begin, _), ((_, end), _) in zip([span for span, _ in spans[1:]], spans) if begin != end]
    checks.same("windows that do not begin where the one before ended", gaps, [])
    for counter in ("instructions", "cycles"):
        checks.same(f"{counter} of all windows together", sum(value(look, counter) for _, look in spans), value(whole, counter))
    checks.near("CPU time of all windows together", sum(value(look, "cpu_time") for _, look in spans), value(whole, "cpu_time"), 1e-9, "rounding")
    busy = [look for _, look in spans[1:-1]]
    checks.near("CPI of the window that is furthest from 1", max((value(look, "cpi") for look in busy), key=lambda cpi: abs(cpi - 1)), 1.0, 1e-3,
                "an instruction a cycle")
    # Both are read within 0.1 ms of 37: a reading of another moment would miss by up to a window.
    checks.near("frequency of the window that is furthest from 1 GHz",
                max((value(look, "frequency") for look in busy), key=lambda hertz: abs(hertz - 1e9)), 1e9, 1e7, "0.3 ms of 37, between two readings")
    product = [value(look, "instructions") * value(look, "cpi") / value(look, "frequency") / value(look, "cpu_time") for look in busy]
    checks.near("instructions x CPI / frequency over the CPU time, furthest from 1", max(product, key=lambda ratio: abs(ratio - 1)), 1, 1e-9,
                "an identity")


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
    event, thread = reports["i"]["events"][0], reports["i"]["threads"][0]
    switches = thread["voluntary_switches"]["value"] + thread["involuntary_switches"]["value"]
    # An overflow that QEMU has not told of when the thread leaves the CPU is no sample.
    lost = 1 + switches / 2
    checks.near("samples of instructions", event["samples"], 100_000 * PER_OP / 1_000_000, lost, "the last period; overflows told late")
    checks.same("their weight is samples times period", event["weight"], event["samples"] * 1_000_000)


def ipc_of_code(checks, guest):
    """Samples of cycles that carry the counts of instructions: IPC of functions that run for long, none of those that take turns."""
    for power in (0, 2):
        period = 99_391 * 2 ** power
        record = f"ironlaw -q record -e '{{cycles,instructions}}:uS' -c {period} -M none --call-graph none"
        _, reports = guest.run(f"""
            {record} -o phases -- loop --phases 100000; report phases.ironlaw phases
            {record} -o turns -- loop 100000; report turns.ironlaw turns
            ironlaw -q report turns.ironlaw; ironlaw -q report phases.ironlaw --format csv | head -3""", icount=str(power))
        ipc, phases, turns = 2.0 ** -power, reports["phases"], reports["turns"]
        tag = f"icount {power}"
        for name, report in reports.items():
            cycles, instructions = report["events"]
            checks.near(f"{tag}: {name}: samples of cycles", cycles["samples"], 100_000 * PER_OP * 2 ** power / period, 0.01 * 100_000 * PER_OP * 2 ** power / period,
                        "start-up, entries into the kernel")
            checks.between(f"{tag}: {name}: samples whose counts are known, of all", instructions["samples"] / cycles["samples"], 0.9, 1.0,
                           "the rest began in ironlaw's own code")
            # An interval in which one sample is missing is known too, so the mean of a sample says less than the sum.
            checks.near(f"{tag}: {name}: instructions of all known samples", instructions["weight"], 100_000 * PER_OP, 0.01 * 100_000 * PER_OP,
                        "start-up, entries into the kernel, unknown samples")
            checks.near(f"{tag}: {name}: IPC of all code", report["code_ipc"]["all"]["ipc"]["value"], ipc, 1e-3 * ipc, "entries into the kernel")
        rows = {row["name"]: row["rates"] for row in phases["functions"]}
        for function, instructions in (("heavy_part", HEAVY), ("light_part", LIGHT)):
            checks.near(f"{tag}: IPC of {function}", rows[function]["ipc"]["value"], ipc, 1e-3 * ipc, "entries into the kernel")
            checks.near(f"{tag}: intervals of {function}", rows[function]["samples"], 100_000 * instructions * 2 ** power / period,
                        0.1 * 100_000 * instructions * 2 ** power / period, "as many as are known")
            checks.between(f"{tag}: standard error of the IPC of {function}", rows[function]["ipc_error"], 0, 1e-3 * ipc)
        rows = {row["name"]: row["rates"] for row in turns["functions"]}
        for function in ("heavy_part", "light_part"):
            checks.same(f"{tag}: {function}, in turns: no IPC, and why", rows[function]["ipc"].get("missing"), "interleaved")


def known_core(checks, guest):
    """A Neoverse N1: found by its register, counted in groups; what the emulation does not count is missing, not zero."""
    _, found = guest.run(f"""
        ironlaw -q metrics --format json >/share/out/metrics.json
        ironlaw -q record -F 97 --call-graph none -M none {OPS} -o alone -- loop 500000; report alone.ironlaw alone
        ironlaw -q record -F 97 --call-graph none -M all {OPS} -o all -- loop 500000; report all.ironlaw all""",
        cpu="neoverse-n1")
    checks.holds("its table is found", "Neoverse N1" in str(found["metrics"]), str(found["metrics"])[:60])
    alone, shared = found["alone"], found["all"]
    checks.same("instructions alone: coverage", alone["metrics"]["instructions"].get("coverage"), 1.0)
    checks.near("instructions alone, of an operation", value(alone, "path_length"), PER_OP * 1.01, PER_OP * 0.01, "ticks, samples")
    metric = shared["metrics"]["instructions"]
    checks.holds("instructions in turns: coverage", 0.1 < metric.get("coverage", 0) <= 1, metric.get("coverage"))
    for name, report in found.items():
        if name != "metrics":
            zeros = [key for key, metric in report["metrics"].items() if metric["section"] == "hardware" and metric.get("value") == 0]
            checks.same(f"{name}: hardware metrics that are zero", zeros, [])


def multiplexing(checks, guest):
    """More events than counters: scaled counts agree with the truth within what rotation can miss."""
    # Six counters, and one for cycles alone. Ten sampled events beside the law's group do not fit at once.
    names = ["instructions:u", "r8:u", "instructions:uH", "r8:uH", "r08:u", "r0008:u", "r00008:u", "r000008:u", "r8:Hu", "r08:uH"]
    events = ",".join(names)
    _, reports = guest.run(f"""
        ironlaw -q record -M none -e '{events}' -c 10000000 --call-graph none {OPS} -o m -- loop 1000000; report m.ironlaw m""")
    found = reports["m"]
    metric = found["metrics"]["instructions"]
    checks.between("the law's group shares the counters: coverage", metric.get("coverage"), 0.3, 0.95)
    # A turn is one tick of 4 ms; the count is off by what a turn at each end can be too much or too little.
    seconds = value(found, "cpu_time")
    error = 2 * 0.004 / seconds
    checks.near("scaled instructions over those retired", metric["value"] / 1e6 / PER_OP, 1.01, error + 0.01,
                f"two turns of 4 ms in {seconds:.2f} s; ticks, samples")
    checks.near("IPC, from one group", value(found, "ipc"), 1.0, 1e-3, "counted at the same moments")
    for event in found["events"]:
        coverage = event["coverage"]
        checks.between(f"{event['name']}: coverage", coverage, 0.3, 0.95)
        checks.near(f"{event['name']}: weight over coverage", event["weight"] / coverage / 1e6 / PER_OP, 1, error + 0.02,
                    "two turns; a period of 10^7 at each end")


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
    """A whole sweep on one CPU of threads that take turns: path length exact, the same at every width and on every repeat."""
    ops, widths = 20_000, "1,2,4"
    _, found = guest.run(f"""
        echo 2 >/proc/sys/kernel/perf_event_paranoid; mkdir /tmp/user; chown user /tmp/user; cd /tmp/user
        cat >measure <<'END'
ironlaw -q sweep --headless --no-off-cpu --call-graph none -L threads {widths} -r 3 --seed 1 -F 97 {OPS} --format json -o s \\
    -- loop {ops} {{threads}}
END
        su user -c 'sh measure' >/share/out/user.json
        echo -1 >/proc/sys/kernel/perf_event_paranoid; cd /tmp
        ironlaw -q sweep --headless -L threads {widths} -r 1 --seed 1 -F 97 {OPS} --format json -o s \\
            -- loop {ops} {{threads}} >/share/out/root.json""")
    for point in found["user"]["points"]:
        width = point["threads"]
        total = (15_000 + 3_000 * width) / (ops * width)
        checks.between(f"user mode: path length at {width}", point["path_length"], PER_OP, PER_OP + total,
                       "a program starts with 15000 instructions, a thread with 3000")
        checks.near(f"user mode: its interval over repeats at {width}", point["ci95"].get("path_length", -1), 0, 0.01,
                    "whether a semaphore is free at once")
        checks.near(f"user mode: CPI at {width}", point["cpi"], 1.0, 1e-3, "an instruction a cycle")
        checks.same(f"user mode: frequency at {width}, without the kernel's cycles", point["frequency"], None)
    for point in found["root"]["points"]:
        width = point["threads"]
        product = point["path_length"] * point["cpi"] / point["frequency"] * 1e9
        checks.near(f"path length x CPI / frequency over the cost at {width}", product / point["cpu_ns_per_op"], 1, 1e-9, "an identity")
        # CPU time is told apart from interrupts later than cycles are.
        checks.near(f"frequency at {width}", point["frequency"], 1e9, 4e7, "short runs: starting is counted by one clock only")
    columns(checks, found["root"]["stack"])


def columns(checks, stack):
    """What a sweep's columns of cores must add up to."""
    for column in stack:
        whole = column["useful"] + sum(slice["cores"] for slice in column["slices"])
        checks.near(f"useful and lost cores at {column['threads']}", whole, column["threads"], 1e-9 * column["threads"], "an identity")


def waiting_cores(checks, guest):
    """A sweep on four CPUs of threads that take turns: nothing is gained, and the lost cores wait for a lock."""
    _, found = guest.run(f"""
        ironlaw -q sweep --headless -L threads 1,4 -r 1 --seed 1 -F 97 {OPS} --format json -o s \\
            -- loop 1000000 {{threads}} >/share/out/s.json""", smp="4")
    one, four = found["s"]["points"]
    # The machine counts for all CPUs together, so what ironlaw does beside the program counts as well.
    checks.near("path length at 1", one["path_length"], PER_OP * 1.05, PER_OP * 0.05, "other CPUs are counted too")
    checks.near("path length at 4", four["path_length"], PER_OP * 1.05, PER_OP * 0.05, "other CPUs are counted too")
    checks.near("speed-up at 4", four["speedup"], 1.0, 0.15, "starting is shared")
    columns(checks, found["s"]["stack"])
    waits = {slice["kind"]: slice["cores"] for slice in found["s"]["stack"][-1]["slices"]}
    # A thread that was given its turn waits until its CPU, which is emulated in turns with three others, wakes up. Of that
    # wait the kernel's statistics of a thread lack what came after their last reading: it ended, and the time is unseen.
    handed = sum(waits.get(kind, 0) for kind in ("blocked_lock", "run_queue", "unseen"))
    checks.near(f"cores that wait for their turn at 4 ({waits})", handed, 3.0, 0.3, "three of four; starting")
    checks.between("of these for the lock", waits.get("blocked_lock", 0), 2.0, 3.0, "most of the wait, not of the wake-up")
    rules = [finding["rule"] for finding in found["s"]["findings"]]
    checks.holds("the finding is waiting, not work", rules and not {"more-work", "cpi-growth", "frequency"} & set(rules), rules)


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


PARTS = [path_length, whole_program, windows, sampling, ipc_of_code, known_core, multiplexing, control_group, without_instructions, sweep, waiting_cores,
         placement]
