//! What the registry of metrics says of each.

use super::Unit;
use serde::Serialize;

/// Which part of a report a metric belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Section {
    /// Cost of one of the program's operations.
    Operation,
    /// How long operations take; only with `--latency`.
    Latency,
    /// The target's use of the CPUs.
    Cpu,
    /// Memory, branches and pipeline, from hardware counters.
    Hardware,
    /// How the scheduler treated the target.
    Scheduler,
    /// Page faults.
    Memory,
    /// Limits and pressure of the target's cgroup.
    Cgroup,
    /// The host.
    Host,
    /// Cache and memory latencies measured by ironlaw's own canaries; only with `--probe`.
    Probe,
    /// ironlaw's own cost and losses.
    Tool,
}

/// Which direction is cheaper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Less of it.
    Less,
    /// More of it.
    More,
    /// Neither: it describes load or surroundings.
    Neither,
}

/// The role of a metric in a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The cost of an operation: costs are judged, and corrected for their number as one family.
    Cost,
    /// How long an operation takes: quantiles are judged, and corrected for their number as a family of their own.
    Latency,
    /// How much there was to do.
    Load,
    /// How the rest of the time was spent, and the state of the machine.
    Context,
}

/// Hardware metrics that are asked for together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricSet {
    /// Branches and clock.
    Base,
    /// Caches and memory.
    Cache,
    /// Address translation.
    Tlb,
    /// Memory of other nodes.
    Numa,
    /// Lines shared between cores.
    Sharing,
    /// The top-down method.
    Topdown,
    /// What memory-bound slots wait for.
    Memory,
    /// Rarely needed.
    More,
}

/// Whose readings a metric comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readings {
    /// The selected threads, or the whole target.
    Tasks,
    /// The whole target, whatever is selected: its cgroup's counters cannot be split.
    Target,
    /// The host.
    Host,
    /// ironlaw itself.
    Tool,
}

/// What is computed from the latencies of operations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LatencyMeasure {
    /// The latency that this share of the operations, 0 to 1, does not exceed.
    Quantile(f64),
    /// How far the p99 of a window is from that of the window before, as a mean over windows.
    Fluctuation,
    /// The range of the windows' p99 over their median.
    Range,
    /// The share of windows whose p99 is within the SLO.
    Availability,
    /// The entropy of the distribution over intervals of one width.
    Entropy,
}

