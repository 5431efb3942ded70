//! Reads /sys: CPUs, memory nodes, event sources and the platform.
//! Values that a machine does not report are `None`.

mod caches;

use crate::abi::parse_cpu_list;
pub use caches::{Cache, CacheSizes};

use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::CpuTopology;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A mounted sysfs; tests use a directory of their own.
#[derive(Debug, Clone)]
pub struct SysFs {
    root: PathBuf,
}

/// Whether the kernel can partition caches and memory bandwidth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resctrl {
    /// Not supported by this CPU or kernel.
    Absent,
    /// Supported, but the file system is not mounted.
    NotMounted,
    /// Mounted at /sys/fs/resctrl.
    Mounted,
}

impl SysFs {
    /// The file system at `root`, normally `/sys`.
    pub fn new(root: impl Into<PathBuf>) -> SysFs {
        SysFs { root: root.into() }
    }

    /// The mount point.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A file's trimmed text; `None` when it is missing, unreadable or empty.
    #[must_use]
    pub fn text(&self, path: &str) -> Option<String> {
        let text = fs::read_to_string(self.root.join(path)).ok()?;
        Some(text.trim().to_string()).filter(|text| !text.is_empty())
    }

    /// CPUs that are online, ascending.
    pub fn online_cpus(&self) -> Result<Vec<u32>> {
        let path = "devices/system/cpu/online";
        let text = fs::read_to_string(self.root.join(path)).map_err(Error::from);
        let place = || format!("cannot tell the online CPUs from {}", self.root.join(path).display());
        let cpus = text.and_then(|text| parse_cpu_list(&text)).context(place)?;
        if cpus.is_empty() {
            return Err(Error::new(ErrorKind::Corrupt, "the list is empty").context(place()));
        }
        Ok(cpus)
    }

    /// The topology of every online CPU. Where the machine reports none (some virtual ones), each CPU counts as a core.
    pub fn topology(&self) -> Result<Vec<CpuTopology>> {
        let nodes = self.node_of_cpu();
        let place = |cpu: u32| {
            let value =
                |name: &str| self.text(&format!("devices/system/cpu/cpu{cpu}/topology/{name}"))?.parse::<u32>().ok();
            CpuTopology {
                cpu,
                core: value("core_id").unwrap_or(cpu),
                package: value("physical_package_id").unwrap_or(0),
                node: nodes.get(&cpu).copied().unwrap_or(0),
            }
        };
        Ok(self.online_cpus()?.into_iter().map(place).collect())
    }

    /// Memory nodes, ascending; empty on a machine that reports none.
    #[must_use]
    pub fn nodes(&self) -> Vec<u32> {
        let list = self.text("devices/system/node/online");
        list.and_then(|list| parse_cpu_list(&list).ok()).unwrap_or_default()
    }

    fn node_of_cpu(&self) -> BTreeMap<u32, u32> {
        let cpus = |node: &u32| parse_cpu_list(&self.text(&format!("devices/system/node/node{node}/cpulist"))?).ok();
        let pairs = |node: u32| cpus(&node).unwrap_or_default().into_iter().map(move |cpu| (cpu, node));
        self.nodes().into_iter().flat_map(pairs).collect()
    }

    /// Whether cores run several threads at once; `None` where the kernel does not report it.
    #[must_use]
    pub fn smt_active(&self) -> Option<bool> {
        self.text("devices/system/cpu/smt/active").map(|text| text == "1")
    }

    /// The frequency governor of a CPU; `None` without cpufreq, as in most virtual machines.
    #[must_use]
    pub fn governor(&self, cpu: u32) -> Option<String> {
        self.text(&format!("devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"))
    }

    /// Event sources the kernel lists, with their type numbers. A listed source may still not count.
    #[must_use]
    pub fn event_sources(&self) -> BTreeMap<String, u32> {
        let entries = fs::read_dir(self.root.join("bus/event_source/devices")).into_iter().flatten().flatten();
        let source = |name: String| {
            let kind = self.text(&format!("bus/event_source/devices/{name}/type"))?.parse().ok()?;
            Some((name, kind))
        };
        entries.filter_map(|entry| source(entry.file_name().into_string().ok()?)).collect()
    }

