//! Reads the conditions of a process: what the kernel and its environment set for it, apart from its code. Anything that
//! cannot be read is reported as unknown.

use super::pipes::readers;
use crate::model::limits::ENVIRONMENT_BYTES;
use crate::model::{Bound, ProcessConditions};
use crate::sys::cgroupfs::CgroupFs;
use crate::sys::procfs::{self, ProcFs};
use std::collections::BTreeMap;

/// The limits that change what a program does before it fails.
const LIMITS: &[&str] =
    &["stack size", "locked memory", "address space", "data size", "open files", "nice priority", "realtime priority"];

/// Variables by which runtimes, allocators and libraries are set up; one that ends with `*` stands for all that begin
/// so. Which variables a program reads cannot be seen from outside, and most of them differ from login to login.
const SWITCHES: &[&str] = &[
    // The dynamic linker and the C library.
    "GLIBC_TUNABLES",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "LD_BIND_NOW",
    "LD_AUDIT",
    "LD_DEBUG",
    // Text is compared and classified by the locale; without TZ, each conversion of a time looks for a file.
    "LANG",
    "LC_*",
    "TZ",
    // Allocators: glibc and jemalloc, tcmalloc, mimalloc.
    "MALLOC_*",
    "JEMALLOC_*",
    "TCMALLOC_*",
    "MIMALLOC_*",
    // Threads of numerical programs.
    "OMP_*",
    "GOMP_*",
    "KMP_*",
    "MKL_*",
    "OPENBLAS_*",
    "BLIS_*",
    "TBB_*",
    "NUMEXPR_*",
    "RAYON_*",
    "TOKIO_*",
    "CUDA_*",
    // Runtimes.
    "GOMAXPROCS",
    "GOGC",
    "GOMEMLIMIT",
    "GODEBUG",
    "GOAMD64",
    "PYTHON*",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "_JAVA_OPTIONS",
    "NODE_OPTIONS",
    "UV_*",
    "RUBY*",
    "PERL5OPT",
    "DOTNET_*",
    "COMPlus_*",
    "ERL_*",
    "ASAN_OPTIONS",
];

/// Switches of one process that are kept: no program is set up by more, and a process may write any.
const MOST_SWITCHES: usize = 256;
/// The longest name of a switch that is kept, in bytes.
const LONGEST_NAME: usize = 64;

/// Reads the conditions of a process or thread; `None` if it has ended, is about to, or is a kernel thread.
#[must_use]
pub fn of_process(proc: &ProcFs, cgroups: &CgroupFs, pid: u32) -> Option<ProcessConditions> {
    // Of a process without memory, the environment reads as empty. It loses its memory for good, so this comes first.
    let environment = environment(proc, pid);
    let status = proc.status(pid).ok().filter(|status| status.has_memory)?;
    let file = |name: &str| proc.read(format!("{pid}/{name}")).ok();
    let text = |name: &str| proc.text(format!("{pid}/{name}")).ok();
    Some(ProcessConditions {
        name: status.name,
        store_bypass: status.store_bypass,
        indirect_branches: status.indirect_branches,
        seccomp: status.seccomp,
        seccomp_filters: status.seccomp_filters,
        traced: status.tracer.map(|tracer| tracer != 0),
        huge_pages: status.huge_pages,
        allowed_cpus: status.cpus_allowed,
        allowed_nodes: status.nodes_allowed,
        personality: text("personality").and_then(|text| u32::from_str_radix(text.trim(), 16).ok()),
        scheduling: file("stat").as_deref().and_then(procfs::scheduling),
        limits: text("limits").map(|text| limits(&text)).filter(|limits| !limits.is_empty()),
        group: text("cgroup").map(|text| cgroups.bounds_of(&text)),
        switches: environment.as_deref().and_then(switches),
        pipe_readers: readers(proc, pid),
    })
}

fn environment(proc: &ProcFs, pid: u32) -> Option<Vec<u8>> {
    let text = proc.start_of(format!("{pid}/environ"), ENVIRONMENT_BYTES).ok()?;
    (text.len() as u64 != ENVIRONMENT_BYTES).then_some(text)
}

fn limits(text: &str) -> BTreeMap<String, Bound> {
    let mut all = procfs::soft_limits(text);
    all.retain(|name, _| LIMITS.contains(&name.as_str()));
    all
}

/// The switches in the text of an `environ` file; `None` if they are too many, or if that is not an environment: a program
/// may write its title over it.
fn switches(environ: &[u8]) -> Option<BTreeMap<String, u16>> {
    if environ.is_empty() {
        return Some(BTreeMap::new());
    }
    let mut found = BTreeMap::new();
    for variable in environ.strip_suffix(&[0])?.split(|byte| *byte == 0) {
        let equals = variable.iter().position(|byte| *byte == b'=').filter(|at| *at > 0)?;
        let (name, value) = (std::str::from_utf8(&variable[..equals]), &variable[equals + 1..]);
        if let Ok(name) = name
            && is_switch(name)
        {
            // The first of two counts, as for getenv(3).
            found.entry(name.to_string()).or_insert_with(|| checksum(value));
        }
    }
    (found.len() <= MOST_SWITCHES).then_some(found)
}

