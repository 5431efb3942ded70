//! `ironlaw metrics`: lists the metrics that this machine's hardware counters support, their events and formulas, and
//! the reasons why others are missing.

mod listing;
mod text;

use super::args::{MetricsArgs, MetricsFormat};
use super::{hardware, out};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::pmu;

/// Prints the list.
pub(super) fn run(args: &MetricsArgs) -> Result<()> {
    let table = hardware::table(args.pmu_table.as_deref())?;
    let machine = hardware::machine(&args.root);
    let cores = match &args.uarch {
        Some(id) => vec![hardware::other(id, &table)?],
        None => hardware::cores(&args.root, &machine, &table),
    };
    let wanted = pmu::wanted(if args.all { "all" } else { &args.list })?;
    let here = args.uarch.is_none();
    let listings: Vec<_> = cores.iter().map(|core| listing::of(core, &wanted, here, args.all)).collect();
    let bytes = match args.format {
        MetricsFormat::Text => text::print(&listings),
        MetricsFormat::Json => json(&listings)?,
    };
    out::deliver(&bytes, None)
}

fn json(listings: &[listing::Listing]) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(&serde_json::json!({ "cores": listings }))
        .map_err(|error| Error::new(ErrorKind::Io, error.to_string()))
        .context(|| "cannot write the list as JSON")?;
    bytes.push(b'\n');
    Ok(bytes)
}

#[cfg(test)]
mod tests;
