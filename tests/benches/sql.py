#!/usr/bin/env python3
"""Do the queries of assets/sql run, and say what `ironlaw report` says?

usage: sql.py IRONLAW [RECORDING]      (python3 -m pip install duckdb polars)

Without a recording it makes one: a built-in server with waits and a counted operation.
Queries of a recording run in DuckDB; those of an export in DuckDB and polars, which must agree.
"""
import json, math, os, pathlib, subprocess, sys, tempfile

import duckdb
import polars

SQL = pathlib.Path(__file__).resolve().parents[2] / "assets" / "sql"
FAILED = []


def check(what, holds, detail=""):
    print(f"  {'ok' if holds else 'FAILED':6} {what} {detail if not holds else ''}".rstrip())
    if not holds:
        FAILED.append(what)


def close(a, b, tolerance):
    return a is not None and b is not None and math.isclose(a, b, rel_tol=0, abs_tol=tolerance)


def with_duckdb(query, folder):
    """Rows as dictionaries; the query names its files relative to the folder it is run in."""
    os.chdir(folder)
    with duckdb.connect() as connection:
        result = connection.execute((SQL / query).read_text())
        names = [column[0] for column in result.description]
        return [dict(zip(names, row)) for row in result.fetchall()]


def with_polars(query, folder):
    os.chdir(folder)
    text = "\n".join(line for line in (SQL / query).read_text().splitlines() if not line.startswith("--"))
    return polars.SQLContext().execute(text.strip().rstrip(";"), eager=True).to_dicts()


def both(query, folder):
    one, other = with_duckdb(query, folder), with_polars(query, folder)
    plain = lambda rows: [{key: float(value) if isinstance(value, (int, float)) or hasattr(value, "as_tuple") else value
                           for key, value in row.items()} for row in rows]
    same = len(one) == len(other) and all(
        a.keys() == b.keys() and all(close(a[key], b[key], 0.011) if isinstance(a[key], float) else a[key] == b[key] for key in a)
        for a, b in zip(plain(one), plain(other)))
    check(f"{query}: DuckDB and polars agree on {len(one)} rows", same and one, f"{one[:3]} {other[:3]}")
    return one


def run(*line, cwd):
    return subprocess.run(line, cwd=cwd, check=True, capture_output=True, text=True).stdout


def functions(report, rows, share):
    mine = {(row["name"], row["module"] or "[unknown]"): row for row in report["functions"]}
    checked = 0
    for row in rows:
        known = mine.get((row["function"], row["module"] or "[unknown]"))
        if known is None:
            continue  # a nameless address: the report has one row for all of a module's
        checked += 1
        if row["samples"] != known["self_samples"] or not close(row[share], 100 * known["self_share"], 0.0051):
            return False, (row, known)
    return checked >= min(3, len(mine)), f"only {checked} functions could be compared"


