//! Samples what one blocked thread waits in, from `/proc` and its stack, without stopping it. The thread may run
//! meanwhile. The sample therefore carries its begin and end time, and only the switch records show whether the thread
//! was off the CPU the whole time.

use crate::collect::sampler::proc_source::ProcSource;
use crate::sys::clock::monotonic_ns;
use crate::sys::{process_memory, syscalls};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// Stack bytes that are read again and again: blocking calls use little stack.
pub const STACK_BYTES: usize = 8 << 10;

/// What a thread waited in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitSample {
    /// When the sample began, `CLOCK_MONOTONIC`, nanoseconds.
    pub from: u64,
    /// When it ended. The file behind a descriptor is read later, and may be another one by then.
    pub to: u64,
    /// The thread.
    pub tid: u32,
    /// The known part of the kernel stack, innermost first.
    pub kernel: Vec<String>,
    /// Instruction and stack pointer in user mode, if they may be read.
    pub user: Option<(u64, u64)>,
    /// User stack from the stack pointer upwards.
    pub stack: Vec<u8>,
}

/// Result of sampling a thread.
#[derive(Debug)]
pub enum ThreadState {
    /// The thread is blocked.
    Blocked(WaitSample),
    /// It runs.
    Running,
    /// It has ended.
    Ended,
    /// It is blocked, but this user may not read where.
    Refused,
}

/// A thread and its files below `/proc`, which stay open if that is affordable: opening them takes longer than reading
/// them, and a sample must be complete before a short wait is over.
#[derive(Debug)]
pub struct WaitFiles {
    tid: u32,
    open: Option<[File; 2]>,
}

/// The files that are read per thread.
const FILES: [&str; 2] = ["syscall", "wchan"];
/// Longer than the contents of either.
const LINE: usize = 256;

impl WaitFiles {
    /// A thread to sample; with `keep` its files are opened now.
    pub fn new(tid: u32, keep: bool) -> WaitFiles {
        let open = |name| File::open(format!("/proc/{tid}/{name}"));
        let files = || Some([open(FILES[0]).ok()?, open(FILES[1]).ok()?]);
        WaitFiles { tid, open: keep.then(files).flatten() }
    }

    /// The thread.
    pub fn tid(&self) -> u32 {
        self.tid
    }

    /// Samples the thread, with up to so many bytes of its user stack.
    pub fn look(&self, stack_bytes: usize) -> ThreadState {
        look(self.tid, stack_bytes, &mut &*self)
    }
}

/// How a thread's files and memory are read.
pub trait Source {
    /// The beginning of one of [`FILES`].
    fn line(&mut self, at: usize, line: &mut [u8; LINE]) -> io::Result<usize>;
    /// Its memory from an address on; the number of bytes.
    fn memory(&mut self, address: u64, to: &mut [u8]) -> usize;
    /// What a descriptor refers to.
    fn descriptor(&mut self, number: u64) -> Option<PathBuf>;
}

/// Reads them at once: any of that may wait for another process.
impl Source for &WaitFiles {
    fn line(&mut self, at: usize, line: &mut [u8; LINE]) -> io::Result<usize> {
        match &self.open {
            Some(files) => files[at].read_at(line, 0),
            None => File::open(format!("/proc/{}/{}", self.tid, FILES[at]))?.read_at(line, 0),
        }
    }

    fn memory(&mut self, address: u64, to: &mut [u8]) -> usize {
        process_memory::read(self.tid, address, to).unwrap_or(0)
    }

    fn descriptor(&mut self, number: u64) -> Option<PathBuf> {
        fs::read_link(format!("/proc/{}/fd/{number}", self.tid)).ok()
    }
}

/// Asks for those of a thread.
pub struct Asking<'a, W>(pub u32, pub &'a mut W);

impl<W: ProcSource> Source for Asking<'_, W> {
    fn line(&mut self, at: usize, line: &mut [u8; LINE]) -> io::Result<usize> {
        let text = self.1.read(self.0, FILES[at])?;
        line.iter_mut().zip(&text).for_each(|(to, from)| *to = *from);
        Ok(text.len().min(LINE))
    }

    fn memory(&mut self, address: u64, to: &mut [u8]) -> usize {
        self.1.memory(self.0, address, to)
    }

    fn descriptor(&mut self, number: u64) -> Option<PathBuf> {
        self.1.link(self.0, &format!("fd/{number}"))
    }
}

/// Samples a thread, with up to so many bytes of its user stack.
pub fn look(tid: u32, stack_bytes: usize, source: &mut impl Source) -> ThreadState {
    let mut line = [0; LINE];
    let from = monotonic_ns();
    let call = match text(source.line(0, &mut line), &line) {
        Ok(line) => match Call::parse(line) {
            Some(call) => Some(call),
            None => return ThreadState::Running,
        },
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => None,
        Err(_) => return ThreadState::Ended,
    };
    let user = call.map(|call| (call.ip, call.sp));
    let mut stack = Vec::new();
    if let (1.., Some((_, sp))) = (stack_bytes, user) {
        stack.resize(stack_bytes, 0);
        let read = source.memory(sp, &mut stack);
        stack.truncate(read);
    }
    let function = text(source.line(1, &mut line), &line).ok().filter(|name| !matches!(name.trim(), "" | "0"));
    let mut kernel: Vec<String> = function.map(str::to_string).into_iter().collect();
    let to = monotonic_ns();
    kernel.extend(call.as_ref().and_then(|call| call.object(source)).map(str::to_string));
    kernel.extend(call.as_ref().and_then(Call::function));
    if kernel.is_empty() {
        return if call.is_none() { ThreadState::Refused } else { ThreadState::Running };
    }
    ThreadState::Blocked(WaitSample { from, to, tid, kernel, user, stack })
}

