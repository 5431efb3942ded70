//! CPUs and memory nodes, event sources, resctrl and the hypervisor.

use super::SysFs;
use crate::abi::parse_cpu_list;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::CpuTopology;
use std::collections::BTreeMap;
use std::fs;

impl SysFs {
    /// CPUs that are online, ascending.
    pub fn online_cpus(&self) -> Result<Vec<u32>> {
        let path = "devices/system/cpu/online";
        let text = fs::read_to_string(self.root.join(path)).map_err(Error::from);
        let place = || format!("cannot read the online CPUs from {}", self.root.join(path).display());
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

    /// When anonymous memory gets huge pages: the word in brackets of `always [madvise] never`.
    #[must_use]
    pub fn huge_pages(&self) -> Option<String> {
        let text = self.text("kernel/mm/transparent_hugepage/enabled")?;
        text.split_once('[')?.1.split_once(']').map(|(chosen, _)| chosen.to_string())
    }

    /// Defects of the CPU with what the kernel does about each; empty where it does not report them.
    #[must_use]
    pub fn mitigations(&self) -> BTreeMap<String, String> {
        const FOLDER: &str = "devices/system/cpu/vulnerabilities";
        let entries = fs::read_dir(self.root.join(FOLDER)).into_iter().flatten().flatten();
        let mitigation = |name: String| Some((name.clone(), self.text(&format!("{FOLDER}/{name}"))?));
        entries.filter_map(|entry| mitigation(entry.file_name().into_string().ok()?)).collect()
    }
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
