-- What the windows of a job look like at each level of use (half CPUs), for Intel PRM's classes of contention:
-- values in bins of 5%, floor(20 ln(value)), of CPI, last-level-cache misses per 1,000 instructions, and memory bandwidth.
-- Windows without such a value have no bin. hosts is the same in all rows of a level.
WITH measured AS (
    SELECT
        job, platform, host,
        CAST(FLOOR(2 * cpu_s / length_s) AS BIGINT) AS half_cpus,
        CAST(FLOOR(20 * LN(cycles / instructions)) AS BIGINT) AS cpi_bin,
        CASE WHEN llc_misses > 0 THEN CAST(FLOOR(20 * LN(1000 * llc_misses / instructions)) AS BIGINT) END AS mpki_bin,
        CASE WHEN memory_bytes > 0 THEN CAST(FLOOR(20 * LN(memory_bytes / length_s)) AS BIGINT) END AS bandwidth_bin
    FROM windows
    WHERE instructions > 0 AND cycles > 0 AND cpu_s >= 0.25 * length_s
),
levels AS (
    SELECT job, platform, half_cpus, COUNT(DISTINCT host) AS hosts
    FROM measured
    GROUP BY job, platform, half_cpus
),
bins AS (
    SELECT job, platform, half_cpus, cpi_bin, mpki_bin, bandwidth_bin, COUNT(*) AS windows
    FROM measured
    GROUP BY job, platform, half_cpus, cpi_bin, mpki_bin, bandwidth_bin
)
SELECT
    bins.job, bins.platform, bins.half_cpus, levels.hosts, bins.cpi_bin, bins.mpki_bin, bins.bandwidth_bin, bins.windows
FROM bins
JOIN levels ON bins.job = levels.job AND bins.platform = levels.platform AND bins.half_cpus = levels.half_cpus
ORDER BY bins.job, bins.platform, bins.half_cpus, bins.cpi_bin, bins.mpki_bin, bins.bandwidth_bin
