//! The gauges of a watch as OpenMetrics 1.0 text, for Prometheus and compatible scrapers.
//! Values that were not measured are left out, because 0 would be a claim.

use super::inert;
use crate::model::Unit;
use crate::view::escape::visible;
use crate::view::watch::{Gauges, LoadAxis, NeighbourKind, QuantityDeviation};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The `Content-Type` of a response with the page.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Maximum characters of a label's value. Program names are shorter, and more would only cost the scraper memory.
const LONGEST_LABEL: usize = 120;

/// The whole page.
#[must_use]
pub fn page(gauges: &Gauges) -> Vec<u8> {
    let mut text: String = families(gauges).iter().map(Family::text).collect();
    text.push_str("# EOF\n");
    inert::document(text)
}

/// What the page shows, family by family; no family is empty.
pub(super) fn families(gauges: &Gauges) -> Vec<Family> {
    let mut page = Page::default();
    about(&mut page, gauges);
    state(&mut page, gauges);
    quantities(&mut page, &gauges.quantities);
    suspects(&mut page, gauges);
    own(&mut page, gauges);
    page.families.retain(|family| !family.samples.is_empty());
    page.families
}

fn about(page: &mut Page, gauges: &Gauges) {
    page.family("ironlaw_build", "info", "", "What writes this.");
    page.sample("_info", &[("version", &gauges.tool)], 1.0);
    page.family("ironlaw_watch", "info", "", "The target, and the baseline it is compared with.");
    page.sample("_info", &[("target", &gauges.target), ("baseline", &gauges.baseline)], 1.0);
}

fn state(page: &mut Page, gauges: &Gauges) {
    page.family("ironlaw_state", "stateset", "", "State of the target compared with its baseline.");
    for state in gauges.states {
        page.sample("", &[("ironlaw_state", state.name())], f64::from(u8::from(*state == gauges.state)));
    }
    page.family("ironlaw_windows", "counter", "", "Windows by state.");
    for (state, count) in &gauges.windows {
        page.sample("_total", &[("state", state.name())], *count as f64);
    }
    page.family("ironlaw_alarms", "counter", "", "Alarms by their most probable cause when they were raised.");
    for (cause, count) in &gauges.alarms {
        page.sample("_total", &[("cause", cause.name())], *count as f64);
    }
    let (axis, what) = match gauges.axis {
        LoadAxis::OpsPerSecond => ("ironlaw_load_operations_per_second", "Operations per second."),
        LoadAxis::BusyCores => ("ironlaw_load_busy_cpus", "CPUs kept busy by the target."),
    };
    page.one(axis, "gauge", "", what, gauges.load);
    page.one(
        "ironlaw_slowdown_ratio",
        "gauge",
        "ratio",
        "The primary quantity over its usual value, in the last window.",
        gauges.ratio,
    );
    let last = gauges.last_window.map(|moment| moment.0 as f64 / 1e9);
    page.one("ironlaw_last_window_timestamp_seconds", "gauge", "seconds", "When the last window ended.", last);
}

/// One family per unit, because a family has exactly one.
fn quantities(page: &mut Page, all: &[QuantityDeviation]) {
    const MEASURES: [(&str, &str); 2] = [("now", "over the last windows"), ("expected", "as usual at this load")];
    let units: BTreeSet<_> =
        all.iter().map(|gauge| base(gauge.quantity.unit)).map(|(unit, suffix, _)| (suffix, unit)).collect();
    for (measure, when) in MEASURES {
        for (suffix, unit) in &units {
            let name = format!("ironlaw_quantity_{measure}{}{suffix}", if suffix.is_empty() { "" } else { "_" });
            page.family(&name, "gauge", unit, &format!("Quantities {when}."));
            for gauge in all.iter().filter(|gauge| base(gauge.quantity.unit).1 == *suffix) {
                let value = if measure == "now" { gauge.now } else { gauge.expected };
                page.sample("", &[("quantity", gauge.quantity.name)], value * base(gauge.quantity.unit).2);
            }
        }
    }
    page.family(
        "ironlaw_quantity_deviations",
        "gauge",
        "",
        "Distance of a quantity from its usual value at this load, in usual deviations.",
    );
    for gauge in all {
        page.sample("", &[("quantity", gauge.quantity.name)], gauge.deviations);
    }
}

