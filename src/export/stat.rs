//! Counts of events in the three forms of `perf stat`: aligned text, values separated by any text, a JSON object per line.

use super::quote::inert;
use crate::view::escape::visible;
use crate::view::number;
use crate::view::stat::{NoValue, StatRow};
use serde::Serialize;
use std::fmt::Write as _;

/// Width of values.
const VALUE: usize = 18;
/// Width of names.
const NAME: usize = 32;
/// Width of control groups.
const CGROUP: usize = 16;
/// Width of what a value comes to.
const METRIC: usize = 35;

/// The form of the lines.
#[derive(Debug, Clone)]
pub enum StatFormat {
    /// For people.
    Text,
    /// Values with this text between them.
    Separated(String),
    /// A JSON object per line.
    Json,
}

/// What follows the lines of the text.
#[derive(Debug, Clone, Copy, Default)]
pub struct StatEnd {
    /// Elapsed seconds: the mean, and its relative standard error in percent.
    pub elapsed: (f64, Option<f64>),
    /// A command's seconds in user mode and in the kernel.
    pub times: Option<(f64, f64)>,
}

/// The whole text: its first line, the lines, and the times.
#[must_use]
pub fn text(label: &str, runs: usize, rows: &[StatRow], end: &StatEnd) -> String {
    let several = if runs > 1 { format!(" ({runs} runs)") } else { String::new() };
    let mut out = format!("\n Performance counter stats for {}{several}:\n\n", visible(label));
    out += &lines(rows, None, &StatFormat::Text, runs > 1);
    let (elapsed, error) = end.elapsed;
    // Writing to a String cannot fail.
    let _ = match error {
        Some(error) => writeln!(
            out,
            "\n{elapsed:>VALUE$.5} +- {:.5} seconds time elapsed  ( +- {error:5.2}% )\n",
            elapsed * error / 100.0
        ),
        None => writeln!(out, "\n{elapsed:>VALUE$.9} seconds time elapsed\n"),
    };
    if let (Some((user, system)), None) = (end.times, error) {
        let _ = writeln!(out, "{user:>VALUE$.9} seconds user\n{system:>VALUE$.9} seconds sys\n");
    }
    out + "\n"
}

/// The head of lines of intervals; empty for programs.
#[must_use]
pub fn interval_head(format: &StatFormat) -> &'static str {
    if matches!(format, StatFormat::Text) { "#           time             counts unit events\n" } else { "" }
}

/// The lines; those of an interval begin with the seconds at its end.
#[must_use]
pub fn lines(rows: &[StatRow], at: Option<f64>, format: &StatFormat, several: bool) -> String {
    let line = |row: &StatRow| match format {
        StatFormat::Text => plain(row, at),
        StatFormat::Separated(by) => separated(row, at, by, several),
        StatFormat::Json => json(row, at),
    };
    rows.iter().map(|row| line(row) + "\n").collect()
}

fn plain(row: &StatRow, at: Option<f64>) -> String {
    let at = at.map_or(String::new(), |at| format!("{at:>16.9} "));
    let value = row.value.map_or_else(|none| none_text(none).to_string(), |value| thousands(value, row.decimals));
    let metric = match (&row.metric, &row.reason) {
        (_, Some(reason)) => format!("# {reason}"),
        (Some((value, unit, 2)), _) if unit.starts_with("of all") => format!("#  {value:>7.2}% {unit}"),
        (Some((value, unit, decimals)), _) => {
            format!("# {value:>8.decimals$} {}{unit}", if *decimals == 2 { " " } else { "" })
        }
        (None, None) => String::new(),
    };
    let error = row.error.map_or(String::new(), |error| format!(" ( +- {error:5.2}% )"));
    let share = if row.value.is_ok() && row.share < 99.995 { format!(" ({:.2}%)", row.share) } else { String::new() };
    let cgroup = row.cgroup.as_ref().map_or(String::new(), |cgroup| format!("{:<CGROUP$} ", visible(cgroup)));
    let line = format!(
        "{at}{value:>VALUE$} {:<4} {:<NAME$} {cgroup}{metric:<METRIC$}{error}{share}",
        row.unit,
        visible(&row.name)
    );
    line.trim_end().to_string()
}

/// perf's order: value, unit, event, control group of several, error of several runs, time counted, its share, metric and its unit.
fn separated(row: &StatRow, at: Option<f64>, by: &str, several: bool) -> String {
    let mut fields: Vec<String> = at.map(|at| format!("{at:>16.9}")).into_iter().collect();
    fields.push(plain_value(row, row.decimals));
    fields.extend([row.unit.to_string(), visible(&row.name).into_owned()]);
    fields.extend(row.cgroup.as_deref().map(|cgroup| visible(cgroup).into_owned()));
    if several {
        fields.push(format!("{:.2}%", row.error.unwrap_or(0.0)));
    }
    fields.extend([format!("{:.0}", row.running), format!("{:.2}", row.share)]);
    fields.extend(match &row.metric {
        Some((value, unit, decimals)) => [format!("{value:.decimals$}"), unit.clone()],
        None => [String::new(), String::new()],
    });
    fields.join(by)
}

/// perf's keys, and `reason`.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Line<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    interval: Option<f64>,
    counter_value: String,
    unit: &'a str,
    event: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cgroup: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    variance: Option<f64>,
    event_runtime: u64,
    pcnt_running: f64,
    metric_value: f64,
    metric_unit: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

