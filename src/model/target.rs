//! The target of a session: the command line's names, resolved to kernel objects by `collect`.

use super::ProcessConditions;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A resolved target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// Processes by id: all their threads, existing and future.
    Processes {
        /// Process ids.
        pids: Vec<u32>,
        /// Whether forked child processes are included.
        children: bool,
    },
    /// Profile single threads by id.
    Threads {
        /// Thread ids.
        tids: Vec<u32>,
    },
    /// Every task in a cgroup and its descendants.
    Cgroup {
        /// The name as typed.
        name: String,
        /// Absolute path of its directory.
        path: PathBuf,
        /// The directories of further cgroups; `name` then lists the names of all, separated by commas.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        others: Vec<PathBuf>,
    },
    /// Everything that runs on these CPUs.
    Cpus {
        /// CPU numbers; empty means all that are online.
        cpus: Vec<u32>,
    },
    /// A command to start, profiled from its first instruction, including its children.
    Command {
        /// Program and arguments.
        argv: Vec<String>,
    },
}

/// Facts about a target when its capture began, and its conditions while it ran.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetFacts {
    /// The CPUs that its affinity and its cgroup allowed; empty means all, `None` means unknown.
    #[serde(default)]
    pub allowed_cpus: Option<Vec<u32>>,
    /// Its programs that were started by a name other than their file's.
    #[serde(default)]
    pub aliases: Vec<Alias>,
    /// The conditions of its process that used the most CPU time, read while it ran; `None` if it ended before, if the
    /// target is CPUs, and in older recordings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conditions: Option<ProcessConditions>,
}

/// A program whose file has several names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alias {
    /// The file with links resolved, as the kernel names it in mappings.
    pub file: String,
    /// The path it was started by.
    pub called: String,
}

/// Longer lists of ids are shown as a count.
const MOST_IDS: usize = 6;

impl Target {
    /// The name and the directory of each cgroup; empty for other targets.
    #[must_use]
    pub fn cgroups(&self) -> Vec<(&str, &Path)> {
        match self {
            Target::Cgroup { name, path, others } if others.is_empty() => vec![(name, path)],
            Target::Cgroup { name, path, others } => {
                name.split(',').zip(std::iter::once(path).chain(others).map(PathBuf::as_path)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The directories of the cgroups that lie in no other of them: together they hold each task once.
    #[must_use]
    pub fn outermost_cgroups(&self) -> Vec<&Path> {
        let all = self.cgroups();
        let is_within = |path: &Path| all.iter().any(|(_, other)| path != *other && path.starts_with(other));
        all.iter().map(|(_, path)| *path).filter(|path| !is_within(path)).collect()
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_groups_each_has_its_name_and_one_within_another_is_not_outermost() {
        let path = |name: &str| Path::new("/c").join(name);
        let target = Target::Cgroup { name: "a,x,ab".into(), path: path("a"), others: vec![path("a/x"), path("ab")] };
        assert_eq!(target.cgroups(), [("a", &*path("a")), ("x", &*path("a/x")), ("ab", &*path("ab"))]);
        assert_eq!(target.outermost_cgroups(), [path("a"), path("ab")]);
        let one = Target::Cgroup { name: "a,b".into(), path: path("a,b"), others: vec![] };
        assert_eq!((one.cgroups(), one.outermost_cgroups()), (vec![("a,b", &*path("a,b"))], vec![&*path("a,b")]));
    }
}
