-- Neighbours whose CPU use moves with a job's CPI or CPU time per operation, across the hosts that both run on.
-- x is the neighbour's use in CPUs, y the value over the job's mean, z the job's own intensity (operations, otherwise
-- instructions, a second). sxy, sxx and syy are sums of products of deviations from the means of the host in that hour, so
-- that what drives both over the day is not taken for the neighbour, less what z explains of them: a busier job may cost more
-- by itself. slope = sxy / sxx says by which share the job gets dearer for each CPU its neighbour uses. The sums of products
-- over hosts give the slope's error: hosts are the sample. score is CPI2's, with the mean + 2 sd as its threshold.
-- A neighbour that ran on the host at other times, and is absent from a window in which neighbours were measured, used 0.
-- Deviations of less than a thousandth are rounding.
WITH measured AS (
    SELECT
        job, platform, host, start_s, neighbour_cpu_s, 'cpi' AS measure,
        cycles / instructions AS y,
        COALESCE(operations, instructions) / length_s AS z
    FROM windows
    WHERE instructions > 0 AND cycles > 0 AND cpu_s >= 0.25 * length_s
    UNION ALL
    SELECT
        job, platform, host, start_s, neighbour_cpu_s, 'cpu_s_per_op' AS measure,
        cpu_s / operations AS y,
        operations / length_s AS z
    FROM windows
    WHERE operations > 0 AND cpu_s >= 0.25 * length_s
),
usual AS (
    SELECT job, platform, measure, AVG(y) AS mean, STDDEV(y) AS sd
    FROM measured
    GROUP BY job, platform, measure
    HAVING COUNT(*) >= 100
),
relative AS (
    SELECT
        measured.job, measured.platform, measured.measure, measured.host, measured.start_s, measured.neighbour_cpu_s,
        measured.z,
        measured.y / usual.mean AS y,
        (usual.mean + 2 * usual.sd) / usual.mean AS threshold
    FROM measured
    JOIN usual ON measured.job = usual.job AND measured.platform = usual.platform AND measured.measure = usual.measure
),
present AS (
    SELECT job, host, neighbour
    FROM neighbours
    GROUP BY job, host, neighbour
),
expected AS (
    SELECT
        relative.job, relative.measure, relative.host, relative.start_s, relative.neighbour_cpu_s, relative.y, relative.z,
        relative.threshold, present.neighbour
    FROM relative
    JOIN present ON relative.job = present.job AND relative.host = present.host
),
pairs AS (
    SELECT
        expected.job, expected.measure, expected.host, expected.start_s, expected.neighbour, expected.y, expected.z,
        expected.threshold,
        COALESCE(neighbours.cpu_s / neighbours.length_s, 0.0) AS x
    FROM expected
    LEFT JOIN neighbours
        ON expected.job = neighbours.job AND expected.host = neighbours.host
        AND expected.start_s = neighbours.start_s AND expected.neighbour = neighbours.neighbour
    WHERE neighbours.cpu_s IS NOT NULL OR expected.neighbour_cpu_s IS NOT NULL
),
per_hour AS (
    SELECT
        job, measure, neighbour, host,
        COUNT(*) AS windows,
        SUM(x) AS used,
        SUM(x * x) AS xx,
        SUM(z * z) AS zz,
        SUM(x * x) - SUM(x) * SUM(x) / COUNT(*) AS sxx,
        SUM(x * y) - SUM(x) * SUM(y) / COUNT(*) AS sxy,
        SUM(y * y) - SUM(y) * SUM(y) / COUNT(*) AS syy,
        SUM(x * z) - SUM(x) * SUM(z) / COUNT(*) AS sxz,
        SUM(y * z) - SUM(y) * SUM(z) / COUNT(*) AS syz,
        SUM(z * z) - SUM(z) * SUM(z) / COUNT(*) AS szz,
        SUM(CASE WHEN y > threshold THEN x * (1 - threshold / y) ELSE x * (y / threshold - 1) END) AS unscaled_score
    FROM pairs
    GROUP BY job, measure, neighbour, host, CAST(FLOOR(start_s / 3600.0) AS BIGINT)
),
varying AS (
    SELECT
        job, measure, neighbour, host, windows, used, unscaled_score,
        CASE WHEN sxx > 0.000001 * xx THEN sxx ELSE 0.0 END AS sxx,
        CASE WHEN sxx > 0.000001 * xx THEN sxy ELSE 0.0 END AS sxy,
        CASE WHEN sxx > 0.000001 * xx THEN syy ELSE 0.0 END AS syy,
        CASE WHEN sxx > 0.000001 * xx AND szz > 0.000001 * zz THEN sxz ELSE 0.0 END AS sxz,
        CASE WHEN sxx > 0.000001 * xx AND szz > 0.000001 * zz THEN syz ELSE 0.0 END AS syz,
        CASE WHEN sxx > 0.000001 * xx AND szz > 0.000001 * zz THEN szz ELSE 0.0 END AS szz
    FROM per_hour
),
sums AS (
    SELECT
        job, measure, neighbour, host,
        SUM(windows) AS windows,
        SUM(used) AS used,
        SUM(unscaled_score) AS unscaled_score,
        SUM(sxx) AS sxx,
        SUM(sxy) AS sxy,
        SUM(syy) AS syy,
        SUM(sxz) AS sxz,
        SUM(syz) AS syz,
        SUM(szz) AS szz
    FROM varying
    GROUP BY job, measure, neighbour, host
    HAVING SUM(windows) >= 10 AND SUM(sxx) > 0
),
per_host AS (
    SELECT
        job, measure, neighbour, windows, used, unscaled_score,
        CASE WHEN szz > 0 THEN sxx - sxz * sxz / szz ELSE sxx END AS sxx,
        CASE WHEN szz > 0 THEN sxy - sxz * syz / szz ELSE sxy END AS sxy,
        CASE WHEN szz > 0 THEN syy - syz * syz / szz ELSE syy END AS syy
    FROM sums
)
SELECT
    job, measure, neighbour,
    COUNT(*) AS hosts,
    SUM(windows) AS windows,
    SUM(used) / SUM(windows) AS used,
    SUM(sxy) AS sxy,
    SUM(sxx) AS sxx,
    SUM(syy) AS syy,
    SUM(sxy * sxy) AS sxy_sxy,
    SUM(sxy * sxx) AS sxy_sxx,
    SUM(sxx * sxx) AS sxx_sxx,
    AVG(unscaled_score / used) AS score
FROM per_host
GROUP BY job, measure, neighbour
ORDER BY job, measure, neighbour
