#!/usr/bin/env python3
"""What ironlaw costs beside perf, samply and inferno, in one interleaved run, and how its costs grow.

usage: performance.py IRONLAW [--only ROW,ROW] [--quick] [--write] [--peers FOLDER] [--many FILE] [--few FILE] [--minutes N]

Prints a table for each row as soon as it is measured; --write also puts it into assets/guide/performance.md and keeps the
tables of other rows there. What is missing is skipped and said; a row that fails does not end the run. Needs GNU time; rows
need sysbench, perf, redis, samply and inferno (cargo install samply inferno --root FOLDER, then --peers FOLDER). Rows marked
with * are measured only if they are named.
"""
import argparse, os, pathlib, platform, random, re, shutil, signal, subprocess, sys, tempfile, textwrap, time, traceback

import inputs
from measuring import Missing, spread
from rows import ROWS

PAGE = inputs.ROOT / "assets/guide/performance.md"
# A row begins no further round after so many seconds.
PATIENCE = 150
WIDTH = 105


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder, self.ironlaw, self.quick = options, folder, options.ironlaw, options.quick

    def measure(self, row):
        """The lines of a row, each with the values of its rounds, and what was skipped or is to be told."""
        begin, table, said, rounds = time.monotonic(), {}, [], 0
        variants, facts = row(self)
        while variants and rounds < (1 if self.quick else self.options.rounds or row.rounds) and time.monotonic() < begin + PATIENCE:
            lines, left = {}, list(variants)
            for variant in random.sample(variants, len(variants)):
                try: lines[variants.index(variant)] = variant()
                except Missing as why: said.append(f"Skipped: {why}."); left.remove(variant)
            variants, rounds = left, rounds + 1
            ordered = {key: line for at in sorted(lines) for key, line in lines[at].items()}
            for key, line in with_ratios(relative(ordered), row.ratio).items():
                for metric, value in line.items(): table.setdefault(key, {}).setdefault(metric, []).append(value)
        if facts and table: said.append(facts())
        return table, said, rounds


def relative(lines):
    """`speed` as part of the line without a recorder of its case, else of the row."""
    bases = {case: line for (case, name), line in lines.items() if name == "no recorder"}
    out = {}
    for (case, name), line in lines.items():
        base = bases.get(case) or bases.get("") or {}
        metrics = {metric.replace("speed", "throughput"): value / base[metric] if metric.startswith("speed") else value
                   for metric, value in line.items() if not metric.startswith("speed") or metric in base}
        out[case, name] = metrics
    return out


def with_ratios(lines, ratio):
    """How many times as much as the case's first line of ironlaw."""
    if not ratio: return lines
    bases = {}
    for (case, name), line in lines.items():
        if name.startswith("ironlaw"): bases.setdefault(case, line[ratio])
    return {key: {**line, "times ironlaw's": line[ratio] / bases[key[0]]} if bases.get(key[0]) and key[1] != "no recorder" else line for key, line in lines.items()}


def markdown(table):
    metrics = list(dict.fromkeys(metric for line in table.values() for metric in line))
    cases = any(case for case, _ in table)
    out = [[*["case"] * cases, "", *metrics]]
    out.append(["---"] * len(out[0]))
    # Lines of one case stand together; the first two metrics show their least and most.
    for key in sorted(table, key=lambda key: [case for case, _ in table].index(key[0])):
        cells = [spread(table[key].get(metric), ends=at < 2) for at, metric in enumerate(metrics)]
        out.append([*[key[0]] * cases, key[1], *cells])
    return "\n".join("| " + " | ".join(row) + " |" for row in out)


def filled(text):
    return textwrap.fill(" ".join(text.split()), WIDTH, break_long_words=False, break_on_hyphens=False)


def version(*words):
    try: text = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20).stdout
    except (OSError, subprocess.TimeoutExpired): return None
    found = re.search(r"\d+\.\d+[\w.]*", text)
    return f"{pathlib.Path(words[0]).name} {found.group(0)}" if found else None


def version_of_inferno():
    """It prints none; cargo keeps that of what it installed."""
    program = shutil.which("inferno-flamegraph")
    installed = pathlib.Path(program).parents[1] / ".crates.toml" if program else None
    found = installed and installed.exists() and re.search(r'"(inferno [\d.]+)', installed.read_text())
    return found.group(1) if found else None


