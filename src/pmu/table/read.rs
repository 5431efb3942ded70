//! Reads event tables from TOML and checks every value: an error in a user's table is reported with its position.
//!
//! ```toml
//! [[uarch]]
//! id = "my-core"                 # an id of a built-in table changes that one
//! name = "My core"
//! vendor = "GenuineIntel"        # family, models = ["0x10-0x1f"], steppings = "0-4"; or implementer and part (Arm)
//! pmu = "cpu"
//! general_counters = 8
//! fixed = ["instructions", "cycles"]
//!
//! [uarch.events]
//! llc_miss = { name = "LONGEST_LAT_CACHE.MISS", config = 0x412e }
//!
//! [uarch.formulas]
//! llc_mpki = "1000 * llc-miss / instructions"
//! ```

use super::Table;
use super::uarch::{Cpus, Erratum, EventEncoding, TableEvent, Uarch, is_formula, put};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::pmu::names;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Upper limit: more counters than any PMU has.
const MOST_COUNTERS: u8 = 64;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    uarch: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: String,
    name: Option<String>,
    vendor: Option<String>,
    family: Option<u32>,
    models: Option<Vec<String>>,
    steppings: Option<String>,
    implementer: Option<u8>,
    part: Option<u16>,
    pmu: Option<String>,
    general_counters: Option<u8>,
    general_counters_without_smt: Option<u8>,
    slots_per_cycle: Option<u8>,
    topdown_per_core: Option<bool>,
    fixed: Option<Vec<String>>,
    led_by_slots: Option<Vec<String>>,
    #[serde(default)]
    events: toml::Table,
    #[serde(default)]
    formulas: BTreeMap<String, String>,
    #[serde(default)]
    absent: BTreeMap<String, String>,
    #[serde(default)]
    notes: BTreeMap<String, String>,
    #[serde(default)]
    errata: Vec<EarlyEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EarlyEntry {
    up_to: String,
    formulas: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    config: Option<u64>,
    config1: Option<u64>,
    generic: Option<String>,
    first_counters: Option<u8>,
    samples_only: Option<bool>,
    note: Option<String>,
}

/// Parses the microarchitectures of a text. Errors: `Usage`, naming `file`.
pub(super) fn uarchs(text: &str, file: &str) -> Result<Vec<Uarch>> {
    let place = || format!("cannot read {file}");
    let entries = entries(text).context(place)?;
    entries.into_iter().map(|entry| changed(Uarch::default(), entry).context(place)).collect()
}

/// Merges a user's text into a table.
pub(super) fn over(table: Table, text: &str, file: &str) -> Result<Table> {
    let Table { uarchs: mut known } = table;
    let place = || format!("cannot read {file}");
    let mut first = Vec::new();
    for entry in entries(text).context(place)? {
        match known.iter().position(|uarch| uarch.id == entry.id) {
            // An entry that redefines its CPUs is matched before the others.
            Some(at) if entry.says_which_cpus() => first.push(changed(known.remove(at), entry).context(place)?),
            Some(at) => known[at] = changed(std::mem::take(&mut known[at]), entry).context(place)?,
            None => first.push(changed(Uarch::default(), entry).context(place)?),
        }
    }
    first.extend(known);
    Ok(Table { uarchs: first })
}

fn entries(text: &str) -> Result<Vec<Entry>> {
    let file: File = toml::from_str(text).map_err(|error| wrong(error.to_string().trim().to_string()))?;
    Ok(file.uarch)
}

impl Entry {
    fn says_which_cpus(&self) -> bool {
        self.vendor.is_some() || self.family.is_some() || self.models.is_some() || self.part.is_some()
    }
}

/// Applies an entry to `base`.
fn changed(base: Uarch, entry: Entry) -> Result<Uarch> {
    let id = entry.id.clone();
    change(base, entry).context(|| format!("microarchitecture '{id}'"))
}

