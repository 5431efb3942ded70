//! This machine's cores and their event table, for `metrics` and for planning a capture.

use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::HardwarePlan;
use crate::model::limits::PMU_TABLE_BYTES;
use crate::pmu::{self, CoreType, Machine, Table, Wanted, planner};
use crate::sys::event_sources::EventSourceFiles;
use crate::sys::procfs::ProcFs;
use crate::sys::sysfs::SysFs;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The built-in table, overlaid with a user's own.
///
/// # Errors
/// The file cannot be read or is not a valid table.
pub(super) fn table(own: Option<&Path>) -> Result<Table> {
    let table = Table::built_in()?;
    let Some(path) = own else { return Ok(table) };
    let place = || format!("cannot read {}", path.display());
    // A pipe may never end, or never begin.
    if !std::fs::metadata(path).context(place)?.is_file() {
        return Err(Error::new(ErrorKind::Usage, "it is not a regular file").context(place()));
    }
    let mut text = String::new();
    File::open(path).and_then(|file| file.take(PMU_TABLE_BYTES + 1).read_to_string(&mut text)).context(place)?;
    if text.len() as u64 > PMU_TABLE_BYTES {
        let text = format!("it has more than {PMU_TABLE_BYTES} bytes");
        return Err(Error::new(ErrorKind::Exhausted, text).context(place()));
    }
    table.with(&text, &path.display().to_string())
}

/// The machine as described by the file systems below `root`.
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

/// The core types of that machine.
pub(super) fn cores(root: &Path, machine: &Machine, table: &Table) -> Vec<CoreType> {
    pmu::core_types(machine, &EventSourceFiles::open(&root.join("sys")), table)
}

/// The plans to open the cores' counters, one for each core type.
pub(super) fn plans(cores: &[CoreType], wanted: &Wanted) -> Vec<HardwarePlan> {
    let plan = |core: &CoreType| HardwarePlan {
        pmu: core.pmu.clone(),
        cpus: core.cpus.clone(),
        ..planner::plan(&core.uarch, &core.capacity, wanted)
    };
    cores.iter().map(plan).collect()
}

/// A core of another machine.
///
/// # Errors
/// `Usage` for a name that is not in the table.
pub(super) fn other(id: &str, table: &Table) -> Result<CoreType> {
    let uarch = table.by_id(id).ok_or_else(|| {
        let known: Vec<&str> = table.uarchs.iter().map(|uarch| uarch.id.as_str()).collect();
        Error::new(ErrorKind::Usage, format!("unknown microarchitecture '{id}'"))
            .hint(format!("Known are: {}.", known.join(", ")))
    })?;
    Ok(pmu::assumed(&Machine::default(), uarch))
}
