"""Answers the questions of `ironlaw fleet` on Spark. Argument: a JSON file with `tables` (name, path) and `queries`
(name, sql); prints one line of JSON for each answer, after a mark that sets it apart from Spark's own output."""

import json
import math
import sys

from pyspark.sql import SparkSession

MARK = "ironlaw-answer:"
INTEGERS = {"tinyint", "smallint", "int", "bigint"}
NUMBERS = {"float", "double"}


def value(kind, cell):
    if cell is None or kind == "boolean" or kind in INTEGERS:
        return cell
    if kind in NUMBERS or kind.startswith("decimal"):
        # JSON has no infinities.
        return float(cell) if math.isfinite(float(cell)) else None
    return str(cell)


def form(kind):
    if kind in INTEGERS:
        return "integer"
    if kind in NUMBERS or kind.startswith("decimal"):
        return "number"
    return "boolean" if kind == "boolean" else "text"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        asked = json.load(file)
    # Without guessing types: a host called 0042 is not a number, and a day stays as it is written.
    spark = (
        SparkSession.builder.appName("ironlaw fleet")
        .config("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
        .getOrCreate()
    )
    for name, path in asked["tables"]:
        # Whatever else lies there, e.g. a note for people, is no table.
        spark.read.option("pathGlobFilter", "*.parquet").parquet(path).createOrReplaceTempView(name)
    for query in asked["queries"]:
        frame = spark.sql(query["sql"])
        kinds = dict(frame.dtypes)
        rows = frame.collect()
        cells = lambda name: [value(kinds[name], row[name]) for row in rows]
        columns = [[name, {"form": form(kinds[name]), "values": cells(name)}] for name in frame.columns]
        print(MARK + json.dumps({"rows": len(rows), "columns": columns}), flush=True)
    spark.stop()


main()