fn change(mut uarch: Uarch, entry: Entry) -> Result<Uarch> {
    if !is_id(&entry.id) {
        return Err(wrong("an id holds small letters, digits and hyphens"));
    }
    let general = entry.general_counters.unwrap_or(if uarch.general == 0 { 4 } else { uarch.general });
    if general == 0 || general > MOST_COUNTERS {
        return Err(wrong(format!("{general} general counters make no sense")));
    }
    if entry.says_which_cpus() || uarch.id.is_empty() {
        uarch.cpus = cpus(&entry)?;
    }
    uarch.name = entry.name.unwrap_or(if uarch.name.is_empty() { entry.id.clone() } else { uarch.name });
    let without_smt = entry.general_counters_without_smt.or(entry.general_counters);
    uarch.general_without_smt = without_smt.unwrap_or(uarch.general_without_smt.max(general)).max(general);
    uarch.general = general;
    uarch.id = entry.id;
    uarch.pmu = entry.pmu.or(uarch.pmu);
    uarch.slots_per_cycle = entry.slots_per_cycle.filter(|slots| *slots > 0).or(uarch.slots_per_cycle);
    uarch.topdown_per_core = entry.topdown_per_core.unwrap_or(uarch.topdown_per_core);
    for (list, given) in [(&mut uarch.fixed, entry.fixed), (&mut uarch.led_by_slots, entry.led_by_slots)] {
        if let Some(keys) = given {
            *list = keys.iter().map(|key| role(key)).collect::<Result<_>>()?;
        }
    }
    for (key, value) in entry.events {
        let event = event(&key, value).context(|| format!("event '{key}'"))?;
        uarch.events.retain(|known| known.role != event.role);
        uarch.events.push(event);
    }
    merge(&mut uarch.formulas, formulas(entry.formulas)?);
    // A metric with a new formula is available after all.
    uarch.absent.retain(|(metric, _)| !uarch.formulas.iter().any(|(known, _)| known == metric));
    merge(&mut uarch.absent, entry.absent.into_iter().collect());
    merge(&mut uarch.notes, entry.notes.into_iter().collect());
    for early in entry.errata {
        let up_to = revision(&early.up_to).ok_or_else(|| wrong(format!("invalid revision '{}'", early.up_to)))?;
        uarch.errata.push(Erratum { up_to, formulas: formulas(early.formulas)? });
    }
    Ok(uarch)
}

fn merge(pairs: &mut Vec<(String, String)>, more: Vec<(String, String)>) {
    more.iter().for_each(|(name, value)| put(pairs, name, value));
}

fn cpus(entry: &Entry) -> Result<Cpus> {
    let part = match (entry.implementer, entry.part) {
        (Some(implementer), Some(part)) => Some((implementer, part)),
        (None, None) => None,
        _ => return Err(wrong("implementer and part go together")),
    };
    let models = entry.models.iter().flatten().map(|text| range(text)).collect::<Result<Vec<_>>>()?;
    Ok(Cpus {
        vendor: entry.vendor.clone(),
        family: entry.family,
        models,
        steppings: entry.steppings.as_deref().map(range).transpose()?,
        part,
        // The built-in entry without CPUs matches all; a user's entry without CPUs is selected by name.
        never: !entry.says_which_cpus() && entry.id != "generic",
    })
}

/// Parses `0x10-0x1f`, `5-15` or a single number.
fn range(text: &str) -> Result<RangeInclusive<u32>> {
    let number = |text: &str| match text.trim().strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => text.trim().parse().ok(),
    };
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    match (number(low), number(high)) {
        (Some(low), Some(high)) if low <= high => Ok(low..=high),
        _ => Err(wrong(format!("invalid range '{text}': write e.g. 0x10-0x1f"))),
    }
}

/// Parses `r0p2`.
fn revision(text: &str) -> Option<(u8, u8)> {
    let (variant, revision) = text.strip_prefix('r')?.split_once('p')?;
    Some((variant.parse().ok()?, revision.parse().ok()?))
}

fn event(key: &str, value: toml::Value) -> Result<TableEvent> {
    let row: Row = value.try_into().map_err(|error: toml::de::Error| wrong(error.message()))?;
    let code = match (row.config, &row.generic) {
        (Some(config), _) => EventEncoding::Raw { config, config1: row.config1.unwrap_or(0) },
        (None, Some(name)) => {
            let known = names::generic(name).ok_or_else(|| wrong(format!("unknown generic event '{name}'")))?;
            EventEncoding::Generic { name: name.clone(), kind: known.0 }
        }
        (None, None) => return Err(wrong("it has neither config nor generic")),
    };
    if row.name.is_empty() || row.name.contains(char::is_control) {
        return Err(wrong("its name cannot be shown"));
    }
    Ok(TableEvent {
        role: role(key)?,
        name: row.name,
        code,
        first_counters: row.first_counters,
        samples_only: row.samples_only.unwrap_or(false),
        note: row.note,
    })
}

/// Converts `llc_miss` to `llc-miss`.
fn role(key: &str) -> Result<String> {
    let role = key.replace('_', "-");
    let good = is_id(&role) && role.starts_with(|c: char| c.is_ascii_lowercase()) && role != "min" && role != "max";
    if good { Ok(role) } else { Err(wrong(format!("invalid role '{key}': write e.g. llc_miss"))) }
}

fn is_id(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !text.is_empty() && text.len() <= 64 && text.bytes().all(plain)
}

fn formulas(given: BTreeMap<String, String>) -> Result<Vec<(String, String)>> {
    match given.iter().find(|(_, text)| !is_formula(text)) {
        Some((metric, text)) => Err(wrong(format!("invalid formula '{text}' of {metric}"))),
        None => Ok(given.into_iter().collect()),
    }
}

fn wrong(text: impl Into<String>) -> Error {
    Error::new(ErrorKind::Usage, text)
}
