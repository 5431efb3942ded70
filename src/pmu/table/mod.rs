//! The core PMUs that are known: which CPU has which event in which role. Read from `assets/pmu` and from a user's own file.
//! It never looks at a machine.

mod read;

use super::detect::{Processor, X86};
use crate::error::Result;
use crate::model::{EventKind, Formula};
use std::ops::RangeInclusive;

/// The built-in tables, in the order in which a CPU is compared with them.
const BUILT_IN: &[(&str, &str)] = &[
    ("intel-skx", include_str!("../../../assets/pmu/intel-skx.toml")),
    ("intel-clx", include_str!("../../../assets/pmu/intel-clx.toml")),
    ("intel-icx", include_str!("../../../assets/pmu/intel-icx.toml")),
    ("intel-spr", include_str!("../../../assets/pmu/intel-spr.toml")),
    ("intel-emr", include_str!("../../../assets/pmu/intel-emr.toml")),
    ("intel-gnr", include_str!("../../../assets/pmu/intel-gnr.toml")),
    ("amd-zen2", include_str!("../../../assets/pmu/amd-zen2.toml")),
    // Zen 4 is whatever else is in the family of Zen 3.
    ("amd-zen3", include_str!("../../../assets/pmu/amd-zen3.toml")),
    ("amd-zen4", include_str!("../../../assets/pmu/amd-zen4.toml")),
    ("amd-zen5", include_str!("../../../assets/pmu/amd-zen5.toml")),
    ("arm-neoverse-n1", include_str!("../../../assets/pmu/arm-neoverse-n1.toml")),
    ("arm-neoverse-n2", include_str!("../../../assets/pmu/arm-neoverse-n2.toml")),
    ("arm-neoverse-n3", include_str!("../../../assets/pmu/arm-neoverse-n3.toml")),
    ("arm-neoverse-v1", include_str!("../../../assets/pmu/arm-neoverse-v1.toml")),
    ("arm-neoverse-v2", include_str!("../../../assets/pmu/arm-neoverse-v2.toml")),
    ("arm-neoverse-v3", include_str!("../../../assets/pmu/arm-neoverse-v3.toml")),
    ("generic", include_str!("../../../assets/pmu/generic.toml")),
];

/// Known microarchitectures; the first that fits a CPU is its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// In the order of comparison.
    pub uarchs: Vec<Uarch>,
}

/// A microarchitecture: its events and what its PMU can do.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Uarch {
    /// Its stable name, e.g. `intel-spr`.
    pub id: String,
    /// For people, e.g. `Sapphire Rapids`.
    pub name: String,
    /// The CPUs that are of it.
    pub cpus: Cpus,
    /// Its PMU below `/sys/bus/event_source/devices`; `None`: whichever the CPU has.
    pub pmu: Option<String>,
    /// General counters of one hyperthread.
    pub general: u8,
    /// The same where hyperthreading is switched off in the firmware.
    pub general_without_smt: u8,
    /// Pipeline slots per cycle, if they are known.
    pub slots_per_cycle: Option<u8>,
    /// The topdown counters are those of the core, so they mean nothing for one of two running threads.
    pub topdown_per_core: bool,
    /// Roles that have a counter of their own.
    pub fixed: Vec<String>,
    /// Roles that are counted only in a group that `slots` leads, and take no counter.
    pub led_by_slots: Vec<String>,
    /// Its events.
    pub events: Vec<TableEvent>,
    /// Formulas that differ from the common ones: metric and formula.
    pub formulas: Vec<(String, String)>,
    /// Metrics that cannot be had, and why, for people.
    pub absent: Vec<(String, String)>,
    /// What a metric means here in particular, for people.
    pub notes: Vec<(String, String)>,
    /// Formulas of early steppings.
    pub errata: Vec<Erratum>,
}

/// Formulas that hold up to a revision, that one included.
#[derive(Debug, Clone, PartialEq)]
pub struct Erratum {
    /// Variant and revision as Arm counts them: `r0p2` is (0, 2).
    pub up_to: (u8, u8),
    /// Metric and formula.
    pub formulas: Vec<(String, String)>,
}

/// An event in its role.
#[derive(Debug, Clone, PartialEq)]
pub struct TableEvent {
    /// Its role, e.g. `llc-miss`.
    pub role: String,
    /// The vendor's name.
    pub name: String,
    /// What the kernel is asked for; the PMU's number is put in when it is known.
    pub code: Code,
    /// It counts only on so many of the general counters, the first ones.
    pub first_counters: Option<u8>,
    /// It makes sense only in samples.
    pub samples_only: bool,
    /// What to know of it, for people.
    pub note: Option<String>,
}

