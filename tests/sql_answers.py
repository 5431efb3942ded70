#!/usr/bin/env python3
"""What DuckDB answers to the corpus of SQL (tests/fixtures/sql/corpus.sql) and to the fleet's queries, on the fixture's tables.

usage: sql_answers.py [--check]      (python3 -m pip install duckdb)

Writes tests/fixtures/sql/answers.json, which the engine's test compares with; --check only says whether it would change.
"""
import decimal, json, pathlib, sys

import duckdb

ROOT = pathlib.Path(__file__).resolve().parents[1]
FIXTURE = ROOT / "tests" / "fixtures" / "sql"
FLEET = ("windows", "functions", "neighbours", "alarms")


def statements():
    """(tables, name, SQL, whether an error is expected) of each statement."""
    tables = None
    for block in (FIXTURE / "corpus.sql").read_text().split("\n\n"):
        comments = [line[2:].strip() for line in block.splitlines() if line.startswith("--")]
        sql = "\n".join(line for line in block.splitlines() if not line.startswith("--")).strip()
        if comments and comments[0].startswith("tables: "):
            tables = comments[0].removeprefix("tables: ")
        elif sql and tables:
            yield tables, comments[0], sql, any(line.startswith("error ") for line in comments)
    for path in sorted((ROOT / "assets" / "sql" / "fleet").glob("*.sql")):
        yield "fleet", f"fleet/{path.stem}", path.read_text(), False


def connected(tables):
    connection = duckdb.connect()
    if tables == "fleet":
        for name in FLEET:
            files = f"read_parquet('{FIXTURE}/fleet/{name}/**/*.parquet', hive_partitioning = true, hive_types_autocast = false)"
            # As the engine has them: the keys after the columns of the files.
            columns = [row[0] for row in connection.execute(f"DESCRIBE FROM {files}").fetchall()]
            last = [key for key in ("job", "day", "host") if key in columns]
            order = ", ".join([f'"{column}"' for column in columns if column not in last] + last)
            connection.execute(f"CREATE VIEW {name} AS SELECT {order} FROM {files}")
    else:
        for path in sorted((FIXTURE / "recording").glob("*-0.parquet")):
            name = path.stem.removesuffix("-0")
            connection.execute(f"CREATE VIEW \"{name}\" AS FROM read_parquet('{FIXTURE}/recording/{name}-*.parquet', union_by_name = true)")
    return connection


def plain(value):
    return float(value) if isinstance(value, decimal.Decimal) else value


def main():
    refused, answers, connections = [], {}, {tables: connected(tables) for tables in ("recording", "fleet")}
    for tables, name, sql, fails in statements():
        if name in answers:
            sys.exit(f"two statements are called '{name}'")
        if fails:
            continue
        try:
            rows = connections[tables].execute(sql).fetchall()
        except duckdb.Error as error:
            refused.append(f"DuckDB refuses '{name}': {error}")
            continue
        answers[name] = [[plain(value) for value in row] for row in rows]
    if refused:
        sys.exit("\n".join(refused))
    lines = [f"{json.dumps(name)}: {json.dumps(rows, ensure_ascii=False)}" for name, rows in answers.items()]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    path = FIXTURE / "answers.json"
    same = path.exists() and path.read_text() == text
    print(f"DuckDB {duckdb.__version__}: {len(answers)} answers, " + ("as they were" if same else "changed"))
    if "--check" in sys.argv:
        sys.exit(0 if same else 1)
    path.write_text(text)


main()
