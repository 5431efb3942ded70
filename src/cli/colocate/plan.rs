//! Validates the command line into what is to be run. Pure: takes the machine as an argument.

use crate::cli::args::{ColocateArgs, ControlArg, FullRate, MeasureArg};
use crate::cli::command_words::split as words;
use crate::cli::plan::target_name;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{ColocateMeta, ColocatedProgram, Control, HostFacts, SlowdownMeasure, Target};
use crate::ops;
use crate::session::run_folder::RunsMeta;
use crate::units::{Nanos, Utc};
use std::path::PathBuf;

/// More runs than this are a typing error.
const MOST_RUNS: usize = 20_000;

/// What is to be run, without any run.
pub(super) fn plan(args: &ColocateArgs, host: HostFacts, unix_ns: u64) -> Result<ColocateMeta> {
    let mut victims = programs("--victim", &args.victim)?;
    let neighbours = programs("--with", &args.with)?;
    for (flag, specs) in [("--ops", &args.ops), ("--latency", &args.latency)] {
        for spec in specs {
            let (names, text) = addressed(spec, &victims);
            for victim in victims.iter_mut().filter(|victim| names.as_ref().is_none_or(|name| *name == victim.name)) {
                match flag {
                    "--ops" => victim.ops = Some(ops::parse(text)?),
                    _ => victim.latency = Some(ops::parse_latency(text)?),
                }
            }
        }
    }
    check_rates(&mut victims, &neighbours, args.full_rate_from)?;
    let mut loads = args.load.clone();
    loads.sort_by(f64::total_cmp);
    loads.dedup();
    let cells = victims.len() * neighbours.len() * loads.len() * args.runs as usize;
    if cells > MOST_RUNS {
        return Err(usage(format!("{cells} runs are too many: {MOST_RUNS} is the limit"))
            .hint("Give fewer programs, loads or repeats."));
    }
    Ok(ColocateMeta {
        format: ColocateMeta::FORMAT,
        tool: env!("CARGO_PKG_VERSION").to_string(),
        host,
        victims,
        neighbours,
        loads,
        repeats: args.runs,
        seed: args.seed.unwrap_or(unix_ns),
        duration: args.duration,
        settle: args.settle,
        leave_out: args.warmup.unwrap_or(Nanos(0)),
        measure: measure(args.measure),
        controls: controls(args),
        started_unix_ns: unix_ns,
        runs: Vec::new(),
        notes: Vec::new(),
        stopped: false,
    })
}

/// `colocate-20260102-030405.colocate`.
pub(super) fn default_name(unix_ns: u64) -> PathBuf {
    let Utc { year, month, day, hour, minute, second } = Utc::from_unix(unix_ns / 1_000_000_000);
    let stamp = format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}");
    PathBuf::from(format!("colocate-{stamp}.{}", ColocateMeta::KIND))
}

/// The programs with their names: as typed, or that of the program, made different with a number.
fn programs(flag: &str, typed: &[String]) -> Result<Vec<ColocatedProgram>> {
    let mut programs: Vec<ColocatedProgram> = Vec::new();
    for text in typed {
        let (name, line) = named(text);
        let command = words(line).map_err(|error| error.context(format!("{flag} '{text}'")))?;
        let is_taken = |name: &str| programs.iter().any(|known| known.name == name);
        let name = match name {
            Some(name) if is_taken(name) => {
                return Err(usage(format!("{flag} names two programs {name}")).hint("Give each a name of its own."));
            }
            Some(name) => name.to_string(),
            None => {
                let own = target_name(&Target::Command { argv: command.clone() });
                let others = (2..).map(|number: u32| format!("{own}-{number}"));
                std::iter::once(own.clone()).chain(others).find(|name| !is_taken(name)).unwrap_or(own)
            }
        };
        programs.push(ColocatedProgram { name, command, ops: None, latency: None, full_rate: None, busy_cpus: None });
    }
    Ok(programs)
}

/// `NAME=CMD`, or a command alone.
fn named(text: &str) -> (Option<&str>, &str) {
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
    };
    match text.split_once('=') {
        Some((name, line)) if is_name(name) => (Some(name), line),
        _ => (None, text),
    }
}

/// `NAME=SPEC` of a known victim, or a specification for all.
fn addressed<'a>(text: &'a str, victims: &[ColocatedProgram]) -> (Option<String>, &'a str) {
    match text.split_once('=') {
        Some((name, spec)) if victims.iter().any(|victim| victim.name == name) => (Some(name.to_string()), spec),
        _ => (None, text),
    }
}

