//! The cost of one operation: the growth of counters over the operations completed in the same window. If operations
//! were not counted, every cost is missing.

use super::counters::Counters;
use super::hardware::Reader;
use super::metrics::{Metric, Section};
use super::selection::Who;
use super::time::Window;
use crate::model::{Measure, Scope, Unit};

struct Def(&'static str, &'static str, Unit, &'static str, f64);

const DEFS: &[Def] = &[
    Def("cpu_per_op", "CPU time", Unit::Seconds, "task-clock", 1e-9),
    Def("path_length", "instructions", Unit::Count, "instructions", 1.0),
    Def("cycles_per_op", "cycles", Unit::Count, "cycles", 1.0),
    Def("run_queue_delay_per_op", "waiting for a CPU", Unit::Seconds, "run-delay", 1e-9),
    Def("voluntary_switches_per_op", "switches, blocked", Unit::Count, "voluntary-switches", 1.0),
    Def("involuntary_switches_per_op", "switches, preempted", Unit::Count, "involuntary-switches", 1.0),
    Def("minor_faults_per_op", "minor page faults", Unit::Count, "minor-faults", 1.0),
    Def("major_faults_per_op", "major page faults", Unit::Count, "major-faults", 1.0),
];

/// Operations, their rate, and the cost of one to these threads. All threads completed `ops` in the window.
#[must_use]
pub fn per_operation(counters: &Counters, who: &Who, window: Window, ops: Measure<f64>) -> Vec<Metric> {
    let metric = |name, label, unit, value, formula, events| Metric {
        name,
        label,
        section: Section::Operation,
        unit,
        value,
        formula,
        events,
        detail: None,
        threshold: None,
    };
    let wall = window.span().seconds();
    let rate = ops.ratio(Measure::exact(wall), |ops, wall| (wall > 0.0).then(|| ops / wall));
    let (count, per_second) = (Unit::Count, Unit::PerSecond);
    let mut all = vec![
        metric("operations", "operations, all", count, ops, "d operations".to_string(), vec![]),
        metric("throughput", "operations", per_second, rate, "d operations / wall".to_string(), vec![]),
    ];
    all.extend(DEFS.iter().map(|Def(name, label, unit, counter, factor)| {
        let spent = match (ops, who) {
            // Without operations, report why they are missing, whatever else is missing.
            (Measure::Missing(why), _) => Measure::Missing(why),
            (_, Who::Only(tids)) => counters.sum(counter, tids.iter().copied(), window),
            (_, Who::All) => counters.delta(counter, Scope::Target, window),
        };
        let cost = spent.ratio(ops, |spent, ops| (ops > 0.0).then(|| spent * factor / ops));
        metric(name, label, *unit, cost, format!("d {counter} / d operations"), vec![counter.to_string()])
    }));
    let hardware = Reader { counters, who, window }.per_operation(ops);
    all.extend(hardware.map(|(def, cost, formula, events)| metric(def.name, def.label, count, cost, formula, events)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{Synthetic, ms};
    use crate::model::{Quality, Why};

    fn check(ops: Measure<f64>, expected: &[(&str, Measure<f64>)]) {
        let mut synthetic = Synthetic::new();
        for (at, cpu, faults) in [(0, 0, 10), (2000, 3_000_000_000, 70)] {
            synthetic.reading("task-clock", Scope::Target, at, cpu);
            synthetic.reading("minor-faults", Scope::Target, at, faults);
        }
        let counters = Counters::of(&synthetic.finish());
        let all = per_operation(&counters, &Who::All, Window { from: ms(0), to: ms(2000) }, ops);
        for (name, value) in expected {
            let metric = all.iter().find(|metric| metric.name == *name).map(|metric| metric.value);
            assert_eq!(metric, Some(*value), "{name}");
        }
    }

    #[test]
    fn costs_are_shared_out_over_the_operations_of_the_window() {
        let covered = |value| Measure::Known { value, quality: Quality { coverage: 0.9 } };
        check(
            covered(600.0),
            &[
                ("operations", covered(600.0)),
                ("throughput", covered(300.0)),
                ("cpu_per_op", covered(0.005)),
                ("minor_faults_per_op", covered(0.1)),
            ],
        );
    }

    #[test]
    fn without_operations_nothing_has_a_cost_and_the_reason_is_theirs() {
        let missing = Measure::Missing(Why::NoOpsSource);
        check(missing, &[("operations", missing), ("cpu_per_op", missing), ("path_length", missing)]);
        let idle = Measure::Missing(Why::Idle);
        check(Measure::exact(0.0), &[("operations", Measure::exact(0.0)), ("cpu_per_op", idle)]);
    }
}
