//! Validates the command line into a sweep: the varied quantity, the widths, the CPUs and the order of runs.
//! Pure: takes the machine as [`Machine`].

use crate::cli::args::{PlaceArg, SweepArgs, WarmUp, Widths, sweep_widths};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{HostFacts, OpsSpec, Placement, RunMeta, RunState, SweepMeta, Target, Width};
use crate::session::run_folder::RunsMeta;
use crate::sweep::{CpuOrder, check_command, recording_name, run_order, varies};
use crate::units::Nanos;

/// The facts about the machine that planning may use.
#[derive(Debug, Clone)]
pub(super) struct Machine {
    pub host: HostFacts,
    /// CPUs this process may use.
    pub allowed: Vec<u32>,
    pub unix_ns: u64,
}

/// How long a running target is measured at each width unless the user says otherwise.
const DWELL: Nanos = Nanos(10_000_000_000);

/// What to sweep: a command or a running target.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Subject {
    Command(Vec<String>),
    Running(Target),
}

/// The requested sweep, without any run executed.
pub(super) fn plan(args: &SweepArgs, subject: Subject, ops: Option<OpsSpec>, machine: &Machine) -> Result<SweepMeta> {
    let (width, widths) = widths(args, &subject, machine)?;
    let placement = placement(args.place, width)?;
    let cpu_order = CpuOrder::of(&machine.host.cpus, &machine.allowed, placement);
    let (command, target) = match subject {
        Subject::Command(argv) => (argv, None),
        Subject::Running(target) => (Vec::new(), Some(target)),
    };
    if width == Width::Threads {
        check_command(&command, &args.env)?;
    }
    let most = widths.last().copied().unwrap_or(0) as usize;
    if width == Width::Cpus && most > cpu_order.len() {
        let few = format!("cannot sweep up to {most} CPUs: this process may use {}", cpu_order.len());
        return Err(usage(few).hint("Give smaller widths to --cpus."));
    }
    let seed = args.seed.unwrap_or(machine.unix_ns);
    let runs = run_order(&widths, args.runs, seed).into_iter().map(|(n, repeat)| {
        let place = cpu_order.cpus_for(n);
        let recording = recording_name(n, repeat);
        RunMeta { n, repeat, cpus: place.cpus, region: place.region, recording, state: RunState::Planned }
    });
    Ok(SweepMeta {
        format: SweepMeta::FORMAT,
        tool: env!("CARGO_PKG_VERSION").to_string(),
        duration: args.dwell.or(args.capture.duration).or(target.is_some().then_some(DWELL)),
        leave_out: if let WarmUp::Time(time) = args.warmup { time } else { Nanos(0) },
        host: machine.host.clone(),
        runs: runs.collect(),
        repeats: args.runs,
        started_unix_ns: machine.unix_ns,
        notes: Vec::new(),
        stopped: false,
        command,
        target,
        width,
        widths,
        seed,
        placement,
        ops,
    })
}

fn widths(args: &SweepArgs, subject: &Subject, machine: &Machine) -> Result<(Width, Vec<u32>)> {
    let running = matches!(subject, Subject::Running(_));
    let has_threads = matches!(subject, Subject::Command(command) if varies(command, &args.env));
    let (width, list) = match (args.parameter.as_slice(), &args.cpus) {
        (_, Some(Widths(list))) => (Width::Cpus, list.clone()),
        ([variable, list], None) => {
            let width = match variable.as_str() {
                "threads" => Width::Threads,
                "cpus" => Width::Cpus,
                other => {
                    return Err(usage(format!("invalid sweep variable '{other}'"))
                        .hint("Write -L threads LIST or -L cpus LIST."));
                }
            };
            (width, sweep_widths(list).map_err(|wrong| usage(format!("-L {variable}: {wrong}")))?.0)
        }
        _ => (if has_threads { Width::Threads } else { Width::Cpus }, doubling(machine.allowed.len())),
    };
    if running && width == Width::Threads {
        return Err(usage("cannot sweep over the threads of a running target: their number is its own")
            .hint("Sweep over its CPUs: --cpus 1,2,4."));
    }
    Ok((width, list))
}

/// 1, 2, 4 and so on up to all CPUs.
fn doubling(cpus: usize) -> Vec<u32> {
    let most = u32::try_from(cpus.max(1)).unwrap_or(u32::MAX);
    let mut all: Vec<u32> =
        std::iter::successors(Some(1), |n: &u32| n.checked_mul(2)).take_while(|n| *n < most).collect();
    all.push(most);
    all
}

fn placement(place: PlaceArg, width: Width) -> Result<Placement> {
    Ok(match place {
        PlaceArg::Cores => Placement::Cores,
        PlaceArg::Smt => Placement::Smt,
        PlaceArg::Spread => Placement::Spread,
        PlaceArg::None if width == Width::Cpus => {
            return Err(
                usage("--place none contradicts a sweep over CPUs, which pins each run").hint("Omit --place none.")
            );
        }
        PlaceArg::None => Placement::None,
    })
}

fn usage(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Usage, message)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::cli::args::{Cli, Command};
    use crate::model::{CpuTopology, Region};
    use clap::Parser;

    fn planned(line: &str) -> Result<SweepMeta> {
        let words = ["ironlaw", "sweep"].into_iter().chain(line.split(' '));
        let Some(Command::Sweep(args)) = Cli::try_parse_from(words).unwrap().command else { unreachable!() };
        let cpus = (0..4).map(|cpu| CpuTopology { cpu, core: cpu % 2, package: 0, node: 0 }).collect();
        let host = HostFacts { cpus, ..HostFacts::default() };
        let machine = Machine { host, allowed: vec![0, 1, 2, 3], unix_ns: 5 };
        let subject = if args.pid.is_empty() {
            Subject::Command(args.command.clone())
        } else {
            Subject::Running(Target::Processes { pids: args.pid.clone(), children: false })
        };
        plan(&args, subject, None, &machine)
    }

    #[test]
    fn every_width_is_run_as_often_as_asked_on_as_many_cpus() {
        let meta = planned("-L threads 1,2,4,8 -r 2 --seed 1 -- app -t {threads}").unwrap();
        assert_eq!((meta.width, meta.widths.as_slice(), meta.runs.len()), (Width::Threads, &[1, 2, 4, 8][..], 8));
        let region = |n: u32| meta.runs.iter().find(|run| run.n == n).map(|run| (run.region, run.cpus.len()));
        assert_eq!(region(2), Some((Region::Cores, 2)));
        assert_eq!(region(4), Some((Region::Smt, 4)));
        assert_eq!(region(8), Some((Region::Oversubscribed, 4)));
    }

    #[test]
    fn what_is_left_away_is_all_cpus_by_doubling() {
        assert_eq!(planned("-- app -t {threads}").unwrap().widths, [1, 2, 4]);
        assert_eq!(planned("-- app").unwrap().width, Width::Cpus);
        let live = planned("-p 7").unwrap();
        assert_eq!((live.width, live.widths.as_slice()), (Width::Cpus, &[1, 2, 4][..]));
        assert_eq!(live.duration, Some(Nanos(10_000_000_000)));
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_a_remedy() {
        for line in [
            "-L threads 1,2 -- app",
            "-L cpus 1,8 -- app",
            "-L moons 1,2 -- app {threads}",
            "-L threads 0 -- app {threads}",
            "-L threads 1,2 -p 7",
            "-L cpus 1,2 --place none -- app",
        ] {
            let error = planned(line).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage, "{line}: {error}");
        }
    }
}
