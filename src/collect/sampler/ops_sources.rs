//! What could count the operations of running processes, best first: what the program counts itself, probes and
//! functions known to run once for each request, system calls that take or answer requests, then all other probes.

use super::probe_file::{self, ProbeFile};
use super::probe_point;
use super::usdt::{self, ProbedFile};
use crate::abi;
use crate::error::{Error, Result};
use crate::model::OpsSpec;
use crate::sys::files;
use crate::sys::perf::tracefs::{self, Format};
use crate::sys::procfs::ProcFs;
use rustc_hash::FxHashSet;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// How good a source is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OpsClass {
    /// The program counts in a shared page.
    Page,
    /// A probe that a well-known server has for its requests.
    KnownProbe,
    /// A function that a well-known server calls for each request.
    KnownFunction,
    /// A system call that takes or answers requests.
    SystemCall,
    /// Any other probe of the program.
    OtherProbe,
}

/// A source that could count operations.
#[derive(Debug, Clone, PartialEq)]
pub struct OpsSource {
    /// How.
    pub spec: OpsSpec,
    /// How good it is.
    pub class: OpsClass,
    /// What it counts, if that is known.
    pub counts: Option<&'static str>,
}

/// Probes that their authors document as the begin or end of a request, by provider; the best first.
const KNOWN_PROBES: &[(&str, &str, &str)] = &[
    ("postgresql", "transaction__commit", "transactions committed"),
    ("postgresql", "query__execute__start", "statements executed"),
    ("postgresql", "query__start", "queries of the simple protocol"),
    ("mysql", "query__done", "queries"),
    ("mysql", "query__start", "queries"),
    ("mysql", "command__done", "commands of clients"),
    ("php", "request__shutdown", "requests"),
    ("node", "http__server__response", "HTTP responses"),
    ("node", "http__server__request", "HTTP requests"),
    ("memcached", "process__command__end", "commands of clients"),
];

/// Functions that run once for each request, by the file's name.
const KNOWN_FUNCTIONS: &[(&str, &str, &str)] = &[
    ("redis-server", "processCommand", "commands of clients"),
    ("redis-check-rdb", "processCommand", "commands of clients"),
    ("valkey-server", "processCommand", "commands of clients"),
    ("valkey-check-rdb", "processCommand", "commands of clients"),
    ("nginx", "ngx_http_process_request", "HTTP requests"),
    ("mysqld", "dispatch_command", "commands of clients"),
    ("mariadbd", "dispatch_command", "commands of clients"),
];

/// System calls: those that only sockets have, answers first, then those that files have as well.
const SYSTEM_CALLS: &[(&str, &str)] = &[
    ("sendto", "messages sent"),
    ("sendmsg", "messages sent"),
    ("recvfrom", "messages received"),
    ("recvmsg", "messages received"),
    ("accept4", "connections accepted"),
    ("accept", "connections accepted"),
    ("writev", "writes, also to files"),
    ("write", "writes, also to files"),
    ("read", "reads, also of files"),
    ("epoll_wait", "rounds of an event loop"),
    ("epoll_pwait", "rounds of an event loop"),
];

/// Folder and beginning of the name of pages that programs count in.
const PAGES: &str = "/dev/shm/ironlaw-";

/// What could count operations of these processes, best first, and what could not be read.
#[must_use]
pub fn ops_sources(pids: &[u32], root: &Path) -> (Vec<OpsSource>, Vec<Error>) {
    let mut sources = pages(pids, root);
    let (files, mut errors) = probe_file::of_processes(pids, root);
    sources.extend(files.iter().flat_map(functions));
    for file in files {
        match usdt::examined(file) {
            Ok(file) => sources.extend(probes(&file)),
            Err(error) => errors.push(error),
        }
    }
    match system_calls(root) {
        Ok(calls) => sources.extend(calls),
        Err(error) => errors.push(error),
    }
    sources.sort_by_key(|source| (source.class, rank(source)));
    let mut seen = FxHashSet::default();
    sources.retain(|source| seen.insert(source.spec.written()));
    (sources, errors)
}

/// The place in the tables above; the order of the sources otherwise.
fn rank(source: &OpsSource) -> usize {
    let known = |name: &str| KNOWN_PROBES.iter().position(|(_, known, _)| *known == name);
    match &source.spec {
        OpsSpec::Usdt { name, .. } => known(name).unwrap_or(usize::MAX),
        _ => 0,
    }
}

