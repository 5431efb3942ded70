-- What each job cost on each host, in the windows in which it used a quarter of a CPU or more. These sums compare a host with
-- the other hosts of each of its jobs.
WITH measured AS (
    SELECT
        job, platform, host, cpu_s, operations, cycles, instructions,
        instructions > 0 AND cycles > 0 AS has_cpi,
        operations > 0 AS has_cost
    FROM windows
    WHERE cpu_s >= 0.25 * length_s
)
SELECT
    job, platform, host,
    COUNT(CASE WHEN has_cpi THEN 1 END) AS cpi_windows,
    SUM(CASE WHEN has_cpi THEN cycles END) AS cycles,
    SUM(CASE WHEN has_cpi THEN instructions END) AS instructions,
    COUNT(CASE WHEN has_cost THEN 1 END) AS cost_windows,
    SUM(CASE WHEN has_cost THEN cpu_s END) AS cpu_s,
    SUM(CASE WHEN has_cost THEN operations END) AS operations
FROM measured
GROUP BY job, platform, host
ORDER BY job, platform, host