def recording_queries(report, folder):
    print("queries of the recording, in DuckDB")
    check("top-functions.sql", *functions(report, with_duckdb("top-functions.sql", folder), "self_percent"))
    rows = {row["tid"]: row for row in with_duckdb("cpu-per-thread.sql", folder)}
    for thread in report["threads"]:
        row = rows.get(thread["tid"], {})
        cpu = thread["cpu_time"].get("value")
        check(f"cpu-per-thread.sql: {thread['name']}",
              row.get("samples", 0) == thread["samples"] and row.get("thread", thread["name"]) == thread["name"]
              and (cpu is None or close(row.get("cpu_s"), cpu, 0.001 + 0.01 * cpu)), f"{row} {thread}")
    windows = with_duckdb("counters-per-window.sql", folder)
    switches = sum(float(row["counted"] or 0) for row in windows if row["name"] == "task-clock") / 1e9
    cpu = sum(thread["cpu_time"].get("value") or 0 for thread in report["threads"])
    check("counters-per-window.sql: CPU time of all windows", close(switches, cpu, 0.05 + 0.03 * cpu), f"{switches} {cpu}")
    waits = with_duckdb("waits.sql", folder)
    causes = report["off_cpu"]["causes"]
    blocked = sum(row["blocked_s"] for row in waits if row["state"] != "runnable")
    expected = sum(row["total_s"] for row in causes if row["cause"] != "run_queue")
    check("waits.sql: blocked time", close(blocked, expected, 0.001), f"{blocked} {expected}")
    check("waits.sql: spans", sum(row["count"] for row in waits) == sum(row["count"] for row in causes))
    neighbours = with_duckdb("neighbours.sql", folder)
    known = {(row["kind"], row["name"], row["pid"], row["cgroup"]): row for row in (report.get("neighbours") or {}).get("rows", [])}
    told = {(row["kind"], row["name"], row["pid"], row["cgroup"]): row for row in neighbours}
    # The report leaves out who used nothing.
    missing = [key for key in known if key not in told]
    check("neighbours.sql: everybody is there", known and not missing, f"{len(known)} known; {missing}")
    for key, row in known.items():
        mine = told.get(key, {})
        check(f"neighbours.sql: {key[0]} {key[1]}", row["cpu_s"] is None or close(mine.get("cpu_s"), row["cpu_s"], 1e-5)
              and close(mine.get("busy_cpus"), row["busy_cpus"], 0.0002 + 0.01 * row["busy_cpus"])
              and mine.get("io_bytes") == row["io_bytes"], f"{mine} {row}")
    operations = with_duckdb("operations-per-second.sql", folder)
    total = sum(row["operations"] for row in operations)
    known = report["metrics"]["operations"]
    expected = (known.get("value") or 0) * known.get("coverage", 1)
    check("operations-per-second.sql", operations and close(total, expected, 1 + 0.02 * expected), f"{total} {known}")


def export_queries(report, ironlaw, folder, where):
    print("queries of an export, in DuckDB and polars")
    event = report["selection"]["event"]
    run(ironlaw, "export", folder, "--event", event, "-o", "samples.parquet", cwd=where)
    run(ironlaw, "export", folder, "--off-cpu", "-o", "waits.parquet", cwd=where)
    check("export/hot-functions.sql", *functions(report, both("export/hot-functions.sql", where), "self_percent"))
    threads = {row["tid"]: row["samples"] for row in both("export/threads.sql", where)}
    check("export/threads.sql", threads == {t["tid"]: t["samples"] for t in report["threads"] if t["samples"]}, threads)
    causes = {row["cause"]: (row["count"], int(row["total_ns"])) for row in both("export/waits-by-cause.sql", where)}
    expected = {row["cause"]: (row["count"], round(row["total_s"] * 1e9)) for row in report["off_cpu"]["causes"]}
    check("export/waits-by-cause.sql", causes == expected, f"{causes} {expected}")
    seconds = both("export/busy-per-second.sql", where)
    busy = sum(float(row["cpus"]) for row in seconds)
    check("export/busy-per-second.sql", close(busy, report["samples"]["weight"] / 1e9, 0.001 * len(seconds)), busy)


def main():
    ironlaw = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as where:
        folder = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else os.path.join(where, "run.ironlaw")
        if len(sys.argv) < 3:
            run(ironlaw, "record", "--off-cpu", "--neighbours", "-I", "500ms", "--ops", f"uprobe:{ironlaw}:pop_request", "-o", folder, "--", ironlaw,
                "workload", "hotspot", "--threads", "2", "--seconds", "4", cwd=where)
        report = json.loads(run(ironlaw, "report", folder, "--format", "json", "--limit", "0", cwd=where))
        recording_queries(report, folder)
        export_queries(report, ironlaw, folder, where)
        os.chdir("/")
    print("all agree" if not FAILED else f"{len(FAILED)} of the comparisons failed")
    sys.exit(bool(FAILED))


main()
