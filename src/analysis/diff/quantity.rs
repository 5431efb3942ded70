//! The quantities that recordings are compared by, each as one sum over another, so that windows can be added up
//! exactly.

use crate::analysis::{Counters, Metric, ThreadSet, Totals, Window, metrics, per_operation};
use crate::model::{Better, Computation, LatencyMeasure, Measure, MetricId, Role, Section, Unit, Why};
use serde::Serialize;

/// One quantity; every recording has the same list in the same order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Quantity {
    /// The metric.
    #[serde(skip)]
    pub id: MetricId,
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
pub struct RatioCell {
    /// What was spent.
    pub numerator: f64,
    /// What it was spent on.
    pub denominator: f64,
}

/// A quantity measured in a window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// The quantity.
    pub quantity: Quantity,
    /// Its value, or why it is missing.
    pub value: Measure<f64>,
    /// Its sums; `None` if one is missing. There may be sums without a value: CPU time in a window without operations.
    pub cell: Option<RatioCell>,
}

/// The quantity that decides whether something became slower, if operations were counted.
pub const PRIMARY: MetricId = MetricId::CpuNsPerOp;
/// The inverse of [`PRIMARY`], so it is not a test of its own.
pub const INVERSE: MetricId = MetricId::OpsPerCoreSecond;
/// Replaces [`PRIMARY`] if operations were not counted: then load and cost cannot be separated.
pub const WITHOUT_OPERATIONS: MetricId = MetricId::BusyCores;
/// Operations per second.
pub const RATE: MetricId = MetricId::OpsPerS;

/// Every quantity of a window with this many operations. `whole` is the time that its threads had, in seconds, if it is
/// not their lifetimes.
#[must_use]
pub fn readings(counters: &Counters, window: Window, ops: Measure<f64>, whole: Option<f64>) -> Vec<Reading> {
    let metrics = metrics(counters, &ThreadSet::All, window, None);
    let mut totals = Totals::of(&metrics, ops, window.span().seconds());
    totals.threads = whole.map_or(totals.threads, Measure::exact);
    let mut all = law(&totals);
    let per_op = per_operation(counters, &ThreadSet::All, window, ops);
    all.extend(per_op.iter().filter(|metric| is_compared(metric.id)).map(|metric| reading(metric, ops)));
    let operations = Measure::exact(counters.latency().reader(window).counts.count() as f64);
    let is_latency = |metric: &&Metric| metric.id.def().role == Role::Latency;
    all.extend(metrics.iter().filter(is_latency).map(|metric| reading(metric, operations)));
    all.extend(metrics.iter().filter(|metric| is_compared(metric.id) && !is_latency(metric)).map(|metric| {
        let def = metric.id.def();
        let denominator = match def.section {
            Section::Cpu => totals.cpu,
            Section::Scheduler if def.unit == Unit::Share => totals.threads,
            _ => Measure::exact(totals.wall),
        };
        reading(metric, denominator)
    }));
    all
}

/// Every quantity that any recording may have, in the order of [`readings`].
#[must_use]
pub fn quantities() -> Vec<Quantity> {
    let compared = |role: Role| {
        let of_role = move |id: &&MetricId| is_compared(**id) && id.def().role == role;
        MetricId::ALL.iter().filter(of_role)
    };
    let all = LAW.iter().chain(compared(Role::Cost)).chain(compared(Role::Latency)).chain(compared(Role::Context));
    all.map(|id| Quantity::of(*id)).collect()
}

/// Whether a metric is a quantity beside the law: not ironlaw's own, and no plain total, of which the longer recording
/// has more.
fn is_compared(id: MetricId) -> bool {
    let def = id.def();
    let sums = !def.computation.is_total() && !def.computation.is_over_windows();
    !def.in_law && def.redundant.is_none() && sums && def.section != Section::Tool
}

fn reading(metric: &Metric, denominator: Measure<f64>) -> Reading {
    let cell = metric
        .value
        .value()
        .zip(denominator.value())
        .map(|(value, denominator)| RatioCell { numerator: value * denominator, denominator: *denominator });
    Reading { quantity: Quantity::of(metric.id), value: metric.value, cell: cell.filter(RatioCell::is_sound) }
}

/// The factors of the law and the load, in the order they are listed.
const LAW: [MetricId; 9] = [
    MetricId::CpuNsPerOp,
    MetricId::OpsPerCoreSecond,
    MetricId::PathLength,
    MetricId::Cpi,
    MetricId::Frequency,
    MetricId::CyclesPerOp,
    MetricId::OpsPerS,
    MetricId::BusyCores,
    MetricId::Utilisation,
];

