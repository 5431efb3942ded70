//! The flags of a session whose capture runs on another machine, and what is started there.

use clap::Args;
use std::ffi::OsString;

/// The other machine, as typed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Another machine")]
pub struct RemoteArgs {
    /// Capture on this machine over ssh, which runs the same version of ironlaw there: HOST, USER@HOST or
    /// ssh://USER@HOST:PORT; IRONLAW_SSH names another program than ssh
    #[arg(long, value_name = "HOST")]
    pub host: Option<String>,
    /// The ironlaw to run there, for the shell there, e.g. 'sudo -n ironlaw' [default: ironlaw]
    #[arg(long, value_name = "PROGRAM", requires = "host", default_value = "ironlaw", hide_default_value = true)]
    pub remote_path: String,
}

/// `ironlaw stream`, which the terminal's side starts on the host.
#[derive(Debug, Clone, Args)]
pub struct StreamArgs {
    /// The command line of the terminal's side
    #[arg(value_name = "WORDS", trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<OsString>,
}
