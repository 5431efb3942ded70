#!/usr/bin/env python3
"""Do polars, Spark and DuckDB give equal answers on the same data set, and does `ironlaw fleet` say the same by both engines?

usage: fleet_engines.py IRONLAW [DATASET] [--master URL]
       (IRONLAW with ironlaw-fleet beside it; python3 -m pip install duckdb pyspark; Java)

Without a data set it simulates one. The default master starts a cluster of two workers, processes of their own, on this machine.
Sums of floating-point numbers depend on their order, so numbers may differ in the twelfth digit.
"""
import argparse, json, math, pathlib, subprocess, sys, tempfile

import duckdb

TOLERANCE = 1e-9
TABLES = ("windows", "functions", "neighbours", "alarms")
FAILED = []


def check(what, holds, detail=""):
    print(f"  {'ok' if holds else 'FAILED':6} {what} {detail if not holds else ''}".rstrip(), flush=True)
    if not holds:
        FAILED.append(what)


def run(*line):
    done = subprocess.run(line, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, line))[:200]}\n{done.stderr}")
    return done.stdout


def differences(one, other, at=""):
    """Paths at which two JSON values differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        if one.keys() != other.keys():
            return [f"{at}: other keys"]
        return [path for key in one for path in differences(one[key], other[key], f"{at}.{key}")]
    if isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            return [f"{at}: {len(one)} and {len(other)} values"]
        return [path for index, pair in enumerate(zip(one, other)) for path in differences(*pair, f"{at}[{index}]")]
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        # What cancels to nothing is compared with 1.
        return [] if math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=1e-9) else [f"{at}: {one} and {other}"]
    return [] if one == other else [f"{at}: {one} and {other}"]


def by_duckdb(sql, dataset):
    with duckdb.connect() as connection:
        for table in TABLES:
            if (pathlib.Path(dataset) / table).is_dir():
                connection.execute(f"CREATE VIEW {table} AS FROM read_parquet('{dataset}/{table}/**/*.parquet',"
                                   " hive_partitioning = true, hive_types_autocast = false)")
        result = connection.execute(sql)
        names = [column[0] for column in result.description]
        plain = lambda value: float(value) if hasattr(value, "as_tuple") else value
        return [dict(zip(names, map(plain, row))) for row in result.fetchall()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ironlaw", type=pathlib.Path)
    parser.add_argument("dataset", nargs="?")
    parser.add_argument("--master", default="local-cluster[2,1,1024]")
    args = parser.parse_args()
    ironlaw = args.ironlaw.resolve()
    with tempfile.TemporaryDirectory() as folder:
        dataset = args.dataset or f"{folder}/fleet"
        if not args.dataset:
            run(ironlaw, "fleet", "simulate", dataset, "--hosts", "60", "--days", "2", "--seed", "7", "--jobs", "8")
        names = [line.split()[0] for line in run(ironlaw, "fleet", "sql").splitlines() if line.strip()]
        for name in names:
            sql = run(ironlaw, "fleet", "sql", name)
            polars = json.loads(run(ironlaw, "query", sql, dataset, "--format", "json"))
            other = by_duckdb(sql, dataset)
            unlike = differences(polars, other)
            check(f"{name}: polars and DuckDB agree on {len(polars)} rows", not unlike, f"{len(unlike)}: {unlike[:3]}")
        report = lambda *engine: json.loads(run(ironlaw, "fleet", dataset, "--format", "json", *engine))
        local = report()
        unlike = differences(local, report("--engine", "spark", "--master", args.master))
        check(f"ironlaw fleet says the same of {len(local['jobs'])} jobs by both", not unlike, f"{len(unlike)}: {unlike[:3]}")
    sys.exit(1 if FAILED else 0)


main()
