-- Where threads waited: the kernel function that called the scheduler, with the state the thread was left in.
-- Run inside a recording made with --off-cpu:  cd NAME.ironlaw && duckdb < .../waits.sql
-- Preempted threads (runnable) were not blocked; their time is that in the queue. `ironlaw export --off-cpu` names the
-- cause of each wait as well.

WITH RECURSIVE name AS (
    SELECT frame, last(function ORDER BY filename, file_row_number) AS function
    FROM read_parquet('names-*.parquet', filename = true, file_row_number = true)
    WHERE depth = 0
    GROUP BY frame
), climb AS (
    SELECT DISTINCT stack, stack AS caller, 0 AS height FROM 'off_cpu-*.parquet' WHERE stack IS NOT NULL
    UNION ALL
    SELECT climb.stack, stacks.parent, climb.height + 1
    FROM climb
    JOIN 'stacks-*.parquet' AS stacks ON stacks.stack = climb.caller
    JOIN name USING (frame)
    WHERE stacks.parent IS NOT NULL AND climb.height < 16
        AND regexp_matches(name.function, '^_*(schedule|preempt_schedule|io_schedule|rt_mutex_schedule)')
), place AS (
    SELECT climb.stack, coalesce(name.function, '[unknown]') AS function
    FROM (SELECT stack, arg_max(caller, height) AS caller FROM climb GROUP BY stack) AS climb
    JOIN 'stacks-*.parquet' AS stacks ON stacks.stack = climb.caller
    LEFT JOIN name USING (frame)
)
SELECT
    waits.state,
    coalesce(place.function, '[unknown]') AS waited_in,
    sum(waits.count) AS count,
    round(sum(waits.blocked_ns) / 1e9, 6) AS blocked_s,
    round(coalesce(sum(waits.queued_ns), 0) / 1e9, 6) AS queued_s,
    round(max(waits.longest_ns) / 1e6, 3) AS longest_ms
FROM 'off_cpu-*.parquet' AS waits
LEFT JOIN place USING (stack)
GROUP BY ALL
ORDER BY blocked_s + queued_s DESC, waited_in;
