//! Validates the command line into a plan: one target, sensible times, events that this kernel knows.
//! Pure: takes the machine as an [`Environment`], so every combination of flags is one row of a test.

use super::args::{CaptureArgs, ColorArg, CpuList, FlameFormat, FlamegraphArgs, FrequencyArg, GlobalArgs, TargetArgs};
use super::hardware;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{EventSpec, Note, Plan, Rate, Target};
use crate::pmu::{self, CoreType, EventSources, Known};
use crate::units::{Nanos, Utc};
use std::fmt;
use std::path::{Path, PathBuf};

/// Not a round number, so that samples do not align with timers.
const DEFAULT_HERTZ: u64 = 997;
const MIN_INTERVAL: Nanos = Nanos(10_000_000);
/// Maximum length of a target's name in a file name.
const LONGEST_NAME: usize = 40;
/// File extension of a recording's directory.
pub const RECORDING_EXTENSION: &str = "ironlaw";

/// The facts about the machine that planning may use.
#[derive(Clone, Copy)]
pub struct Environment<'a> {
    /// `/proc/sys/kernel/perf_event_max_sample_rate`, if it can be read.
    pub max_sample_rate: Option<u64>,
    /// Online CPUs; empty if unknown.
    pub online_cpus: &'a [u32],
    /// The kernel's event sources.
    pub event_sources: &'a dyn EventSources,
    /// The core types of the machine.
    pub cores: &'a [CoreType],
}

impl fmt::Debug for Environment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("Environment");
        fields.field("max_sample_rate", &self.max_sample_rate).field("online_cpus", &self.online_cpus);
        fields.finish_non_exhaustive()
    }
}

/// The single target of the command line. A cgroup is not resolved yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetChoice {
    /// Ready to be profiled.
    Ready(Target),
    /// A path, unit or container id, as typed.
    Cgroup(String),
}

/// Validated capture options; with a resolved target they form a [`Plan`].
#[derive(Debug, Clone, PartialEq)]
pub struct CapturePlan {
    plan: Plan,
    /// Adjustments to the request, and their reasons.
    pub notes: Vec<Note>,
}

impl CapturePlan {
    /// The plan for `target`.
    #[must_use]
    pub fn on(&self, target: Target) -> Plan {
        Plan { target, ..self.plan.clone() }
    }
}

/// The single target of the command line. Errors: `Usage` for none, for several, and for flags that do not fit it.
pub fn target(args: &TargetArgs, online_cpus: &[u32]) -> Result<TargetChoice> {
    if let Some(found) = stray_command(args) {
        return Err(found);
    }
    let named = named_targets(args);
    match named.as_slice() {
        [] => Err(usage("no target is named").hint(
            "Name one: -p PID, -t TID, -G CGROUP, -a for the whole machine, -C CPUS, or -- CMD to start a command.",
        )),
        [flag] if args.children && !matches!(*flag, "-p" | "a command") => {
            Err(usage(format!("--children says nothing about {flag}"))
                .hint("It goes with -p PID; a command's children are always followed."))
        }
        [_] => choose(args, online_cpus),
        [first, second, ..] => {
            Err(usage(format!("two targets are named: {first} and {second}")).hint(two_targets_hint(first, second)))
        }
    }
}

fn named_targets(args: &TargetArgs) -> Vec<&'static str> {
    let named = [
        (!args.pid.is_empty(), "-p"),
        (!args.tid.is_empty(), "-t"),
        (args.cgroup.is_some(), "-G"),
        // -C restricts -a: together they are one target.
        (args.all_cpus && args.cpu.is_none(), "-a"),
        (args.cpu.is_some(), "-C"),
        (!args.command.is_empty(), "a command"),
    ];
    named.into_iter().filter_map(|(given, flag)| given.then_some(flag)).collect()
}

fn two_targets_hint(first: &str, second: &str) -> &'static str {
    match (first, second) {
        ("-a" | "-C", "a command") => "To profile the machine for a while, give a time: `ironlaw record -a -d 5`.",
        ("-p" | "-t" | "-G", "-C") => "-C profiles all that runs on these CPUs; leave it away.",
        _ => "Record them one after the other, or all with -a.",
    }
}

