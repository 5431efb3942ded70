//! The whole command line: its commands, and the flags that mean the same in all of them.

use super::{
    AnnotateArgs, BaselineArgs, ColocateArgs, CompletionsArgs, ConfigArgs, ConvertArgs, DemoArgs, DiffArgs, DoctorArgs,
    ExportArgs, FlamegraphArgs, FleetArgs, HelpArgs, ImportArgs, ListArgs, ManArgs, MetricsArgs, OpsArgs, QueryArgs,
    RecordArgs, ReportArgs, ScriptArgs, StatArgs, StreamArgs, SweepArgs, TopArgs, ViewArgs, WatchArgs, WorkloadArgs,
};
use clap::{Args, Parser, Subcommand, ValueEnum};

const AFTER_HELP: &str = "\
Without a command, open the terminal session and choose a target or recording.

Examples:
  ironlaw demo                      see what it does, on a built-in program
  ironlaw top -p 1234               watch a process: flame graph, threads, findings
  ironlaw record -p 1234 -d 10      profile a process for 10 seconds
  ironlaw record -- ./app --fast    profile a command from its first instruction
  ironlaw stat -- ./app             count its events, as perf stat does
  ironlaw sweep -L threads 1-8 -- ./bench --threads={threads}
                                    how it scales, and what limits it
  ironlaw colocate --victim './bench' --with noisy='stress-ng --cpu 2'
                                    how much a neighbour slows it down
  ironlaw view                      look through the newest recording here
  ironlaw report                    the same as text
  ironlaw flamegraph -o run.svg     draw it
  ironlaw import perf.data          look at what perf recorded
  ironlaw export -o run.pb.gz       write it for pprof and other tools
  ironlaw diff old.ironlaw new.ironlaw
                                    what changed, and whether chance or load
                                    could have done it
  ironlaw baseline build usual.ironlaw -o app.baseline
                                    how it usually behaves
  ironlaw watch -p 1234 --baseline app.baseline
                                    report when it is slower than usual, and why
  ironlaw ops -p 1234               what could count its operations
  ironlaw doctor                    what works on this machine, and how to fix
                                    the rest

Exit codes: 0 success, 1 failure, 2 wrong usage, 3 a gate of `diff` is broken or
`watch --exit-on-alarm` met an alarm, 4 a gate cannot be decided.
`record -- CMD`, `stat -- CMD` and `watch -- CMD` pass on the code of the command.";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "ironlaw",
    version,
    about = "Find out which code is slow on Linux, and why",
    after_help = AFTER_HELP,
    disable_help_subcommand = true,
    max_term_width = 100
)]
pub struct Cli {
    /// Flags that mean the same in every command.
    #[command(flatten)]
    pub global: GlobalArgs,
    /// The command; the terminal session by default.
    #[command(subcommand)]
    pub command: Option<Command>,
}

impl Cli {
    /// What a line says that this program wrote itself.
    ///
    /// # Errors
    /// What clap says of it.
    pub fn from_words(words: &[String]) -> Result<Cli, String> {
        Cli::try_parse_from(words).map_err(|error| error.to_string())
    }
}

/// Flags that mean the same in every command.
#[derive(Debug, Clone, Default, Args)]
pub struct GlobalArgs {
    /// Print only errors
    #[arg(short, long, global = true, help_heading = "Global options")]
    pub quiet: bool,
    /// Colour the output: always, never, or auto: on a terminal, unless NO_COLOR is set
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true,
        help_heading = "Global options"
    )]
    pub color: ColorArg,
}

/// When output is coloured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorArg {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Also into pipes and files.
    Always,
    /// Never.
    Never,
}

/// One command.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Watch a program live in the terminal
    Top(TopArgs),
    /// Watch a program for days against its baseline: alarms as JSON lines, with cause and suspects
    Watch(WatchArgs),
    /// Look through a recording in the terminal
    View(ViewArgs),
    /// Profile a program and write a recording
    Record(RecordArgs),
    /// Count events of a program, as `perf stat` does, and what an operation costs
    Stat(StatArgs),
    /// Run a program at several widths: how it scales, and what limits it
    Sweep(SweepArgs),
    /// Run programs alone and beside each other: how much each slows the others down, and by what
    Colocate(ColocateArgs),
    /// Print a report on a recording: metrics, functions, threads, waits
    Report(ReportArgs),
    /// Compare recordings or sweeps: what changed, by how much, in which code
    Diff(DiffArgs),
    /// Learn how a program usually behaves, to detect deviations
    Baseline(BaselineArgs),
    /// Keep what many machines measure in one data set, and compare them
    Fleet(FleetArgs),
    /// Show a function of a recording by its instructions, or which kinds of instructions took the time
    Annotate(AnnotateArgs),
    /// Draw a recording as a flame graph
    Flamegraph(FlamegraphArgs),
    /// Convert perf.data, perf script's text or folded stacks to a recording
    Import(ImportArgs),
    /// Add recordings to a data set, as `fleet add` does
    #[command(hide = true)]
    Convert(ConvertArgs),
    /// Write a recording in the format of another tool
    Export(ExportArgs),
    /// Answer a query in SQL over recordings
    Query(QueryArgs),
    /// Print every sample with its stack, as perf script does
    Script(ScriptArgs),
    /// Check what can be profiled on this machine, and how to fix the rest
    Doctor(DoctorArgs),
    /// List the events, tracepoints, metrics and control groups of this machine
    List(ListArgs),
    /// List the hardware metrics of this machine, and why others are missing
    Metrics(MetricsArgs),
    /// Try what could count a process's operations, and print the --ops for each
    Ops(OpsArgs),
    /// Profile a built-in program with a planted hot spot
    Demo(DemoArgs),
    /// Run a built-in program whose diagnosis is known
    #[command(hide = true)]
    Workload(WorkloadArgs),
    /// Send what is captured here to a session on another machine (started by --host)
    #[command(hide = true)]
    Stream(StreamArgs),
    /// Print the terminal session's settings with their defaults
    Config(ConfigArgs),
    /// Print the completion script for a shell
    Completions(CompletionsArgs),
    /// Print the manual page
    Man(ManArgs),
    /// Print a page of the guide
    #[command(alias = "guide")]
    Help(HelpArgs),
}
