//! `import`: what other tools recorded, as a recording.
//! It never opens a file.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// What the file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ImportFormat {
    /// What `perf record` wrote, into a file or a pipe.
    Perf,
    /// What `perf script` printed.
    Perfscript,
    /// Lines of `main;parse;strtol 42`.
    Folded,
}

const IMPORT_EXAMPLES: &str = "\
Examples:
  ironlaw import perf.data                       makes perf.data.ironlaw
  ironlaw import perf.data -o before --symfs ./rootfs --kallsyms ./kallsyms
                                                 recorded on another machine
  perf record -o - -g ./app | ironlaw import - -o app
  perf script | ironlaw import - -o text          samples as text
  ironlaw import out.folded                      what stackcollapse wrote

Functions are named where this machine has the recorded build of a program, by
build-id; kernel functions only by the kernel that was recorded. What the file
lacks or holds in damaged form is printed and noted in the recording.";

/// `ironlaw import`.
#[derive(Debug, Clone, Args)]
#[command(after_help = IMPORT_EXAMPLES)]
pub struct ImportArgs {
    /// perf.data, the text of perf script, or folded stacks; `-` for the standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Read FILE as perf, perfscript or folded [default: by its content]
    #[arg(long, hide_possible_values = true, value_name = "FORMAT", help_heading = "Input")]
    pub format: Option<ImportFormat>,
    /// Look for the recorded machine's files below this directory
    #[arg(long, value_name = "DIR", help_heading = "Input")]
    pub symfs: Option<PathBuf>,
    /// Name kernel functions by this copy of the machine's /proc/kallsyms, from the same boot
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    pub kallsyms: Option<PathBuf>,
    /// Write to this directory [default: FILE with .ironlaw, in this directory]
    #[arg(short = 'o', long, value_name = "NAME.ironlaw", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Replace a recording of that name
    #[arg(short = 'f', long, help_heading = "Output")]
    pub force: bool,
}