    /// Whether resctrl can be used.
    #[must_use]
    pub fn resctrl(&self) -> Resctrl {
        let point = self.root.join("fs/resctrl");
        match (point.join("schemata").exists(), point.is_dir()) {
            (true, _) => Resctrl::Mounted,
            (false, true) => Resctrl::NotMounted,
            (false, false) => Resctrl::Absent,
        }
    }

    /// The hypervisor's or vendor's name, where the platform reports it.
    #[must_use]
    pub fn hypervisor(&self) -> Option<String> {
        let vendor = || {
            let vendor = self.text("class/dmi/id/sys_vendor")?;
            let product = self.text("class/dmi/id/product_name").unwrap_or_default();
            let virtual_names =
                ["QEMU", "KVM", "VMware", "Xen", "innotek", "Virtual", "Bochs", "Amazon EC2", "Google Compute"];
            let bare_metal = product.ends_with(".metal");
            let named = |text: &str| virtual_names.iter().any(|name| text.contains(name));
            (!bare_metal && (named(&vendor) || named(&product))).then_some(vendor)
        };
        self.text("hypervisor/type").or_else(vendor)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, SysFs) {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let sys = SysFs::new(root.path());
        (root, sys)
    }

    #[test]
    fn cpus_are_placed_in_cores_packages_and_nodes() {
        let (_root, sys) = tree(&[
            ("devices/system/cpu/online", "0-1,8\n"),
            ("devices/system/cpu/cpu1/topology/core_id", "0\n"),
            ("devices/system/cpu/cpu1/topology/physical_package_id", "0\n"),
            ("devices/system/cpu/cpu8/topology/core_id", "4\n"),
            ("devices/system/cpu/cpu8/topology/physical_package_id", "1\n"),
            ("devices/system/node/online", "0,2\n"),
            ("devices/system/node/node0/cpulist", "0-1\n"),
            ("devices/system/node/node2/cpulist", "8\n"),
            ("devices/system/cpu/cpu1/topology/thread_siblings_list", "0-1\n"),
        ]);
        let place = |cpu, core, package, node| CpuTopology { cpu, core, package, node };
        assert_eq!(sys.topology().unwrap(), [place(0, 0, 0, 0), place(1, 0, 0, 0), place(8, 4, 1, 2)]);
    }

    #[test]
    fn what_the_machine_does_not_say_is_unknown() {
        let (_root, sys) = tree(&[("devices/system/cpu/online", "\n")]);
        assert!(sys.online_cpus().unwrap_err().to_string().contains("devices/system/cpu/online"));
        assert_eq!((sys.governor(0), sys.smt_active(), sys.hypervisor()), (None, None, None));
        assert_eq!((sys.resctrl(), sys.event_sources().len()), (Resctrl::Absent, 0));
    }

    #[test]
    fn event_sources_and_the_platform_are_read() {
        let (root, sys) = tree(&[
            ("bus/event_source/devices/cpu/type", "4\n"),
            ("bus/event_source/devices/broken/type", "x\n"),
            ("class/dmi/id/sys_vendor", "Amazon EC2\n"),
            ("class/dmi/id/product_name", "m5.metal\n"),
            ("fs/resctrl/schemata", "L3:0=f\n"),
        ]);
        assert_eq!(sys.event_sources(), BTreeMap::from([("cpu".to_string(), 4)]));
        assert_eq!((sys.hypervisor(), sys.resctrl()), (None, Resctrl::Mounted));
        fs::write(root.path().join("class/dmi/id/product_name"), "m5.large\n").unwrap();
        assert_eq!(sys.hypervisor().as_deref(), Some("Amazon EC2"));
    }

    #[test]
    fn this_machine_has_a_cpu_online() {
        assert!(!SysFs::new("/sys").topology().unwrap().is_empty());
    }
}
