//! The cost of one operation: the growth of counters over the operations completed in the same window. If operations
//! were not counted, every cost is missing.

use super::counters::Counters;
use super::hardware_metrics::HardwareReader;
use super::metric::Metric;
use super::selection::ThreadSet;
use super::time::Window;
use crate::model::{Computation, Measure, MetricId};

/// Operations, their rate, and the cost of one to these threads. All threads completed `ops` in the window.
#[must_use]
pub fn per_operation(counters: &Counters, who: &ThreadSet, window: Window, ops: Measure<f64>) -> Vec<Metric> {
    let wall = window.span().seconds();
    let value = |computation| match (computation, ops) {
        (Computation::Operations, _) => Some(ops),
        (Computation::OperationRate, _) => {
            Some(ops.ratio(Measure::exact(wall), |ops, wall| (wall > 0.0).then(|| ops / wall)))
        }
        // Without operations, report why they are missing, whatever else is missing.
        (Computation::PerOperation(..), Measure::Missing(why)) => Some(Measure::Missing(why)),
        (Computation::PerOperation(counter, factor), _) => {
            let spent = counters.of_tasks(counter, who, window);
            Some(spent.ratio(ops, |spent, ops| (ops > 0.0).then(|| spent * factor / ops)))
        }
        _ => None,
    };
    let own = MetricId::ALL.iter().filter_map(|id| Some(Metric::of(*id, value(id.def().computation)?)));
    own.chain(HardwareReader { counters, who, window }.per_operation(ops)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{Synthetic, ms};
    use crate::model::{Quality, Scope, Why};

    fn check(ops: Measure<f64>, expected: &[(&str, Measure<f64>)]) {
        let mut synthetic = Synthetic::new();
        for (at, cpu, faults) in [(0, 0, 10), (2000, 3_000_000_000, 70)] {
            synthetic.reading("task-clock", Scope::Target, at, cpu);
            synthetic.reading("minor-faults", Scope::Target, at, faults);
        }
        let counters = Counters::of(&synthetic.finish());
        let all = per_operation(&counters, &ThreadSet::All, Window { from: ms(0), to: ms(2000) }, ops);
        for (name, value) in expected {
            let metric = all.iter().find(|metric| metric.id.name() == *name).map(|metric| metric.value);
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
