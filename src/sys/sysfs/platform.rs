//! Event sources, resctrl and the hypervisor.

use super::SysFs;
use std::collections::BTreeMap;
use std::fs;

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
