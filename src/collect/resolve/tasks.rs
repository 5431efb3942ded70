//! Finds processes and threads by id.

use crate::error::{Error, ErrorKind, Result};
use crate::model::Target;
use crate::sys::procfs::{self, ProcFs};

/// Processes by id (`-p`); with `children`, also those forked earlier, such as a server's workers.
pub fn processes(proc: &ProcFs, pids: &[u32], children: bool) -> Result<Target> {
    let mut pids = distinct(pids, "process")?;
    pids.iter().try_for_each(|&pid| check_process(proc, pid))?;
    if children {
        let asked = pids.len();
        pids = proc.with_descendants(&pids);
        // A process that has ended meanwhile is not the user's mistake.
        let forked = pids.split_off(asked).into_iter().filter(|&pid| check_process(proc, pid).is_ok());
        pids.extend(forked);
    }
    Ok(Target::Processes { pids, children })
}

/// Threads by id (`-t`).
pub fn threads(proc: &ProcFs, tids: &[u32]) -> Result<Target> {
    let tids = distinct(tids, "thread")?;
    tids.iter().try_for_each(|&tid| check_task(proc, tid, "thread"))?;
    Ok(Target::Threads { tids })
}

fn distinct(ids: &[u32], what: &str) -> Result<Vec<u32>> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() {
        return Err(Error::new(ErrorKind::Usage, format!("no {what} id was given")));
    }
    if ids.first() == Some(&0) {
        return Err(Error::new(ErrorKind::Usage, format!("invalid {what} id 0")).hint("Use -a for the whole machine."));
    }
    Ok(ids)
}

fn check_process(proc: &ProcFs, pid: u32) -> Result<()> {
    check_task(proc, pid, "process")?;
    let owner = proc.status(pid)?.tgid;
    match owner.filter(|&owner| owner != pid) {
        Some(owner) => {
            Err(Error::new(ErrorKind::Usage, format!("{pid} is a thread of process {owner}, not a process"))
                .hint(format!("Use -t {pid} for the thread, or -p {owner} for its whole process.")))
        }
        None => Ok(()),
    }
}

/// Checks that the task exists, still runs and is not a kernel thread.
fn check_task(proc: &ProcFs, id: u32, what: &str) -> Result<()> {
    let missing = || Error::new(ErrorKind::NotFound, format!("{what} {id} does not exist"));
    let text = proc.read(format!("{id}/task/{id}/stat")).map_err(|error| match error.kind() {
        ErrorKind::NotFound if !proc.exists(id) => missing(),
        _ => error,
    })?;
    let stat = procfs::task_stat(&text).ok_or_else(missing)?;
    let name = String::from_utf8_lossy(stat.comm).into_owned();
    if stat.zombie() {
        let leader_of_others = what == "process" && stat.threads > 1;
        if leader_of_others {
            return Ok(());
        }
        let message = format!(
            "{what} {id} ({name}) has ended: it is a zombie that its parent {} has not waited for",
            stat.parent
        );
        return Err(Error::new(ErrorKind::NotFound, message));
    }
    if stat.kernel_thread() {
        let message = format!("{what} {id} ({name}) is a kernel thread");
        return Err(Error::new(ErrorKind::Unsupported, message)
            .hint("Profile the whole machine with -a to see kernel threads."));
    }
    Ok(())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    fn task(root: &Path, id: u32, tgid: u32, state: char, flags: u32, threads: u32) {
        let directory = root.join(format!("{id}/task/{id}"));
        fs::create_dir_all(&directory).unwrap();
        let stat = format!("{id} (a) b) {state} 9 1 1 0 -1 {flags} 0 0 0 0 0 0 0 0 20 0 {threads} 0 5 0\n");
        fs::write(directory.join("stat"), stat).unwrap();
        fs::write(root.join(format!("{id}/status")), format!("Tgid:\t{tgid}\n")).unwrap();
    }

    #[test]
    fn each_reason_not_to_profile_a_process_has_its_own_words() {
        let root = tempfile::tempdir().unwrap();
        task(root.path(), 41, 41, 'S', 0, 1);
        task(root.path(), 42, 41, 'S', 0, 1);
        task(root.path(), 43, 43, 'Z', 0, 1);
        task(root.path(), 44, 44, 'I', 0x0020_0000, 1);
        task(root.path(), 45, 45, 'Z', 0, 3);
        let proc = ProcFs::new(root.path());
        let rows = [
            (7, ErrorKind::NotFound, "process 7 does not exist"),
            (42, ErrorKind::Usage, "42 is a thread of process 41"),
            (43, ErrorKind::NotFound, "process 43 (a) b) has ended"),
            (44, ErrorKind::Unsupported, "process 44 (a) b) is a kernel thread"),
            (0, ErrorKind::Usage, "invalid process id 0"),
        ];
        for (pid, kind, message) in rows {
            let error = processes(&proc, &[41, pid], false).unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.to_string().starts_with(message), "{error}");
        }
        let both = Target::Processes { pids: vec![41, 45], children: true };
        assert_eq!(processes(&proc, &[45, 41, 41], true).unwrap(), both, "45 still has threads that run");
        task(root.path(), 46, 46, 'S', 0, 1);
        fs::write(root.path().join("41/task/41/children"), "46 43 ").unwrap();
        for (children, expected) in [(false, vec![41]), (true, vec![41, 46])] {
            let target = processes(&proc, &[41], children).unwrap();
            assert_eq!(target, Target::Processes { pids: expected, children }, "a zombie child is left out");
        }
        assert_eq!(threads(&proc, &[42]).unwrap(), Target::Threads { tids: vec![42] });
        assert_eq!(threads(&proc, &[]).unwrap_err().kind(), ErrorKind::Usage);
    }
}
