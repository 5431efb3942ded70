#!/usr/bin/env python3
"""Does an imported perf.data hold what perf sees in it? Samples and their weights per event, command, object and symbol
against `perf report`, for every file in a folder.

usage: import.py IRONLAW COUNT_SAMPLES FOLDER_OR_FILE... [--names] | import.py --counts FOLDER

Without --names both tools name nothing (perf is given an empty --symfs), so that every address is compared: most files in
an archive were recorded elsewhere, and perf would name them by whatever build lies here. With --names, for files recorded
on this machine, functions are compared by name. --counts prints what perf counts, for tests that run without perf.
"""
import argparse, collections, os, re, subprocess, sys, tempfile

def theirs(path, named, empty):
    """perf's counts; what it could not say is as ironlaw says it."""
    line = ["perf", "report", "-i", path, "--stdio", "--no-children", "-g", "none", "-n", "--no-group", "--sort",
            "comm,dso,sym", "-F", "sample,period,comm,dso,sym", "-t", "\t", "--percent-limit", "0", "-w", "0,0,32,0,0"]
    if not named: line += ["--symfs", empty]
    ran = subprocess.run(line, capture_output=True, text=True, errors="replace")
    if ran.returncode != 0: sys.exit(f"perf report {path}: {ran.stderr}")
    counts, event, modules = collections.Counter(), None, module_starts(path)
    weights = collections.Counter()
    for row in ran.stdout.splitlines():
        found = re.match(r"# Samples: \S+ +of events? '(.*)'", row)
        if found: event = found.group(1)
        fields = [field.strip() for field in row.split("\t")]
        if row.startswith("#") or len(fields) < 5: continue
        samples, weight, comm, dso, symbol = fields[:5]
        # perf prints a symbol's version; it is no part of the function's name.
        symbol = plain(re.sub(r"^\[[.kgHu]\]\s*", "", symbol).split("@")[0])
        key = (event, comm, *place(dso, symbol, modules))
        counts[key] += int(samples); weights[key] += int(weight)
    return counts, weights

def module_starts(path):
    """perf counts nameless addresses of a kernel module from its start, ironlaw from zero."""
    text = subprocess.run(["perf", "script", "-i", path, "--show-mmap-events"], capture_output=True, text=True,
                          errors="replace").stdout
    found = re.findall(r"PERF_RECORD_MMAP -1/0: \[(0x[0-9a-f]+)\(.*: x \S*?/([^/\s]+)\.ko", text)
    return {f"[{name.replace('-', '_')}]": int(start, 16) for start, name in found}

def plain(symbol):
    """A C++ function without what the two demanglers print differently: result, parameters, template arguments."""
    if "::" not in symbol and "(" not in symbol: return symbol
    symbol = symbol.replace("(anonymous namespace)", "{anonymous}")
    while (shorter := re.sub(r"<[^<>]*>", "", symbol)) != symbol: symbol = shorter
    return symbol.split("(")[0].split(" ")[-1]

def place(dso, symbol, modules={}):
    dso = object_name(dso)
    if not re.match(r"0x[0-9a-f]+$", symbol): return dso, symbol
    at = int(symbol, 16) + modules.get(dso, 0)
    # The sample says that it is the kernel's; perf knows no map there if none was recorded.
    return "[kernel]" if dso == "[unknown]" and at >> 63 else dso, hex(at)

def object_name(dso):
    if dso.startswith("[kernel.kallsyms]") or dso.startswith("[guest.kernel"): return "[kernel]"
    if re.match(r"perf-\d+\.map$|\[heap\]|\[stack|//anon|/?anon|\[vsyscall\]|memfd:|inode_\d|zero$|\[JIT\] tid", dso): return "[jit]"
    return dso

