-- Hosts on which a job's CPI or CPU time per operation lay above mean + 3 standard deviations in at least three windows of
-- five minutes. The mean and the deviation are those of the job on that platform, over at least 5 hosts and 100 windows.
-- host_* are over all windows of the host, tested_* over all hosts of the job: how often chance had an opportunity.
WITH measured AS (
    SELECT job, platform, host, start_s, 'cpi' AS measure, cycles / instructions AS value
    FROM windows
    WHERE instructions > 0 AND cycles > 0 AND cpu_s >= 0.25 * length_s
    UNION ALL
    SELECT job, platform, host, start_s, 'cpu_s_per_op' AS measure, cpu_s / operations AS value
    FROM windows
    WHERE operations > 0 AND cpu_s >= 0.25 * length_s
),
usual AS (
    SELECT
        job, platform, measure,
        AVG(value) AS mean,
        STDDEV(value) AS sd
    FROM measured
    GROUP BY job, platform, measure
    HAVING COUNT(*) >= 100 AND COUNT(DISTINCT host) >= 5
),
spans AS (
    SELECT
        measured.job, measured.platform, measured.measure, measured.host,
        CAST(FLOOR(measured.start_s / 300.0) AS BIGINT) * 300 AS span_s,
        COUNT(*) AS windows,
        AVG(measured.value) AS value,
        MIN(usual.mean) AS mean,
        MIN(usual.sd) AS sd
    FROM measured
    JOIN usual ON measured.job = usual.job AND measured.platform = usual.platform AND measured.measure = usual.measure
    WHERE measured.value > usual.mean + 3 * usual.sd
    GROUP BY
        measured.job, measured.platform, measured.measure, measured.host,
        CAST(FLOOR(measured.start_s / 300.0) AS BIGINT) * 300
    HAVING COUNT(*) >= 3
),
host_spans AS (
    SELECT
        job, platform, measure, host,
        CAST(FLOOR(start_s / 300.0) AS BIGINT) * 300 AS span_s,
        COUNT(*) AS windows,
        SUM(value) AS total
    FROM measured
    GROUP BY job, platform, measure, host, CAST(FLOOR(start_s / 300.0) AS BIGINT) * 300
),
all_hosts AS (
    SELECT job, platform, measure, host, COUNT(*) AS spans, SUM(windows) AS windows, SUM(total) AS total
    FROM host_spans
    GROUP BY job, platform, measure, host
),
tested AS (
    SELECT job, platform, measure, COUNT(*) AS hosts, SUM(spans) AS spans, SUM(windows) AS windows
    FROM all_hosts
    GROUP BY job, platform, measure
),
outliers AS (
    SELECT
        job, platform, measure, host,
        COUNT(*) AS spans,
        SUM(windows) AS windows,
        MIN(span_s) AS first_s,
        MAX(span_s) AS last_s,
        AVG(value) AS value,
        MIN(mean) AS mean,
        MIN(sd) AS sd
    FROM spans
    GROUP BY job, platform, measure, host
)
SELECT
    outliers.job, outliers.platform, outliers.measure, outliers.host,
    outliers.spans, outliers.windows, outliers.first_s, outliers.last_s, outliers.value, outliers.mean, outliers.sd,
    all_hosts.spans AS host_spans,
    all_hosts.windows AS host_windows,
    all_hosts.total / all_hosts.windows AS host_value,
    tested.hosts AS tested_hosts,
    tested.spans AS tested_spans,
    tested.windows AS tested_windows
FROM outliers
JOIN all_hosts
    ON outliers.job = all_hosts.job AND outliers.platform = all_hosts.platform
    AND outliers.measure = all_hosts.measure AND outliers.host = all_hosts.host
JOIN tested
    ON outliers.job = tested.job AND outliers.platform = tested.platform AND outliers.measure = tested.measure
ORDER BY outliers.spans DESC, outliers.job, outliers.platform, outliers.measure, outliers.host
