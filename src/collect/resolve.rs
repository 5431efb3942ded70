//! Names of targets to kernel objects: pids, unit names, container ids, cgroup paths.
use crate::error::Result;
use crate::model::Target;
/// x
pub fn check(t: Target) -> Result<Target> {
    Ok(t)
}
/// x
pub fn cgroup(name: &str) -> Result<Target> {
    Ok(Target::Cgroup { name: name.into(), path: name.into() })
}
