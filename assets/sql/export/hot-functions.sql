-- The functions in which the most time was sampled (self), with their share.
-- On what `ironlaw export -o samples.parquet` wrote; plain SQL, for DuckDB and polars alike.
-- With several events in the recording, export one: --event cycles.

WITH whole AS (
    SELECT sum(weight) AS weight FROM read_parquet('samples.parquet')
), functions AS (
    SELECT function, module, count(*) AS samples, sum(weight) AS weight
    FROM read_parquet('samples.parquet')
    GROUP BY function, module
)
SELECT
    functions.function,
    functions.module,
    functions.samples,
    round(100.0 * functions.weight / whole.weight, 2) AS self_percent
FROM functions
CROSS JOIN whole
ORDER BY self_percent DESC, function
LIMIT 20;
