-- How much there is: windows, hosts, jobs, the time they cover.
SELECT
    COUNT(*) AS windows,
    COUNT(DISTINCT host) AS hosts,
    COUNT(DISTINCT job) AS jobs,
    COUNT(DISTINCT platform) AS platforms,
    MIN(start_s) AS first_s,
    MAX(start_s + length_s) AS last_s,
    SUM(cpu_s) AS cpu_s
FROM windows