/// `record 1234` more often means a process than a program of that name.
fn stray_command(args: &TargetArgs) -> Option<Error> {
    let first = args.command.first()?;
    let digits = !first.is_empty() && first.bytes().all(|byte| byte.is_ascii_digit());
    let hint = format!("For process {first} write -p {first}; for a program of that name, ./{first} or its path.");
    digits.then(|| usage(format!("'{first}' is not a command")).hint(hint))
}

fn choose(args: &TargetArgs, online_cpus: &[u32]) -> Result<TargetChoice> {
    let unique = |ids: &[u32]| {
        let mut seen = Vec::with_capacity(ids.len());
        ids.iter().for_each(|id| {
            if !seen.contains(id) {
                seen.push(*id)
            }
        });
        seen
    };
    Ok(TargetChoice::Ready(if let Some(name) = &args.cgroup {
        return Ok(TargetChoice::Cgroup(name.clone()));
    } else if !args.pid.is_empty() {
        Target::Processes { pids: unique(&args.pid), children: args.children }
    } else if !args.tid.is_empty() {
        Target::Threads { tids: unique(&args.tid) }
    } else if let Some(CpuList(cpus)) = &args.cpu {
        Target::Cpus { cpus: check_online(cpus, online_cpus)? }
    } else if args.all_cpus {
        Target::Cpus { cpus: Vec::new() }
    } else {
        Target::Command { argv: args.command.clone() }
    }))
}

fn check_online(cpus: &[u32], online: &[u32]) -> Result<Vec<u32>> {
    let offline = cpus.iter().find(|cpu| !online.is_empty() && !online.contains(cpu));
    let list = || online.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    match offline {
        None => Ok(cpus.to_vec()),
        Some(cpu) => Err(Error::new(ErrorKind::NotFound, format!("CPU {cpu} is not online"))
            .hint(format!("Online are: {}.", list()))),
    }
}

/// Validates the capture options. Errors: `Usage` for invalid times, and any error of [`pmu::parse`] for the events.
pub fn capture(args: &CaptureArgs, environment: &Environment<'_>) -> Result<CapturePlan> {
    if args.interval < MIN_INTERVAL {
        return Err(usage("an interval below 10ms would measure itself").hint("Give -I 10ms or more."));
    }
    let mut notes = Vec::new();
    let known = Known { sources: environment.event_sources, cores: environment.cores };
    let wanted = pmu::wanted(args.hardware.metrics.as_deref().unwrap_or("default"))?;
    let rate = rate(args, environment.max_sample_rate, &mut notes)?;
    let plan = Plan {
        target: Target::Cpus { cpus: Vec::new() },
        events: events(&args.event, &known)?,
        rate,
        call_graph: args.call_graph,
        off_cpu: args.off_cpu,
        interval: args.interval,
        duration: args.duration,
        delay: args.delay,
        ops: args.ops.clone(),
        neighbours: args.neighbours,
        probe: args.probe,
        hardware: hardware::plans(environment.cores, &wanted),
    };
    Ok(CapturePlan { plan, notes })
}

fn events(lists: &[String], sources: &dyn EventSources) -> Result<Vec<EventSpec>> {
    // Joined first, so that groups of several -e get different numbers.
    if lists.is_empty() { Ok(Vec::new()) } else { pmu::parse(&lists.join(","), sources) }
}

fn rate(args: &CaptureArgs, limit: Option<u64>, notes: &mut Vec<Note>) -> Result<Rate> {
    if let Some(period) = args.count {
        return Ok(Rate::Period(period));
    }
    let wanted = match args.freq {
        None => DEFAULT_HERTZ,
        Some(FrequencyArg::Hertz(hertz)) => hertz,
        Some(FrequencyArg::Max) => limit.ok_or_else(|| {
            Error::new(ErrorKind::NotFound, "the highest sampling frequency of this kernel is not known")
                .hint("Give a number, e.g. -F 4999; /proc/sys/kernel/perf_event_max_sample_rate cannot be read.")
        })?,
    };
    let allowed = limit.unwrap_or(wanted).max(1);
    if wanted > allowed {
        notes.push(Note {
            topic: "rate-lowered".to_string(),
            text: format!("sampling at {allowed} Hz in place of {wanted}: the kernel allows no more"),
            fix: Some(format!("sysctl kernel.perf_event_max_sample_rate={wanted}")),
        });
    }
    Ok(Rate::Frequency(wanted.min(allowed)))
}

