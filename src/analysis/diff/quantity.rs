//! The quantities that recordings are compared by, each as one sum over another, so that windows can be added up
//! exactly.

use crate::analysis::hardware::per_operation_names;
use crate::analysis::{Counters, Metric, Section, Totals, Who, Window, metrics, per_operation};
use crate::model::{Measure, Unit, Why};
use crate::units::Nanos;
use serde::Serialize;

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

/// The role of a quantity in a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The cost of an operation: costs are judged, and corrected for their number as one family.
    Cost,
    /// How much there was to do.
    Load,
    /// How the rest of the time was spent, and the state of the machine.
    Context,
}

/// One quantity; every recording has the same list in the same order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Quantity {
    /// Stable name; the same as in the report or a sweep if they contain the number.
    pub name: &'static str,
    /// A short description.
    pub label: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// Which direction is cheaper.
    pub better: Better,
    /// Its role in a comparison.
    pub role: Role,
}

/// A quantity in a window: one sum over another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// What was spent.
    pub above: f64,
    /// What it was spent on.
    pub below: f64,
}

/// A quantity measured in a window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// The quantity.
    pub quantity: Quantity,
    /// Its value, or why it is missing.
    pub value: Measure<f64>,
    /// Its sums; `None` if one is missing. There may be sums without a value: CPU time in a window without operations.
    pub cell: Option<Cell>,
}

/// The quantity that decides whether something became slower, if operations were counted.
pub const PRIMARY: &str = "cpu_ns_per_op";
/// The inverse of [`PRIMARY`], so it is not a test of its own.
pub const INVERSE: &str = "ops_per_core_second";
/// Replaces [`PRIMARY`] if operations were not counted: then load and cost cannot be separated.
pub const WITHOUT_OPERATIONS: &str = "busy_cores";
/// Operations per second.
pub const RATE: &str = "ops_per_s";

/// Metrics that are listed here under another name, or whose inverse is.
const TWICE: [&str; 10] = [
    "ipc",
    "cpi",
    "frequency",
    "cpu_utilisation",
    "run_share",
    "operations",
    "throughput",
    "cpu_per_op",
    "path_length",
    "cycles_per_op",
];

/// Every quantity of a window with this many operations. `whole` is the time that its threads had, in seconds, if it is
/// not their lifetimes.
#[must_use]
pub fn readings(counters: &Counters, window: Window, ops: Measure<f64>, whole: Option<f64>) -> Vec<Reading> {
    let metrics = metrics(counters, &Who::All, window, None);
    let mut totals = Totals::of(&metrics, ops, window.span().seconds());
    totals.threads = whole.map_or(totals.threads, Measure::exact);
    let mut all = law(&totals);
    let each = |metric: &Metric, role, better, below| context(metric, role, better, below);
    let per_op = per_operation(counters, &Who::All, window, ops);
    all.extend(shown(&per_op).map(|metric| each(metric, Role::Cost, Better::Less, ops)));
    all.extend(shown(&metrics).filter(|metric| metric.section != Section::Tool).map(|metric| {
        let below = match metric.section {
            Section::Cpu => totals.cpu,
            Section::Scheduler if metric.unit == Unit::Share => totals.threads,
            _ => Measure::exact(totals.wall),
        };
        each(metric, Role::Context, Better::Neither, below)
    }));
    all
}

/// Every quantity that any recording may have, in the order of [`readings`].
#[must_use]
pub fn quantities() -> Vec<Quantity> {
    let (counters, window) = (Counters::none(), Window { from: Nanos(0), to: Nanos(1) });
    let nothing = readings(&counters, window, Measure::Missing(Why::NotRecorded), None);
    let (mut all, rest): (Vec<_>, Vec<_>) =
        nothing.into_iter().map(|reading| reading.quantity).partition(|quantity| quantity.role != Role::Context);
    let (unit, better, role) = (Unit::Count, Better::Less, Role::Cost);
    all.extend(per_operation_names().map(|(name, label)| Quantity { name, label, unit, better, role }));
    all.extend(rest);
    all
}

/// Metrics that are not listed already and are not plain totals: the longer recording has more of everything.
fn shown(metrics: &[Metric]) -> impl Iterator<Item = &Metric> {
    let total = |metric: &&Metric| matches!(&metric.events[..], [event] if metric.formula == format!("d {event}"));
    metrics.iter().filter(|metric| !TWICE.contains(&metric.name)).filter(move |metric| !total(metric))
}

fn context(metric: &Metric, role: Role, better: Better, below: Measure<f64>) -> Reading {
    let unit = metric.unit;
    let quantity = Quantity { name: metric.name, label: metric.label, unit, better, role };
    let cell =
        metric.value.value().zip(below.value()).map(|(value, below)| Cell { above: value * below, below: *below });
    Reading { quantity, value: metric.value, cell: cell.filter(Cell::is_sound) }
}

