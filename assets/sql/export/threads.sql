-- Where each thread spent its samples: user code and the kernel.
-- On what `ironlaw export -o samples.parquet` wrote; plain SQL, for DuckDB and polars alike.

SELECT
    pid,
    process,
    tid,
    thread,
    count(*) AS samples,
    sum(weight) AS weight,
    sum(CASE WHEN kernel THEN weight ELSE 0 END) AS kernel_weight
FROM read_parquet('samples.parquet')
GROUP BY pid, process, tid, thread
ORDER BY weight DESC, tid;