/// The base unit as the format names it, the suffix of a family's name, and the conversion factor.
fn base(unit: Unit) -> (&'static str, &'static str, f64) {
    match unit {
        Unit::Nanos => ("seconds", "seconds", 1e-9),
        Unit::Micros => ("seconds", "seconds", 1e-6),
        Unit::Seconds => ("seconds", "seconds", 1.0),
        Unit::Share => ("ratio", "ratio", 1.0),
        Unit::Bytes => ("bytes", "bytes", 1.0),
        Unit::Hertz => ("hertz", "hertz", 1.0),
        Unit::PerSecond => ("", "per_second", 1.0),
        Unit::BytesPerSecond => ("", "bytes_per_second", 1.0),
        // CPUs, threads, counts and quotients of counts have no unit.
        _ => ("", "", 1.0),
    }
}

fn suspects(page: &mut Page, gauges: &Gauges) {
    let mut seen = BTreeSet::new();
    let mut rows = Vec::new();
    for suspect in &gauges.suspects {
        let pid = suspect.pid.map(|pid| pid.to_string()).unwrap_or_default();
        let row = (kind(suspect.kind), label(&suspect.name), pid);
        // Two series with the same labels would make the whole page invalid.
        if seen.insert(row.clone()) {
            rows.push((row, suspect));
        }
    }
    page.family(
        "ironlaw_suspect_score",
        "gauge",
        "",
        "Correlation of a neighbour's CPU use with the target's slowdown, -1 to 1. Correlation is not proof.",
    );
    for ((kind, name, pid), suspect) in &rows {
        page.sample("", &[("kind", kind), ("name", name), ("pid", pid)], suspect.score);
    }
    page.family("ironlaw_suspect_busy_cpus", "gauge", "", "CPUs a suspect kept busy while the target was slow.");
    for ((kind, name, pid), suspect) in &rows {
        page.sample("", &[("kind", kind), ("name", name), ("pid", pid)], suspect.cores);
    }
}

fn kind(kind: NeighbourKind) -> &'static str {
    match kind {
        NeighbourKind::Process => "process",
        NeighbourKind::Cgroup => "cgroup",
        NeighbourKind::Resctrl => "resctrl",
        NeighbourKind::Rest => "rest",
    }
}

fn own(page: &mut Page, gauges: &Gauges) {
    page.family("ironlaw_cpu_seconds", "counter", "seconds", "CPU time of ironlaw itself.");
    page.sample("_total", &[], gauges.cpu_seconds);
    let resident = gauges.resident_bytes.map(|bytes| bytes as f64);
    page.one("ironlaw_resident_memory_bytes", "gauge", "bytes", "Memory of ironlaw itself.", resident);
    page.family("ironlaw_lost_records", "counter", "", "Records lost because a ring was full.");
    page.sample("_total", &[], gauges.lost as f64);
}

/// Values of one name, with what they are.
#[derive(Debug)]
pub(super) struct Family {
    pub name: String,
    /// As OpenMetrics calls it.
    pub kind: &'static str,
    /// As OpenMetrics calls it; empty without one.
    pub unit: String,
    pub help: String,
    pub samples: Vec<FamilySample>,
}

/// One value.
#[derive(Debug)]
pub(super) struct FamilySample {
    /// What follows the family's name.
    pub suffix: &'static str,
    pub labels: Vec<(&'static str, String)>,
    pub value: f64,
}

impl Family {
    fn text(&self) -> String {
        let Family { name, kind, unit, help, samples } = self;
        let mut text = format!("# TYPE {name} {kind}\n");
        if !unit.is_empty() {
            text.push_str(&format!("# UNIT {name} {unit}\n"));
        }
        text.push_str(&format!("# HELP {name} {help}\n"));
        for FamilySample { suffix, labels, value } in samples {
            text.push_str(name);
            text.push_str(suffix);
            for (at, (name, value)) in labels.iter().enumerate() {
                // Writing to a String cannot fail.
                let _ = write!(text, "{}{name}=\"{}\"", if at == 0 { '{' } else { ',' }, escaped(value));
            }
            if !labels.is_empty() {
                text.push('}');
            }
            let _ = writeln!(text, " {value:?}");
        }
        text
    }
}

/// The families so far; samples go to the last one.
#[derive(Default)]
struct Page {
    families: Vec<Family>,
}

impl Page {
    fn family(&mut self, name: &str, kind: &'static str, unit: &str, help: &str) {
        let (name, unit, help) = (name.to_string(), unit.to_string(), help.to_string());
        self.families.push(Family { name, kind, unit, help, samples: Vec::new() });
    }

    /// Adds one value, unless it is not finite.
    fn sample(&mut self, suffix: &'static str, labels: &[(&'static str, &str)], value: f64) {
        if let Some(family) = self.families.last_mut().filter(|_| value.is_finite()) {
            let labels = labels.iter().map(|(name, value)| (*name, label(value))).collect();
            family.samples.push(FamilySample { suffix, labels, value });
        }
    }

    /// Adds a family of one value, if there is one.
    fn one(&mut self, name: &str, kind: &'static str, unit: &str, help: &str, value: Option<f64>) {
        self.family(name, kind, unit, help);
        if let Some(value) = value {
            self.sample("", &[], value);
        }
    }
}