/// How an event is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Code {
    /// The PMU's own encoding.
    Raw {
        /// `config`.
        config: u64,
        /// `config1`: the filter of an offcore response event.
        config1: u64,
    },
    /// One of the kernel's own names; the kind is `Hardware` or `Cache`.
    Generic {
        /// As perf writes it, e.g. `cache-misses`.
        name: String,
        /// What it is to the kernel.
        kind: EventKind,
    },
}

/// Which CPUs are of a microarchitecture. What is `None` or empty is not looked at.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cpus {
    /// `vendor_id` of x86, or `ARM`.
    pub vendor: Option<String>,
    /// x86: the family.
    pub family: Option<u32>,
    /// x86: models.
    pub models: Vec<RangeInclusive<u32>>,
    /// x86: steppings.
    pub steppings: Option<RangeInclusive<u32>>,
    /// Arm: implementer and part.
    pub part: Option<(u8, u16)>,
    /// No built-in CPU, only by its name.
    pub never: bool,
}

impl Table {
    /// The tables that come with the program.
    ///
    /// # Errors
    /// None, as a test reads them all.
    pub fn built_in() -> Result<Table> {
        let mut uarchs = Vec::new();
        for (name, text) in BUILT_IN {
            uarchs.extend(read::uarchs(text, &format!("the built-in table '{name}'"))?);
        }
        Ok(Table { uarchs })
    }

    /// The same with a user's table put before it: a microarchitecture of a known name is changed by what the user's entry
    /// says, any other is compared first.
    ///
    /// # Errors
    /// `Usage` with the place for what is no table.
    pub fn with(self, text: &str, file: &str) -> Result<Table> {
        read::over(self, text, file)
    }

    /// The first that fits. `pmu` is the name of the core's PMU.
    #[must_use]
    pub fn find(&self, processor: &Processor, pmu: &str) -> Option<Uarch> {
        let fits = |uarch: &&Uarch| uarch.cpus.contain(processor) && uarch.is_of(pmu);
        self.uarchs.iter().find(fits).map(|uarch| uarch.at(processor))
    }

    /// By its name.
    #[must_use]
    pub fn by_id(&self, id: &str) -> Option<&Uarch> {
        self.uarchs.iter().find(|uarch| uarch.id == id)
    }
}

impl Cpus {
    /// Whether a CPU is one of these.
    #[must_use]
    pub fn contain(&self, processor: &Processor) -> bool {
        let vendor = |name: &str| self.vendor.as_deref().is_none_or(|wanted| wanted == name);
        match processor {
            _ if self.never => false,
            Processor::X86(X86 { vendor: name, family, model, stepping }) => {
                self.part.is_none()
                    && vendor(name)
                    && self.family.is_none_or(|wanted| wanted == *family)
                    && (self.models.is_empty() || self.models.iter().any(|range| range.contains(model)))
                    && self.steppings.as_ref().is_none_or(|range| range.contains(stepping))
            }
            Processor::Arm(arm) => {
                self.family.is_none()
                    && vendor("ARM")
                    && self.part.is_none_or(|wanted| wanted == (arm.implementer, arm.part))
            }
            Processor::Unknown => *self == Cpus::default(),
        }
    }
}

impl Uarch {
    /// The event in a role.
    #[must_use]
    pub fn event(&self, role: &str) -> Option<&TableEvent> {
        self.events.iter().find(|event| event.role == role)
    }

    /// What it says of a metric in particular.
    #[must_use]
    pub fn note(&self, metric: &str) -> Option<&str> {
        self.notes.iter().find(|(name, _)| name == metric).map(|(_, note)| note.as_str())
    }

    fn is_of(&self, pmu: &str) -> bool {
        // A kernel without ACPI leaves the number away, and an older one the version.
        let same = |wanted: &str| wanted == pmu || (wanted.starts_with("armv8_") && pmu.starts_with("armv8_"));
        self.pmu.as_deref().is_none_or(same)
    }

    /// With the formulas of its revision.
    fn at(&self, processor: &Processor) -> Uarch {
        let mut uarch = self.clone();
        let Processor::Arm(arm) = processor else { return uarch };
        let early = self.errata.iter().filter(|erratum| (arm.variant, arm.revision) <= erratum.up_to);
        for (metric, formula) in early.flat_map(|erratum| &erratum.formulas) {
            put(&mut uarch.formulas, metric, formula);
        }
        uarch
    }
}

/// Sets a value of a list of pairs.
fn put(pairs: &mut Vec<(String, String)>, name: &str, value: &str) {
    match pairs.iter_mut().find(|(known, _)| known == name) {
        Some((_, known)) => *known = value.to_string(),
        None => pairs.push((name.to_string(), value.to_string())),
    }
}

/// Whether a text may stand as a formula.
fn is_formula(text: &str) -> bool {
    Formula::parse(text).is_some()
}

#[cfg(test)]
mod tests;
