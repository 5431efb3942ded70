//! `ironlaw doctor`: reports what works on this machine, what does not, and the command that fixes it. Changes nothing.

use super::args::{DoctorArgs, DoctorFormat, GlobalArgs};
use super::{hardware, out};
use crate::collect::doctor::{Check, Roots, Status, examine, gather, profiling_works};
use crate::collect::health::measure;
use crate::collect::resolve;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::export;
use crate::export::text::{Item, Mark, checklist};
use crate::pmu;
use crate::sys::procfs::ProcFs;
use crate::sys::sysfs::SysFs;
use serde::Serialize;
use std::path::Path;
use std::process::ExitCode;

/// Version of `assets/schema/doctor.schema.json`.
const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize)]
struct Findings<'a> {
    schema_version: u32,
    profiling_works: bool,
    checks: &'a [Check],
}

/// Prints the findings. The exit code is 0 if profiling works at all.
pub(super) fn run(args: &DoctorArgs, global: &GlobalArgs) -> Result<ExitCode> {
    let roots = Roots { proc: ProcFs::new("/proc"), sys: SysFs::new("/sys") };
    if args.limits {
        return limits(args, global);
    }
    if args.health {
        return health(args, global, &roots);
    }
    if let Some(pid) = args.pid {
        resolve::processes(&roots.proc, &[pid], false)?;
    }
    let cores = hardware::cores(Path::new("/"), &hardware::machine(Path::new("/")), &hardware::table(None)?);
    let plans = hardware::plans(&cores, &pmu::wanted("default")?);
    let checks = examine(&gather(&roots, &plans, args.pid));
    let profiling_works = profiling_works(&checks);
    let bytes = match args.format {
        DoctorFormat::Text => text(&checks, profiling_works, global),
        DoctorFormat::Json => json(&Findings { schema_version: SCHEMA_VERSION, profiling_works, checks: &checks })?,
    };
    out::deliver(&bytes, None)?;
    Ok(if profiling_works { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn health(args: &DoctorArgs, global: &GlobalArgs, roots: &Roots) -> Result<ExitCode> {
    let health = measure(&roots.proc, &roots.sys);
    let bytes = match args.format {
        DoctorFormat::Text => export::text::health(&health, out::style(global, false)),
        DoctorFormat::Json => export::json::health(&health)?,
    };
    out::deliver(&bytes, None)?;
    Ok(ExitCode::SUCCESS)
}

fn limits(args: &DoctorArgs, global: &GlobalArgs) -> Result<ExitCode> {
    let bytes = match args.format {
        DoctorFormat::Text => export::text::limits(out::style(global, false)),
        DoctorFormat::Json => export::json::limits()?,
    };
    out::deliver(&bytes, None)?;
    Ok(ExitCode::SUCCESS)
}

fn text(checks: &[Check], works: bool, global: &GlobalArgs) -> Vec<u8> {
    let items: Vec<Item<'_>> = checks.iter().map(item).collect();
    let verdict = if works { "profiling works here" } else { "profiling does not work here" };
    checklist(verdict, &items, out::style(global, false))
}

fn item(check: &Check) -> Item<'_> {
    let mark = match check.status {
        Status::Works => Mark::Good,
        Status::Limited => Mark::Partial,
        Status::Fails => Mark::Bad,
        Status::Unknown => Mark::Unknown,
    };
    Item { mark, topic: &check.topic, text: &check.text, detail: &check.detail, fix: check.fix.as_deref() }
}

fn json(findings: &Findings<'_>) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(findings)
        .map_err(|error| Error::new(ErrorKind::Io, error.to_string()))
        .context(|| "cannot write the findings as JSON")?;
    bytes.push(b'\n');
    Ok(bytes)
}
