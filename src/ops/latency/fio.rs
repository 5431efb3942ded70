//! What fio prints for people, or with `--output-format=json` or `json+`.

use super::bins::{Interval, LatencyBins};
use super::printed::{Printed, in_unit, number, share};
use super::ranks::Ranks;
use super::summary::{Summary, none};
use crate::error::{Context, Result};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Its histogram has 64 steps in an octave, and percentiles are the middle of a step.
const STEPS: u32 = 6;

/// The latencies of all jobs, in all directions.
pub(super) fn parse(text: &str) -> Result<Summary> {
    let mut bins = LatencyBins::default();
    // Warnings may come first.
    let json = text.lines().position(|line| line.trim_end() == "{");
    match json {
        Some(line) => json_jobs(text, line, &mut bins)?,
        None => normal(text, &mut bins),
    }
    if bins.count() == 0 {
        return Err(none("fio has printed no latencies", "Let it run to its end, with percentiles (the default)."));
    }
    Ok(Summary::of(bins))
}

/// The step whose middle is printed in nanoseconds.
fn step(ns: f64) -> Interval {
    let octave = (ns.max(1.0) as u64).ilog2();
    let half = if octave > STEPS { f64::from(octave - STEPS).exp2() / 2.0 } else { 0.0 };
    Interval::rounded(ns, half)
}

#[derive(Debug, Deserialize)]
struct Report {
    jobs: Vec<Job>,
}

#[derive(Debug, Deserialize)]
struct Job {
    #[serde(default)]
    read: Direction,
    #[serde(default)]
    write: Direction,
    #[serde(default)]
    trim: Direction,
}

#[derive(Debug, Default, Deserialize)]
struct Direction {
    #[serde(default)]
    clat_ns: Clat,
    #[serde(default)]
    lat_ns: Clat,
}

#[derive(Debug, Default, Deserialize)]
struct Clat {
    #[serde(default)]
    min: f64,
    #[serde(default)]
    max: f64,
    #[serde(default, rename = "N")]
    count: u64,
    #[serde(default)]
    percentile: BTreeMap<String, f64>,
    #[serde(default)]
    bins: BTreeMap<String, u64>,
}

fn json_jobs(text: &str, line: usize, bins: &mut LatencyBins) -> Result<()> {
    let from: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    // The normal output may follow.
    let report = serde_json::Deserializer::from_str(&text[from..]).into_iter::<Report>().next();
    let report = report.unwrap_or_else(|| Ok(Report { jobs: Vec::new() }));
    let report =
        report.map_err(|error| none(&error.to_string(), "Give it --output-format=json, and nothing after it."));
    for job in report.context(|| "cannot read fio's JSON")?.jobs {
        for direction in [job.read, job.write, job.trim] {
            let Direction { clat_ns, lat_ns } = direction;
            // Percentiles are of completion latency unless --lat_percentiles asks for those from submission on.
            let total = !lat_ns.percentile.is_empty() || !lat_ns.bins.is_empty();
            (if total { lat_ns } else { clat_ns }).add_to(bins);
        }
    }
    Ok(())
}

impl Clat {
    fn add_to(self, bins: &mut LatencyBins) {
        let number = |text: &str| text.parse::<f64>().ok().filter(|ns| ns.is_finite() && *ns >= 0.0);
        if !self.bins.is_empty() {
            let steps = self.bins.iter().filter_map(|(ns, count)| Some((number(ns)?, *count)));
            return steps.for_each(|(ns, count)| bins.add(step(ns), count));
        }
        let mut ranks = Ranks::of(self.count);
        for (share, ns) in self.percentile.iter().filter_map(|(percent, ns)| Some((share(percent)?, *ns))) {
            ranks.quantile(share, step(ns));
        }
        ranks.shortest(Interval::rounded(self.min, 0.0));
        ranks.longest(Interval::rounded(self.max, 0.0));
        ranks.add_to(bins);
    }
}

/// What a direction of a job says, until its count comes.
#[derive(Debug, Default)]
struct Section {
    direction: usize,
    /// Of completion, then of the whole latency.
    found: [Numbers; 2],
}

#[derive(Debug, Default)]
struct Numbers {
    ends: Option<[Interval; 2]>,
    quantiles: Vec<(f64, Interval)>,
}

