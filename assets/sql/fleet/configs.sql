-- Operations per CPU second of each job on each platform under each configuration of its hosts (the label `config`), for
-- those that run under several: hosts, and sums over hosts, for the cluster's weighted speed-up.
WITH per_host AS (
    SELECT job, platform, config, host, SUM(operations) / SUM(cpu_s) AS rue, SUM(cpu_s) AS cpu_s
    FROM windows
    WHERE operations > 0 AND cpu_s > 0 AND config IS NOT NULL
    GROUP BY job, platform, config, host
),
several AS (
    SELECT job, platform
    FROM per_host
    GROUP BY job, platform
    HAVING COUNT(DISTINCT config) >= 2
)
SELECT
    per_host.job, per_host.platform, per_host.config,
    COUNT(*) AS hosts,
    SUM(per_host.cpu_s) AS cpu_s,
    SUM(per_host.rue) AS rue,
    SUM(per_host.rue * per_host.rue) AS rue_squared
FROM per_host
JOIN several ON per_host.job = several.job AND per_host.platform = several.platform
GROUP BY per_host.job, per_host.platform, per_host.config
ORDER BY per_host.job, per_host.platform, per_host.config
