-- The functions in which the most time was sampled (self), with their share of all samples.
-- Run inside a recording:  cd NAME.ironlaw && duckdb < .../top-functions.sql
-- The name at depth 0 is the innermost inlined function; of a frame that was named twice, the last name counts.

WITH leaf AS (
    SELECT stacks.frame, count(*) AS samples, sum(samples.weight) AS weight
    FROM 'samples-*.parquet' AS samples
    LEFT JOIN 'stacks-*.parquet' AS stacks USING (stack)
    GROUP BY stacks.frame
), name AS (
    SELECT frame, last(function ORDER BY filename, file_row_number) AS function
    FROM read_parquet('names-*.parquet', filename = true, file_row_number = true)
    WHERE depth = 0
    GROUP BY frame
), module AS (
    SELECT module, last(path ORDER BY filename, file_row_number) AS path
    FROM read_parquet('mappings-*.parquet', filename = true, file_row_number = true)
    GROUP BY module
)
SELECT
    coalesce(name.function, printf('0x%x', frames.address), '[unknown]') AS function,
    coalesce(module.path, '[unknown]') AS module,
    sum(leaf.samples) AS samples,
    round(100 * sum(leaf.weight) / sum(sum(leaf.weight)) OVER (), 2) AS self_percent
FROM leaf
LEFT JOIN 'frames-*.parquet' AS frames USING (frame)
LEFT JOIN name USING (frame)
LEFT JOIN module USING (module)
GROUP BY ALL
ORDER BY self_percent DESC, function
LIMIT 20;
