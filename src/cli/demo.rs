//! `ironlaw demo`: profiles a built-in program with a planted hot spot, so that a first try needs no set-up.
//! The program is this executable, run as `ironlaw workload`.

use super::args::{
    CaptureArgs, Cli, Command, DemoArg, DemoArgs, GlobalArgs, SweepArgs, TargetArgs, TopArgs, WorkloadArgs,
};
use super::out::{self, Terminal};
use super::top::{self, First, Opening};
use super::{capture, flamegraph, report};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::ops;
use crate::session::{self, LiveCapture};
use crate::store;
use crate::sys::private_dir;
use crate::sys::workload;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// Long enough for any exploration. The program ends with the session.
const SESSION_SECONDS: f64 = 24.0 * 3600.0;
/// Sixteen runs follow each other.
const COLOCATED_SECONDS: f64 = 2.0;
/// The workloads print this at their end.
const OPERATIONS: &str = r"regex:^ops (\d+)";

/// Opens the session on the workload. Without a terminal, or on request, records it and prints the report.
pub(super) fn run(args: &DemoArgs, global: &GlobalArgs, terminal: &Terminal) -> Result<()> {
    if args.what == DemoArg::Sweep {
        return sweep(args, global, terminal);
    }
    if args.what == DemoArg::Colocate {
        return colocate(args, global, terminal);
    }
    let interactive = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if args.headless || args.output.is_some() || !interactive {
        return headless(args, global, terminal);
    }
    let target = TargetArgs { command: command(args, SESSION_SECONDS)?, ..TargetArgs::default() };
    let top = TopArgs { target, ..TopArgs::default() };
    top::session(Opening::of(top), First::Target, terminal)
}

/// Sweeps a workload whose threads share a lock.
fn sweep(args: &DemoArgs, global: &GlobalArgs, terminal: &Terminal) -> Result<()> {
    let program = program()?;
    let most = args.threads.unwrap_or_else(|| 2 * cpus());
    let seconds = format!("{}s", args.seconds.seconds());
    let output = match &args.output {
        Some(name) => name.clone(),
        None => folder(&std::env::temp_dir())?.join("demo.sweep"),
    };
    let line = [
        "ironlaw",
        "sweep",
        "--force",
        "-r",
        "2",
        "-L",
        "threads",
        &format!("1-{most}:x2,{most}"),
        "--ops",
        OPERATIONS,
        "-o",
        &output.to_string_lossy(),
        "--",
        &program,
        "workload",
        "mutex",
        "--threads={threads}",
        "--seconds",
        &seconds,
    ]
    .map(String::from);
    let parsed = Cli::from_words(&line).map_err(|wrong| Error::new(ErrorKind::Usage, wrong))?;
    let Some(Command::Sweep(sweep)) = parsed.command else { return Ok(()) };
    let sweep = SweepArgs { headless: args.headless || args.output.is_some(), ..sweep };
    top::sweep(&sweep, global, terminal).map(drop)
}

/// Runs two workloads beside each other and a neighbour that does nothing.
fn colocate(args: &DemoArgs, global: &GlobalArgs, terminal: &Terminal) -> Result<()> {
    let program = program()?;
    let threads = args.threads.unwrap_or_else(|| cpus().div_ceil(2));
    let seconds = args.seconds.seconds().min(COLOCATED_SECONDS);
    let workload = |name: &str, seconds: f64| {
        let program = program.replace('\'', "'\\''");
        format!("{name}='{program}' workload {name} --threads={threads} --seconds={seconds}s")
    };
    let output = match &args.output {
        Some(name) => name.clone(),
        None => folder(&std::env::temp_dir())?.join("demo.colocate"),
    };
    let victims = ["spin", "stream"].map(|name| workload(name, seconds));
    let neighbours =
        [workload("spin", SESSION_SECONDS), workload("stream", SESSION_SECONDS), "quiet=sleep 86400".to_string()];
    let mut line: Vec<String> =
        ["ironlaw", "colocate", "--force", "-r", "2", "--ops", OPERATIONS, "-o"].map(String::from).to_vec();
    line.push(output.to_string_lossy().into_owned());
    line.extend(["-d".to_string(), format!("{}s", seconds + 10.0)]);
    for (flag, programs) in [("--victim", &victims[..]), ("--with", &neighbours)] {
        line.extend(programs.iter().flat_map(|program| [flag.to_string(), program.clone()]));
    }
    let parsed = Cli::from_words(&line).map_err(|wrong| Error::new(ErrorKind::Usage, wrong))?;
    let Some(Command::Colocate(colocate)) = parsed.command else { return Ok(()) };
    super::colocate::run(&colocate, global, terminal).map(drop)
}

