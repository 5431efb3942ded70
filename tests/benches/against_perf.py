#!/usr/bin/env python3
"""Do ironlaw and perf see the same functions? Both profile the same process during the same seconds.

usage: against_perf.py IRONLAW PID [--seconds 10] [--rate 997] [--top 10] [--mode auto]

Self samples by function are binomial: two shares p1, p2 of n1, n2 samples agree when
|p1 - p2| <= z * sqrt(p (1 - p) (1/n1 + 1/n2)), p pooled, z = 2.81 (0.05 over ten functions, Bonferroni).
"""
import argparse, json, math, os, re, subprocess, tempfile

def perf_functions(path):
    text = subprocess.run(["perf", "report", "-i", path, "--stdio", "--no-children", "-g", "none", "-n", "-F",
                           "overhead,sample,dso,sym", "-t", "\t"], capture_output=True, text=True).stdout
    counts = {}
    for line in text.splitlines():
        fields = [field.strip() for field in line.split("\t")]
        if line.startswith("#") or len(fields) < 4: continue
        name = re.sub(r"^\[[.kgHu]\]\s*", "", fields[3])
        if name.startswith("0x"): name = f"{fields[2]}+{name}"
        counts[name] = counts.get(name, 0) + int(fields[1])
    return counts

def pooled_addresses(theirs, mine):
    """perf prints single addresses of a stripped program; ironlaw names its functions by where they start."""
    starts = {}
    for name in mine:
        module, plus, start = name.rpartition("+0x")
        if plus: starts.setdefault(module, []).append(int(start, 16))
    pooled = {}
    for name, count in theirs.items():
        module, plus, address = name.rpartition("+0x")
        below = [start for start in starts.get(module, []) if start <= int(address, 16)] if plus else []
        name = f"{module}+{max(below):#x}" if below else name
        pooled[name] = pooled.get(name, 0) + count
    return pooled

def whole_share(path):
    """Share of perf's stacks that reach a program or thread start."""
    text = subprocess.run(["perf", "script", "-i", path, "-F", "ip,sym"], capture_output=True, text=True).stdout
    stacks = [block for block in text.split("\n\n") if block.strip()]
    start = re.compile(r"\b(_start|__libc_start_main\S*|__libc_start_call_main|start_thread|__clone3?|clone3?|ret_from_fork\S*)\b")
    return sum(bool(start.search(stack)) for stack in stacks) / max(1, len(stacks))

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ironlaw"); parser.add_argument("pid")
    parser.add_argument("--seconds", type=int, default=10); parser.add_argument("--rate", default="997")
    parser.add_argument("--top", type=int, default=10); parser.add_argument("--mode", default="auto")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        perf_file, recording = os.path.join(folder, "perf.data"), os.path.join(folder, "r.ironlaw")
        perf = subprocess.Popen(["perf", "record", "-F", options.rate, "-g", "-p", options.pid, "-o", perf_file,
                                 "--", "sleep", str(options.seconds)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        ours = subprocess.Popen([options.ironlaw, "record", "-F", options.rate, "--call-graph", options.mode, "-p", options.pid,
                                 "-d", str(options.seconds), "-o", recording], stderr=subprocess.DEVNULL)
        perf.wait(); ours.wait()
        theirs = perf_functions(perf_file)
        report = json.loads(subprocess.run([options.ironlaw, "report", recording, "--format", "json", "--limit", "0",
                                            "--sort", "self", "--no-inline"], capture_output=True, text=True).stdout)
        mine = {}
        for function in report["functions"]:
            mine[function["name"]] = mine.get(function["name"], 0) + function["self_samples"]
        theirs = pooled_addresses(theirs, mine)
        n1, n2 = sum(theirs.values()), report["samples"]["count"]
        print(f"samples: perf {n1}, ironlaw {n2}; stacks whole: perf -g {whole_share(perf_file):.1%}, ironlaw {report['samples']['whole_share']:.1%}")
        agree = 0
        top = sorted(theirs, key=theirs.get, reverse=True)[:options.top]
        print(f"{'perf':>7} {'ironlaw':>8} {'z':>6}  function")
        for name in top:
            a, b = theirs[name], mine.get(name, 0)
            pooled = (a + b) / (n1 + n2)
            error = math.sqrt(max(pooled * (1 - pooled), 1e-12) * (1 / n1 + 1 / n2))
            z = (a / n1 - b / n2) / error
            agree += abs(z) <= 2.81
            print(f"{a / n1:7.2%} {b / n2:8.2%} {z:6.2f}  {name}")
        print(f"{agree} of {len(top)} agree within sampling error")

main()
