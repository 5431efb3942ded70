-- Time off the CPU by cause. Preempted threads were not blocked: their time is that in the queue.
-- On what `ironlaw export --off-cpu -o waits.parquet` wrote; plain SQL, for DuckDB and polars alike.

SELECT
    cause,
    sum(count) AS count,
    sum(CASE WHEN state = 'runnable' THEN blocked_ns + coalesce(queued_ns, 0) ELSE blocked_ns END) AS total_ns,
    max(longest_ns) AS longest_ns
FROM read_parquet('waits.parquet')
GROUP BY cause
ORDER BY total_ns DESC, cause;
