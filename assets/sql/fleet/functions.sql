-- The functions that cost the fleet the most CPU time, themselves, callees excluded.
-- share_y is the CPU time of the function, share_x that of all functions; share_yy, share_yx and share_xx are sums of
-- products over hosts, which give the error of the function's share.
-- The table is read once, by job; the rest is worked out from those few rows.
WITH per_job AS (
    SELECT function, module, host, job, SUM(cpu_s) AS cpu_s, SUM(samples) AS samples
    FROM functions
    GROUP BY function, module, host, job
),
per_host AS (
    SELECT function, module, host, SUM(cpu_s) AS cpu_s, SUM(samples) AS samples
    FROM per_job
    GROUP BY function, module, host
),
hosts AS (
    SELECT host, SUM(cpu_s) AS cpu_s
    FROM per_host
    GROUP BY host
),
fleet AS (
    SELECT COUNT(*) AS hosts, SUM(cpu_s) AS x, SUM(cpu_s * cpu_s) AS xx
    FROM hosts
),
users AS (
    SELECT function, module, COUNT(DISTINCT job) AS jobs
    FROM per_job
    GROUP BY function, module
),
costs AS (
    SELECT
        per_host.function, per_host.module,
        COUNT(*) AS hosts,
        SUM(per_host.samples) AS samples,
        SUM(per_host.cpu_s) AS y,
        SUM(per_host.cpu_s * per_host.cpu_s) AS yy,
        SUM(per_host.cpu_s * hosts.cpu_s) AS yx
    FROM per_host
    JOIN hosts ON per_host.host = hosts.host
    WHERE per_host.function <> '[others]'
    GROUP BY per_host.function, per_host.module
)
SELECT
    costs.function, costs.module, users.jobs, costs.hosts, costs.samples,
    costs.y AS cpu_s,
    fleet.hosts AS share_hosts,
    costs.y AS share_y,
    fleet.x AS share_x,
    costs.yy AS share_yy,
    costs.yx AS share_yx,
    fleet.xx AS share_xx
FROM costs
JOIN users ON costs.function = users.function AND costs.module = users.module
CROSS JOIN fleet
ORDER BY cpu_s DESC, costs.function, costs.module
LIMIT 100
