-- Jobs by cost: CPU time, operations, cycles and instructions of each job on each platform (CPU model).
-- Four ratios y / x, each over the windows that have both: cost (CPU seconds per operation), cpi (cycles per instruction),
-- path (instructions per operation) and misses (last-level-cache misses per instruction). NAME_hosts is the number of hosts
-- that have both; NAME_yy, NAME_yx and NAME_xx are sums of products over hosts, which are the sample: they give the error.
WITH per_host AS (
    SELECT
        job, platform, host,
        COUNT(*) AS windows,
        SUM(cpu_s) AS cpu_s,
        SUM(cycles) AS cycles,
        SUM(instructions) AS instructions,
        SUM(llc_misses) AS llc_misses,
        SUM(CASE WHEN operations IS NOT NULL THEN cpu_s ELSE 0.0 END) AS counted_cpu_s,
        SUM(COALESCE(operations, 0.0)) AS operations,
        SUM(CASE WHEN operations IS NOT NULL AND cpu_s IS NOT NULL THEN cpu_s ELSE 0.0 END) AS cost_y,
        SUM(CASE WHEN operations IS NOT NULL AND cpu_s IS NOT NULL THEN operations ELSE 0.0 END) AS cost_x,
        SUM(CASE WHEN instructions IS NOT NULL AND cycles IS NOT NULL THEN cycles ELSE 0.0 END) AS cpi_y,
        SUM(CASE WHEN instructions IS NOT NULL AND cycles IS NOT NULL THEN instructions ELSE 0.0 END) AS cpi_x,
        SUM(CASE WHEN operations IS NOT NULL AND instructions IS NOT NULL THEN instructions ELSE 0.0 END) AS path_y,
        SUM(CASE WHEN operations IS NOT NULL AND instructions IS NOT NULL THEN operations ELSE 0.0 END) AS path_x,
        SUM(CASE WHEN instructions IS NOT NULL AND llc_misses IS NOT NULL THEN llc_misses ELSE 0.0 END) AS misses_y,
        SUM(CASE WHEN instructions IS NOT NULL AND llc_misses IS NOT NULL THEN instructions ELSE 0.0 END) AS misses_x
    FROM windows
    GROUP BY job, platform, host
)
SELECT
    job, platform,
    COUNT(*) AS hosts,
    SUM(windows) AS windows,
    SUM(cpu_s) AS cpu_s,
    SUM(cycles) AS cycles,
    SUM(instructions) AS instructions,
    SUM(llc_misses) AS llc_misses,
    SUM(counted_cpu_s) AS counted_cpu_s,
    SUM(operations) AS operations,
    SUM(CASE WHEN cost_x > 0 OR cost_y > 0 THEN 1 ELSE 0 END) AS cost_hosts,
    SUM(cost_y) AS cost_y,
    SUM(cost_x) AS cost_x,
    SUM(cost_y * cost_y) AS cost_yy,
    SUM(cost_y * cost_x) AS cost_yx,
    SUM(cost_x * cost_x) AS cost_xx,
    SUM(CASE WHEN cpi_x > 0 THEN 1 ELSE 0 END) AS cpi_hosts,
    SUM(cpi_y) AS cpi_y,
    SUM(cpi_x) AS cpi_x,
    SUM(cpi_y * cpi_y) AS cpi_yy,
    SUM(cpi_y * cpi_x) AS cpi_yx,
    SUM(cpi_x * cpi_x) AS cpi_xx,
    SUM(CASE WHEN path_x > 0 OR path_y > 0 THEN 1 ELSE 0 END) AS path_hosts,
    SUM(path_y) AS path_y,
    SUM(path_x) AS path_x,
    SUM(path_y * path_y) AS path_yy,
    SUM(path_y * path_x) AS path_yx,
    SUM(path_x * path_x) AS path_xx,
    SUM(CASE WHEN misses_x > 0 THEN 1 ELSE 0 END) AS misses_hosts,
    SUM(misses_y) AS misses_y,
    SUM(misses_x) AS misses_x,
    SUM(misses_y * misses_y) AS misses_yy,
    SUM(misses_y * misses_x) AS misses_yx,
    SUM(misses_x * misses_x) AS misses_xx
FROM per_host
GROUP BY job, platform
ORDER BY cpu_s DESC, job, platform
