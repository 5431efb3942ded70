-- Normal equations of CPI and of last-level-cache misses per 1,000 instructions on the job's own use (CPUs, a) and its
-- neighbours' (CPUs, b), as deviations from the host's means; by host, which is the sample.
WITH measured AS (
    SELECT
        job, platform, host,
        cpu_s / length_s AS a,
        neighbour_cpu_s / length_s AS b,
        cycles / instructions AS cpi,
        1000 * llc_misses / instructions AS mpki
    FROM windows
    WHERE instructions > 0 AND cycles > 0 AND neighbour_cpu_s IS NOT NULL AND cpu_s >= 0.25 * length_s
)
SELECT
    job, platform, host,
    COUNT(*) AS windows,
    SUM(cpi) AS cpi,
    SUM(mpki) AS mpki,
    COUNT(mpki) AS mpki_windows,
    SUM(a * a) - SUM(a) * SUM(a) / COUNT(*) AS saa,
    SUM(a * b) - SUM(a) * SUM(b) / COUNT(*) AS sab,
    SUM(b * b) - SUM(b) * SUM(b) / COUNT(*) AS sbb,
    SUM(a * cpi) - SUM(a) * SUM(cpi) / COUNT(*) AS sa_cpi,
    SUM(b * cpi) - SUM(b) * SUM(cpi) / COUNT(*) AS sb_cpi,
    CASE WHEN COUNT(mpki) = COUNT(*) THEN SUM(a * mpki) - SUM(a) * SUM(mpki) / COUNT(*) END AS sa_mpki,
    CASE WHEN COUNT(mpki) = COUNT(*) THEN SUM(b * mpki) - SUM(b) * SUM(mpki) / COUNT(*) END AS sb_mpki
FROM measured
GROUP BY job, platform, host
HAVING COUNT(*) >= 10
ORDER BY job, platform, host