def ours(ironlaw, count, path, named, folder):
    recording = os.path.join(folder, "r.ironlaw")
    line = [ironlaw, "import", path, "-o", recording, "--force"]
    if not named: line += ["--symfs", folder, "--kallsyms", "/dev/null"]
    ran = subprocess.run(line, capture_output=True, text=True)
    if ran.returncode != 0: sys.exit(f"ironlaw import {path}: {ran.stderr}")
    out = subprocess.run([count, recording], capture_output=True, text=True, check=True).stdout
    counts, weights = collections.Counter(), collections.Counter()
    for row in out.splitlines():
        samples, weight, event, comm, dso, symbol = row.split("\t")
        key = (event, comm.strip(), *place(dso, plain(symbol)))
        counts[key] += int(samples); weights[key] += int(weight)
    return counts, weights

def merged(counts, depth):
    out = collections.Counter()
    for key, count in counts.items():
        event, comm, dso, symbol = key
        out[(event, "" if comm.startswith(":") else comm, dso, symbol)[:depth]] += count
    return out

def pooled(theirs, mine):
    """perf prints single addresses of a stripped program; ironlaw names its functions by where they start."""
    starts = collections.defaultdict(set)
    for *_, dso, symbol in mine:
        found = re.match(r".*\+0x([0-9a-f]+)$", symbol)
        if found: starts[dso].add(int(found.group(1), 16))
    out = collections.Counter()
    for (event, comm, dso, symbol), count in theirs.items():
        if re.match(r"0x[0-9a-f]+$", symbol) and (event, comm, dso, symbol) not in mine:
            below = [start for start in starts[dso] if start <= int(symbol, 16)]
            if below: symbol = f"{dso}+{max(below):#x}"
        out[(event, comm, dso, symbol)] += count
    return out

def files_in(what):
    if not os.path.isdir(what): return [what]
    return sorted(os.path.join(what, name) for name in os.listdir(what) if "perf.data" in name)

def print_counts(folder):
    for path in files_in(folder):
        with tempfile.TemporaryDirectory() as empty: counts, weights = theirs(path, False, empty)
        rows = collections.defaultdict(lambda: [0, 0, 0])
        for key, count in counts.items():
            row = rows[(key[0], "" if key[1].startswith(":") else key[1], key[2])]
            row[0] += count; row[1] += weights[key]; row[2] += 1
        for key in sorted(rows): print(os.path.basename(path), *key, *rows[key], sep="\t")

def main():
    if sys.argv[1:2] == ["--counts"]: return print_counts(sys.argv[2])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ironlaw"); parser.add_argument("count_samples"); parser.add_argument("what", nargs="+")
    parser.add_argument("--names", action="store_true"); parser.add_argument("--show", type=int, default=3)
    options = parser.parse_args()
    files = [path for what in options.what for path in files_in(what)]
    print(f"{'file':48} {'event':34} {'samples':>8} {'keys':>6}  event comm object symbol weight")
    bad = 0
    for path in files:
        with tempfile.TemporaryDirectory() as folder:
            (perf, perf_weights), (mine, my_weights) = (theirs(path, options.names, folder),
                ours(options.ironlaw, options.count_samples, path, options.names, folder))
        perf, perf_weights = pooled(perf, mine), pooled(perf_weights, my_weights)
        events = sorted({key[0] for key in perf} | {key[0] for key in mine})
        for event in events:
            pick = lambda counts: collections.Counter({key: n for key, n in counts.items() if key[0] == event})
            equal = [merged(pick(perf), depth) == merged(pick(mine), depth) for depth in (1, 2, 3, 4)]
            equal.append(merged(pick(perf_weights), 4) == merged(pick(my_weights), 4))
            a, b = merged(pick(perf), 4), merged(pick(mine), 4)
            words = "  ".join("yes" if same else "NO" for same in equal)
            print(f"{os.path.basename(path)[:48]:48} {event[:34]:34} {sum(b.values()):8} {len(b):6}  {words}")
            bad += not all(equal)
            for key in sorted(a.keys() | b.keys(), key=lambda key: -abs(a[key] - b[key]))[:options.show]:
                if a[key] != b[key]: print(f"      {key[1:]}: perf {a[key]}, ironlaw {b[key]}")
    sys.exit(1 if bad else 0)

main()
