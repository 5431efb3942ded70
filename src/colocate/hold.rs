//! What holds a neighbour: a quota, a duty cycle, fewer CPUs, a part of the cache. Decides how a load or a control is
//! imposed on this machine.

use crate::error::{Error, ErrorKind, Result};
use crate::model::{ColocatedProgram, Control, HostFacts, Imposed, Placement, Target};
use crate::sweep::{CpuConfinement, CpuOrder, GroupRecord, Journals};
use crate::sys::affinity;
use crate::sys::cgroupfs::{CgroupFs, OwnGroup};
use crate::sys::procfs::ProcFs;
use std::path::Path;

/// Where resource control is mounted.
const RESCTRL: &str = "/sys/fs/resctrl";
/// The part of the CPU time it takes alone that a neighbour keeps under `cpu.max`.
const KEPT: f64 = 0.5;
/// The kernel takes no smaller quota.
const LEAST: f64 = 0.01;

/// What holds one run of a neighbour.
#[derive(Debug, Default)]
pub(super) struct Hold {
    /// How its load is imposed.
    pub imposed: Option<Imposed>,
    /// Groups with limits.
    groups: Option<GroupRecord>,
    /// CPUs it may use, with the journals of its confinement; `None` for all.
    cpus: Option<(Vec<u32>, Journals)>,
}

/// The machine, as far as it can hold a neighbour.
#[derive(Debug)]
pub(super) struct Means {
    pub proc: ProcFs,
    pub journals: Journals,
    pub host: HostFacts,
    /// CPUs this process may use.
    pub allowed: Vec<u32>,
}

impl Hold {
    /// A duty cycle alone.
    #[cfg(test)]
    pub fn duty_cycle(share: f64) -> Hold {
        Hold { imposed: Some(Imposed::DutyCycle { share }), ..Hold::default() }
    }

    /// Holds a process that has executed nothing yet.
    pub fn apply(&self, pid: u32) -> Result<Option<CpuConfinement>> {
        if let Some(groups) = &self.groups {
            groups.add(pid)?;
        }
        let Some((cpus, journals)) = &self.cpus else { return Ok(None) };
        let target = Target::Processes { pids: vec![pid], children: true };
        let mut confinement = CpuConfinement::begin(ProcFs::new("/proc"), target, journals, &affinity::get(0)?)?;
        confinement.confine(cpus)?;
        Ok(Some(confinement))
    }

    /// Removes what was made for it, once nothing is held any more.
    pub fn lift(&mut self) -> Result<()> {
        self.groups.as_mut().map_or(Ok(()), GroupRecord::remove)
    }
}

impl Means {
    /// Holds a neighbour to its load, and by a control.
    ///
    /// # Errors
    /// The control cannot be had on this machine.
    pub fn hold(&self, neighbour: &ColocatedProgram, load: f64, control: Option<Control>) -> Result<Hold> {
        let mut hold = Hold::default();
        let alone = neighbour.busy_cpus.unwrap_or(self.allowed.len() as f64);
        let limit = if control == Some(Control::CpuMax) { KEPT } else { 1.0 };
        let by_load = if neighbour.takes_load() { 1.0 } else { load };
        let share = by_load * limit;
        let mut groups = Vec::new();
        let cpus = (alone * share).max(LEAST);
        if share < 1.0 {
            match self.quota(cpus) {
                Ok(group) => groups.push(group),
                Err(error) if limit < 1.0 => return Err(error),
                Err(_) => hold.imposed = Some(Imposed::DutyCycle { share }),
            }
        }
        if control == Some(Control::Resctrl) {
            groups.push(OwnGroup::resctrl(Path::new(RESCTRL), &own_name())?);
        }
        if !groups.is_empty() {
            match GroupRecord::create(&self.proc, &self.journals, groups) {
                Ok(record) => hold.groups = Some(record),
                // A user who may not make groups can still stop its own processes.
                Err(_) if control.is_none() => hold.imposed = Some(Imposed::DutyCycle { share }),
                Err(error) => return Err(error),
            }
        }
        if share < 1.0 && hold.imposed.is_none() {
            hold.imposed = Some(Imposed::Quota { cpus });
        }
        if neighbour.takes_load() && hold.imposed.is_none() {
            hold.imposed = Some(Imposed::Command);
        }
        if control == Some(Control::Cpuset) {
            hold.cpus = Some((self.half()?, self.journals.clone()));
        }
        Ok(hold)
    }