/// The default directory of a recording: target and time (UTC), e.g. `redis-server-20260301-142530.ironlaw`.
#[must_use]
pub fn recording_name(target: &Target, unix_seconds: u64) -> PathBuf {
    let label = target_name(target);
    let Utc { year, month, day, hour, minute, second } = Utc::from_unix(unix_seconds);
    let stamp = format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}");
    PathBuf::from(format!("{label}-{stamp}.{RECORDING_EXTENSION}"))
}

/// A target as part of a file name, e.g. `redis-server` or `pid-41`.
#[must_use]
pub fn target_name(target: &Target) -> String {
    let label = match target {
        Target::Command { argv } => {
            let program = argv.first().map(Path::new).and_then(Path::file_name);
            program.map_or_else(|| "command".to_string(), |name| name.to_string_lossy().into_owned())
        }
        other => other.label(),
    };
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_') { c } else { '-' };
    // No leading dot, because `ls` would hide it.
    let name: String = label.trim_start_matches('.').chars().map(plain).collect();
    match name.char_indices().nth(LONGEST_NAME) {
        // Two cgroups with the same beginning must not share their recordings.
        Some((end, _)) => format!("{}-{:08x}", &name[..end], fnv(label.as_bytes())),
        None => name,
    }
}

/// FNV-1a: stable across versions, as file names must be.
fn fnv(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

/// The default recording for readers: the newest of `found`, directories with their modification time in any unit.
/// Errors: `NotFound` if none of them is a recording.
pub fn newest_recording<T: Ord>(found: impl IntoIterator<Item = (PathBuf, T)>) -> Result<PathBuf> {
    let is_recording = |path: &Path| path.extension().is_some_and(|extension| extension == RECORDING_EXTENSION);
    let newest =
        found.into_iter().filter(|(path, _)| is_recording(path)).max_by(|a, b| (&a.1, &a.0).cmp(&(&b.1, &b.0)));
    newest.map(|(path, _)| path).ok_or_else(|| {
        Error::new(ErrorKind::NotFound, "no recording (*.ironlaw) in this directory")
            .hint("Make one with `ironlaw record -p PID -d 10`, or name the directory of one.")
    })
}

/// The destination of a flame graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// Standard output.
    Stdout,
    /// A file.
    File(PathBuf),
}

/// Format and destination of a flame graph of `recording`. The file's extension selects the format if none is given.
/// Errors: `Usage` for an unsupported image format.
pub fn flame_output(args: &FlamegraphArgs, recording: &Path) -> Result<(FlameFormat, Destination)> {
    let ending = args.output.as_deref().and_then(Path::extension).and_then(|ending| ending.to_str());
    let format = match (args.format, ending) {
        (Some(format), _) => format,
        (None, Some("folded" | "txt")) => FlameFormat::Folded,
        (None, Some(other @ ("png" | "pdf" | "html" | "jpg"))) => {
            return Err(usage(format!("flame graphs are not drawn as .{other}"))
                .hint("Give a name that ends in .svg; every browser shows it, with search and zoom."));
        }
        (None, _) => FlameFormat::Svg,
    };
    let default = || recording.with_extension(if format == FlameFormat::Svg { "svg" } else { "folded" });
    let destination = match &args.output {
        Some(path) if path.as_os_str() == "-" => Destination::Stdout,
        Some(path) => Destination::File(path.clone()),
        None => Destination::File(default()),
    };
    Ok((format, destination))
}

/// Whether to use colour. `terminal`: the output is one; `no_color`: the value of `NO_COLOR`, which disables colour
/// unless it is empty.
#[must_use]
pub fn use_color(args: &GlobalArgs, terminal: bool, no_color: Option<&str>) -> bool {
    match args.color {
        ColorArg::Always => true,
        ColorArg::Never => false,
        ColorArg::Auto => terminal && no_color.is_none_or(str::is_empty),
    }
}

fn usage(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Usage, message)
}

#[cfg(test)]
mod tests;
