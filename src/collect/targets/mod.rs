//! Lists what can be profiled on this machine: processes and cgroups with their use of CPUs.

mod cgroups;
mod lister;
mod processes;

pub use cgroups::{CgroupTotal, totals};
pub use lister::{TargetLister, Targets};
