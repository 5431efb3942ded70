-- How CPI and CPU time per operation are distributed over the windows of each job on each platform, in bins of 2%:
-- bin = floor(50 ln(value)). Windows in which the job used less than a quarter of a CPU are left out.
-- The columns mean_* are the same in all bins of a distribution: sums over hosts of each host's values (y) and windows (x),
-- which give the error of the mean.
WITH measured AS (
    SELECT job, platform, host, 'cpi' AS measure, cycles / instructions AS value
    FROM windows
    WHERE instructions > 0 AND cycles > 0 AND cpu_s >= 0.25 * length_s
    UNION ALL
    SELECT job, platform, host, 'cpu_s_per_op' AS measure, cpu_s / operations AS value
    FROM windows
    WHERE operations > 0 AND cpu_s >= 0.25 * length_s
),
per_host AS (
    SELECT job, platform, measure, host, SUM(value) AS y, CAST(COUNT(*) AS DOUBLE) AS x
    FROM measured
    GROUP BY job, platform, measure, host
),
means AS (
    SELECT
        job, platform, measure,
        COUNT(*) AS hosts,
        SUM(y) AS y,
        SUM(x) AS x,
        SUM(y * y) AS yy,
        SUM(y * x) AS yx,
        SUM(x * x) AS xx
    FROM per_host
    GROUP BY job, platform, measure
),
bins AS (
    SELECT
        job, platform, measure,
        CAST(FLOOR(50 * LN(value)) AS BIGINT) AS bin,
        COUNT(*) AS windows,
        SUM(value) AS total,
        SUM(value * value) AS squares
    FROM measured
    GROUP BY job, platform, measure, CAST(FLOOR(50 * LN(value)) AS BIGINT)
)
SELECT
    bins.job, bins.platform, bins.measure, bins.bin, bins.windows, bins.total, bins.squares,
    means.hosts AS mean_hosts,
    means.y AS mean_y,
    means.x AS mean_x,
    means.yy AS mean_yy,
    means.yx AS mean_yx,
    means.xx AS mean_xx
FROM bins
JOIN means ON bins.job = means.job AND bins.platform = means.platform AND bins.measure = means.measure
ORDER BY bins.job, bins.platform, bins.measure, bins.bin
