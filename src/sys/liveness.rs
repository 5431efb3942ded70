//! Whether a process or thread lives, without reading `/proc`.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// Whether a process (or thread) can still run: a zombie cannot, unless other threads of it are alive. For want of
/// descriptors, nothing is known of its end, and it counts as alive.
#[must_use]
pub fn is_alive(id: u32) -> bool {
    let Some(pid) = i32::try_from(id).ok().and_then(Pid::from_raw) else { return false };
    match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(process) => {
            let now = Timespec { tv_sec: 0, tv_nsec: 0 };
            !poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&now)).is_ok_and(|ready| ready > 0)
        }
        Err(Errno::SRCH) => false,
        // A thread that does not lead its process, which is gone as soon as it ends.
        Err(Errno::INVAL | Errno::NOENT) => exists(pid),
        Err(_) => true,
    }
}

/// Whether there is such a thread: signal 0 tells nothing else, and needs no permission to tell that.
fn exists(thread: Pid) -> bool {
    // SAFETY: no signal is sent, and there are no pointers.
    let sent = unsafe { libc::syscall(libc::SYS_tkill, thread.as_raw_nonzero().get(), 0) };
    sent == 0 || std::io::Error::last_os_error().raw_os_error() != Some(libc::ESRCH)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use rustix::thread::gettid;
    use std::process::Command;
    use std::sync::mpsc::channel;

    #[test]
    fn a_process_lives_until_it_is_a_zombie() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        assert!(is_alive(child.id()));
        child.kill().unwrap();
        while is_alive(child.id()) {
            std::thread::yield_now();
        }
        assert!(std::path::Path::new("/proc").join(child.id().to_string()).exists(), "it was not waited for");
        child.wait().unwrap();
        assert!(!is_alive(child.id()) && !is_alive(0) && !is_alive(u32::MAX));
    }

    #[test]
    fn a_thread_lives_until_it_ends() {
        let (tell, told) = channel();
        let (end, ended) = channel::<()>();
        let thread = std::thread::spawn(move || {
            tell.send(gettid().as_raw_nonzero().get().cast_unsigned()).unwrap();
            let _ = ended.recv();
        });
        let tid = told.recv().unwrap();
        assert!(is_alive(tid) && tid != std::process::id());
        drop(end);
        thread.join().unwrap();
        while is_alive(tid) {
            std::thread::yield_now();
        }
    }
}
