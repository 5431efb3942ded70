-- What each thread used: CPU time and time waiting for a CPU by the kernel's account, and its samples of the first event.
-- Run inside a recording:  cd NAME.ironlaw && duckdb < .../cpu-per-thread.sql
-- Counters are totals since the recording began, so the highest reading is the whole. A thread that came and went between
-- two readings has samples alone; the last name a thread bore counts.

WITH counted AS (
    SELECT
        scope_id AS tid,
        max(value) FILTER (name = 'task-clock') / 1e9 AS cpu_s,
        max(value) FILTER (name = 'run-delay') / 1e9 AS queued_s
    FROM 'windows-*.parquet'
    JOIN 'counters-*.parquet' USING (counter)
    WHERE scope = 'thread'
    GROUP BY scope_id
), sampled AS (
    SELECT tid, count(*) AS samples, sum(weight) AS weight
    FROM 'samples-*.parquet'
    WHERE event = 0
    GROUP BY tid
), named AS (
    SELECT tid, arg_max(comm, (at_ns, filename, file_row_number)) AS thread
    FROM read_parquet('tasks-*.parquet', filename = true, file_row_number = true)
    WHERE comm IS NOT NULL
    GROUP BY tid
)
SELECT
    tid,
    coalesce(thread, '') AS thread,
    round(cpu_s, 6) AS cpu_s,
    round(queued_s, 6) AS queued_s,
    coalesce(samples, 0) AS samples,
    round(100 * weight / sum(weight) OVER (), 2) AS percent
FROM counted
FULL JOIN sampled USING (tid)
LEFT JOIN named USING (tid)
ORDER BY cpu_s DESC NULLS LAST, samples DESC, tid;
