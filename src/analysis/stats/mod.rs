//! Statistics of a comparison: tests, intervals, resampling, and corrections for many tests at once.

mod ancova;
mod bootstrap;
pub(in crate::analysis) mod linear;
mod multiple;
mod power;
mod rank;
mod robust;
mod series;
#[cfg(test)]
#[path = "tests/simulate.rs"]
pub(in crate::analysis) mod simulate;
pub(super) mod special;
mod student;

pub use ancova::{Ancova, Observation};
pub use bootstrap::{Blocks, Random, block_length};
pub(in crate::analysis) use multiple::corrected;
pub use multiple::{benjamini_hochberg, holm};
pub use power::detectable;
pub use rank::{least_p, mann_whitney};
pub use robust::{median, robust_sd};
pub use series::Moments;
pub use special::normal_cdf;
#[cfg(test)]
pub(in crate::analysis) use student::tests::welch;
pub(in crate::analysis) use student::{combined, f_upper_tail};
pub use student::{equivalent, student_quantile, student_two_sided};