fn normal(text: &str, bins: &mut LatencyBins) {
    let mut sections: Vec<Section> = Vec::new();
    let mut table = None;
    for line in text.lines().map(str::trim_start) {
        if let Some(direction) = ["read", "write", "trim"].iter().position(|it| is_head(line, it)) {
            sections.push(Section { direction, ..Section::default() });
        } else if let Some(counts) = line.strip_prefix("issued rwts: total=") {
            let counts: Vec<u64> = counts.split([',', ' ']).map_while(|count| count.parse().ok()).collect();
            sections.drain(..).for_each(|section| section.add_to(&counts, bins));
        } else if let Some(section) = sections.last_mut() {
            section.take(line, &mut table);
        }
    }
}

fn is_head(line: &str, direction: &str) -> bool {
    line.strip_prefix(direction).is_some_and(|rest| rest.starts_with(": IOPS="))
}

/// `clat (nsec): ...`, `lat percentiles (usec):`: which it is, its unit, and what follows the colon.
fn table_of<'a>(line: &'a str, after: &str) -> Option<(usize, f64, &'a str)> {
    let which = ["clat", "lat"].iter().position(|name| line.split_whitespace().next() == Some(name))?;
    let (unit, rest) =
        line.trim_start_matches("clat").trim_start_matches("lat").strip_prefix(after)?.split_once("):")?;
    let ns = match unit {
        "nsec" => 1.0,
        "usec" => 1e3,
        "msec" => 1e6,
        "sec" => 1e9,
        _ => return None,
    };
    Some((which, ns, rest))
}

impl Section {
    fn take(&mut self, line: &str, table: &mut Option<(usize, f64)>) {
        if let Some((which, ns, rest)) = table_of(line, " (") {
            self.found[which].ends = field(rest, "min=", ns).zip(field(rest, "max=", ns)).map(<[Interval; 2]>::from);
        } else if let Some((which, ns, _)) = table_of(line, " percentiles (") {
            *table = Some((which, ns));
        } else if let (Some(row), Some((which, ns))) = (line.strip_prefix('|'), *table) {
            self.found[which].quantiles.extend(row.split("],").filter_map(|cell| quantile(cell, ns)));
        } else {
            *table = None;
        }
    }

    fn add_to(self, counts: &[u64], bins: &mut LatencyBins) {
        let Section { direction, found: [completion, whole] } = self;
        let numbers = if whole.quantiles.is_empty() { completion } else { whole };
        let mut ranks = Ranks::of(counts.get(direction).copied().unwrap_or(0));
        if let Some([shortest, longest]) = numbers.ends {
            ranks.shortest(shortest);
            ranks.longest(longest);
        }
        numbers.quantiles.into_iter().for_each(|(share, lies)| ranks.quantile(share, lies));
        ranks.add_to(bins);
    }
}

/// ` 99.00th=[  644]`: nanoseconds as they are, larger units rounded up.
fn quantile(cell: &str, ns: f64) -> Option<(f64, Interval)> {
    let (percent, value) = cell.split_once("th=[")?;
    let (printed, "") = number(value.trim_end_matches(']').trim())? else { return None };
    if ns == 1.0 {
        return Some((share(percent.trim())?, step(printed.value)));
    }
    let half_step = 1.0 + f64::from(STEPS + 1).exp2().recip();
    let low = (printed.value - 1.0).max(0.0) * ns / half_step;
    Some((share(percent.trim())?, Interval { low, high: Some(printed.value * ns * half_step + 1.0) }))
}

/// `min=1252, max=15930k`
fn field(text: &str, name: &str, ns: f64) -> Option<Interval> {
    let (_, value) = text.split_once(name)?;
    let (Printed { value, half }, rest) = number(value.trim_start())?;
    let thousands = match rest.chars().next() {
        Some('k') => 1e3,
        Some('M') => 1e6,
        Some('G') => 1e9,
        _ => 1.0,
    };
    // Not always rounded to the nearest.
    Some(in_unit(Printed { value, half: 2.0 * half }, ns * thousands))
}

/// A line of a latency log, `MILLISECONDS, NANOSECONDS, DIRECTION, BYTES, OFFSET...`: when it ended, and what it took.
pub(super) fn logged(line: &str) -> Option<(u64, u64)> {
    let mut fields = line.split(',').map(|field| field.trim().parse::<u64>().ok());
    let (ms, ns, direction, _) = (fields.next()??, fields.next()??, fields.next()??, fields.next()??);
    (direction <= 3).then_some((ms, ns))
}
