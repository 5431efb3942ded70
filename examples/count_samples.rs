//! Counts a recording's samples by event, command, object and symbol, as `perf report --sort comm,dso,sym` does:
//! tab-separated, one line each. Without a name the symbol is the address in the object's own terms.
//!
//! `cargo run --example count_samples RECORDING`
#![expect(clippy::print_stdout, reason = "an example prints")]

use ironlaw::model::TaskChange;
use ironlaw::model::profile::Profile;
use ironlaw::units::Nanos;
use std::collections::{BTreeMap, HashMap};

fn main() -> ironlaw::error::Result<()> {
    let path = std::env::args_os().nth(1).unwrap_or_else(|| "perf.data.ironlaw".into());
    for (key, (samples, weight)) in counts(&ironlaw::session::open(path.as_ref())?) {
        println!("{samples}\t{weight}\t{}", key.join("\t"));
    }
    Ok(())
}

/// Samples and weight by event, command, object and symbol.
pub fn counts(profile: &Profile) -> BTreeMap<[String; 4], (u64, u64)> {
    let names = names(profile);
    let mut counts: BTreeMap<[String; 4], (u64, u64)> = BTreeMap::new();
    for sample in profile.samples.iter() {
        let event = profile.meta.events.get(usize::from(sample.event)).map(|event| event.name.clone());
        let comm = names.get(&sample.tid).and_then(|names| at(names, sample.at)).unwrap_or_default();
        let frame = profile.walk(sample.stack).next();
        let def = frame.and_then(|frame| profile.frame(frame));
        let module = def.and_then(|def| profile.module(def.module?)).map_or("[unknown]", |module| module.path.as_str());
        let object = module.rsplit('/').next().unwrap_or(module);
        let named = frame.and_then(|frame| profile.names_at(frame).last()).map(|symbol| symbol.function.clone());
        let symbol = named.unwrap_or_else(|| format!("{:#x}", def.map_or(0, |def| def.address)));
        let count = counts.entry([event.unwrap_or_default(), comm, object.to_string(), symbol]).or_default();
        *count = (count.0 + 1, count.1.saturating_add(sample.weight));
    }
    counts
}

/// Every thread's names with the moment each began.
fn names(profile: &Profile) -> HashMap<u32, Vec<(Nanos, String)>> {
    let mut names: HashMap<u32, Vec<(Nanos, String)>> = HashMap::new();
    for event in &profile.tasks {
        if let TaskChange::Alive { comm } | TaskChange::Born { comm, .. } | TaskChange::Renamed { comm, .. } =
            &event.change
        {
            names.entry(event.tid).or_default().push((event.at, comm.clone()));
        }
    }
    names
}

/// The name borne at a moment.
fn at(names: &[(Nanos, String)], moment: Nanos) -> Option<String> {
    let after = names.partition_point(|(from, _)| *from <= moment);
    names.get(after.saturating_sub(1)).map(|(_, name)| name.clone())
}
