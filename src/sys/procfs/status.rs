//! Parses `/proc/PID/status`, for what is read a few times only: the owner of a task, its privileges, its conditions.
//! A line that this kernel does not print is `None`.

use super::{fields, parse};
use crate::model::PageKind;
use std::collections::BTreeMap;

/// Contents of `status`; see `proc_pid_status(5)`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Status {
    /// Whether it has memory: kernel threads have none, and a process that ends loses it first.
    pub has_memory: bool,
    /// Name, as the kernel escapes it.
    pub name: String,
    /// State letter.
    pub state: Option<char>,
    /// Process the task belongs to.
    pub tgid: Option<u32>,
    /// Whether it is a kernel thread; `None` before Linux 6.8.
    pub kernel_thread: Option<bool>,
    /// Effective user id.
    pub uid: Option<u32>,
    /// Its id in every pid namespace, outermost first.
    pub ns_pids: Vec<u32>,
    /// CPUs it may run on, as a list such as `0-3,8`.
    pub cpus_allowed: Option<String>,
    /// Memory nodes it may use, as a list.
    pub nodes_allowed: Option<String>,
    /// Effective capabilities.
    pub cap_effective: Option<u64>,
    /// 0 none, 1 strict, 2 filtered.
    pub seccomp: Option<u8>,
    /// Seccomp filters that each system call passes; `None` before Linux 5.9.
    pub seccomp_filters: Option<u32>,
    /// The speculative store bypass, in the kernel's words; `None` before Linux 4.17.
    pub store_bypass: Option<String>,
    /// The speculation of indirect branches, in the kernel's words; `None` before Linux 5.11.
    pub indirect_branches: Option<String>,
    /// The process that traces it; 0 is none.
    pub tracer: Option<u32>,
    /// Whether it may have transparent huge pages; `None` before Linux 5.0.
    pub huge_pages: Option<bool>,
    /// Whether executing a program can no longer grant privileges.
    pub no_new_privs: Option<bool>,
}

/// Parses `status`; unknown lines are skipped.
#[must_use]
pub fn status(text: &[u8]) -> Status {
    let mut status = Status::default();
    for line in text.split(|&byte| byte == b'\n') {
        let Some(colon) = line.iter().position(|&byte| byte == b':') else { continue };
        let value = line[colon + 1..].trim_ascii();
        let text = || Some(String::from_utf8_lossy(value).into_owned());
        match &line[..colon] {
            b"Name" => status.name = String::from_utf8_lossy(value).into_owned(),
            b"VmSize" => status.has_memory = true,
            b"State" => status.state = value.first().map(|&letter| char::from(letter)),
            b"Tgid" => status.tgid = parse(value),
            b"Kthread" => status.kernel_thread = parse::<u8>(value).map(|flag| flag != 0),
            b"Uid" => status.uid = fields(value).nth(1).and_then(parse),
            b"NSpid" => status.ns_pids = fields(value).filter_map(parse).collect(),
            b"Cpus_allowed_list" => status.cpus_allowed = text(),
            b"Mems_allowed_list" => status.nodes_allowed = text(),
            b"CapEff" => status.cap_effective = hex(value),
            b"Seccomp" => status.seccomp = parse(value),
            b"Seccomp_filters" => status.seccomp_filters = parse(value),
            b"Speculation_Store_Bypass" => status.store_bypass = text(),
            b"SpeculationIndirectBranch" => status.indirect_branches = text(),
            b"TracerPid" => status.tracer = parse(value),
            b"THP_enabled" => status.huge_pages = parse::<u8>(value).map(|flag| flag != 0),
            b"NoNewPrivs" => status.no_new_privs = parse::<u8>(value).map(|flag| flag != 0),
            _ => {}
        }
    }
    status
}

/// Resident memory by kind in bytes; a kind that the kernel does not print is left out.
#[must_use]
pub fn resident_kinds(text: &[u8]) -> BTreeMap<PageKind, u64> {
    let mut sums = BTreeMap::new();
    for line in text.split(|&byte| byte == b'\n') {
        let mut fields = fields(line);
        let kind = match fields.next() {
            Some(b"RssAnon:") => PageKind::Anonymous,
            Some(b"RssFile:" | b"RssShmem:") => PageKind::File,
            Some(b"HugetlbPages:") => PageKind::Huge,
            _ => continue,
        };
        let bytes = fields.next().and_then(parse::<u64>).and_then(|kib| kib.checked_mul(1024));
        let sum: &mut u64 = sums.entry(kind).or_default();
        *sum = sum.saturating_add(bytes.unwrap_or_default());
    }
    sums
}

fn hex(digits: &[u8]) -> Option<u64> {
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_are_read_by_name_and_missing_ones_stay_unknown() {
        let text = b"Name:\ta b\nState:\tS (sleeping)\nTgid:\t41\nUid:\t0\t1000\t0\t0\nNSpid:\t41\t1\n\
            CapEff:\t000001fffeffffff\nNoNewPrivs:\t1\nSeccomp:\t2\nCpus_allowed_list:\t0-1,4\n";
        let read = status(text);
        assert_eq!((read.name.as_str(), read.state, read.tgid, read.uid), ("a b", Some('S'), Some(41), Some(1000)));
        assert_eq!((read.ns_pids, read.cpus_allowed.as_deref()), (vec![41, 1], Some("0-1,4")));
        assert_eq!((read.cap_effective, read.seccomp), (Some(0x1ff_feff_ffff), Some(2)));
        assert_eq!((read.no_new_privs, read.kernel_thread), (Some(true), None));
        assert_eq!(status(b"nonsense"), Status::default());
        let text =
            b"VmSize:\t 1 kB\nTracerPid:\t0\nTHP_enabled:\t1\nSeccomp_filters:\t3\nSpeculation_Store_Bypass:\tthread vulnerable\n\
            SpeculationIndirectBranch:\talways enabled\nMems_allowed_list:\t0-1\n";
        let read = status(text);
        assert!(read.has_memory);
        assert_eq!((read.tracer, read.huge_pages, read.seccomp_filters), (Some(0), Some(true), Some(3)));
        assert_eq!(read.store_bypass.as_deref(), Some("thread vulnerable"));
        assert_eq!(read.indirect_branches.as_deref(), Some("always enabled"));
        assert_eq!(read.nodes_allowed.as_deref(), Some("0-1"));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "((Uid|CapEff|NSpid|State|Name):?[\\PC\t\n]{0,20}\n?){0,8}") {
            let _ = status(text.as_bytes());
        }
    }
}
