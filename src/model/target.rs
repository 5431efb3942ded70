//! What is to be profiled, once the command line's names have been resolved to kernel objects.
//! It never looks anything up: `collect` resolves, this only says.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A resolved target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// Processes by id: all their threads, alive now or born later.
    Processes {
        /// Process ids.
        pids: Vec<u32>,
        /// Whether processes they fork are followed too.
        children: bool,
    },
    /// Single threads by id.
    Threads {
        /// Thread ids.
        tids: Vec<u32>,
    },
    /// Every task in a control group and below it.
    Cgroup {
        /// The name the user gave.
        name: String,
        /// Absolute path of its directory.
        path: PathBuf,
    },
    /// Everything that runs on these CPUs.
    Cpus {
        /// CPU numbers; empty means all that are online.
        cpus: Vec<u32>,
    },
    /// A command to start, profiled from its first instruction, its children included.
    Command {
        /// Program and arguments.
        argv: Vec<String>,
    },
}

/// What was known of a target when its capture began.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetFacts {
    /// The CPUs that its affinity and its control group left it; empty: all of them. `None`: not known.
    #[serde(default)]
    pub allowed_cpus: Option<Vec<u32>>,
    /// Its programs that were started by another name than their file's.
    #[serde(default)]
    pub aliases: Vec<Alias>,
}

/// A program whose file is known by several names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alias {
    /// The file, links resolved, as the kernel names it in mappings.
    pub file: String,
    /// The path that it was started by.
    pub called: String,
}

/// More ids than this are told by their number.
const MOST_IDS: usize = 6;

impl Target {
    /// A short name for headers: "pid 41,42", "cgroup web.service", "redis-server --port 1".
    #[must_use]
    pub fn label(&self) -> String {
        let list = |ids: &[u32]| match ids {
            [first, rest @ ..] if ids.len() > MOST_IDS => format!("{first} and {} more", rest.len()),
            ids => ids.iter().map(u32::to_string).collect::<Vec<_>>().join(","),
        };
        match self {
            Target::Processes { pids, .. } => format!("pid {}", list(pids)),
            Target::Threads { tids } => format!("tid {}", list(tids)),
            Target::Cgroup { name, .. } => format!("cgroup {name}"),
            Target::Cpus { cpus } if cpus.is_empty() => "all CPUs".to_string(),
            Target::Cpus { cpus } => format!("cpu {}", list(cpus)),
            Target::Command { argv } => argv.join(" "),
        }
    }
}
