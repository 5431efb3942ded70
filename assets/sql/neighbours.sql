-- Who else used the machine: CPU time, share of one CPU and storage traffic of each neighbour.
-- Run inside a recording made with --neighbours:  cd NAME.ironlaw && duckdb < .../neighbours.sql
-- Uses are totals since the recording began, so the highest is the whole. A control group holds what its processes used:
-- add up processes and the rest alone.

WITH used AS (
    SELECT neighbour, max(cpu_ns) AS cpu_ns, max(io_bytes) AS io_bytes
    FROM 'neighbour_uses-*.parquet'
    GROUP BY neighbour
), length AS (
    SELECT max(at_ns) AS ns FROM 'windows-*.parquet' WHERE span_ns IS NOT NULL
)
SELECT
    kind,
    name,
    pid,
    cgroup,
    round(cpu_ns / 1e9, 6) AS cpu_s,
    round(cpu_ns / length.ns, 4) AS busy_cpus,
    io_bytes
FROM used
JOIN 'neighbours-*.parquet' USING (neighbour)
CROSS JOIN length
ORDER BY cpu_ns DESC, neighbour;
