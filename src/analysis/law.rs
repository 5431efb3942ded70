//! The iron law of one window, and which of its factors made the difference between two windows. All factors of a
//! window come from the same counts.

use super::metric::{Metric, value_of};
use crate::model::{Measure, MetricId};

/// A factor of the time per operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LawFactor {
    /// Instructions per operation.
    PathLength,
    /// Cycles per instruction.
    Cpi,
    /// Cycles per second of CPU time.
    Frequency,
    /// CPU time per operation, used where the three above were not counted.
    CpuTime,
    /// Share of the threads' time spent running.
    Utilisation,
}

/// The factors of one window: `CPU time/op = path length x CPI / frequency` and
/// `throughput = busy cores / (CPU time/op)`. One thread spends `(CPU time/op) / utilisation` on an operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Law {
    /// Operations per second of elapsed time.
    pub throughput: Measure<f64>,
    /// Seconds of CPU time per operation.
    pub cpu_per_op: Measure<f64>,
    /// Instructions per operation.
    pub path_length: Measure<f64>,
    /// Cycles per instruction.
    pub cpi: Measure<f64>,
    /// Cycles per second of CPU time.
    pub frequency: Measure<f64>,
    /// Mean number of CPUs kept busy.
    pub busy: Measure<f64>,
    /// Share of the threads' time spent running, 0 to 1.
    pub utilisation: Measure<f64>,
    /// Instructions per second of elapsed time: used where no operations are counted.
    pub instruction_rate: Measure<f64>,
}

/// The counts of one window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Totals {
    /// Elapsed time, seconds.
    pub wall: f64,
    /// Operations.
    pub ops: Measure<f64>,
    /// CPU time, seconds.
    pub cpu: Measure<f64>,
    /// Time of all threads, running or not, seconds.
    pub threads: Measure<f64>,
    /// Instructions.
    pub instructions: Measure<f64>,
    /// Cycles per instruction; cycles and instructions may be divided only where they were counted together.
    pub cpi: Measure<f64>,
    /// Cycles per second of CPU time.
    pub frequency: Measure<f64>,
}

impl Totals {
    /// Takes the counts from the metrics of a window that lasts `wall` seconds.
    #[must_use]
    pub fn of(metrics: &[Metric], ops: Measure<f64>, wall: f64) -> Totals {
        let metric = |id| value_of(metrics, id);
        Totals {
            wall,
            ops,
            cpu: metric(MetricId::CpuTime),
            threads: metric(MetricId::Threads).map(|threads| threads * wall),
            instructions: metric(MetricId::Instructions),
            cpi: metric(MetricId::Cpi),
            frequency: metric(MetricId::Frequency),
        }
    }
}

/// How the time one thread spends on an operation changed: `ratio` is the product of the parts' ratios.
#[derive(Debug, Clone, PartialEq)]
pub struct Slowdown {
    /// Time after over time before: 2 is twice as slow.
    pub ratio: f64,
    /// Its factors.
    pub parts: Vec<Part>,
}

/// One factor of a slowdown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    /// The factor.
    pub factor: LawFactor,
    /// By how much this factor alone multiplies the time: 2 is twice as slow.
    pub ratio: f64,
    /// Its share of the change, `ln(ratio) / ln(slowdown)`; they sum to 1. `None` if the change is too small.
    pub share: Option<f64>,
    /// Its contribution to the seconds one thread spends on an operation; all contributions sum to the difference.
    pub seconds: f64,
}

/// Below this logarithm (2%) the shares of a change are noise divided by noise.
pub(crate) const LEAST_CHANGE: f64 = 0.02;

impl Law {
    /// Computes the factors from these counts.
    #[must_use]
    pub fn of(totals: &Totals) -> Law {
        let wall = Measure::exact(totals.wall);
        Law {
            throughput: totals.ops.over(wall),
            cpu_per_op: totals.cpu.over(totals.ops),
            path_length: totals.instructions.over(totals.ops),
            cpi: totals.cpi,
            frequency: totals.frequency,
            busy: totals.cpu.over(wall),
            utilisation: totals.cpu.over(totals.threads),
            instruction_rate: totals.instructions.over(wall),
        }
    }

