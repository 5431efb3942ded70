-- Hosts on which a job's CPI or CPU time per operation lay above mean + 3 standard deviations in at least three windows of
-- five minutes. The mean and the deviation are those of the job on that platform, over at least 5 hosts and 100 windows.
-- host_* are over all windows of the host, tested_* over all hosts of the job: how often chance had an opportunity.
WITH measured AS (
    SELECT
        job, platform, host, start_s,
        CASE WHEN instructions > 0 AND cycles > 0 THEN cycles / instructions END AS cpi,
        CASE WHEN operations > 0 THEN cpu_s / operations END AS cost
    FROM windows
    WHERE cpu_s >= 0.25 * length_s
),
usual AS (
    SELECT
        job, platform,
        AVG(cpi) AS cpi_mean,
        STDDEV(cpi) AS cpi_sd,
        COUNT(cpi) AS cpi_windows,
        COUNT(DISTINCT CASE WHEN cpi IS NOT NULL THEN host END) AS cpi_hosts,
        AVG(cost) AS cost_mean,
        STDDEV(cost) AS cost_sd,
        COUNT(cost) AS cost_windows,
        COUNT(DISTINCT CASE WHEN cost IS NOT NULL THEN host END) AS cost_hosts
    FROM measured
    GROUP BY job, platform
),
marked AS (
    SELECT
        measured.job, measured.platform, measured.host,
        CAST(FLOOR(measured.start_s / 300.0) AS BIGINT) * 300 AS span_s,
        measured.cpi, measured.cost,
        CASE WHEN measured.cpi > usual.cpi_mean + 3 * usual.cpi_sd THEN measured.cpi END AS cpi_above,
        CASE WHEN measured.cost > usual.cost_mean + 3 * usual.cost_sd THEN measured.cost END AS cost_above
    FROM measured
    JOIN usual ON measured.job = usual.job AND measured.platform = usual.platform
),
spans AS (
    SELECT
        job, platform, host, span_s,
        COUNT(cpi) AS cpi_windows,
        SUM(cpi) AS cpi_total,
        COUNT(cpi_above) AS cpi_above,
        AVG(cpi_above) AS cpi_value,
        COUNT(cost) AS cost_windows,
        SUM(cost) AS cost_total,
        COUNT(cost_above) AS cost_above,
        AVG(cost_above) AS cost_value
    FROM marked
    GROUP BY job, platform, host, span_s
),
hosts_wide AS (
    SELECT
        job, platform, host,
        COUNT(CASE WHEN cpi_windows > 0 THEN 1 END) AS cpi_host_spans,
        SUM(cpi_windows) AS cpi_host_windows,
        SUM(cpi_total) AS cpi_host_total,
        COUNT(CASE WHEN cpi_above >= 3 THEN 1 END) AS cpi_spans,
        SUM(CASE WHEN cpi_above >= 3 THEN cpi_above ELSE 0 END) AS cpi_windows,
        MIN(CASE WHEN cpi_above >= 3 THEN span_s END) AS cpi_first_s,
        MAX(CASE WHEN cpi_above >= 3 THEN span_s END) AS cpi_last_s,
        AVG(CASE WHEN cpi_above >= 3 THEN cpi_value END) AS cpi_value,
        COUNT(CASE WHEN cost_windows > 0 THEN 1 END) AS cost_host_spans,
        SUM(cost_windows) AS cost_host_windows,
        SUM(cost_total) AS cost_host_total,
        COUNT(CASE WHEN cost_above >= 3 THEN 1 END) AS cost_spans,
        SUM(CASE WHEN cost_above >= 3 THEN cost_above ELSE 0 END) AS cost_windows,
        MIN(CASE WHEN cost_above >= 3 THEN span_s END) AS cost_first_s,
        MAX(CASE WHEN cost_above >= 3 THEN span_s END) AS cost_last_s,
        AVG(CASE WHEN cost_above >= 3 THEN cost_value END) AS cost_value
    FROM spans
    GROUP BY job, platform, host
),
hosts AS (
    SELECT
        hosts_wide.job, hosts_wide.platform, 'cpi' AS measure, hosts_wide.host,
        cpi_spans AS spans, hosts_wide.cpi_windows AS windows, cpi_first_s AS first_s, cpi_last_s AS last_s,
        cpi_value AS value, usual.cpi_mean AS mean, usual.cpi_sd AS sd,
        cpi_host_spans AS host_spans, cpi_host_windows AS host_windows, cpi_host_total AS host_total
    FROM hosts_wide
    JOIN usual ON hosts_wide.job = usual.job AND hosts_wide.platform = usual.platform
    WHERE usual.cpi_windows >= 100 AND usual.cpi_hosts >= 5 AND cpi_host_windows > 0
    UNION ALL
    SELECT
        hosts_wide.job, hosts_wide.platform, 'cpu_s_per_op' AS measure, hosts_wide.host,
        cost_spans AS spans, hosts_wide.cost_windows AS windows, cost_first_s AS first_s, cost_last_s AS last_s,
        cost_value AS value, usual.cost_mean AS mean, usual.cost_sd AS sd,
        cost_host_spans AS host_spans, cost_host_windows AS host_windows, cost_host_total AS host_total
    FROM hosts_wide
    JOIN usual ON hosts_wide.job = usual.job AND hosts_wide.platform = usual.platform
    WHERE usual.cost_windows >= 100 AND usual.cost_hosts >= 5 AND cost_host_windows > 0
),
tested AS (
    SELECT job, platform, measure, COUNT(*) AS hosts, SUM(host_spans) AS spans, SUM(host_windows) AS windows
    FROM hosts
    GROUP BY job, platform, measure
)
SELECT
    hosts.job, hosts.platform, hosts.measure, hosts.host,
    hosts.spans, hosts.windows, hosts.first_s, hosts.last_s, hosts.value, hosts.mean, hosts.sd,
    hosts.host_spans, hosts.host_windows,
    hosts.host_total / hosts.host_windows AS host_value,
    tested.hosts AS tested_hosts,
    tested.spans AS tested_spans,
    tested.windows AS tested_windows
FROM hosts
JOIN tested ON hosts.job = tested.job AND hosts.platform = tested.platform AND hosts.measure = tested.measure
WHERE hosts.spans > 0
ORDER BY hosts.job, hosts.platform, hosts.measure, hosts.host
