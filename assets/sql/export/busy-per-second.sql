-- How busy the program was in each second, in CPUs, and with how many threads.
-- On what `ironlaw export --event cpu-clock -o samples.parquet` wrote, whose weights are nanoseconds; plain SQL, for
-- DuckDB and polars alike.

WITH moment AS (
    SELECT CAST(floor(at_ns / 1000000000.0) AS BIGINT) AS second, tid, weight
    FROM read_parquet('samples.parquet')
)
SELECT second, round(sum(weight) / 1000000000.0, 3) AS cpus, count(DISTINCT tid) AS threads
FROM moment
GROUP BY second
ORDER BY second;
