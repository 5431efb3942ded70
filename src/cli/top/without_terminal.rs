//! The error of a session without a terminal: it names the command that works there.

use crate::cli::args::TargetArgs;
use crate::cli::terminal_session;
use crate::error::Result;

/// The flags that record what a session would watch.
pub(super) fn recorded(target: &TargetArgs) -> String {
    let ids = |ids: &[u32]| ids.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    match target {
        TargetArgs { command, .. } if !command.is_empty() => format!("-- {}", command.join(" ")),
        TargetArgs { pid, .. } if !pid.is_empty() => format!("-p {} -d 10", ids(pid)),
        TargetArgs { tid, .. } if !tid.is_empty() => format!("-t {} -d 10", ids(tid)),
        TargetArgs { cgroup: Some(name), .. } => format!("-G {name} -d 10"),
        _ => "-a -d 10".to_string(),
    }
}

/// Without a terminal, an error that names the command that does the same there.
pub(super) fn refuse(command: &str) -> Result<()> {
    terminal_session::check().map_err(|error| {
        error.hint(format!("Without one: {command}. A container has one with docker run -it, ssh with -t."))
    })
}
