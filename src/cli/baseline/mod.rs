//! `ironlaw baseline`, and the baseline beside a capture: learnt, shown, and held against what is to be captured.
//! It never captures.

mod build;
mod fit;
mod show;

pub(super) use fit::fit;

use super::args::{BaselineArgs, BaselineCommand, GlobalArgs};
use super::out::Terminal;
use crate::error::Result;

/// Runs the command.
pub(super) fn run(args: &BaselineArgs, global: &GlobalArgs, terminal: &Terminal) -> Result<()> {
    match &args.command {
        BaselineCommand::Build(args) => build::run(args, terminal),
        BaselineCommand::Show(args) => show::run(args, global),
    }
}