fn pages(pids: &[u32], root: &Path) -> Vec<OpsSource> {
    let proc = ProcFs::new(root.join("proc"));
    let mut names: Vec<String> = Vec::new();
    for maps in pids.iter().filter_map(|pid| proc.maps(*pid).ok()) {
        let paths = abi::mappings(&maps).filter(|mapping| !mapping.is_deleted()).filter_map(|mapping| mapping.path());
        names.extend(paths.filter_map(|path| path.to_str()?.strip_prefix(PAGES).map(str::to_string)));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    names.retain(|name| !name.is_empty() && name.chars().all(plain));
    let page = |name| OpsSource {
        spec: OpsSpec::Page { name },
        class: OpsClass::Page,
        counts: Some("what the program counts itself"),
    };
    names.into_iter().map(page).collect()
}

fn probes(file: &ProbedFile) -> impl Iterator<Item = OpsSource> + '_ {
    file.probes.iter().map(|probe| {
        let known = KNOWN_PROBES.iter().find(|(provider, name, _)| probe.is_called(Some(provider), name));
        OpsSource {
            spec: file.spec(probe),
            class: if known.is_some() { OpsClass::KnownProbe } else { OpsClass::OtherProbe },
            counts: known.map(|(_, _, counts)| *counts),
        }
    })
}

fn functions(file: &ProbeFile) -> Vec<OpsSource> {
    let name = file.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let known = KNOWN_FUNCTIONS.iter().filter(|(program, ..)| *program == name);
    let exists = |function: &str| -> Result<()> {
        let image = files::object(file.file.try_clone()?)?;
        probe_point::find(&image, None, function).map(drop)
    };
    let known = known.filter(|(_, function, _)| exists(function).is_ok());
    let source = |(_, function, counts): &(&str, &str, &'static str)| OpsSource {
        spec: OpsSpec::Uprobe { binary: PathBuf::from(&file.path), symbol: (*function).to_string() },
        class: OpsClass::KnownFunction,
        counts: Some(counts),
    };
    known.map(source).collect()
}

fn system_calls(root: &Path) -> Result<Vec<OpsSource>> {
    let tracefs = tracefs::reach(root)?;
    let spec = |call: &str| OpsSpec::Tracepoint { category: "syscalls".to_string(), name: format!("sys_enter_{call}") };
    let exists = |call: &str| Format::read(&tracefs, "syscalls", &format!("sys_enter_{call}")).is_ok();
    let there = SYSTEM_CALLS.iter().filter(|(call, _)| exists(call));
    let source = |(call, counts): &(&str, &'static str)| OpsSource {
        spec: spec(call),
        class: OpsClass::SystemCall,
        counts: Some(counts),
    };
    Ok(there.map(source).collect())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::usdt::testing::{CODE, elf, note};
    use super::*;
    use std::fs::{create_dir_all, write};

    #[test]
    fn what_the_program_counts_comes_first_then_known_probes_then_system_calls_then_other_probes() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let probe = |texts: &[u8]| note(b"stapsdt\0", 3, [CODE.1, 0, 0], texts);
        let image = [
            probe(b"postgresql\0abort\0\0"),
            probe(b"postgresql\0query__start\0\0"),
            probe(b"postgresql\0transaction__commit\0\0"),
        ];
        create_dir_all(root.join("proc/7/map_files")).unwrap();
        write(root.join("proc/7/map_files/1000-2000"), elf(0x90, &image.concat())).unwrap();
        let maps = "1000-2000 r-xp 0 08:01 5 /bin/db\n3000-4000 rw-s 0 00:19 6 /dev/shm/ironlaw-db\n\
                    5000-6000 rw-s 0 00:19 7 /dev/shm/ironlaw-a b\n7000-8000 rw-s 0 00:19 8 /dev/shm/other\n";
        write(root.join("proc/7/maps"), maps).unwrap();
        let (sources, errors) = ops_sources(&[7, 7], root);
        let written: Vec<String> = sources.iter().map(|source| source.spec.written()).collect();
        let expected =
            ["page:db", "usdt:/bin/db:transaction__commit", "usdt:/bin/db:query__start", "usdt:/bin/db:abort"];
        assert_eq!(written, expected);
        assert!(errors.len() == 1 && errors[0].to_string().contains("tracefs"), "{errors:?}");
        for call in ["sys_enter_write", "sys_enter_sendto"] {
            let format = root.join("sys/kernel/tracing/events/syscalls").join(call);
            create_dir_all(&format).unwrap();
            write(format.join("format"), "ID: 7\n").unwrap();
        }
        let (sources, errors) = ops_sources(&[7], root);
        let calls: Vec<_> = sources.iter().map(|source| (source.class, source.counts)).skip(3).collect();
        let call = |counts| (OpsClass::SystemCall, Some(counts));
        let expected = [call("messages sent"), call("writes, also to files"), (OpsClass::OtherProbe, None)];
        assert!(errors.is_empty() && calls == expected, "{calls:?} {errors:?}");
    }
}