fn text(length: io::Result<usize>, line: &[u8; LINE]) -> io::Result<&str> {
    std::str::from_utf8(&line[..length?]).map_err(io::Error::other)
}

/// The system call a thread is blocked in, from `/proc/TID/syscall`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Call {
    /// -1 outside any system call: a page fault.
    number: i64,
    first_argument: u64,
    sp: u64,
    ip: u64,
}

impl Call {
    /// `202 0x5622a84af0a0 0x80 0x2 0x0 0x0 0x0 0x7fbf81650e98 0x7fbf816db12b`, or `-1 0x7ffd2b20c420 0x7fbf81724545`;
    /// `None` for `running`.
    fn parse(line: &str) -> Option<Call> {
        let mut words = line.split_ascii_whitespace();
        let number = words.next()?.parse().ok()?;
        let hex = |word: &str| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok();
        let values: Vec<u64> = words.map_while(hex).collect();
        let (&ip, rest) = values.split_last()?;
        let (&sp, arguments) = rest.split_last()?;
        Some(Call { number, first_argument: arguments.first().copied().unwrap_or(0), sp, ip })
    }

    /// The call as a kernel frame.
    fn function(&self) -> Option<String> {
        let name =
            |number| syscalls::name(number).map_or_else(|| format!("sys_{number}"), |name| format!("sys_{name}"));
        (self.number >= 0).then(|| name(self.number))
    }

    /// The object that the file descriptor of a read or a write refers to, as a kernel frame.
    fn object(&self, source: &mut impl Source) -> Option<&'static str> {
        const BYTES: [&str; 6] = ["read", "write", "readv", "writev", "pread64", "pwrite64"];
        syscalls::name(self.number).filter(|name| BYTES.contains(name))?;
        kind(source.descriptor(self.first_argument)?.to_str()?)
    }
}

fn kind(target: &str) -> Option<&'static str> {
    let kinds = [
        ("socket:", "on a socket"),
        ("pipe:", "on a pipe"),
        ("/dev/pts/", "on a terminal"),
        ("/dev/tty", "on a terminal"),
        ("anon_inode:[eventfd", "on an eventfd"),
        ("anon_inode:[timerfd", "on a timerfd"),
        ("anon_inode:inotify", "on inotify"),
    ];
    kinds.iter().find(|(prefix, _)| target.starts_with(prefix)).map(|(_, kind)| *kind)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_kernels_is_split_into_call_and_registers() {
        let futex = "202 0x5622a84af0a0 0x80 0x2 0x0 0x0 0x0 0x7fbf81650e98 0x7fbf816db12b\n";
        for (line, expected) in [
            (futex, Some((202, 0x5622_a84a_f0a0, 0x7fbf_8165_0e98, 0x7fbf_816d_b12b))),
            ("-1 0x7ffd2b20c420 0x7fbf81724545\n", Some((-1, 0, 0x7ffd_2b20_c420, 0x7fbf_8172_4545))),
            ("running\n", None),
            ("", None),
            ("202\n", None),
        ] {
            let call = Call::parse(line).map(|call| (call.number, call.first_argument, call.sp, call.ip));
            assert_eq!(call, expected, "{line}");
        }
    }

    #[test]
    fn a_blocked_thread_shows_its_call_what_it_is_on_and_its_stack() {
        let (reader, writer) = io::pipe().unwrap();
        let (sender, receiver) = std::sync::mpsc::channel();
        let blocked = std::thread::spawn(move || {
            let tid = fs::read_link("/proc/thread-self").unwrap();
            sender.send(tid.file_name().unwrap().to_str().unwrap().parse().unwrap()).unwrap();
            io::read_to_string(reader)
        });
        let tid: u32 = receiver.recv().unwrap();
        let seen = (0..200).find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            if let ThreadState::Blocked(sample) = WaitFiles::new(tid, true).look(STACK_BYTES) {
                Some(sample)
            } else {
                None
            }
        });
        drop(writer);
        blocked.join().unwrap().unwrap();
        let sample = seen.unwrap();
        assert!(sample.kernel.ends_with(&["on a pipe".to_string(), "sys_read".to_string()]), "{:?}", sample.kernel);
        assert!(sample.from < sample.to && sample.user.is_some() && sample.stack.len() > 256);
        for keep in [true, false] {
            assert!(matches!(WaitFiles::new(tid, keep).look(STACK_BYTES), ThreadState::Ended));
        }
    }
}