    /// Why the time per operation and thread differs from `before`; `None` unless operations, CPU time and threads were
    /// counted in both.
    #[must_use]
    pub fn slowdown(&self, before: &Law) -> Option<Slowdown> {
        let grown = |of: fn(&Law) -> Measure<f64>| ratio(of(self), of(before));
        let slower = |of: fn(&Law) -> Measure<f64>| ratio(of(before), of(self));
        let utilisation = (LawFactor::Utilisation, slower(|law| law.utilisation)?);
        let cpu = (LawFactor::CpuTime, grown(|law| law.cpu_per_op)?);
        let counted = || {
            Some(vec![
                (LawFactor::PathLength, grown(|law| law.path_length)?),
                (LawFactor::Cpi, grown(|law| law.cpi)?),
                (LawFactor::Frequency, slower(|law| law.frequency)?),
                utilisation,
            ])
        };
        let factors = counted().unwrap_or_else(|| vec![cpu, utilisation]);
        let total = cpu.1 * utilisation.1;
        let shared = total.ln().abs() > LEAST_CHANGE;
        let time = |law: &Law| law.cpu_per_op.over(law.utilisation).value().copied();
        let unit = log_mean(time(self)?, time(before)?)?;
        let part = |(factor, ratio): (LawFactor, f64)| Part {
            factor,
            ratio,
            share: shared.then(|| ratio.ln() / total.ln()),
            seconds: unit * ratio.ln(),
        };
        Some(Slowdown { ratio: total, parts: factors.into_iter().map(part).collect() })
    }
}

/// `None` unless both are known and positive, because their logarithm is taken.
fn ratio(above: Measure<f64>, below: Measure<f64>) -> Option<f64> {
    let (above, below) = (*above.value()?, *below.value()?);
    (above > 0.0 && below > 0.0).then(|| above / below)
}