fn law(totals: &Totals) -> Vec<Reading> {
    let Totals { ops, cpu, instructions, threads, .. } = *totals;
    let wall = Measure::exact(totals.wall);
    let product = |a: Measure<f64>, b: Measure<f64>| a.ratio(b, |a, b| Some(a * b));
    let cycles = product(totals.cpi, instructions);
    let sums = [
        (cpu.map(|s| s * 1e9), ops),
        (ops, cpu),
        (instructions, ops),
        (cycles, instructions),
        (product(totals.frequency, cpu), cpu),
        (cycles, ops),
        (ops, wall),
        (cpu, wall),
        (cpu, threads),
    ];
    let reading = |(id, (numerator, denominator)): (&MetricId, (Measure<f64>, Measure<f64>))| {
        let value =
            numerator.ratio(denominator, |numerator, denominator| (denominator > 0.0).then(|| numerator / denominator));
        let cell = numerator
            .value()
            .zip(denominator.value())
            .map(|(numerator, denominator)| RatioCell { numerator: *numerator, denominator: *denominator });
        Reading { quantity: Quantity::of(*id), value, cell: cell.filter(RatioCell::is_sound) }
    };
    LAW.iter().zip(sums).map(reading).collect()
}

impl RatioCell {
    fn is_sound(&self) -> bool {
        self.numerator.is_finite() && self.denominator.is_finite() && self.numerator >= 0.0 && self.denominator >= 0.0
    }

    /// The quantity's value; `None` if there was nothing to spend it on.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        Some(self.numerator / self.denominator).filter(|value| self.denominator > 0.0 && value.is_finite())
    }
}

impl Quantity {
    /// The metric as a comparison lists it.
    #[must_use]
    pub fn of(id: MetricId) -> Quantity {
        let def = id.def();
        Quantity { id, name: def.name, label: def.title, unit: def.unit, better: def.better, role: def.role }
    }

    /// How far two runs of the same program may differ for no reason of its own, if no repeats show it: counts of what
    /// a program does hardly move, while times depend on where its pages and neighbours are.
    #[must_use]
    pub fn usual_noise(&self) -> f64 {
        match self.id.def().computation {
            // The further out, the fewer operations decide.
            Computation::Latency(LatencyMeasure::Quantile(share)) if share > 0.99 => 0.1,
            Computation::Latency(LatencyMeasure::Quantile(share)) if share > 0.9 => 0.05,
            _ if self.id.def().repeatable => 0.005,
            _ => 0.02,
        }
    }

    /// The share of operations that it bounds, if it is a quantile of latency: no sum, so windows do not add up to it.
    #[must_use]
    pub fn quantile(&self) -> Option<f64> {
        match self.id.def().computation {
            Computation::Latency(LatencyMeasure::Quantile(share)) => Some(share),
            _ => None,
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
            (MetricId::CpuNsPerOp, 5e6),
            (MetricId::OpsPerCoreSecond, 200.0),
            (MetricId::PathLength, 1e7),
            (MetricId::Cpi, 1.5),
            (MetricId::Frequency, 3e9),
            (MetricId::CyclesPerOp, 1.5e7),
            (MetricId::OpsPerS, 300.0),
            (MetricId::BusyCores, 1.5),
            (MetricId::Utilisation, 0.375),
            (MetricId::MinorFaultsPerOp, 2.0),
            (MetricId::MinorFaults, 600.0),
            (MetricId::RunQueueDelay, 0.1),
        ] {
            let reading = all.iter().find(|reading| reading.quantity.id == name).unwrap();
            assert!((reading.value.value().unwrap() / value - 1.0).abs() < 1e-12, "{name}: {reading:?}");
            assert!((reading.cell.unwrap().value().unwrap() / value - 1.0).abs() < 1e-12, "{name}: {reading:?}");
        }
        for name in [MetricId::CpuTime, MetricId::Cycles, MetricId::Instructions, MetricId::Ipc, MetricId::ToolMemory] {
            assert!(all.iter().all(|reading| reading.quantity.id != name), "{name} tells nothing of its own");
        }
    }

    #[test]
    fn cpu_time_without_operations_is_spent_all_the_same() {
        let all = read(busy(), Measure::exact(0.0));
        assert_eq!(all[0].value, Measure::Missing(Why::Idle));
        assert_eq!(all[0].cell, Some(RatioCell { numerator: 3e9, denominator: 0.0 }));
        let all = read(busy(), Measure::Missing(Why::NoOpsSource));
        assert_eq!((all[0].value, all[0].cell), (Measure::Missing(Why::NoOpsSource), None));
    }

    #[test]
    fn the_list_is_the_same_whatever_was_recorded_and_no_name_occurs_twice() {
        let names = |all: &[Reading]| all.iter().map(|reading| reading.quantity.id).collect::<Vec<_>>();
        let (full, empty) = (read(busy(), Measure::exact(1.0)), read(Synthetic::new(), Measure::exact(1.0)));
        assert_eq!(names(&full), names(&empty));
        let any: Vec<_> = quantities().iter().map(|quantity| quantity.id).collect();
        let mut known = any.iter();
        assert!(names(&full).iter().all(|name| known.any(|known| known == name)), "in order: {any:?}");
        assert!(any.contains(&MetricId::LlcMissesPerOp));
        let mut sorted = names(&full);
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), full.len());
    }
}