def machine(ironlaw):
    model = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    tools = [version(ironlaw, "--version"), version("perf", "--version"), version("samply", "--version"), version_of_inferno(),
             version("sysbench", "--version"), version("redis-server", "--version"), version("rustc", "--version")]
    return (f"{model.group(1) if model else platform.machine()}, {os.cpu_count()} CPUs, {memory:.0f} GB, Linux {platform.release()}; "
            + ", ".join(tool for tool in tools if tool))


def busy():
    """How busy the machine is with other things, in percent: the load average still holds the row before."""
    def read():
        times = list(map(int, pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]))
        return sum(times), times[3] + times[4]
    before = read()
    time.sleep(0.5)
    spent, idle = (after - then for after, then in zip(read(), before))
    return 100 * (1 - idle / spent) if spent else 0


def section(bench, row, where):
    """A row's part of the page, and whether it holds figures."""
    others, (table, said, rounds) = busy(), ({}, [], 0)
    try: table, said, rounds = bench.measure(row)
    except Missing as why: said = [f"Skipped: {why}."]
    except Exception as error:
        traceback.print_exc()
        said = [f"Failed: {error!r}."]
    when = f"{where}; {rounds} round{'s' * (rounds != 1)} on {time.strftime('%Y-%m-%d', time.gmtime())}, CPUs {others:.0f}% busy before."
    parts = [filled(row.__doc__), markdown(table) if table else "", *map(filled, dict.fromkeys(said)), filled(when)]
    return "\n\n".join(part for part in parts if part), bool(table)


def write(title, text):
    """Puts a section into the page; others stay, in the order of the rows behind what people wrote."""
    head, *there = re.split(r"^## ", PAGE.read_text(), flags=re.M)
    there = dict(part.split("\n", 1) for part in there) | {title: text}
    titles = [row.title for row in ROWS.values()]
    order = sorted(there, key=lambda name: titles.index(name) if name in titles else -1)
    PAGE.write_text("\n\n".join([head.strip(), *(f"## {name}\n\n{there[name].strip()}" for name in order)]) + "\n")


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="Rows: " + ", ".join(name + "*" * (not row.default) for name, row in ROWS.items()))
    parser.add_argument("ironlaw", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--only", default=",".join(name for name, row in ROWS.items() if row.default), help="rows, with commas between")
    parser.add_argument("--quick", action="store_true", help="one short round: whether everything runs, not what it costs")
    parser.add_argument("--write", action="store_true", help="write the tables to assets/guide/performance.md as well")
    parser.add_argument("--rounds", type=int, help="rounds of each row")
    parser.add_argument("--peers", help="look for samply and inferno in FOLDER/bin too", metavar="FOLDER")
    parser.add_argument("--many", help="a perf.data to analyse instead of one made here", metavar="FILE")
    parser.add_argument("--few", help="the same with few stacks", metavar="FILE")
    parser.add_argument("--minutes", type=int, default=30, help="length of the long session")
    parser.add_argument("--keep", help="keep recordings and pictures in this folder", metavar="FOLDER")
    options = parser.parse_args()
    if unknown := set(options.only.split(",")) - set(ROWS): parser.error(f"unknown row {sorted(unknown)[0]}: there are {', '.join(ROWS)}")
    return options


def main():
    options = parsed()
    # What was changed or started is put back and ended then too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if options.peers: os.environ["PATH"] += os.pathsep + os.path.abspath(os.path.join(options.peers, "bin"))
    folder = options.keep or tempfile.mkdtemp(prefix="ironlaw-bench-")
    os.makedirs(folder, exist_ok=True)
    begin, empty, where = time.monotonic(), [], machine(options.ironlaw)
    try:
        bench = Bench(options, folder)
        with inputs.SampleRates():
            for name in options.only.split(","):
                text, measured = section(bench, ROWS[name], where)
                print(f"## {ROWS[name].title}\n\n{text}\n\n({name} until {time.monotonic() - begin:.0f} s)\n", flush=True)
                if options.write and measured: write(ROWS[name].title, text)
                if not measured: empty.append(name)
    finally:
        if not options.keep: shutil.rmtree(folder, ignore_errors=True)
    sys.exit(f"not measured: {', '.join(empty)}" if empty else 0)


if __name__ == "__main__":
    main()