    /// Why a control cannot be had on this machine; `None` if it can.
    pub fn missing(&self, control: Control) -> Option<Error> {
        match control {
            Control::Cpuset => self.half().err(),
            Control::CpuMax => self.try_group(self.quota(1.0)),
            Control::Resctrl => self.try_group(OwnGroup::resctrl(Path::new(RESCTRL), &own_name())),
        }
    }

    /// Why no group with a quota can be made; `None` if one can.
    pub fn no_quota(&self) -> Option<Error> {
        self.missing(Control::CpuMax)
    }

    /// Makes the group and removes it again: rights and hierarchies are not the only reasons for a refusal.
    fn try_group(&self, group: Result<OwnGroup>) -> Option<Error> {
        let made = group.and_then(|group| GroupRecord::create(&self.proc, &self.journals, vec![group]));
        made.and_then(|mut record| record.remove()).err()
    }

    fn quota(&self, cpus: f64) -> Result<OwnGroup> {
        OwnGroup::quota(&CgroupFs::open(&self.proc)?, &own_name(), cpus)
    }

    /// Half of the CPUs, whole cores first: those that the order of placement fills last.
    fn half(&self) -> Result<Vec<u32>> {
        let order = CpuOrder::of(&self.host.cpus, &self.allowed, Placement::Smt);
        let all = order.cpus_for(u32::try_from(order.len()).unwrap_or(u32::MAX)).cpus;
        if all.len() < 2 {
            return Err(Error::new(ErrorKind::Unsupported, "there is only one CPU to run on"));
        }
        let first = order.cpus_for(u32::try_from(all.len().div_ceil(2)).unwrap_or(1)).cpus;
        Ok(all.into_iter().filter(|cpu| !first.contains(cpu)).collect())
    }
}

/// One group at a time is enough for a process.
fn own_name() -> String {
    std::process::id().to_string()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::model::CpuTopology;

    fn means(dir: &Path, cpus: u32) -> Means {
        let topology = (0..cpus).map(|cpu| CpuTopology { cpu, core: cpu % 2, package: 0, node: 0 }).collect();
        Means {
            // Without control groups.
            proc: ProcFs::new(dir),
            journals: Journals::open(&dir.join("j")).unwrap(),
            host: HostFacts { cpus: topology, ..HostFacts::default() },
            allowed: (0..cpus).collect(),
        }
    }

    fn program(command: &str) -> ColocatedProgram {
        let command = vec![command.to_string()];
        let (ops, latency, full_rate, busy_cpus) = (None, None, None, Some(1.5));
        ColocatedProgram { name: "x".to_string(), command, ops, latency, full_rate, busy_cpus }
    }

    #[test]
    fn without_control_groups_a_load_becomes_a_duty_cycle_unless_the_command_takes_it() {
        let dir = tempfile::tempdir().unwrap();
        let means = means(dir.path(), 2);
        let imposed = |command: &str, load| means.hold(&program(command), load, None).unwrap().imposed;
        assert_eq!(imposed("app", 1.0), None);
        assert_eq!(imposed("app", 0.25), Some(Imposed::DutyCycle { share: 0.25 }));
        assert_eq!(imposed("app {load}", 0.25), Some(Imposed::Command));
        assert!(means.hold(&program("app"), 1.0, Some(Control::CpuMax)).is_err());
        assert!(means.missing(Control::CpuMax).is_some());
    }

    #[test]
    fn half_of_the_cpus_are_whole_cores() {
        let dir = tempfile::tempdir().unwrap();
        let cpus = |count| means(dir.path(), count).half();
        // Core 0 has CPUs 0 and 2, core 1 has 1 and 3.
        assert_eq!(cpus(4).unwrap(), [1, 3]);
        assert_eq!(cpus(1).unwrap_err().kind(), ErrorKind::Unsupported);
    }
}
