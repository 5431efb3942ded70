//! `ironlaw list`: lists what can be given to `-e`, `-M`, `-G` and `--ops` on this machine: events by kind, each tried
//! where that is possible, metrics, control groups, and the USDT probes of programs.

mod cgroups;
mod entry;
mod events;
mod selection;
mod text;
mod tracepoints;
mod usdt;

use super::args::{GlobalArgs, ListArgs};
use super::{out, pager};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::sys::cgroupfs::CgroupFs;
use crate::sys::procfs::ProcFs;
use selection::Selection;
use serde::Serialize;

/// Version of the JSON.
const SCHEMA_VERSION: u32 = 1;

/// Prints the list.
///
/// # Errors
/// `NotFound` for a pattern that matches nothing, with the nearest names.
pub(super) fn run(args: &ListArgs, global: &GlobalArgs) -> Result<()> {
    let width = out::style(global, false).width;
    let bytes = if let Some(patterns) = selection::of_cgroups(&args.what) {
        let groups = cgroups::list(&CgroupFs::open(&ProcFs::new(args.root.join("proc")))?, patterns)?;
        if args.json { json(&groups)? } else { text::cgroups(&groups.cgroups) }
    } else if let Some(places) = selection::of_usdt(&args.what) {
        let listing = usdt::list(places, &args.root)?;
        if args.json { json(&listing)? } else { text::usdt(&listing, width) }
    } else {
        let selection = Selection::of(&args.what);
        let listing = events::list(&args.root, &selection)?;
        if args.json { json(&listing)? } else { text::events(&listing, &selection, width) }
    };
    pager::show(&bytes, None)
}

fn json(list: &impl Serialize) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(list)
        .map_err(|error| Error::new(ErrorKind::Io, error.to_string()))
        .context(|| "cannot write the list as JSON")?;
    bytes.push(b'\n');
    Ok(bytes)
}

#[cfg(test)]
mod tests;