fn json(row: &StatRow, at: Option<f64>) -> String {
    let hundredth = |value: f64| (value * 100.0).round() / 100.0;
    let (metric_value, metric_unit) = row.metric.as_ref().map_or((0.0, ""), |(value, unit, _)| (*value, unit));
    let line = Line {
        interval: at,
        counter_value: plain_value(row, 6),
        unit: row.unit,
        event: &row.name,
        cgroup: row.cgroup.as_deref(),
        variance: row.error.map(hundredth),
        event_runtime: row.running as u64,
        pcnt_running: hundredth(row.share),
        metric_value,
        metric_unit,
        reason: row.reason.as_deref(),
    };
    // Numbers and text always have a JSON form.
    inert(&serde_json::to_string(&line).unwrap_or_default()).into_owned()
}

fn plain_value(row: &StatRow, decimals: usize) -> String {
    row.value.map_or_else(|none| none_text(none).to_string(), |value| format!("{value:.decimals$}"))
}

fn none_text(none: NoValue) -> &'static str {
    match none {
        NoValue::NotSupported => "<not supported>",
        NoValue::NotCounted => "<not counted>",
    }
}

/// A value with thousands separators.
fn thousands(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let (whole, rest) = text.split_once('.').map_or((text.as_str(), ""), |(whole, rest)| (whole, rest));
    let whole = whole.parse().map_or_else(|_| whole.to_string(), number::count);
    if rest.is_empty() { whole } else { format!("{whole}.{rest}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(value: Result<f64, NoValue>, name: &str) -> StatRow {
        StatRow {
            value,
            decimals: 0,
            unit: "",
            name: name.to_string(),
            cgroup: None,
            error: None,
            running: 590_536.4,
            share: 100.0,
            metric: None,
            reason: None,
        }
    }

    /// The first three are lines of perf 6.1 itself, but for the blanks at their ends.
    #[test]
    fn a_line_stands_where_perf_has_it() {
        let clock = StatRow {
            decimals: 2,
            unit: "msec",
            metric: Some((0.62, "CPUs utilized".to_string(), 3)),
            ..row(Ok(0.651), "task-clock")
        };
        let faults = StatRow {
            error: Some(0.71),
            metric: Some((79.212, "K/sec".to_string(), 3)),
            ..row(Ok(47.2), "page-faults")
        };
        let cycles = row(Err(NoValue::NotSupported), "cycles");
        let misses = StatRow {
            share: 83.25,
            metric: Some((1.234, "of all branches".to_string(), 2)),
            ..row(Ok(1_234_567.0), "branch\u{1b}misses")
        };
        for (row, expected) in [
            (&clock, "              0.65 msec task-clock                       #    0.620 CPUs utilized"),
            (
                &faults,
                "                47      page-faults                      #   79.212 K/sec                    ( +-  0.71% )",
            ),
            (&cycles, "   <not supported>      cycles"),
            (
                &misses,
                "         1,234,567      branch␛misses                    #     1.23% of all branches         (83.25%)",
            ),
        ] {
            assert_eq!(plain(row, None), expected);
        }
        assert_eq!(plain(&cycles, Some(0.1)), "     0.100000000    <not supported>      cycles");
        assert_eq!(separated(&clock, None, ",", false), "0.65,msec,task-clock,590536,100.00,0.620,CPUs utilized");
        assert_eq!(
            separated(&cycles, Some(0.5), ";", true),
            "     0.500000000;<not supported>;;cycles;0.00%;590536;100.00;;"
        );
        let grouped = StatRow { cgroup: Some("web".to_string()), ..clock.clone() };
        assert_eq!(separated(&grouped, None, ",", false), "0.65,msec,task-clock,web,590536,100.00,0.620,CPUs utilized");
        let text = "              0.65 msec task-clock                       web              #    0.620 CPUs utilized";
        assert_eq!(plain(&grouped, None), text);
        assert!(json(&grouped, None).contains(r#""event":"task-clock","cgroup":"web","event-runtime""#));
        let object = json(&StatRow { reason: Some("why".to_string()), ..cycles }, None);
        assert!(
            object
                .starts_with(r#"{"counter-value":"<not supported>","unit":"","event":"cycles","event-runtime":590536"#)
        );
        assert!(object.ends_with(r#""metric-unit":"","reason":"why"}"#), "{object}");
    }

    #[test]
    fn the_end_has_the_times_of_one_run_or_the_error_of_several() {
        let one = text("'a\u{1b}b'", 1, &[], &StatEnd { elapsed: (0.001_041_6, None), times: Some((0.5, 0.0)) });
        assert!(one.starts_with("\n Performance counter stats for 'a␛b':\n\n"), "{one}");
        assert!(
            one.contains("\n       0.001041600 seconds time elapsed\n\n       0.500000000 seconds user\n"),
            "{one}"
        );
        let several = text("'x'", 3, &[], &StatEnd { elapsed: (0.00225, Some(62.18)), times: Some((0.5, 0.0)) });
        assert!(several.contains("'x' (3 runs):"), "{several}");
        assert!(several.contains("           0.00225 +- 0.00140 seconds time elapsed  ( +- 62.18% )\n"), "{several}");
        assert!(!several.contains("user"));
    }
}
