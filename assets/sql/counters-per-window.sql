-- What each counter of the whole target counted in each window: the difference of its readings, scaled up where it was
-- multiplexed, with the share of the window in which it really counted.
-- Run inside a recording:  cd NAME.ironlaw && duckdb < .../counters-per-window.sql
-- A reading that did not change may be left out of the recording: a window without a row counted nothing.

WITH reading AS (
    SELECT
        counter, at_ns,
        value::HUGEINT - lag(value, 1, 0) OVER so_far AS counted,
        enabled_ns::HUGEINT - lag(enabled_ns, 1, 0) OVER so_far AS enabled,
        running_ns::HUGEINT - lag(running_ns, 1, 0) OVER so_far AS running
    FROM 'windows-*.parquet'
    WHERE scope = 'target'
    WINDOW so_far AS (PARTITION BY counter ORDER BY at_ns)
), tick AS (
    SELECT at_ns, span_ns FROM 'windows-*.parquet' WHERE span_ns IS NOT NULL
)
SELECT
    round(tick.at_ns / 1e9, 3) AS window_end_s,
    round(tick.span_ns / 1e9, 3) AS window_s,
    counters.name,
    counters.unit,
    CASE WHEN running > 0 THEN round(counted * (enabled / running)) END AS counted,
    CASE WHEN enabled > 0 THEN round(running / enabled, 3) END AS coverage
FROM reading
ASOF JOIN tick ON reading.at_ns <= tick.at_ns
JOIN 'counters-*.parquet' AS counters USING (counter)
ORDER BY window_end_s, counters.counter;
