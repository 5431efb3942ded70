-- Operations the program completed, between one reading of its source and the next.
-- Run inside a recording made with --ops:  cd NAME.ironlaw && duckdb < .../operations-per-second.sql

WITH reading AS (
    SELECT
        at_ns,
        total,
        at_ns - lag(at_ns) OVER (ORDER BY at_ns) AS span_ns,
        total - lag(total) OVER (ORDER BY at_ns) AS operations
    FROM 'ops-*.parquet'
)
SELECT
    round(at_ns / 1e9, 3) AS until_s,
    round(span_ns / 1e9, 3) AS span_s,
    operations,
    round(operations / (span_ns / 1e9), 1) AS per_second
FROM reading
WHERE span_ns > 0
ORDER BY at_ns;