/// How a metric is computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Computation {
    /// Growth, times a factor.
    Total(Readings, &'static str, f64),
    /// Growth per second of the window.
    PerSecond(Readings, &'static str),
    /// Growth of a time over the window's length.
    OverWall(Readings, &'static str),
    /// One growth over another of the same readings.
    Over(Readings, &'static str, &'static str),
    /// One growth over the sum of itself and another.
    Part(&'static str, &'static str),
    /// The share of the last that remains after the first two.
    Rest(&'static str, &'static str, &'static str),
    /// One growth over another, counted in one group.
    Grouped(&'static str, &'static str),
    /// Growth per second of CPU time.
    PerCpuSecond(&'static str, &'static str),
    /// Highest value.
    Peak(Readings, &'static str),
    /// The difference of two mean times on the host, each a total time over its count.
    Gap([&'static str; 2], [&'static str; 2]),
    /// Lost records over lost records and samples.
    LostShare,
    /// Sampled time over CPU time.
    Sampled,
    /// Samples, times the cost of one to the target, over CPU time.
    Sampling,
    /// Context switches while hardware events are counted, times what that adds to one, over CPU time.
    Counting,
    /// Operations completed.
    Operations,
    /// Operations per second of the window.
    OperationRate,
    /// Growth per operation, times a factor.
    PerOperation(&'static str, f64),
    /// Formulas over roles of hardware events ([`super::Formula`]), best first. They may also contain `task-clock`
    /// (nanoseconds), `wall` (nanoseconds) and `slots-per-cycle`, which a plan replaces by a number
    /// ([`super::HardwarePlan::formulas`]). A recording uses its plan's own formula if there is one, else the first
    /// whose roles are all counted.
    Events(&'static [&'static str]),
    /// The same, per operation.
    EventsPerOperation(&'static [&'static str]),
    /// From the latencies of all operations that ended in the window.
    Latency(LatencyMeasure),
    /// From the totals of a window; the formula as text.
    Law(&'static str),
}

use Computation::{
    Counting, Events, EventsPerOperation, Gap, Grouped, Latency, Law, LostShare, OperationRate, Operations, Over,
    OverWall, Part, Peak, PerCpuSecond, PerOperation, PerSecond, Rest, Sampled, Sampling, Total,
};

impl Computation {
    /// The counters it needs; those of hardware formulas depend on the machine.
    #[must_use]
    pub fn counters(self) -> Vec<&'static str> {
        match self {
            Total(_, a, _) | PerSecond(_, a) | OverWall(_, a) | Peak(_, a) | PerOperation(a, _) => vec![a],
            Over(_, a, b) | Part(a, b) | Grouped(a, b) | PerCpuSecond(a, b) => vec![a, b],
            Rest(a, b, c) => vec![a, b, c],
            Gap([a, b], [c, d]) => vec![a, b, c, d],
            LostShare
            | Sampled
            | Sampling
            | Counting
            | Operations
            | OperationRate
            | Events(_)
            | EventsPerOperation(_)
            | Latency(_)
            | Law(_) => vec![],
        }
    }

    /// The formula as text: `wall` is the window's length, `d` the growth within it.
    #[must_use]
    pub fn text(self) -> String {
        match self {
            Total(_, a, _) => format!("d {a}"),
            PerSecond(_, a) | OverWall(_, a) => format!("d {a} / wall"),
            Over(_, a, b) | Grouped(a, b) | PerCpuSecond(a, b) => format!("d {a} / d {b}"),
            Part(a, b) => format!("d {a} / (d {a} + d {b})"),
            Rest(a, b, c) => format!("1 - (d {a} + d {b}) / d {c}"),
            Peak(_, a) => format!("max {a}"),
            Gap([a, b], [c, d]) => format!("d {a} / d {b} - d {c} / d {d}"),
            LostShare => "lost / (lost + samples)".to_string(),
            Sampled => "weight of the samples / d CPU time".to_string(),
            Sampling => "(samples * cost of one + switches * cost of events at one) / d task-clock".to_string(),
            Counting => "switches * cost of counting in one / d task-clock".to_string(),
            Operations => "d operations".to_string(),
            OperationRate => "d operations / wall".to_string(),
            PerOperation(a, _) => format!("d {a} / d operations"),
            Events(formulas) => formulas.first().copied().unwrap_or_default().to_string(),
            EventsPerOperation(formulas) => per_operation_text(formulas.first().copied().unwrap_or_default()),
            Latency(measure) => measure.text(),
            Law(text) => text.to_string(),
        }
    }

    /// Whether it is a plain total, of which a longer window has more.
    #[must_use]
    pub fn is_total(self) -> bool {
        matches!(self, Total(..) | Operations)
    }

    /// Whether it describes how latencies differ between windows: windows cannot be added up to it.
    #[must_use]
    pub fn is_over_windows(self) -> bool {
        matches!(self, Latency(measure) if !matches!(measure, LatencyMeasure::Quantile(_)))
    }

    /// Whether a window's metrics contain it whatever was asked for: it needs neither operations nor other metrics.
    #[must_use]
    pub fn is_plain(self) -> bool {
        !self.needs_operations() && !matches!(self, Events(_) | Law(_))
    }

    /// Whether it needs a source of operations.
    #[must_use]
    pub fn needs_operations(self) -> bool {
        matches!(self, Operations | OperationRate | PerOperation(..) | EventsPerOperation(_))
    }
}

impl LatencyMeasure {
    /// The formula as text.
    fn text(self) -> String {
        match self {
            LatencyMeasure::Quantile(share) => format!("quantile {share} of the latencies of all operations"),
            LatencyMeasure::Fluctuation => "mean over windows t of |p99(t) - p99(t-1)| / p99(t)".to_string(),
            LatencyMeasure::Range => "(max - min) / median of the windows' p99".to_string(),
            LatencyMeasure::Availability => "windows with p99 <= SLO / windows".to_string(),
            LatencyMeasure::Entropy => {
                "-sum of p ln p, p the share of operations in each of 100 equal intervals from best to worst"
                    .to_string()
            }
        }
    }
}

/// The text of a hardware formula per operation.
#[must_use]
pub fn per_operation_text(formula: &str) -> String {
    format!("({formula}) / d operations")
}

/// A metric as the registry describes it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MetricDef {
    /// Its stable name, e.g. `cpu_utilisation`; the same in every output for programs.
    pub name: &'static str,
    /// A short label, below the heading of its section.
    pub label: &'static str,
    /// A label that needs no heading.
    pub title: &'static str,
    /// The section it belongs to.
    pub section: Section,
    /// The unit of its values.
    pub unit: Unit,
    /// How it is computed, and from what.
    pub computation: Computation,
    /// Its role in a comparison.
    pub role: Role,
    /// Which direction is cheaper.
    pub better: Better,
    /// Why comparisons leave it out, if another metric says the same.
    pub redundant: Option<&'static str>,
    /// Whether it is a factor of the iron law, which comparisons compute from the totals of each window.
    pub in_law: bool,
    /// Whether it counts what a program does, which hardly differs between runs.
    pub repeatable: bool,
    /// Valid range; a value outside is wrong.
    pub bounds: (f64, f64),
    /// Values above this deserve attention. From the vendor, if it publishes one.
    pub threshold: Option<f64>,
    /// The set it is asked for with, and its place in it; hardware metrics only.
    pub set: Option<(MetricSet, u8)>,
    /// One sentence: what the metric shows, and what it does not; hardware metrics only.
    pub about: &'static str,
}

impl MetricDef {
    /// The formulas over roles of hardware events, best first; empty if it does not come from events.
    #[must_use]
    pub fn formulas(&self) -> &'static [&'static str] {
        match self.computation {
            Events(formulas) | EventsPerOperation(formulas) => formulas,
            _ => &[],
        }
    }

    pub(super) const fn above(self, threshold: f64) -> MetricDef {
        MetricDef { threshold: Some(threshold), ..self }
    }

    pub(super) const fn within(self, low: f64, high: f64) -> MetricDef {
        MetricDef { bounds: (low, high), ..self }
    }

    /// A share of pipeline slots. Counters are read one after the other, so values may overshoot 0 and 1 slightly.
    pub(super) const fn of_slots(self) -> MetricDef {
        self.within(-0.05, 1.05)
    }

    pub(super) const fn set(self, set: MetricSet, place: u8) -> MetricDef {
        MetricDef { set: Some((set, place)), ..self }
    }

    pub(super) const fn redundant(self, why: &'static str) -> MetricDef {
        MetricDef { redundant: Some(why), ..self }
    }

    /// A factor of the law whose cost comparisons judge.
    pub(super) const fn factor(self, title: &'static str, better: Better) -> MetricDef {
        MetricDef { title, role: Role::Cost, better, in_law: true, ..self }
    }

    pub(super) const fn repeatable(self) -> MetricDef {
        MetricDef { repeatable: true, ..self }
    }
}

/// A metric from counters of the kernel.
pub(super) const fn metric(section: Section, label: &'static str, unit: Unit, computation: Computation) -> MetricDef {
    MetricDef {
        name: "",
        label,
        title: label,
        section,
        unit,
        computation,
        role: Role::Context,
        better: Better::Neither,
        redundant: None,
        in_law: false,
        repeatable: false,
        bounds: (f64::NEG_INFINITY, f64::INFINITY),
        threshold: None,
        set: None,
        about: "",
    }
}

/// A metric from hardware events.
pub(super) const fn hardware(
    label: &'static str,
    unit: Unit,
    formulas: &'static [&'static str],
    about: &'static str,
) -> MetricDef {
    let bounds = match unit {
        Unit::Share => (0.0, 1.0),
        Unit::PerKiloInstructions => (0.0, 1000.0),
        Unit::Seconds => (0.0, 1e-4),
        // Ten terabytes per second: more than any socket reaches.
        Unit::BytesPerSecond => (0.0, 1e13),
        _ => (0.0, 1e6),
    };
    MetricDef { bounds, about, ..metric(Section::Hardware, label, unit, Events(formulas)) }
}

/// A cost of one operation.
pub(super) const fn cost(label: &'static str, unit: Unit, computation: Computation) -> MetricDef {
    MetricDef { role: Role::Cost, better: Better::Less, ..metric(Section::Operation, label, unit, computation) }
}

/// A quantile of the latency of operations.
pub(super) const fn quantile(label: &'static str, title: &'static str, share: f64) -> MetricDef {
    MetricDef {
        title,
        role: Role::Latency,
        ..latency(label, Unit::Nanos, LatencyMeasure::Quantile(share), Better::Less)
    }
}

/// A metric of the latency of operations.
pub(super) const fn latency(label: &'static str, unit: Unit, measure: LatencyMeasure, better: Better) -> MetricDef {
    MetricDef { better, ..metric(Section::Latency, label, unit, Latency(measure)) }
}

/// A metric computed from the totals of a window.
pub(super) const fn law(
    title: &'static str,
    unit: Unit,
    role: Role,
    better: Better,
    formula: &'static str,
) -> MetricDef {
    MetricDef { role, better, in_law: true, ..metric(Section::Operation, title, unit, Law(formula)) }
}
