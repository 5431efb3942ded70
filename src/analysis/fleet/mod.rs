//! What the answers of an engine say of many machines: fits, tests and intervals on small tables. Pure.
//!
//! Each query of `assets/sql/fleet` has a function that takes its answer, a [`ResultTable`](crate::model::ResultTable):
//!
//! | query | function | result | besides the table |
//! |---|---|---|---|
//! | `extent` | [`extent`](fn@extent) | [`Extent`] | |
//! | `jobs` | [`jobs`](fn@jobs) | [`JobCost`] | |
//! | `distribution` | [`usual`](fn@usual) | [`Usual`] with a [`GevFit`] | |
//! | `outliers` | [`outliers`](fn@outliers) | [`Outliers`]: hosts, and what chance makes | the [`Usual`]s, for chance |
//! | `hosts` | [`expensive_hosts`](fn@expensive_hosts) | [`ExpensiveHosts`] | |
//! | `suspects` | [`suspects`](fn@suspects) | [`Suspect`] | |
//! | `versions` | [`versions`](fn@versions) | [`VersionAnswer`]: comparisons, checks and one change over platforms | the base, if named |
//! | `configs` | [`clusters`](fn@clusters) | [`ClusterComparison`] | [`ClusterSettings`]: base, weights, precision |
//! | `contention` | [`contention`](fn@contention) | [`ContentionLevel`] with [`Fences`] | standard deviations to a fence |
//! | `influences` | [`influences`](fn@influences) | [`NeighbourInfluence`] | |
//! | `hours` | [`seasons`](fn@seasons) | [`Season`] | |
//! | `functions` | [`functions`](fn@functions) | [`FunctionCost`] | |
//! | `alarms` | [`alarms`](fn@alarms) | [`AlarmCount`] | |
//!
//! Hosts are the sample: an [`Estimate`] has the 95% interval over hosts and their number, since windows of one host
//! resemble each other. Over the hours of days, days are the sample ([`DayEstimate`]). What a table does not tell is missing
//! with its reason. Published formulas that need no table: [`cpi2_score`], [`weighted_performance`], [`sample_sizes`],
//! [`one_sided_confidence`], [`Gev`].

mod clusters;
mod contention;
mod cpi2;
mod estimate;
mod expensive_hosts;
mod extent;
mod functions;
mod gev;
mod influence;
mod influences;
mod jobs;
mod least_squares;
mod mixture;
mod outliers;
mod ratio;
mod rows;
mod seasons;
mod suspects;
#[cfg(test)]
#[path = "tests/support.rs"]
mod testing;
mod usual;
mod versions;
mod wsmeter;

pub use clusters::{ClusterComparison, ClusterSettings, JobSpeedUp, LeftOut, clusters};
pub use contention::{Contention, ContentionCounts, ContentionLevel, Fences, contention};
pub use cpi2::{PooledSpec, cpi2_score};
pub use estimate::Estimate;
pub use expensive_hosts::{ExpensiveHost, ExpensiveHosts, expensive_hosts};
pub use extent::{AlarmCount, Extent, alarms, extent};
pub use functions::{FunctionCost, functions};
pub use gev::Gev;
pub use influences::{Interference, NeighbourInfluence, Sensitivity, influences};
pub use jobs::{JobCost, jobs};
pub use outliers::{OutlierChance, OutlierHost, Outliers, outliers};
pub use seasons::{DailyCourse, DayEstimate, HourOfDay, Season, seasons};
pub use suspects::{Suspect, suspects};
pub use usual::{GevFit, Usual, usual};
pub use versions::{
    FactorChange, FactorSplit, Intensity, PlatformCheck, PlatformCost, PooledChange, VersionAnswer, VersionComparison,
    one_sided_confidence, versions,
};
pub use wsmeter::{Stratum, WeightedPerformance, better, sample_sizes, weighted_performance};

#[cfg(test)]
#[path = "tests/tables.rs"]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests;
