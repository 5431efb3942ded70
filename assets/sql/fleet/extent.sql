-- How much there is: windows, hosts, jobs, the time they cover.
WITH per_host AS (
    SELECT
        job, host, platform,
        COUNT(*) AS windows,
        MIN(start_s) AS first_s,
        MAX(start_s + length_s) AS last_s,
        SUM(cpu_s) AS cpu_s
    FROM windows
    GROUP BY job, host, platform
)
SELECT
    SUM(windows) AS windows,
    COUNT(DISTINCT host) AS hosts,
    COUNT(DISTINCT job) AS jobs,
    COUNT(DISTINCT platform) AS platforms,
    MIN(first_s) AS first_s,
    MAX(last_s) AS last_s,
    SUM(cpu_s) AS cpu_s
FROM per_host
