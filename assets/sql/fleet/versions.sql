-- What a regression of a job's CPU time per operation (y) on its intensity (x, operations a second of a host) needs, by
-- version and host, for the jobs that run in several versions. Sums over windows. The columns law_* are over the windows
-- in which cycles and instructions were counted too: they divide the cost by the iron law.
WITH several AS (
    SELECT job, platform
    FROM windows
    WHERE operations > 0 AND version IS NOT NULL
    GROUP BY job, platform
    HAVING COUNT(DISTINCT version) >= 2
),
measured AS (
    SELECT
        windows.job, windows.platform, windows.version, windows.host, windows.start_s,
        windows.operations / windows.length_s AS x,
        windows.cpu_s / windows.operations AS y,
        windows.operations, windows.cpu_s, windows.cycles, windows.instructions
    FROM windows
    JOIN several ON windows.job = several.job AND windows.platform = several.platform
    WHERE windows.operations > 0 AND windows.version IS NOT NULL AND windows.cpu_s >= 0.25 * windows.length_s
)
SELECT
    job, platform, version, host,
    COUNT(*) AS windows,
    MIN(start_s) AS first_s,
    SUM(operations) AS operations,
    SUM(cpu_s) AS cpu_s,
    SUM(CASE WHEN cycles > 0 AND instructions > 0 THEN operations ELSE 0.0 END) AS law_operations,
    SUM(CASE WHEN cycles > 0 AND instructions > 0 THEN cpu_s ELSE 0.0 END) AS law_cpu_s,
    SUM(CASE WHEN cycles > 0 AND instructions > 0 THEN cycles ELSE 0.0 END) AS law_cycles,
    SUM(CASE WHEN cycles > 0 AND instructions > 0 THEN instructions ELSE 0.0 END) AS law_instructions,
    SUM(x) AS x,
    SUM(x * x) AS x2,
    SUM(x * x * x) AS x3,
    SUM(x * x * x * x) AS x4,
    SUM(y) AS y,
    SUM(x * y) AS xy,
    SUM(x * x * y) AS x2y,
    SUM(y * y) AS y2
FROM measured
GROUP BY job, platform, version, host
ORDER BY job, platform, version, host
