//! What a change of cost consists of: path length, CPI and clock of the new version over those of the old one, as they
//! ran. Errors are clustered by host.

use super::hosts::{PairedHost, paired};
use super::sums::{HostVersion, Version};
use super::types::{FactorChange, FactorSplit};
use crate::analysis::fleet::estimate::Estimate;
use crate::analysis::fleet::influence::{Influence, clustered_error};
use crate::model::{Measure, Why};

/// A change below this, by its logarithm, has no parts.
const TRIFLE: f64 = 0.005;
/// Places in the sums of the iron law.
const OPERATIONS: usize = 0;
const CPU_S: usize = 1;
const CYCLES: usize = 2;
const INSTRUCTIONS: usize = 3;

/// The change of the cost as the versions ran, as a share.
pub(super) fn raw_change(versions: [&Version; 2]) -> Measure<Estimate> {
    ratio_change(&paired(versions), |host| host.cpu_s, |host| host.operations)
        .map(|ratio| ratio.through(|ratio| ratio - 1.0))
}

/// The factors of the change.
pub(super) fn factors(versions: [&Version; 2]) -> FactorSplit {
    let hosts = paired(versions);
    let change = |y: usize, x: usize| ratio_change(&hosts, |host| host.law[y], |host| host.law[x]);
    let whole = change(CPU_S, OPERATIONS);
    let log = whole.value().map(|whole| whole.value.ln());
    let factor = |y: usize, x: usize| {
        let ratio = change(y, x);
        let share =
            ratio.ratio(whole, |ratio, _| log.filter(|log| log.abs() > TRIFLE).map(|log| ratio.value.ln() / log));
        let share = if share.why() == Some(Why::Idle) { Measure::Missing(Why::Unvarying) } else { share };
        FactorChange { ratio, share }
    };
    FactorSplit {
        whole,
        path_length: factor(INSTRUCTIONS, OPERATIONS),
        cpi: factor(CYCLES, INSTRUCTIONS),
        clock: factor(CPU_S, CYCLES),
    }
}

/// y / x of the new version over that of the old one, each over all hosts; the interval is that of its logarithm.
fn ratio_change(
    hosts: &[PairedHost<'_>],
    y: impl Fn(&HostVersion) -> f64,
    x: impl Fn(&HostVersion) -> f64,
) -> Measure<Estimate> {
    let of = |host: &PairedHost<'_>| host.versions.map(|one| one.map_or([0.0; 2], |one| [y(one), x(one)]));
    let mut totals = [[0.0; 2]; 2];
    for host in hosts {
        let own = of(host);
        totals = [0, 1].map(|version| [0, 1].map(|at| totals[version][at] + own[version][at]));
    }
    if totals.iter().flatten().any(|total: &f64| *total <= 0.0) {
        return Measure::Missing(Why::NotRecorded);
    }
    let log = |totals: [[f64; 2]; 2]| (totals[1][0] / totals[1][1] / (totals[0][0] / totals[0][1])).ln();
    let whole = log(totals);
    let influences: Option<Vec<Influence>> = hosts
        .iter()
        .map(|host| {
            let own = of(host);
            let part = [0, 1].map(|version| [0, 1].map(|at| own[version][at] / totals[version][at]));
            // A host with all of a version leaves nothing to compare without it.
            let rest = [0, 1].map(|version| [0, 1].map(|at| totals[version][at] - own[version][at]));
            let known = part.iter().flatten().all(|part: &f64| *part < 1.0 - 1e-9);
            known.then(|| Influence {
                linear: (part[1][0] - part[1][1]) - (part[0][0] - part[0][1]),
                left_out: whole - log(rest),
                weight: part[1][1].powi(2) + part[0][1].powi(2),
                group: host.group(),
            })
        })
        .collect();
    let error = influences.and_then(|influences| clustered_error(&influences));
    Measure::exact(Estimate::new(whole, error, hosts.len() as f64).through(f64::exp))
}
