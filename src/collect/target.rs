//! Determines what is known of a target before its capture begins: the CPUs it may run on and the names of its
//! programs. Anything that cannot be read is reported as unknown.

use super::program;
use crate::abi::parse_cpu_list;
use crate::model::{Alias, HostFacts, Target, TargetFacts};
use crate::sys::affinity;
use crate::sys::procfs::ProcFs;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Maximum number of processes that are read one by one.
const MOST_PROCESSES: usize = 256;

/// Reads the target's processes as they are now. A command that is yet to start will inherit the CPUs of this process.
#[must_use]
pub fn facts(proc: &ProcFs, target: &Target, host: &HostFacts) -> TargetFacts {
    let online: BTreeSet<u32> = host.cpus.iter().map(|cpu| cpu.cpu).collect();
    TargetFacts {
        allowed_cpus: allowed(proc, target, &online),
        aliases: aliases(proc, target),
        ..TargetFacts::default()
    }
}

fn allowed(proc: &ProcFs, target: &Target, online: &BTreeSet<u32>) -> Option<Vec<u32>> {
    let of_threads =
        |tids: &mut dyn Iterator<Item = u32>| confined(tids.filter_map(|tid| affinity::get(tid).ok()), online);
    match target {
        Target::Processes { pids, .. } => {
            let threads = processes(proc, target, pids);
            of_threads(&mut threads.iter().flat_map(|pid| proc.threads(*pid).unwrap_or_default()))
        }
        Target::Threads { tids } => of_threads(&mut tids.iter().copied()),
        Target::Cgroup { .. } => {
            let list = |path: &Path| fs::read_to_string(path.join("cpuset.cpus.effective")).ok();
            let lists: Option<Vec<String>> = target.outermost_cgroups().into_iter().map(list).collect();
            let sets: Vec<Vec<u32>> = lists?.iter().filter_map(|list| parse_cpu_list(list).ok()).collect();
            confined(sets.into_iter(), online)
        }
        // The command may be a wrapper that confines what it starts: a confinement is known, the absence of one is not.
        Target::Command { .. } => of_threads(&mut std::iter::once(0)).filter(|cpus| !cpus.is_empty()),
        Target::Cpus { .. } => None,
    }
}

/// The union of these CPU sets; empty if it covers every online CPU, `None` if there is no set.
fn confined(sets: impl Iterator<Item = Vec<u32>>, online: &BTreeSet<u32>) -> Option<Vec<u32>> {
    let together: BTreeSet<u32> = sets.flatten().collect();
    if together.is_empty() {
        return None;
    }
    let everywhere = !online.is_empty() && online.is_subset(&together);
    // An affinity mask may contain offline CPUs, on which nothing runs.
    let counts = |cpu: &u32| online.is_empty() || online.contains(cpu);
    Some(if everywhere { Vec::new() } else { together.into_iter().filter(counts).collect() })
}

fn processes(proc: &ProcFs, target: &Target, pids: &[u32]) -> Vec<u32> {
    let mut all = match target {
        Target::Processes { children: true, .. } => proc.with_descendants(pids),
        _ => pids.to_vec(),
    };
    all.truncate(MOST_PROCESSES);
    all
}

fn aliases(proc: &ProcFs, target: &Target) -> Vec<Alias> {
    let mut all: Vec<Alias> = match target {
        Target::Processes { pids, .. } => {
            processes(proc, target, pids).iter().filter_map(|pid| program::alias(proc, *pid)).collect()
        }
        Target::Command { argv } => {
            let search = std::env::var_os("PATH").unwrap_or_default();
            argv.first().and_then(|word| program::alias_of_command(word, &search)).into_iter().collect()
        }
        Target::Threads { .. } | Target::Cgroup { .. } | Target::Cpus { .. } => Vec::new(),
    };
    all.sort_by(|a, b| a.file.cmp(&b.file));
    // A file with two names at once gets neither as its alias.
    let names =
        |file: &str| all.iter().filter(|alias| alias.file == file).map(|alias| &alias.called).collect::<BTreeSet<_>>();
    let single: Vec<bool> = all.iter().map(|alias| names(&alias.file).len() == 1).collect();
    let mut single = single.into_iter();
    all.retain(|_| single.next().unwrap_or(false));
    all.dedup();
    all
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_confinement_is_what_all_threads_together_may_use_of_the_cpus_there_are() {
        for (sets, online, expected) in [
            (vec![], vec![0, 1], None),
            (vec![vec![0, 1]], vec![0, 1], Some(vec![])),
            (vec![vec![0], vec![1]], vec![0, 1], Some(vec![])),
            (vec![vec![1, 5]], vec![0, 1], Some(vec![1])),
            (vec![vec![0, 1, 2, 3]], vec![0, 1], Some(vec![])),
            (vec![vec![2], vec![0]], vec![0, 1, 2, 3], Some(vec![0, 2])),
            (vec![vec![1]], vec![], Some(vec![1])),
        ] {
            let found = confined(sets.iter().cloned(), &online.iter().copied().collect());
            assert_eq!(found, expected, "{sets:?} of {online:?}");
        }
    }

    #[test]
    fn a_groups_set_is_read_and_one_without_is_not_known() {
        let dir = tempfile::tempdir().unwrap();
        let target = Target::Cgroup { name: "g".into(), path: dir.path().to_path_buf(), others: vec![] };
        let online = (0..8).collect();
        let proc = ProcFs::new("/proc");
        assert_eq!(allowed(&proc, &target, &online), None);
        fs::write(dir.path().join("cpuset.cpus.effective"), "0-2,7\n").unwrap();
        assert_eq!(allowed(&proc, &target, &online), Some(vec![0, 1, 2, 7]));
        fs::write(dir.path().join("cpuset.cpus.effective"), "nonsense\n").unwrap();
        assert_eq!(allowed(&proc, &target, &online), None);
    }

    #[test]
    fn a_process_that_confined_itself_is_seen_so() {
        let proc = ProcFs::new("/proc");
        std::thread::spawn(move || {
            let before = affinity::get(0).unwrap();
            affinity::set(0, &before[..1]).unwrap();
            let tid = fs::read_link("/proc/thread-self").unwrap();
            let tid = tid.file_name().unwrap().to_str().unwrap().parse().unwrap();
            let online = before.iter().copied().chain([u32::MAX]).collect();
            let found = allowed(&proc, &Target::Threads { tids: vec![tid] }, &online);
            assert_eq!(found.as_deref(), Some(&before[..1]));
            let command = Target::Command { argv: vec!["true".into()] };
            assert_eq!(allowed(&proc, &command, &online), found, "it would inherit that");
            let gone = Target::Processes { pids: vec![u32::MAX - 1], children: false };
            assert_eq!(facts(&proc, &gone, &HostFacts::default()), TargetFacts::default());
        })
        .join()
        .unwrap();
    }
}
