-- Operations and cost of each job by hour (UTC): what is usual at this hour, and how much of the change is the season's.
SELECT
    job,
    CAST(FLOOR(start_s / 3600.0) AS BIGINT) * 3600 AS hour_s,
    COUNT(DISTINCT host) AS hosts,
    COUNT(*) AS windows,
    SUM(length_s) AS length_s,
    SUM(cpu_s) AS cpu_s,
    SUM(CASE WHEN operations IS NOT NULL THEN length_s ELSE 0.0 END) AS counted_length_s,
    SUM(operations) AS operations,
    SUM(CASE WHEN operations > 0 THEN cpu_s ELSE 0.0 END) AS counted_cpu_s,
    SUM(CASE WHEN instructions > 0 THEN cycles ELSE 0.0 END) AS cycles,
    SUM(CASE WHEN cycles > 0 THEN instructions ELSE 0.0 END) AS instructions
FROM windows
GROUP BY job, CAST(FLOOR(start_s / 3600.0) AS BIGINT) * 3600
ORDER BY job, hour_s