/// Names are text of another program: one that could mean something to a terminal is left out.
fn is_switch(name: &str) -> bool {
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    plain
        && name.len() <= LONGEST_NAME
        && SWITCHES.iter().any(|known| known.strip_suffix('*').map_or(name == *known, |start| name.starts_with(start)))
}

/// A value may hold a secret, such as the password of a Java key store, and recordings are handed on: the value itself is
/// never kept. 16 bits show that two values differ, but fit one guess in 65,536 by chance, so they confirm none.
fn checksum(value: &[u8]) -> u16 {
    (crc32fast::hash(value) >> 16) as u16
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use crate::model::Scheduling;
    use proptest::prelude::*;
    use std::fs;

    const STATUS: &str = "Name:\tapp\nVmSize:\t  5680 kB\nTracerPid:\t0\nSeccomp:\t2\nSeccomp_filters:\t1\n\
        Speculation_Store_Bypass:\tthread mitigated\nTHP_enabled:\t1\nCpus_allowed_list:\t0-1\n";

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Option<ProcessConditions>) {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("7")).unwrap();
        for (name, text) in files {
            fs::write(root.path().join("7").join(name), text).unwrap();
        }
        let found = of_process(&ProcFs::new(root.path()), &CgroupFs::default(), 7);
        (root, found)
    }

    #[test]
    fn conditions_come_from_the_files_of_the_process_and_those_that_are_missing_are_unknown() {
        let stat = format!("7 (app) R {}\n", (4..=52).map(|field| field.to_string()).collect::<Vec<_>>().join(" "));
        let limits = "Max stack size            8388608              unlimited            bytes\n\
                      Max core file size        0                    unlimited            bytes\n";
        let (_root, found) = tree(&[
            ("status", STATUS),
            ("stat", &stat),
            ("limits", limits),
            ("personality", "00040000\n"),
            ("environ", "HOME=/root\0GLIBC_TUNABLES=glibc.malloc.check=3\0LC_ALL=C\0GLIBC_TUNABLES=\0"),
        ]);
        let found = found.unwrap();
        assert_eq!((found.name.as_str(), found.store_bypass.as_deref()), ("app", Some("thread mitigated")));
        assert_eq!((found.seccomp, found.seccomp_filters, found.traced), (Some(2), Some(1), Some(false)));
        assert_eq!((found.personality, found.huge_pages), (Some(0x0004_0000), Some(true)));
        assert_eq!(found.scheduling, Some(Scheduling { policy: 41, nice: 19, priority: 40 }));
        assert_eq!(found.limits, Some([("stack size".to_string(), Bound::At(8 << 20))].into()));
        let switches = found.switches.clone().unwrap();
        assert_eq!(switches.keys().collect::<Vec<_>>(), ["GLIBC_TUNABLES", "LC_ALL"]);
        assert_eq!(switches["GLIBC_TUNABLES"], checksum(b"glibc.malloc.check=3"));
        assert!(!serde_json::to_string(&found).unwrap().contains("glibc.malloc"), "no value is kept");

        let (_root, bare) = tree(&[("status", "Name:\tapp\nVmSize:\t 1 kB\n")]);
        assert_eq!(bare.unwrap(), ProcessConditions { name: "app".into(), ..ProcessConditions::default() });
    }

    #[test]
    fn what_has_ended_or_is_the_kernels_has_no_conditions() {
        for status in ["Name:\tapp\nState:\tZ (zombie)\n", "Name:\tkthreadd\nState:\tS\nKthread:\t1\n", ""] {
            assert_eq!(tree(&[("status", status), ("environ", "")]).1, None, "{status}");
        }
        assert_eq!(tree(&[]).1, None);
    }

    #[test]
    fn an_environment_that_is_overwritten_or_cut_is_unknown_and_an_empty_one_has_no_switches() {
        assert_eq!(switches(b""), Some(BTreeMap::new()));
        assert_eq!(switches(b"HOME=/\0"), Some(BTreeMap::new()));
        let two = switches(b"OMP_NUM_THREADS=4\0GOMAXPROCS=\0").unwrap();
        assert_eq!(two["OMP_NUM_THREADS"], checksum(b"4"));
        assert_ne!(two["OMP_NUM_THREADS"], checksum(b"2"));
        let many: String = (0..=MOST_SWITCHES).map(|at| format!("OMP_{at}=1\0")).collect();
        assert_eq!(switches(many.as_bytes()), None);
        assert_eq!(switches(b"OMP_\x1b[31m=4\0"), Some(BTreeMap::new()));
        for other in [&b"postgres: writer\0\0\0OMP_NUM_THREADS=4\0"[..], b"\0\0\0", b"GOGC=5", b"=x\0"] {
            assert_eq!(switches(other), None, "{other:?}");
        }
    }

    #[test]
    fn a_process_of_this_machine_has_its_own_conditions() {
        let proc = ProcFs::new("/proc");
        let found = of_process(&proc, &CgroupFs::open(&proc).unwrap(), std::process::id()).unwrap();
        assert!(found.seccomp.is_some() && found.scheduling.is_some() && found.allowed_cpus.is_some(), "{found:?}");
        assert!(found.limits.unwrap().contains_key("stack size"));
        assert!(found.switches.is_some());
    }

    proptest! {
        #[test]
        fn no_environment_makes_it_panic(text in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = switches(&text);
        }
    }
}
