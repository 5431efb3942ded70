//! This machine's cores and the table that describes them: what `metrics` shows and what a capture is planned by.
//! It never opens an event.

use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::HardwarePlan;
use crate::pmu::{self, CoreType, Machine, Table, Wanted, planner};
use crate::sys::event_sources::EventSourceFiles;
use crate::sys::procfs::ProcFs;
use crate::sys::sysfs::SysFs;
use std::path::Path;

/// The built-in table with a user's own over it.
///
/// # Errors
/// The file cannot be read, or is no table.
pub(super) fn table(own: Option<&Path>) -> Result<Table> {
    let table = Table::built_in()?;
    let Some(path) = own else { return Ok(table) };
    let text = std::fs::read_to_string(path).context(|| format!("cannot read {}", path.display()))?;
    table.with(&text, &path.display().to_string())
}

/// What the machine with its file systems below `root` says of itself.
pub(super) fn machine(root: &Path) -> Machine {
    let (proc, sys) = (ProcFs::new(root.join("proc")), SysFs::new(root.join("sys")));
    let register = |cpu: u32| sys.text(&format!("devices/system/cpu/cpu{cpu}/regs/identification/midr_el1"));
    let cpus = sys.online_cpus().unwrap_or_default();
    Machine {
        cpuinfo: proc.text("cpuinfo").unwrap_or_default(),
        midr: cpus.into_iter().filter_map(|cpu| Some((cpu, register(cpu)?))).collect(),
        nmi_watchdog: proc.text("sys/kernel/nmi_watchdog").ok(),
        smt: sys.text("devices/system/cpu/smt/control"),
        nodes: sys.nodes().len(),
    }
}

/// The kinds of core of that machine.
pub(super) fn cores(root: &Path, machine: &Machine, table: &Table) -> Vec<CoreType> {
    pmu::core_types(machine, &EventSourceFiles::open(&root.join("sys")), table)
}

/// The plans by which the cores' counters are opened, one for each kind of core.
pub(super) fn plans(cores: &[CoreType], wanted: &Wanted) -> Vec<HardwarePlan> {
    let plan = |core: &CoreType| HardwarePlan {
        pmu: core.pmu.clone(),
        cpus: core.cpus.clone(),
        ..planner::plan(&core.uarch, &core.capacity, wanted)
    };
    cores.iter().map(plan).collect()
}

/// A core that is not here.
///
/// # Errors
/// `Usage` for a name that no table has.
pub(super) fn other(id: &str, table: &Table) -> Result<CoreType> {
    let uarch = table.by_id(id).ok_or_else(|| {
        let known: Vec<&str> = table.uarchs.iter().map(|uarch| uarch.id.as_str()).collect();
        Error::new(ErrorKind::Usage, format!("there is no microarchitecture '{id}'"))
            .hint(format!("Known are: {}.", known.join(", ")))
    })?;
    Ok(pmu::assumed(&Machine::default(), uarch))
}
