-- Alarms of the watches, by job and cause.
SELECT
    job, cause,
    COUNT(*) AS alarms,
    COUNT(DISTINCT host) AS hosts,
    MIN(start_s) AS first_s,
    MAX(start_s) AS last_s,
    AVG(ratio) AS ratio
FROM alarms
GROUP BY job, cause
ORDER BY alarms DESC, job, cause