/// The logarithmic mean `(a - b) / ln(a / b)`. Multiplied by the logarithm of a factor, it is that factor's part of the
/// difference (LMDI-I). `None` unless both are positive.
pub(crate) fn log_mean(a: f64, b: f64) -> Option<f64> {
    let grown = (a - b) / b;
    let mean = if grown == 0.0 { b } else { b * grown / grown.ln_1p() };
    (a > 0.0 && b > 0.0 && mean.is_finite()).then_some(mean)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::model::Why;

    /// One row of the published RocksDB runs: threads, instructions, operations, cycles, seconds, CPU share.
    struct Row(f64, f64, f64, f64, f64, f64);

    const BEFORE_1: Row = Row(1.0, 3_129_398_329_928.0, 1_510_002_999.0, 1_136_230_674_488.0, 300.0, 0.9971);
    const BEFORE_160: Row =
        Row(160.0, 22_625_805_888_251.0, 11_125_908_840.0, 171_717_420_118_090.0, 300.024, 0.994_620_63);
    const AFTER_1: Row = Row(1.0, 3_259_113_189_316.0, 1_588_156_999.0, 1_124_524_900_793.0, 300.0, 0.9971);
    const AFTER_160: Row =
        Row(160.0, 194_183_272_380_812.0, 97_151_942_840.0, 151_013_619_154_778.0, 300.041, 0.995_572_5);

    fn law(Row(threads, instructions, ops, cycles, wall, share): &Row) -> Law {
        let cpu = share * threads * wall;
        Law::of(&Totals {
            wall: *wall,
            ops: Measure::exact(*ops),
            cpu: Measure::exact(cpu),
            threads: Measure::exact(threads * wall),
            instructions: Measure::exact(*instructions),
            cpi: Measure::exact(cycles / instructions),
            frequency: Measure::exact(cycles / cpu),
        })
    }

    fn close(found: f64, expected: f64, digit: f64) {
        assert!((found - expected).abs() <= digit, "{found} is not {expected}");
    }

    #[test]
    fn the_published_factors_come_out_to_the_printed_digits() {
        for (row, path, cpi, ghz, cpu_us, busy) in [
            (BEFORE_1, 2_072.445_109, 0.363_083, 3.798_451, 0.198_099, 0.9971),
            (BEFORE_160, 2_033.614_172, 7.589_450, 3.596_507, 4.291_390, 159.139_301),
            (AFTER_1, 2_052.135_394, 0.345_040, 3.759_318, 0.188_350, 0.9971),
            (AFTER_160, 1_998.758_509, 0.777_686, 3.159_677, 0.491_951, 159.291_6),
        ] {
            let law = law(&row);
            close(*law.path_length.value().unwrap(), path, 1e-6);
            close(*law.cpi.value().unwrap(), cpi, 1e-6);
            close(law.frequency.value().unwrap() / 1e9, ghz, 1e-6);
            close(law.cpu_per_op.value().unwrap() * 1e6, cpu_us, 1e-6);
            close(*law.busy.value().unwrap(), busy, 1e-6);
        }
    }

    #[test]
    fn cpu_time_is_path_length_times_cpi_over_frequency_and_throughput_is_busy_cores_over_it() {
        for row in [BEFORE_1, BEFORE_160, AFTER_1, AFTER_160] {
            let law = law(&row);
            let value = |measure: Measure<f64>| *measure.value().unwrap();
            let product = value(law.path_length) * value(law.cpi) / value(law.frequency);
            close(product / value(law.cpu_per_op), 1.0, 1e-12);
            close(value(law.busy) / value(law.cpu_per_op) / value(law.throughput), 1.0, 1e-12);
        }
    }

    /// SPECjbb on 32 cores (64 logical CPUs) at 2.5 GHz, with one and with two threads per core, per second.
    const ONE_EACH: Row = Row(32.0, 75.8e9, 1.199e6, 80.256e9, 1.0, 0.5016 * 2.0);
    const BOTH: Row = Row(64.0, 78.4e9, 1.235e6, 157.744e9, 1.0, 0.9859);
    /// A presentation slide on SMT: 16 cores at 3 GHz, without SMT and with it, per second.
    const SMT_OFF: Row = Row(16.0, 96e9, 1000.0, 48e9, 1.0, 1.0);
    const SMT_ON: Row = Row(32.0, 110e9, 1200.0, 96e9, 1.0, 1.0);

    #[test]
    fn the_published_slowdowns_split_into_the_published_factors_and_shares() {
        // Slowdown, factors, shares in percent, and how many digits the shares were printed with.
        for (before, after, slowdown, ratios, shares, digit) in [
            (
                BEFORE_1,
                BEFORE_160,
                21.716_860,
                [0.981_263, 20.902_808, 1.056_150, 1.002_493],
                [-0.614, 98.759, 1.775, 0.081],
                1e-3,
            ),
            (
                AFTER_1,
                AFTER_160,
                2.615_901,
                [0.973_990, 2.253_900, 1.189_779, 1.001_534],
                [-2.741, 84.511, 18.071, 0.159],
                1e-3,
            ),
            (
                AFTER_160,
                BEFORE_160,
                8.731_551,
                [1.017_439, 9.759_015, 0.878_540, 1.000_957],
                [0.798, 105.134, -5.976, 0.044],
                1e-3,
            ),
            (AFTER_1, BEFORE_1, 1.051_758, [1.009_897, 1.052_291, 0.989_698, 1.0], [19.5, 101.0, -20.5, 0.0], 0.05),
            (ONE_EACH, BOTH, 1.941_700, [1.004_151, 1.900_328, 1.0, 1.017_547], [0.624, 96.754, 0.0, 2.621], 1e-3),
            (SMT_OFF, SMT_ON, 1.666_667, [0.954_861, 1.745_455, 1.0, 1.0], [-9.042, 109.042, 0.0, 0.0], 1e-3),
        ] {
            let found = law(&after).slowdown(&law(&before)).unwrap();
            close(found.ratio, slowdown, 1e-6);
            let product = found.parts.iter().map(|part| part.ratio).product::<f64>();
            assert!((product - found.ratio).abs() / found.ratio < 1e-9, "{found:?}");
            for ((part, ratio), share) in found.parts.iter().zip(ratios).zip(shares) {
                close(part.ratio, ratio, 1e-6);
                close(part.share.unwrap() * 100.0, share, digit);
            }
        }
    }

    #[test]
    fn the_parts_of_a_slowdown_are_the_published_nanoseconds_and_add_up() {
        for (before, after, times, parts) in [
            (BEFORE_1, BEFORE_160, [198.6751, 4314.5994], [-25.29, 4064.84, 73.05, 3.33]),
            (AFTER_1, AFTER_160, [188.8982, 494.1390], [-8.37, 257.96, 55.16, 0.49]),
        ] {
            let found = law(&after).slowdown(&law(&before)).unwrap();
            for (part, ns) in found.parts.iter().zip(parts) {
                close(part.seconds * 1e9, ns, 0.005);
            }
            let sum = found.parts.iter().map(|part| part.seconds).sum::<f64>();
            close(sum * 1e9, times[1] - times[0], 1e-4);
        }
    }

    #[test]
    fn the_published_machines_have_the_published_costs() {
        for (row, path, cpi, ghz, per_core_second) in [
            (ONE_EACH, 63_219.3, 1.058_786, 2.5, 37_349.0),
            (BOTH, 63_481.8, 2.012_041, 2.5, 19_573.0),
            (SMT_OFF, 96e6, 0.5, 3.0, 62.5),
            (SMT_ON, 91.667e6, 0.872_727, 3.0, 37.5),
        ] {
            let law = law(&row);
            close(law.path_length.value().unwrap() / path, 1.0, 1e-5);
            close(*law.cpi.value().unwrap(), cpi, 1e-6);
            close(law.frequency.value().unwrap() / 1e9, ghz, 1e-5);
            close(1.0 / law.cpu_per_op.value().unwrap(), per_core_second, 0.5);
        }
    }

    #[test]
    fn the_logarithmic_mean_lies_between_and_is_steady_where_both_are_equal() {
        for (a, b, expected) in [(4.0, 4.0, 4.0), (1.0, std::f64::consts::E, std::f64::consts::E - 1.0)] {
            close(log_mean(a, b).unwrap(), expected, 1e-12);
        }
        close(log_mean(1.0 + 1e-13, 1.0).unwrap(), 1.0, 1e-12);
        for (a, b) in [(0.0, 1.0), (1.0, 0.0), (-1.0, 1.0), (f64::NAN, 1.0), (f64::MAX, f64::MIN_POSITIVE)] {
            assert_eq!(log_mean(a, b), None, "{a} {b}");
        }
    }

    #[test]
    fn without_hardware_counters_cpu_time_stands_for_its_three_factors() {
        let blind = |row: &Row| {
            let missing = Measure::Missing(Why::NotSupported);
            Law { path_length: missing, cpi: missing, frequency: missing, ..law(row) }
        };
        let found = blind(&BEFORE_160).slowdown(&blind(&BEFORE_1)).unwrap();
        let factors: Vec<_> = found.parts.iter().map(|part| part.factor).collect();
        assert_eq!(factors, [LawFactor::CpuTime, LawFactor::Utilisation]);
        close(found.parts[0].share.unwrap(), 0.999_19, 1e-5);
    }

    #[test]
    fn a_change_within_noise_is_not_shared_out_and_an_unknown_one_is_none() {
        let same = law(&BEFORE_1).slowdown(&law(&BEFORE_1)).unwrap();
        assert!(same.parts.iter().all(|part| part.share.is_none()), "{same:?}");
        let without_ops =
            Totals { ops: Measure::Missing(Why::NoOpsSource), ..Totals::of(&[], Measure::exact(1.0), 1.0) };
        assert_eq!(law(&BEFORE_1).slowdown(&Law::of(&without_ops)), None);
    }
}
