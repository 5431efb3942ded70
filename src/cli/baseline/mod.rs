//! `ironlaw baseline`: builds and shows baselines, and checks them against a planned capture.

mod build;
mod fit;
mod show;

pub(super) use fit::{MatchedBaseline, fit, of_session};

use super::args::{BaselineArgs, BaselineCommand, GlobalArgs};
use super::out::Terminal;
use crate::error::Result;
use crate::session;
use crate::store::{self, baseline};
use std::path::Path;

/// Whether the path names a baseline rather than a recording: a file without samples of another profiler, or a baseline's name without
/// extension.
pub(super) fn is_one(path: &Path) -> bool {
    (path.is_file() && !session::is_importable(path))
        || (!path.is_dir() && !store::path(path).is_dir() && baseline::path(path).is_file())
}

/// Runs the command.
pub(super) fn run(args: &BaselineArgs, global: &GlobalArgs, terminal: &Terminal) -> Result<()> {
    match &args.command {
        BaselineCommand::Build(args) => build::run(args, terminal),
        BaselineCommand::Show(args) => show::run(args, global),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_a_baseline_unless_it_holds_samples() {
        let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/perfdata");
        assert!(is_one(&files.join("README.md")), "its own error tells what is wrong with it");
        assert!(!is_one(&files.join("perf.data.lines-written")));
        assert!(!is_one(&files) && !is_one(Path::new("/nowhere")));
    }
}
