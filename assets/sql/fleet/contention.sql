-- What the windows of a job look like at each level of use (half CPUs), for Intel PRM's classes of contention:
-- values in bins of 5%, floor(20 ln(value)), of CPI, last-level-cache misses per 1,000 instructions, and memory bandwidth.
-- Windows without such a value have no bin. hosts is the same in all rows of a level.
-- Rows whose part is cpi, mpki or bandwidth count the windows by bins of that value alone: fences are learnt from them.
-- Rows whose part is high count the windows with CPI in the upper fifth of their level by all three bins, where mpki_bin below
-- the upper fifth and bandwidth_bin above the lower fifth are given as the bin next to it: a fence leaves fewer outside.
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
joint AS (
    SELECT job, platform, half_cpus, cpi_bin, mpki_bin, bandwidth_bin, COUNT(*) AS windows
    FROM measured
    GROUP BY job, platform, half_cpus, cpi_bin, mpki_bin, bandwidth_bin
),
bins AS (
    SELECT job, platform, half_cpus, 'cpi' AS part, cpi_bin AS bin, SUM(windows) AS windows
    FROM joint
    GROUP BY job, platform, half_cpus, cpi_bin
    UNION ALL
    SELECT job, platform, half_cpus, 'mpki' AS part, mpki_bin AS bin, SUM(windows) AS windows
    FROM joint
    WHERE mpki_bin IS NOT NULL
    GROUP BY job, platform, half_cpus, mpki_bin
    UNION ALL
    SELECT job, platform, half_cpus, 'bandwidth' AS part, -bandwidth_bin AS bin, SUM(windows) AS windows
    FROM joint
    WHERE bandwidth_bin IS NOT NULL
    GROUP BY job, platform, half_cpus, bandwidth_bin
),
beyond AS (
    SELECT
        bins.job, bins.platform, bins.half_cpus, bins.part, bins.bin,
        SUM(CASE WHEN others.bin >= bins.bin THEN others.windows ELSE 0 END) AS windows,
        SUM(others.windows) AS all_windows
    FROM bins
    JOIN bins AS others
        ON bins.job = others.job AND bins.platform = others.platform AND bins.half_cpus = others.half_cpus
        AND bins.part = others.part
    GROUP BY bins.job, bins.platform, bins.half_cpus, bins.part, bins.bin
),
fifths AS (
    SELECT
        job, platform, half_cpus,
        MIN(CASE WHEN part = 'cpi' AND 5 * windows <= all_windows THEN bin END) AS cpi,
        COALESCE(MIN(CASE WHEN part = 'mpki' AND 5 * windows <= all_windows THEN bin END),
            MAX(CASE WHEN part = 'mpki' THEN bin + 1 END)) AS mpki,
        COALESCE(MIN(CASE WHEN part = 'bandwidth' AND 5 * windows <= all_windows THEN bin END),
            MAX(CASE WHEN part = 'bandwidth' THEN bin + 1 END)) AS bandwidth
    FROM beyond
    GROUP BY job, platform, half_cpus
),
parts AS (
    SELECT
        job, platform, half_cpus, part,
        CASE WHEN part = 'cpi' THEN bin END AS cpi_bin,
        CASE WHEN part = 'mpki' THEN bin END AS mpki_bin,
        CASE WHEN part = 'bandwidth' THEN -bin END AS bandwidth_bin,
        windows
    FROM bins
    UNION ALL
    SELECT
        joint.job, joint.platform, joint.half_cpus, 'high' AS part,
        joint.cpi_bin,
        CASE WHEN joint.mpki_bin < fifths.mpki THEN fifths.mpki - 1 ELSE joint.mpki_bin END AS mpki_bin,
        CASE
            WHEN -joint.bandwidth_bin < fifths.bandwidth THEN 1 - fifths.bandwidth
            ELSE joint.bandwidth_bin
        END AS bandwidth_bin,
        joint.windows
    FROM joint
    JOIN fifths ON joint.job = fifths.job AND joint.platform = fifths.platform AND joint.half_cpus = fifths.half_cpus
    WHERE joint.cpi_bin >= fifths.cpi
)
SELECT
    parts.job, parts.platform, parts.half_cpus, levels.hosts, parts.part, parts.cpi_bin, parts.mpki_bin, parts.bandwidth_bin,
    SUM(parts.windows) AS windows
FROM parts
JOIN levels ON parts.job = levels.job AND parts.platform = levels.platform AND parts.half_cpus = levels.half_cpus
GROUP BY
    parts.job, parts.platform, parts.half_cpus, levels.hosts, parts.part, parts.cpi_bin, parts.mpki_bin, parts.bandwidth_bin
ORDER BY
    parts.job, parts.platform, parts.half_cpus, parts.part, parts.cpi_bin, parts.mpki_bin, parts.bandwidth_bin
