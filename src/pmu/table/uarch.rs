//! A microarchitecture: its CPUs, its counters, and its events by role.

use super::super::detect::{Processor, X86};
use crate::model::{EventKind, Formula};
use std::ops::RangeInclusive;

/// A microarchitecture: its events and the capabilities of its PMU.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Uarch {
    /// Its stable name, e.g. `intel-spr`.
    pub id: String,
    /// Its display name, e.g. `Sapphire Rapids`.
    pub name: String,
    /// The CPUs of this microarchitecture.
    pub cpus: Cpus,
    /// Its PMU below `/sys/bus/event_source/devices`; `None` matches any.
    pub pmu: Option<String>,
    /// General counters of one hyperthread.
    pub general: u8,
    /// General counters per thread if hyperthreading is disabled in the firmware.
    pub general_without_smt: u8,
    /// Pipeline slots per cycle, if they are known.
    pub slots_per_cycle: Option<u8>,
    /// Whether the topdown counters count per core. Their values are then meaningless for one of two running threads.
    pub topdown_per_core: bool,
    /// Roles that have a fixed counter.
    pub fixed: Vec<String>,
    /// Roles that are counted only in a group led by `slots` and that take no counter.
    pub led_by_slots: Vec<String>,
    /// Its events.
    pub events: Vec<TableEvent>,
    /// Formulas that override the common ones: metric and formula.
    pub formulas: Vec<(String, String)>,
    /// Metrics that are not available, and the reason as text for users.
    pub absent: Vec<(String, String)>,
    /// What a metric means on this microarchitecture, as text for users.
    pub notes: Vec<(String, String)>,
    /// Formulas of early steppings.
    pub errata: Vec<Erratum>,
}

/// Formulas for all revisions up to and including one.
#[derive(Debug, Clone, PartialEq)]
pub struct Erratum {
    /// Variant and revision in Arm's notation: `r0p2` is (0, 2).
    pub up_to: (u8, u8),
    /// Metric and formula.
    pub formulas: Vec<(String, String)>,
}

/// An event and its role.
#[derive(Debug, Clone, PartialEq)]
pub struct TableEvent {
    /// Its role, e.g. `llc-miss`.
    pub role: String,
    /// The vendor's name.
    pub name: String,
    /// The kernel encoding. The PMU's type number is filled in when it is known.
    pub code: EventEncoding,
    /// The event counts only on the first N general counters.
    pub first_counters: Option<u8>,
    /// The event is meaningful only in samples.
    pub samples_only: bool,
    /// A remark for users.
    pub note: Option<String>,
}

/// How an event is encoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventEncoding {
    /// The PMU's own encoding.
    Raw {
        /// `config`.
        config: u64,
        /// `config1`: the filter of an offcore response event.
        config1: u64,
    },
    /// A generic event of the kernel; the kind is `Hardware` or `Cache`.
    Generic {
        /// As perf writes it, e.g. `cache-misses`.
        name: String,
        /// The kernel encoding.
        kind: EventKind,
    },
}

/// The CPUs that belong to a microarchitecture. `None` or empty matches any.
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
    /// Matches no CPU; the microarchitecture is selected only by name.
    pub never: bool,
}

impl Cpus {
    /// Whether a CPU belongs to this set.
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
    /// The event of a role.
    #[must_use]
    pub fn event(&self, role: &str) -> Option<&TableEvent> {
        self.events.iter().find(|event| event.role == role)
    }

    /// The note about a metric on this microarchitecture.
    #[must_use]
    pub fn note(&self, metric: &str) -> Option<&str> {
        self.notes.iter().find(|(name, _)| name == metric).map(|(_, note)| note.as_str())
    }

    pub(super) fn is_of(&self, pmu: &str) -> bool {
        // A kernel without ACPI omits the number, and an older kernel the version.
        let same = |wanted: &str| wanted == pmu || (wanted.starts_with("armv8_") && pmu.starts_with("armv8_"));
        self.pmu.as_deref().is_none_or(same)
    }

    /// A copy with the formulas of the CPU's revision.
    pub(super) fn at(&self, processor: &Processor) -> Uarch {
        let mut uarch = self.clone();
        let Processor::Arm(arm) = processor else { return uarch };
        let early = self.errata.iter().filter(|erratum| (arm.variant, arm.revision) <= erratum.up_to);
        for (metric, formula) in early.flat_map(|erratum| &erratum.formulas) {
            put(&mut uarch.formulas, metric, formula);
        }
        uarch
    }
}

/// Sets a value in a list of pairs.
pub(super) fn put(pairs: &mut Vec<(String, String)>, name: &str, value: &str) {
    match pairs.iter_mut().find(|(known, _)| known == name) {
        Some((_, known)) => *known = value.to_string(),
        None => pairs.push((name.to_string(), value.to_string())),
    }
}

/// Whether the text is a valid formula.
pub(super) fn is_formula(text: &str) -> bool {
    Formula::parse(text).is_some()
}
