//! `ironlaw fleet check`: compares the answers of a simulated fleet with what was planted into it.

use super::report;
use crate::cli::args::FleetCheckArgs;
use crate::cli::pager;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::PlantedTruth;
use crate::view::fleet::{FleetSettings, KindResult, check};
use std::fmt::Write as _;

/// Names of a list that are printed.
const NAMES: usize = 4;

/// Prints what was found, missed and falsely found, by kind of cause.
pub(super) fn run(args: &FleetCheckArgs) -> Result<()> {
    let path = args.dir.join("truth.json");
    let text = std::fs::read(&path)
        .context(|| format!("cannot read {}", path.display()))
        .map_err(|error| error.hint("Only data sets of `ironlaw fleet simulate` have a truth to compare with."))?;
    let truth: PlantedTruth = serde_json::from_slice(&text)
        .map_err(|error| Error::new(ErrorKind::Corrupt, format!("{} is damaged: {error}", path.display())))?;
    let view = report::answer(&args.dir, &args.engine.engine()?, &FleetSettings::default())?;
    let mut out = format!(
        "{:<16} {:<12} {:>8} {:>6} {:>7} {:>7}  intervals with the planted size\n",
        "planted", "counted in", "planted", "found", "missed", "false"
    );
    for result in check(&view, &truth) {
        line(&mut out, &result)?;
    }
    pager::show(out.as_bytes(), None)
}

fn line(out: &mut String, result: &KindResult) -> Result<()> {
    let name = serde_json::to_value(result.kind).ok().and_then(|name| name.as_str().map(String::from));
    let falsely = match result.not_planted {
        Some(all) => format!("{}/{all}", result.false_finds.len()),
        None => "-".to_string(),
    };
    let covered = result.covered.map_or(String::new(), |(inside, all)| format!("{inside} of {all}"));
    let cannot = |_| Error::new(ErrorKind::Io, "cannot write the result");
    writeln!(
        out,
        "{:<16} {:<12} {:>8} {:>6} {:>7} {:>7}  {covered}",
        name.unwrap_or_default(),
        result.of,
        result.planted,
        result.found,
        result.missed.len(),
        falsely
    )
    .map_err(cannot)?;
    for (what, names) in [("missed", &result.missed), ("false", &result.false_finds)] {
        if !names.is_empty() {
            let more = names.len().saturating_sub(NAMES);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let shown: Vec<&str> = names.iter().take(NAMES).map(String::as_str).collect();
            writeln!(out, "  {what}: {}{more}", shown.join(", ")).map_err(cannot)?;
        }
    }
    Ok(())
}
