//! `ironlaw annotate`: a function by its instructions.

use super::{SelectionArgs, values};
use crate::model::Syntax;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  ironlaw annotate                           the function with the most samples
  ironlaw annotate checksum_block            this one, of the newest recording here
  ironlaw annotate checksum_block run.ironlaw -M att
  ironlaw annotate -i run.ironlaw --mix      which kinds of instructions took the time

The instruction with the samples is often the one after that which took the time.";

/// The form of an annotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AnnotateFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// `ironlaw annotate`.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES, next_help_heading = "Output")]
pub struct AnnotateArgs {
    /// The function, by its name or a part of it [default: the one with the most samples]
    #[arg(value_name = "FUNCTION", help_heading = "Arguments")]
    pub function: Option<String>,
    /// Show the classes of all sampled instructions instead: scalar, load and store, branch, SSE, AVX, AVX-512, locked
    #[arg(long)]
    pub mix: bool,
    /// Write x86 instructions as `intel` or `att`
    #[arg(short = 'M', long, value_name = "SYNTAX", default_value = "intel", value_parser = values::syntax)]
    pub disassembler_style: Syntax,
    /// Find the recorded files below this directory instead of /
    #[arg(long, value_name = "DIR")]
    pub symfs: Option<PathBuf>,
    /// Show at most N functions with --mix
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
    /// Write text or json
    #[arg(long, hide_possible_values = true, value_name = "FORMAT", default_value = "text")]
    pub format: AnnotateFormat,
    /// Write to a file instead of the standard output
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print text, which is the default
    #[arg(long, hide = true)]
    pub stdio: bool,
    /// What part of it.
    #[command(flatten)]
    pub selection: SelectionArgs,
}
