-- Neighbours whose CPU use moves with a job's CPI or CPU time per operation, across the hosts that both run on.
-- x is the neighbour's use in CPUs, y the value over the job's mean, z the job's own intensity (operations, otherwise
-- instructions, a second). sxy, sxx and syy are sums of products of deviations from the means of the host in that hour, so
-- that what drives both over the day is not taken for the neighbour, less what z explains of them: a busier job may cost more
-- by itself. slope = sxy / sxx says by which share the job gets dearer for each CPU its neighbour uses. The sums of products
-- over hosts give the slope's error: hosts are the sample. score is CPI2's, with the mean + 2 sd as its threshold.
-- A neighbour that ran on the host at other times, and is absent from a window in which neighbours were measured, used 0:
-- such windows count in the sums of the hour (hours), which all neighbours share, and add nothing to sums with x (shared).
-- Deviations of less than a thousandth are rounding.
WITH measured AS (
    SELECT
        job, platform, host, start_s, neighbour_cpu_s,
        CASE WHEN instructions > 0 AND cycles > 0 THEN cycles / instructions END AS cpi,
        CASE WHEN operations > 0 THEN cpu_s / operations END AS cost,
        COALESCE(operations, instructions) / length_s AS z
    FROM windows
    WHERE cpu_s >= 0.25 * length_s
),
usual AS (
    SELECT
        job, platform,
        CASE WHEN COUNT(cpi) >= 100 THEN AVG(cpi) END AS cpi,
        CASE WHEN COUNT(cost) >= 100 THEN AVG(cost) END AS cost,
        1 + 2 * STDDEV(cpi) / AVG(cpi) AS cpi_threshold,
        1 + 2 * STDDEV(cost) / AVG(cost) AS cost_threshold
    FROM measured
    GROUP BY job, platform
),
relative AS (
    SELECT
        measured.job, measured.host, measured.start_s, measured.z,
        measured.cpi / usual.cpi AS cpi,
        measured.cost / usual.cost AS cost,
        usual.cpi_threshold, usual.cost_threshold
    FROM measured
    JOIN usual ON measured.job = usual.job AND measured.platform = usual.platform
    WHERE measured.neighbour_cpu_s IS NOT NULL
),
host_hours AS (
    SELECT
        job, host,
        CAST(FLOOR(start_s / 3600.0) AS BIGINT) AS hour,
        COUNT(cpi) AS cpi_n,
        SUM(cpi) AS cpi_y,
        SUM(cpi * cpi) AS cpi_yy,
        SUM(cpi * z) AS cpi_yz,
        SUM(CASE WHEN cpi IS NOT NULL THEN z END) AS cpi_z,
        SUM(CASE WHEN cpi IS NOT NULL THEN z * z END) AS cpi_zz,
        COUNT(cost) AS cost_n,
        SUM(cost) AS cost_y,
        SUM(cost * cost) AS cost_yy,
        SUM(cost * z) AS cost_yz,
        SUM(CASE WHEN cost IS NOT NULL THEN z END) AS cost_z,
        SUM(CASE WHEN cost IS NOT NULL THEN z * z END) AS cost_zz
    FROM relative
    GROUP BY job, host, CAST(FLOOR(start_s / 3600.0) AS BIGINT)
),
together AS (
    SELECT
        neighbours.job, neighbours.host, neighbours.neighbour,
        CAST(FLOOR(neighbours.start_s / 3600.0) AS BIGINT) AS hour,
        neighbours.cpu_s / neighbours.length_s AS x,
        relative.z, relative.cpi, relative.cost,
        CASE
            WHEN relative.cpi > relative.cpi_threshold THEN 1 - relative.cpi_threshold / relative.cpi
            ELSE relative.cpi / relative.cpi_threshold - 1
        END AS cpi_score,
        CASE
            WHEN relative.cost > relative.cost_threshold THEN 1 - relative.cost_threshold / relative.cost
            ELSE relative.cost / relative.cost_threshold - 1
        END AS cost_score
    FROM neighbours
    JOIN relative
        ON neighbours.job = relative.job AND neighbours.host = relative.host AND neighbours.start_s = relative.start_s
),
shared AS (
    SELECT
        job, host, neighbour, hour,
        SUM(CASE WHEN cpi IS NOT NULL THEN x END) AS cpi_x,
        SUM(CASE WHEN cpi IS NOT NULL THEN x * x END) AS cpi_xx,
        SUM(x * cpi) AS cpi_xy,
        SUM(CASE WHEN cpi IS NOT NULL THEN x * z END) AS cpi_xz,
        SUM(x * cpi_score) AS cpi_score,
        SUM(CASE WHEN cost IS NOT NULL THEN x END) AS cost_x,
        SUM(CASE WHEN cost IS NOT NULL THEN x * x END) AS cost_xx,
        SUM(x * cost) AS cost_xy,
        SUM(CASE WHEN cost IS NOT NULL THEN x * z END) AS cost_xz,
        SUM(x * cost_score) AS cost_score
    FROM together
    GROUP BY job, host, neighbour, hour
),
per_hour AS (
    SELECT
        shared.job, shared.host, shared.neighbour,
        shared.cpi_x,
        shared.cpi_score,
        shared.cpi_xx,
        host_hours.cpi_zz,
        shared.cpi_xx - shared.cpi_x * shared.cpi_x / host_hours.cpi_n AS cpi_sxx,
        shared.cpi_xy - shared.cpi_x * host_hours.cpi_y / host_hours.cpi_n AS cpi_sxy,
        host_hours.cpi_yy - host_hours.cpi_y * host_hours.cpi_y / host_hours.cpi_n AS cpi_syy,
        shared.cpi_xz - shared.cpi_x * host_hours.cpi_z / host_hours.cpi_n AS cpi_sxz,
        host_hours.cpi_yz - host_hours.cpi_y * host_hours.cpi_z / host_hours.cpi_n AS cpi_syz,
        host_hours.cpi_zz - host_hours.cpi_z * host_hours.cpi_z / host_hours.cpi_n AS cpi_szz,
        shared.cost_x,
        shared.cost_score,
        shared.cost_xx,
        host_hours.cost_zz,
        shared.cost_xx - shared.cost_x * shared.cost_x / host_hours.cost_n AS cost_sxx,
        shared.cost_xy - shared.cost_x * host_hours.cost_y / host_hours.cost_n AS cost_sxy,
        host_hours.cost_yy - host_hours.cost_y * host_hours.cost_y / host_hours.cost_n AS cost_syy,
        shared.cost_xz - shared.cost_x * host_hours.cost_z / host_hours.cost_n AS cost_sxz,
        host_hours.cost_yz - host_hours.cost_y * host_hours.cost_z / host_hours.cost_n AS cost_syz,
        host_hours.cost_zz - host_hours.cost_z * host_hours.cost_z / host_hours.cost_n AS cost_szz
    FROM shared
    JOIN host_hours ON shared.job = host_hours.job AND shared.host = host_hours.host AND shared.hour = host_hours.hour
),
sums AS (
    SELECT
        job, host, neighbour,
        SUM(cpi_x) AS cpi_used,
        SUM(cpi_score) AS cpi_score,
        SUM(CASE WHEN cpi_sxx > 0.000001 * cpi_xx THEN cpi_sxx ELSE 0.0 END) AS cpi_sxx,
        SUM(CASE WHEN cpi_sxx > 0.000001 * cpi_xx THEN cpi_sxy ELSE 0.0 END) AS cpi_sxy,
        SUM(CASE WHEN cpi_sxx > 0.000001 * cpi_xx THEN cpi_syy ELSE 0.0 END) AS cpi_syy,
        SUM(CASE WHEN cpi_sxx > 0.000001 * cpi_xx AND cpi_szz > 0.000001 * cpi_zz THEN cpi_sxz ELSE 0.0 END) AS cpi_sxz,
        SUM(CASE WHEN cpi_sxx > 0.000001 * cpi_xx AND cpi_szz > 0.000001 * cpi_zz THEN cpi_syz ELSE 0.0 END) AS cpi_syz,
        SUM(CASE WHEN cpi_sxx > 0.000001 * cpi_xx AND cpi_szz > 0.000001 * cpi_zz THEN cpi_szz ELSE 0.0 END) AS cpi_szz,
        SUM(cost_x) AS cost_used,
        SUM(cost_score) AS cost_score,
        SUM(CASE WHEN cost_sxx > 0.000001 * cost_xx THEN cost_sxx ELSE 0.0 END) AS cost_sxx,
        SUM(CASE WHEN cost_sxx > 0.000001 * cost_xx THEN cost_sxy ELSE 0.0 END) AS cost_sxy,
        SUM(CASE WHEN cost_sxx > 0.000001 * cost_xx THEN cost_syy ELSE 0.0 END) AS cost_syy,
        SUM(CASE WHEN cost_sxx > 0.000001 * cost_xx AND cost_szz > 0.000001 * cost_zz THEN cost_sxz ELSE 0.0 END) AS cost_sxz,
        SUM(CASE WHEN cost_sxx > 0.000001 * cost_xx AND cost_szz > 0.000001 * cost_zz THEN cost_syz ELSE 0.0 END) AS cost_syz,
        SUM(CASE WHEN cost_sxx > 0.000001 * cost_xx AND cost_szz > 0.000001 * cost_zz THEN cost_szz ELSE 0.0 END) AS cost_szz
    FROM per_hour
    GROUP BY job, host, neighbour
),
host_windows AS (
    SELECT job, host, SUM(cpi_n) AS cpi_windows, SUM(cost_n) AS cost_windows
    FROM host_hours
    GROUP BY job, host
),
per_host AS (
    SELECT
        sums.job, sums.neighbour,
        host_windows.cpi_windows,
        sums.cpi_used,
        sums.cpi_score,
        sums.cpi_sxx AS cpi_varies,
        CASE WHEN cpi_szz > 0 THEN cpi_sxx - cpi_sxz * cpi_sxz / cpi_szz ELSE cpi_sxx END AS cpi_sxx,
        CASE WHEN cpi_szz > 0 THEN cpi_sxy - cpi_sxz * cpi_syz / cpi_szz ELSE cpi_sxy END AS cpi_sxy,
        CASE WHEN cpi_szz > 0 THEN cpi_syy - cpi_syz * cpi_syz / cpi_szz ELSE cpi_syy END AS cpi_syy,
        host_windows.cost_windows,
        sums.cost_used,
        sums.cost_score,
        sums.cost_sxx AS cost_varies,
        CASE WHEN cost_szz > 0 THEN cost_sxx - cost_sxz * cost_sxz / cost_szz ELSE cost_sxx END AS cost_sxx,
        CASE WHEN cost_szz > 0 THEN cost_sxy - cost_sxz * cost_syz / cost_szz ELSE cost_sxy END AS cost_sxy,
        CASE WHEN cost_szz > 0 THEN cost_syy - cost_syz * cost_syz / cost_szz ELSE cost_syy END AS cost_syy
    FROM sums
    JOIN host_windows ON sums.job = host_windows.job AND sums.host = host_windows.host
),
pairs AS (
    SELECT
        job, 'cpi' AS measure, neighbour,
        COUNT(*) AS hosts,
        SUM(cpi_windows) AS windows,
        SUM(cpi_used) / SUM(cpi_windows) AS used,
        SUM(cpi_sxy) AS sxy,
        SUM(cpi_sxx) AS sxx,
        SUM(cpi_syy) AS syy,
        SUM(cpi_sxy * cpi_sxy) AS sxy_sxy,
        SUM(cpi_sxy * cpi_sxx) AS sxy_sxx,
        SUM(cpi_sxx * cpi_sxx) AS sxx_sxx,
        AVG(cpi_score / cpi_used) AS score
    FROM per_host
    WHERE cpi_windows >= 10 AND cpi_varies > 0
    GROUP BY job, neighbour
    UNION ALL
    SELECT
        job, 'cpu_s_per_op' AS measure, neighbour,
        COUNT(*) AS hosts,
        SUM(cost_windows) AS windows,
        SUM(cost_used) / SUM(cost_windows) AS used,
        SUM(cost_sxy) AS sxy,
        SUM(cost_sxx) AS sxx,
        SUM(cost_syy) AS syy,
        SUM(cost_sxy * cost_sxy) AS sxy_sxy,
        SUM(cost_sxy * cost_sxx) AS sxy_sxx,
        SUM(cost_sxx * cost_sxx) AS sxx_sxx,
        AVG(cost_score / cost_used) AS score
    FROM per_host
    WHERE cost_windows >= 10 AND cost_varies > 0
    GROUP BY job, neighbour
)
SELECT job, measure, neighbour, hosts, windows, used, sxy, sxx, syy, sxy_sxy, sxy_sxx, sxx_sxx, score
FROM pairs
ORDER BY job, measure, neighbour
