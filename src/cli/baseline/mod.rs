//! `ironlaw baseline`: builds and shows baselines, and checks them against a planned capture.

mod build;
mod fit;
mod show;

pub(super) use fit::{MatchedBaseline, fit};

use super::args::{BaselineArgs, BaselineCommand, GlobalArgs};
use super::out::Terminal;
use crate::error::Result;
use crate::store::{self, baseline};
use std::path::Path;

/// Whether the path names a baseline rather than a recording: a file, or a baseline's name without extension.
pub(super) fn is_one(path: &Path) -> bool {
    path.is_file() || (!path.is_dir() && !store::path(path).is_dir() && baseline::path(path).is_file())
}

/// Runs the command.
pub(super) fn run(args: &BaselineArgs, global: &GlobalArgs, terminal: &Terminal) -> Result<()> {
    match &args.command {
        BaselineCommand::Build(args) => build::run(args, terminal),
        BaselineCommand::Show(args) => show::run(args, global),
    }
}
