//! The known microarchitectures and their events by role, read from `assets/pmu` and from a user's own file.

mod read;
mod uarch;

use super::detect::{Processor, X86};
use crate::error::Result;
pub use uarch::{EventEncoding, TableEvent, Uarch};

/// The built-in tables, in the order in which a CPU is matched against them.
const BUILT_IN: &[(&str, &str)] = &[
    ("intel-skx", include_str!("../../../assets/pmu/intel-skx.toml")),
    ("intel-clx", include_str!("../../../assets/pmu/intel-clx.toml")),
    ("intel-icx", include_str!("../../../assets/pmu/intel-icx.toml")),
    ("intel-spr", include_str!("../../../assets/pmu/intel-spr.toml")),
    ("intel-emr", include_str!("../../../assets/pmu/intel-emr.toml")),
    ("intel-gnr", include_str!("../../../assets/pmu/intel-gnr.toml")),
    ("amd-zen2", include_str!("../../../assets/pmu/amd-zen2.toml")),
    // Zen 3 comes before Zen 4, which matches the rest of the same CPU family.
    ("amd-zen3", include_str!("../../../assets/pmu/amd-zen3.toml")),
    ("amd-zen4", include_str!("../../../assets/pmu/amd-zen4.toml")),
    ("amd-zen5", include_str!("../../../assets/pmu/amd-zen5.toml")),
    ("arm-neoverse-n1", include_str!("../../../assets/pmu/arm-neoverse-n1.toml")),
    ("arm-neoverse-n2", include_str!("../../../assets/pmu/arm-neoverse-n2.toml")),
    ("arm-neoverse-n3", include_str!("../../../assets/pmu/arm-neoverse-n3.toml")),
    ("arm-neoverse-v1", include_str!("../../../assets/pmu/arm-neoverse-v1.toml")),
    ("arm-neoverse-v2", include_str!("../../../assets/pmu/arm-neoverse-v2.toml")),
    ("arm-neoverse-v3", include_str!("../../../assets/pmu/arm-neoverse-v3.toml")),
    (ANY_VENDOR, include_str!("../../../assets/pmu/generic.toml")),
];

/// The built-in table for CPUs of any vendor.
const ANY_VENDOR: &str = "generic";

/// Known microarchitectures. The first match for a CPU wins.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// In matching order.
    pub uarchs: Vec<Uarch>,
}

impl Table {
    /// The tables that are built into the program.
    ///
    /// # Errors
    /// None in practice: a test reads them all.
    pub fn built_in() -> Result<Table> {
        Table::of_texts(|_, _| true)
    }

    /// The built-in tables for processors of this one's vendor: reading them all takes longer than the rest of a plan.
    ///
    /// # Errors
    /// As [`Table::built_in`].
    pub fn for_vendor_of(processor: &Processor) -> Result<Table> {
        match processor {
            Processor::X86(X86 { vendor, .. }) => {
                let line = format!("\nvendor = \"{vendor}\"\n");
                Table::of_texts(|name, text| name == ANY_VENDOR || text.contains(&line))
            }
            Processor::Arm(_) => Table::of_texts(|name, text| name == ANY_VENDOR || text.contains("\nimplementer = ")),
            Processor::Unknown => Table::built_in(),
        }
    }

    fn of_texts(wanted: impl Fn(&str, &str) -> bool) -> Result<Table> {
        let mut uarchs = Vec::new();
        for (name, text) in BUILT_IN.iter().filter(|(name, text)| wanted(name, text)) {
            uarchs.extend(read::uarchs(text, &format!("the built-in table '{name}'"))?);
        }
        Ok(Table { uarchs })
    }

    /// Merges a user's table into this one. An entry with a known id changes that microarchitecture; any other entry is
    /// matched first.
    ///
    /// # Errors
    /// `Usage` with the position, if the text is not a valid table.
    pub fn with(self, text: &str, file: &str) -> Result<Table> {
        read::over(self, text, file)
    }

    /// The first match. `pmu` is the name of the core's PMU.
    #[must_use]
    pub fn find(&self, processor: &Processor, pmu: &str) -> Option<Uarch> {
        let fits = |uarch: &&Uarch| uarch.cpus.contain(processor) && uarch.is_of(pmu);
        self.uarchs.iter().find(fits).map(|uarch| uarch.at(processor))
    }

    /// Looks up a microarchitecture by id.
    #[must_use]
    pub fn by_id(&self, id: &str) -> Option<&Uarch> {
        self.uarchs.iter().find(|uarch| uarch.id == id)
    }
}

#[cfg(test)]
mod tests;