fn check_rates(
    victims: &mut [ColocatedProgram],
    neighbours: &[ColocatedProgram],
    full: Option<FullRate>,
) -> Result<()> {
    if let Some(neighbour) = neighbours.iter().find(|neighbour| neighbour.takes_rate()) {
        return Err(usage(format!("{} has {{rate}}, but only the rate of a victim can be measured", neighbour.name))
            .hint("Write {load} in a neighbour, or the rate as a number."));
    }
    let mut any = false;
    for victim in victims.iter_mut().filter(|victim| victim.takes_rate()) {
        any = true;
        match full {
            None => {
                return Err(usage(format!("{} has {{rate}}, and its full rate is not known", victim.name))
                    .hint("Give --full-rate-from ops, or the rate: --full-rate-from 50000."));
            }
            Some(FullRate::Ops) if victim.ops.is_none() => {
                return Err(usage(format!(
                    "the full rate of {} cannot be measured: nothing counts its operations",
                    victim.name
                ))
                .hint("Give --ops, or the rate: --full-rate-from 50000."));
            }
            Some(FullRate::Ops) => {}
            Some(FullRate::PerSecond(rate)) => victim.full_rate = Some(rate),
        }
    }
    match full {
        Some(_) if !any => Err(usage("--full-rate-from is given, but no victim has {rate}")
            .hint("Write {rate} where a victim takes operations per second.")),
        _ => Ok(()),
    }
}

fn measure(measure: MeasureArg) -> Option<SlowdownMeasure> {
    match measure {
        MeasureArg::Auto => None,
        MeasureArg::Throughput => Some(SlowdownMeasure::Throughput),
        MeasureArg::Cost => Some(SlowdownMeasure::Cost),
        MeasureArg::Wall => Some(SlowdownMeasure::Wall),
        MeasureArg::P50 => Some(SlowdownMeasure::P50),
        MeasureArg::P99 => Some(SlowdownMeasure::P99),
    }
}

fn controls(args: &ColocateArgs) -> Vec<Control> {
    let typed = args.control.iter().map(|control| match control {
        ControlArg::Cpuset => Control::Cpuset,
        ControlArg::CpuMax => Control::CpuMax,
        ControlArg::Resctrl => Control::Resctrl,
    });
    let mut controls: Vec<Control> = if args.what_if { Control::ALL.to_vec() } else { typed.collect() };
    controls.sort_unstable();
    controls.dedup();
    controls
}

fn usage(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Usage, message)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::cli::args::{Cli, Command};
    use crate::model::OpsSpec;
    use clap::Parser;

    fn planned(line: &[&str]) -> Result<ColocateMeta> {
        let words = ["ironlaw", "colocate"].iter().chain(line);
        let Some(Command::Colocate(args)) = Cli::try_parse_from(words).unwrap().command else { unreachable!() };
        plan(&args, HostFacts::default(), 5)
    }

    #[test]
    fn programs_have_names_of_their_own() {
        let line =
            ["--victim", "./bench -n 1", "--victim", "a=./bench -x=2", "--victim", "/bin/bench", "--with", "sleep 9"];
        let meta = planned(&line).unwrap();
        let names: Vec<&str> = meta.victims.iter().map(|victim| victim.name.as_str()).collect();
        assert_eq!(names, ["bench", "a", "bench-2"]);
        assert_eq!(meta.victims[1].command, ["./bench", "-x=2"]);
        assert_eq!((meta.neighbours[0].name.as_str(), meta.loads.as_slice()), ("sleep", &[1.0][..]));
    }

    #[test]
    fn operations_are_those_of_all_victims_or_of_the_named_one() {
        let line = ["--victim", "a=x", "--victim", "b=y", "--with", "z", "--ops", "rate:5", "--ops", "b=rate:7"];
        let ops: Vec<_> = planned(&line).unwrap().victims.into_iter().map(|victim| victim.ops).collect();
        assert_eq!(ops, [5.0, 7.0].map(|per_second| Some(OpsSpec::Rate { per_second })));
    }

    #[test]
    fn what_cannot_be_is_refused_with_a_remedy() {
        let base = ["--victim", "x {rate}", "--with", "z"];
        let with = |more: &[&'static str]| [&base[..], more].concat();
        for line in [
            with(&[]),
            with(&["--full-rate-from", "ops"]),
            vec!["--victim", "x", "--with", "z {rate}"],
            vec!["--victim", "x", "--with", "z", "--full-rate-from", "7"],
            vec!["--victim", "a=x", "--victim", "a=y", "--with", "z"],
            vec!["--victim", "x | y", "--with", "z"],
            vec!["--victim", "a=", "--with", "z"],
        ] {
            let error = planned(&line).unwrap_err();
            assert!(error.kind() == ErrorKind::Usage && error.remedy().is_some(), "{line:?}: {error}");
        }
        assert_eq!(planned(&with(&["--full-rate-from", "9"])).unwrap().victims[0].full_rate, Some(9.0));
        assert!(planned(&with(&["--full-rate-from", "ops", "--ops", "rate:5"])).is_ok());
    }

    #[test]
    fn all_controls_are_tried_with_what_if() {
        let controls =
            |more: &[&'static str]| planned(&[&["--victim", "x", "--with", "z"], more].concat()).unwrap().controls;
        assert_eq!(controls(&["--what-if"]), Control::ALL);
        assert_eq!(controls(&["--control", "cpu.max,cpuset"]), [Control::Cpuset, Control::CpuMax]);
        assert!(controls(&[]).is_empty());
    }
}
