//! Divides a slowdown: by the iron law, as a comparison does, and by what the workers' time per operation was spent on.
//! The parts of the time add up, so each has a share of what lengthened an operation.

use super::result::{Pair, RunResult};
use super::types::CellCause;
use crate::analysis::attribution::Cause;
use crate::analysis::diff::{Comparison, LoadBy, Per, Settings, Side};
use crate::analysis::sweep::Split;
use crate::analysis::{Cause as Wait, LawFactor, Part};
use crate::model::{Measure, MetricId};
use std::collections::BTreeMap;

/// A part that lengthened an operation by less than this is not listed.
const LEAST: f64 = 0.005;
/// Misses of the last-level cache that grew by this factor name it as the cause of more cycles per instruction.
const MORE_MISSES: f64 = 1.2;

/// The factors of the time per operation and thread, over all pairs together.
pub(super) fn factors(pairs: &[Pair<'_>]) -> Vec<Part> {
    compared(pairs).and_then(|comparison| comparison.factors.slowdown).map_or(vec![], |slowdown| slowdown.parts)
}

fn compared(pairs: &[Pair<'_>]) -> Option<Comparison> {
    let side = |label: &str, of: fn(&Pair<'_>) -> crate::analysis::diff::Digest| Side {
        label: label.to_string(),
        runs: pairs.iter().map(of).collect(),
    };
    let settings = Settings { load: LoadBy::Off, per: Per::None, ..Settings::default() };
    let (alone, beside) =
        (side("alone", |pair| pair.alone.digest.clone()), side("beside", |pair| pair.beside.digest.clone()));
    (!pairs.is_empty()).then(|| Comparison::of(&alone, &beside, &settings))
}

/// What lengthened an operation, most first.
pub(super) fn causes(pairs: &[Pair<'_>]) -> Vec<CellCause> {
    let mut growth: BTreeMap<&'static str, (Cause, f64)> = BTreeMap::new();
    let mut add = |cause: Cause, by: f64| growth.entry(cause.name()).or_insert((cause, 0.0)).1 += by;
    let comparison = compared(pairs);
    let mut counted = 0.0;
    for pair in pairs {
        let Some((before, after)) = parts(pair.alone).zip(parts(pair.beside)) else { continue };
        let whole: f64 = before.values().map(|part| part.1).sum();
        if whole <= 0.0 {
            continue;
        }
        counted += 1.0;
        let names: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).copied().collect();
        for name in names {
            let of = |parts: &BTreeMap<&str, (Cause, f64)>| parts.get(name).map_or(0.0, |part| part.1);
            let Some((cause, _)) = after.get(name).or_else(|| before.get(name)) else { continue };
            let by = (of(&after) - of(&before)) / whole;
            if *cause == Cause::CpuTimeOther {
                running(comparison.as_ref(), by).into_iter().for_each(|(cause, by)| add(cause, by));
            } else {
                add(*cause, by);
            }
        }
    }
    let mean = |(cause, sum): (Cause, f64)| CellCause { cause, growth: sum / f64::max(counted, 1.0), share: 0.0 };
    let mut all: Vec<CellCause> = growth.into_values().map(mean).filter(|cause| cause.growth >= LEAST).collect();
    let sum: f64 = all.iter().map(|cause| cause.growth).sum();
    all.iter_mut().for_each(|cause| cause.share = cause.growth / sum);
    all.sort_by(|a, b| b.growth.total_cmp(&a.growth));
    all
}

/// Seconds of the workers' time per operation by what they were spent on; `None` if that is not known.
fn parts(run: &RunResult) -> Option<BTreeMap<&'static str, (Cause, f64)>> {
    let ops = *run.digest.run.totals.ops.value().filter(|ops| **ops > 0.0)?;
    let Split { running, queued, throttled, blocked, unseen } = &run.digest.run.split;
    let mut parts = BTreeMap::new();
    let mut add = |cause: Cause, seconds: f64| parts.entry(cause.name()).or_insert((cause, 0.0)).1 += seconds / ops;
    add(Cause::CpuTimeOther, *running.value()?);
    let known = |part: &Measure<f64>| part.value().copied().unwrap_or(0.0);
    add(Cause::RunQueue, known(queued));
    add(Cause::Throttling, known(throttled));
    add(Cause::Waiting, known(unseen));
    for (wait, seconds) in blocked {
        let cause = match wait {
            Wait::BlockIo => Cause::Io,
            Wait::RunQueue => Cause::RunQueue,
            _ => Cause::Waiting,
        };
        add(cause, *seconds);
    }
    Some(parts)
}

/// Time on the CPU by the factors of the iron law where they were counted.
fn running(comparison: Option<&Comparison>, by: f64) -> Vec<(Cause, f64)> {
    let unknown = vec![(Cause::CpuTimeOther, by)];
    let Some(slowdown) = comparison.and_then(|comparison| comparison.factors.slowdown.as_ref()) else { return unknown };
    let log = |factor| slowdown.parts.iter().find(|part| part.factor == factor).map(|part| part.ratio.ln());
    let (Some(path), Some(cpi), Some(frequency)) =
        (log(LawFactor::PathLength), log(LawFactor::Cpi), log(LawFactor::Frequency))
    else {
        return unknown;
    };
    let whole = path + cpi + frequency;
    if whole.abs() < f64::EPSILON {
        return unknown;
    }
    let misses =
        comparison.and_then(|comparison| comparison.change(MetricId::LlcMpki)).and_then(|change| change.effect);
    let is_cache = misses.is_some_and(|effect| effect.new > MORE_MISSES * effect.base);
    let cpi_cause = if is_cache { Cause::Llc } else { Cause::CpiOther };
    [(Cause::PathLength, path), (cpi_cause, cpi), (Cause::Frequency, frequency)]
        .map(|(cause, log)| (cause, by * log / whole))
        .to_vec()
}