/// The factors of the law and the load.
fn law(totals: &Totals) -> Vec<Reading> {
    use Better::{Less, More, Neither};
    use Unit as U;
    let Totals { ops, cpu, instructions, threads, .. } = *totals;
    let wall = Measure::exact(totals.wall);
    let product = |a: Measure<f64>, b: Measure<f64>| a.ratio(b, |a, b| Some(a * b));
    let cycles = product(totals.cpi, instructions);
    let of = |name, label, unit, better, role, above: Measure<f64>, below: Measure<f64>| {
        let value = above.ratio(below, |above, below| (below > 0.0).then(|| above / below));
        let cell = above.value().zip(below.value()).map(|(above, below)| Cell { above: *above, below: *below });
        let quantity = Quantity { name, label, unit, better, role };
        Reading { quantity, value, cell: cell.filter(Cell::is_sound) }
    };
    let cost = |name, label, unit, better, above, below| of(name, label, unit, better, Role::Cost, above, below);
    vec![
        cost(PRIMARY, "CPU time per operation", U::Nanos, Less, cpu.map(|s| s * 1e9), ops),
        cost(INVERSE, "operations per core-second", U::Ratio, More, ops, cpu),
        cost("path_length", "instructions per operation", U::Ratio, Less, instructions, ops),
        cost("cpi", "cycles per instruction", U::Ratio, Less, cycles, instructions),
        cost("frequency", "frequency", U::Hertz, More, product(totals.frequency, cpu), cpu),
        cost("cycles_per_op", "cycles per operation", U::Ratio, Less, cycles, ops),
        of(RATE, "operations per second", U::PerSecond, Neither, Role::Load, ops, wall),
        of(WITHOUT_OPERATIONS, "busy CPUs", U::Cores, Neither, Role::Load, cpu, wall),
        of("utilisation", "share of threads' time running", U::Share, Neither, Role::Load, cpu, threads),
    ]
}

impl Cell {
    fn is_sound(&self) -> bool {
        self.above.is_finite() && self.below.is_finite() && self.above >= 0.0 && self.below >= 0.0
    }

    /// The quantity's value; `None` if there was nothing to spend it on.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        Some(self.above / self.below).filter(|value| self.below > 0.0 && value.is_finite())
    }
}

impl Quantity {
    /// How far two runs of the same program may differ for no reason of its own, if no repeats show it: counts of what
    /// a program does hardly move, while times depend on where its pages and neighbours are.
    #[must_use]
    pub fn usual_noise(&self) -> f64 {
        match self.name {
            "path_length" | "minor_faults_per_op" | "major_faults_per_op" => 0.005,
            _ => 0.02,
        }
    }

    /// Whether its changes are differences rather than ratios: shares near zero double easily.
    #[must_use]
    pub fn is_share(&self) -> bool {
        self.unit == Unit::Share
    }

    /// A quantity that a recording does not have.
    #[must_use]
    pub fn missing(self, why: Why) -> Reading {
        Reading { quantity: self, value: Measure::Missing(why), cell: None }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::testing::{Synthetic, ms};
    use crate::model::Scope;

    fn read(synthetic: Synthetic, ops: Measure<f64>) -> Vec<Reading> {
        let profile = synthetic.finish();
        let window = Window { from: ms(0), to: ms(2000) };
        readings(&Counters::of(&profile), window, ops, None)
    }

    fn busy() -> Synthetic {
        let mut synthetic = Synthetic::new();
        synthetic.reading("task-clock", Scope::Target, 2000, ms(3000).0);
        synthetic.reading("thread-time", Scope::Target, 2000, ms(8000).0);
        synthetic.reading("cycles", Scope::Target, 2000, 9_000_000_000);
        synthetic.reading("instructions", Scope::Target, 2000, 6_000_000_000);
        synthetic.reading("minor-faults", Scope::Target, 2000, 1200);
        synthetic.reading("run-delay", Scope::Target, 2000, ms(800).0);
        synthetic
    }

    #[test]
    fn every_quantity_is_its_sums_divided() {
        let all = read(busy(), Measure::exact(600.0));
        for (name, value) in [
            ("cpu_ns_per_op", 5e6),
            ("ops_per_core_second", 200.0),
            ("path_length", 1e7),
            ("cpi", 1.5),
            ("frequency", 3e9),
            ("cycles_per_op", 1.5e7),
            ("ops_per_s", 300.0),
            ("busy_cores", 1.5),
            ("utilisation", 0.375),
            ("minor_faults_per_op", 2.0),
            ("minor_faults", 600.0),
            ("run_queue_delay", 0.1),
        ] {
            let reading = all.iter().find(|reading| reading.quantity.name == name).unwrap();
            assert!((reading.value.value().unwrap() / value - 1.0).abs() < 1e-12, "{name}: {reading:?}");
            assert!((reading.cell.unwrap().value().unwrap() / value - 1.0).abs() < 1e-12, "{name}: {reading:?}");
        }
        for name in ["cpu_time", "cycles", "instructions", "ipc", "tool_memory"] {
            assert!(all.iter().all(|reading| reading.quantity.name != name), "{name} tells nothing of its own");
        }
    }

    #[test]
    fn cpu_time_without_operations_is_spent_all_the_same() {
        let all = read(busy(), Measure::exact(0.0));
        assert_eq!(all[0].value, Measure::Missing(Why::Idle));
        assert_eq!(all[0].cell, Some(Cell { above: 3e9, below: 0.0 }));
        let all = read(busy(), Measure::Missing(Why::NoOpsSource));
        assert_eq!((all[0].value, all[0].cell), (Measure::Missing(Why::NoOpsSource), None));
    }

    #[test]
    fn the_list_is_the_same_whatever_was_recorded_and_no_name_occurs_twice() {
        let names = |all: &[Reading]| all.iter().map(|reading| reading.quantity.name).collect::<Vec<_>>();
        let (full, empty) = (read(busy(), Measure::exact(1.0)), read(Synthetic::new(), Measure::exact(1.0)));
        assert_eq!(names(&full), names(&empty));
        let any: Vec<_> = quantities().iter().map(|quantity| quantity.name).collect();
        let mut known = any.iter();
        assert!(names(&full).iter().all(|name| known.any(|known| known == name)), "in order: {any:?}");
        assert!(any.contains(&"llc_misses_per_op"));
        let mut sorted = names(&full);
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), full.len());
    }
}
