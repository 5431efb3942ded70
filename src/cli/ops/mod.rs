//! `ironlaw ops`: what could count the operations of running processes, each tried for a short time.

mod row;
mod text;

use super::args::{GlobalArgs, OpsArgs};
use super::{out, pager};
use crate::collect::resolve;
use crate::collect::sampler::{OpsClass, OpsSource, ops_sources, try_operations};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::{OpsSpec, Target};
use crate::ops::Meter;
use crate::sys::clock::Clock;
use crate::sys::procfs::ProcFs;
use row::{noted, read};
use serde::Serialize;
use std::path::Path;

/// Version of the JSON.
const SCHEMA_VERSION: u32 = 1;

/// The sources, best first.
#[derive(Debug, Serialize)]
struct Listing {
    schema_version: u32,
    /// The processes that were looked at.
    pids: Vec<u32>,
    duration_s: f64,
    /// CPU time that they used meanwhile.
    cpu_s: f64,
    sources: Vec<Row>,
    notes: Vec<String>,
}

/// A source with what it counted.
#[derive(Debug, Serialize)]
struct Row {
    /// What `--ops` takes.
    ops: String,
    class: OpsClass,
    /// What it counts, if that is known.
    counts: Option<&'static str>,
    /// `null` if it could not be counted.
    hits: Option<u64>,
    /// The time in which they were counted; shorter than the duration if they cost too much.
    counted_s: Option<f64>,
    rate: Option<f64>,
    /// What a hit costs the program; `null` if that is not known.
    cost_ns: Option<f64>,
    /// What counting all hits would cost, of the CPU time used or of one CPU if that is more.
    cpu_share: Option<f64>,
    /// Why it could not be counted.
    why: Option<String>,
}

/// Prints the sources.
///
/// # Errors
/// `NotFound` for a process that does not exist or has no source; as [`try_operations`].
pub(super) fn run(args: &OpsArgs, global: &GlobalArgs) -> Result<()> {
    let listing = list(args)?;
    let bytes =
        if args.json { json(&listing)? } else { text::sources(&listing, args.limit, out::style(global, false).width) };
    pager::show(&bytes, None)
}

fn list(args: &OpsArgs) -> Result<Listing> {
    let root = Path::new("/");
    let proc = ProcFs::new(root.join("proc"));
    let target = resolve::processes(&proc, &args.pid, args.children)?;
    let Target::Processes { pids, .. } = &target else {
        return Err(Error::new(ErrorKind::Usage, "only processes can be looked at"));
    };
    let (mut sources, errors) = ops_sources(pids, root);
    let mut notes: Vec<String> = errors.iter().map(noted).collect();
    let of_requests = |source: &OpsSource| !matches!(source.class, OpsClass::SystemCall | OpsClass::OtherProbe);
    if !args.all && sources.iter().any(of_requests) {
        let before = sources.len();
        sources.retain(|source| source.class != OpsClass::OtherProbe);
        let left = before - sources.len();
        notes.extend((left > 0).then(|| format!("{left} other probes were not tried; --all tries them.")));
    }
    let clock = Clock::start();
    let mut meters: Vec<Option<Meter>> = sources.iter().map(|source| Meter::of(&source.spec, false)).collect();
    meters.iter_mut().flatten().for_each(|meter| drop(meter.read(|| clock.now())));
    let specs: Vec<OpsSpec> = sources
        .iter()
        .zip(&meters)
        .filter(|(_, meter)| meter.is_none())
        .map(|(source, _)| source.spec.clone())
        .collect();
    let tried = try_operations(&specs, &target, args.duration, args.max_overhead)?;
    let mut trials = tried.trials.into_iter();
    let whole = tried.cpu.seconds().max(tried.time.seconds());
    let rows = sources.iter().zip(meters).filter_map(|(source, meter)| {
        let trial = match meter {
            Some(mut meter) => read(&mut meter, &clock),
            None => trials.next()?,
        };
        Some(Row::of(source, trial, whole / tried.time.seconds()))
    });
    let mut rows: Vec<Row> = rows.collect();
    rows.sort_by(|a, b| a.order().partial_cmp(&b.order()).unwrap_or(std::cmp::Ordering::Equal));
    let rest = proc.with_descendants(pids).len().saturating_sub(pids.len());
    if rest > 0 && !args.children {
        notes.push(format!("The {rest} processes that it forked are left out; --children includes them."));
    }
    Ok(Listing {
        schema_version: SCHEMA_VERSION,
        pids: pids.clone(),
        duration_s: tried.time.seconds(),
        cpu_s: tried.cpu.seconds(),
        sources: rows,
        notes,
    })
}

fn json(listing: &Listing) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(listing)
        .map_err(|error| Error::new(ErrorKind::Io, error.to_string()))
        .context(|| "cannot write the list as JSON")?;
    bytes.push(b'\n');
    Ok(bytes)
}