/// Records the workload, prints the report, and prints where the flame graph is and what to try next.
fn headless(args: &DemoArgs, global: &GlobalArgs, terminal: &Terminal) -> Result<()> {
    let seconds = args.seconds.seconds();
    let path = match &args.output {
        Some(name) => store::path(name),
        None => folder(&std::env::temp_dir())?.join("demo.ironlaw"),
    };
    terminal.say(&format!("profiling a built-in program for {seconds} s ..."));
    let target = TargetArgs { command: command(args, seconds)?, ..TargetArgs::default() };
    let how = CaptureArgs {
        off_cpu: true,
        ops: Some(ops::parse(OPERATIONS)?),
        max_overhead: Some(100.0),
        ..CaptureArgs::default()
    };
    let (plan, notes) = capture::plan(&target, &how)?;
    let (live, quiet) = (LiveCapture::open(plan, notes, false)?, terminal.without_notes());
    let (outcome, _) = capture::record(live, &path, true, None, None, &quiet)?;
    let picture = path.with_extension("svg");
    let profile = session::open(&path)?;
    out::deliver(&report::brief(&profile, global)?, None)?;
    out::replace(&flamegraph::picture(&profile)?, &picture)?;
    let recording = path.display();
    terminal.say(&format!("\nflame graph: {} (open it in a browser)", picture.display()));
    terminal.say(&format!("next: ironlaw report {recording} --sort total"));
    terminal.say(&format!("      ironlaw flamegraph {recording} --off-cpu -o waits.svg"));
    terminal.say("      ironlaw top -p PID      your own program, live");
    outcome.write_failure.map_or(Ok(()), Err)
}

/// This user's own directory: in one that all share, users could not replace each other's files.
fn folder(temporary: &Path) -> Result<PathBuf> {
    private_dir::among_temporary(temporary)
        .context(|| format!("cannot create a directory for the demo in {}", temporary.display()))
}

/// This executable, run as the workload.
fn command(args: &DemoArgs, seconds: f64) -> Result<Vec<String>> {
    let program = program()?;
    let threads = args.threads.unwrap_or_else(cpus);
    Ok(vec![
        program,
        "workload".into(),
        "hotspot".into(),
        format!("--threads={threads}"),
        format!("--seconds={seconds}s"),
    ])
}

fn program() -> Result<String> {
    let program = std::env::current_exe().context(|| "cannot find this program's own file")?;
    Ok(program.to_string_lossy().into_owned())
}

/// CPUs to use: all, but at most 8.
fn cpus() -> u32 {
    std::thread::available_parallelism().map_or(2, |cpus| u32::try_from(cpus.get()).unwrap_or(8).min(8))
}

/// Runs a built-in workload in this process and prints its number of operations; without a name, lists them all.
pub(super) fn workload(args: &WorkloadArgs) -> Result<()> {
    let Some(name) = &args.name else { return out::deliver(list().as_bytes(), None) };
    let operations = workload::run(name, args.threads, args.seconds.seconds())?;
    out::deliver(format!("ops {operations}\n").as_bytes(), None)
}

fn list() -> String {
    let width = workload::all().iter().map(|known| known.name.len()).max().unwrap_or(0);
    workload::all().iter().map(|known| format!("{:width$}  {}\n", known.name, known.about)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_list_is_a_name_and_what_it_plants() {
        let list = list();
        let column = |line: &str| line.find("  ").map(|end| line.len() - line[end..].trim_start().len());
        let first = list.lines().next().and_then(column);
        for (line, known) in list.lines().zip(workload::all()) {
            assert!(line.starts_with(known.name) && line.ends_with(known.about), "{line}");
            assert!(column(line) == first && line.chars().count() <= 120, "{line}");
        }
        assert_eq!(list.lines().count(), workload::all().len());
    }
}
