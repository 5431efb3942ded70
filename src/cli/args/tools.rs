//! The commands around profiling: `doctor`, `demo`, the built-in workloads, completions and the manual.
//! It never carries one out.

use super::values;
use crate::units::Nanos;
use clap::{Args, ValueEnum};
use clap_complete::Shell;
use std::path::PathBuf;

/// The form of the doctor's findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DoctorFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// `ironlaw doctor`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Exit code 0: profiling works here, perhaps with limits. 1: it does not work.")]
pub struct DoctorArgs {
    /// Also check this process: permission to profile it, and debug information
    #[arg(short = 'p', long, value_name = "PID", value_parser = clap::value_parser!(u32).range(1..))]
    pub pid: Option<u32>,
    /// Measure the current latency of caches and memory and their bandwidth instead; takes a few seconds of every
    /// CPU and some hundred megabytes
    #[arg(long, conflicts_with = "pid")]
    pub health: bool,
    /// List instead how much is read of files and answers that others wrote, and what happens beyond it
    #[arg(long, conflicts_with_all = ["pid", "health"])]
    pub limits: bool,
    /// Write the result as text or json
    #[arg(long, hide_possible_values = true, value_name = "FORMAT", default_value = "text")]
    pub format: DoctorFormat,
}

/// What a demonstration shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DemoArg {
    /// Where a program's time goes: 60, 25, 10 and 5% in four functions.
    Profile,
    /// How a program scales: a lock lets more threads do hardly more.
    Sweep,
    /// What programs do to each other: one that computes and one that reads memory, beside neighbours.
    Colocate,
}

/// `ironlaw demo`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "In a terminal it opens the session, elsewhere it prints a report.")]
pub struct DemoArgs {
    /// What to demonstrate
    #[arg(value_name = "WHAT", default_value = "profile")]
    pub what: DemoArg,
    /// Record this long without the terminal session; in a sweep or colocation, each run
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = values::seconds)]
    pub seconds: Nanos,
    /// Run this many worker threads [default: one per CPU, at most 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
    /// Record and print the report instead of opening the terminal session
    #[arg(long)]
    pub headless: bool,
    /// Write the recording to this directory [default: ironlaw-UID/demo.ironlaw in the directory for temporary files]
    #[arg(short = 'o', long, value_name = "NAME.ironlaw")]
    pub output: Option<PathBuf>,
}

/// `ironlaw workload`.
#[derive(Debug, Clone, Args)]
pub struct WorkloadArgs {
    /// Its name
    #[arg(value_name = "NAME", required_unless_present = "list")]
    pub name: Option<String>,
    /// List the names with what each plants, and end
    #[arg(long, conflicts_with = "name")]
    pub list: bool,
    /// Number of threads
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    pub threads: u32,
    /// Run time
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = values::seconds)]
    pub seconds: Nanos,
}

/// `ironlaw config`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Example: ironlaw config > $(ironlaw config --path)")]
pub struct ConfigArgs {
    /// Print the path of the file
    #[arg(long, conflicts_with = "check")]
    pub path: bool,
    /// Check the file
    #[arg(long)]
    pub check: bool,
}

/// `ironlaw completions`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "The shell asks ironlaw: recordings, functions, events, processes and control groups complete too.\n\n\
                  Example: ironlaw completions bash > ~/.local/share/bash-completion/completions/ironlaw"
)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

/// `ironlaw help`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Example: ironlaw help operations")]
pub struct HelpArgs {
    /// Show the page on this subject or command [default: list the subjects]
    #[arg(value_name = "SUBJECT")]
    pub subject: Option<String>,
}

/// `ironlaw man`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Example: ironlaw man record | man -l -")]
pub struct ManArgs {
    /// The command to describe [default: ironlaw itself]
    #[arg(value_name = "COMMAND")]
    pub command: Option<String>,
}