/// A label's value: short, and with control characters made visible.
fn label(text: &str) -> String {
    visible(text).chars().take(LONGEST_LABEL).collect()
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::attribution::Cause;
    use crate::analysis::diff::quantities;
    use crate::view::watch::{Moment, Suspect, WindowState};

    fn gauges() -> Gauges {
        let mut gauges = Gauges::new("pid 41".into(), "a\"b\\c\n.baseline".into(), LoadAxis::OpsPerSecond);
        gauges.tool = "1.2.3".into();
        gauges.state = WindowState::Alarm;
        gauges.count_window(WindowState::Alarm);
        gauges.count_alarm(Cause::Llc);
        gauges.load = Some(1250.5);
        let gauge = |name: &str, now| QuantityDeviation {
            quantity: quantities().into_iter().find(|quantity| quantity.name == name).unwrap(),
            now,
            expected: 2.0,
            band: (1.0, 3.0),
            deviations: -1.5,
            q: 0.5,
            windows_outside: 0,
            moved: false,
        };
        gauges.quantities = vec![gauge("cpu_ns_per_op", 5e6), gauge("cpi", 1.25), gauge("steal_share", f64::NAN)];
        let score = |name: &str, pid| Suspect {
            kind: NeighbourKind::Process,
            name: name.into(),
            pid,
            cgroup: None,
            score: 0.5,
            above_threshold: true,
            cores: 1.0,
            cores_before: 0.0,
            evidence: vec![],
        };
        gauges.suspects =
            vec![score("java", Some(1)), score("java", Some(2)), score("java", Some(2)), score("\u{1b}[2J", None)];
        gauges.last_window = Some(Moment(1_500_000_000));
        gauges.cpu_seconds = 0.25;
        gauges
    }

    fn text(gauges: &Gauges) -> String {
        String::from_utf8_lossy(&page(gauges)).into_owned()
    }

    #[test]
    fn every_value_has_its_family_its_unit_and_its_labels() {
        let text = text(&gauges());
        for line in [
            "# TYPE ironlaw_build info",
            "ironlaw_build_info{version=\"1.2.3\"} 1.0",
            "ironlaw_watch_info{target=\"pid 41\",baseline=\"a\\\"b\\\\c\u{240a}.baseline\"} 1.0",
            "ironlaw_state{ironlaw_state=\"alarm\"} 1.0",
            "ironlaw_state{ironlaw_state=\"usual\"} 0.0",
            "ironlaw_alarms_total{cause=\"llc\"} 1.0",
            "ironlaw_alarms_total{cause=\"steal\"} 0.0",
            "ironlaw_load_operations_per_second 1250.5",
            "# UNIT ironlaw_quantity_now_seconds seconds",
            "ironlaw_quantity_now_seconds{quantity=\"cpu_ns_per_op\"} 0.005",
            "ironlaw_quantity_now{quantity=\"cpi\"} 1.25",
            "ironlaw_quantity_expected_ratio{quantity=\"steal_share\"} 2.0",
            "ironlaw_quantity_deviations{quantity=\"cpi\"} -1.5",
            "ironlaw_suspect_score{kind=\"process\",name=\"java\",pid=\"2\"} 0.5",
            "ironlaw_suspect_score{kind=\"process\",name=\"\u{241b}[2J\",pid=\"\"} 0.5",
            "ironlaw_last_window_timestamp_seconds 1.5",
            "ironlaw_cpu_seconds_total 0.25",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
        assert!(text.ends_with("# EOF\n") && text.matches("# EOF").count() == 1);
    }

    #[test]
    fn what_was_not_measured_is_left_out_with_its_head() {
        let text = text(&gauges());
        for absent in ["ironlaw_slowdown_ratio", "ironlaw_resident_memory_bytes", "ironlaw_quantity_now_ratio", "NaN"] {
            assert!(!text.contains(absent), "{absent} is in\n{text}");
        }
    }

    #[test]
    fn no_series_stands_twice_and_no_family_is_split() {
        let text = text(&gauges());
        let mut series = BTreeSet::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let key = line.rsplit_once(' ').map_or("", |(key, _)| key);
            assert!(series.insert(key), "{key} stands twice in\n{text}");
        }
        let mut families = BTreeSet::new();
        for line in text.lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
            assert!(families.insert(line), "{line} stands twice");
        }
    }
}
