//! Commands of the session that take arguments, typed after `:` as in vi and less.

use super::effect::Effect;
use crate::view::picker::Choice;
use std::path::PathBuf;

/// A command with arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionCommand {
    /// Opens a recording or a sweep.
    Open,
    /// Starts a sweep.
    Sweep,
    /// Opens the recording of a run of a sweep.
    Run,
    /// Compares the session with a baseline or a recording.
    Baseline,
    /// Learns a baseline from what is held.
    Learn,
    /// Says what counts operations.
    Ops,
    /// Saves the history as a recording.
    Write,
}

/// One command.
#[derive(Debug, Clone, Copy)]
pub struct CommandRow {
    /// The command.
    pub command: SessionCommand,
    /// Its name.
    pub name: &'static str,
    /// Its arguments.
    pub arguments: &'static str,
    /// What it does.
    pub text: &'static str,
    /// Whether it has an effect without arguments.
    pub alone: bool,
}

/// What users of vi type, and the name of the command or action here.
pub const SHORT: [(&str, &str); 7] =
    [("w", "write"), ("save", "write"), ("e", "open"), ("o", "open"), ("q", "quit"), ("q!", "quit"), ("h", "help")];

/// Every command.
pub const COMMANDS: [CommandRow; 7] = [
    CommandRow {
        command: SessionCommand::Sweep,
        name: "sweep",
        arguments: "[--cpus 1,2,4] [-- CMD]",
        text: "sweep it or a command over its CPUs",
        alone: true,
    },
    CommandRow {
        command: SessionCommand::Run,
        name: "run",
        arguments: "",
        text: "open the recording of the chosen run",
        alone: true,
    },
    CommandRow {
        command: SessionCommand::Open,
        name: "open",
        arguments: "FILE",
        text: "open a recording or a sweep",
        alone: false,
    },
    CommandRow {
        command: SessionCommand::Baseline,
        name: "baseline",
        arguments: "FILE",
        text: "compare with a baseline or recording",
        alone: false,
    },
    CommandRow {
        command: SessionCommand::Learn,
        name: "learn",
        arguments: "[NAME]",
        text: "learn a baseline from what is held",
        alone: true,
    },
    CommandRow {
        command: SessionCommand::Ops,
        name: "ops",
        arguments: "SPEC",
        text: "count operations, as with --ops SPEC",
        alone: false,
    },
    CommandRow {
        command: SessionCommand::Write,
        name: "write",
        arguments: "[NAME]",
        text: "save the history as a recording",
        alone: true,
    },
];

impl SessionCommand {
    /// What it asks of the host; `width` is that of the chosen point of a sweep.
    #[must_use]
    pub fn effect(self, arguments: &str, width: Option<u32>) -> Effect {
        match self {
            SessionCommand::Open => Effect::Open(Choice::File(PathBuf::from(arguments))),
            SessionCommand::Sweep => Effect::Open(Choice::Sweep(arguments.to_string())),
            SessionCommand::Run => Effect::Open(Choice::Run(width)),
            SessionCommand::Baseline => Effect::Compare(PathBuf::from(arguments)),
            SessionCommand::Ops => Effect::Count(arguments.to_string()),
            SessionCommand::Write => Effect::Record((!arguments.is_empty()).then(|| PathBuf::from(arguments))),
            SessionCommand::Learn => Effect::Learn((!arguments.is_empty()).then(|| PathBuf::from(arguments))),
        }
    }
}
