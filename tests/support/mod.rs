//! What the tests that need a kernel share: a skip that says why, and fails where it must not happen.
//! `IRONLAW_REQUIRE` lists what this machine has, separated by commas; a test that misses it fails instead of skipping.
//! `.ci/run` finds the list without ironlaw.

pub use crate::skips::skip;

/// Why a test that needs `what` cannot run here; `None` if it can.
pub fn missing(what: &str) -> Option<String> {
    match what {
        "perf" => perf(),
        "tracefs" => (!std::path::Path::new("/sys/kernel/tracing/events/sched").exists())
            .then(|| "tracefs is not mounted on /sys/kernel/tracing".to_string()),
        "probes" => (!is_root() || !tracefs_can_be_had()).then(|| "user probes need root and tracefs".to_string()),
        "engine" => engine(),
        "root" => (!is_root()).then(|| "not running as root".to_string()),
        "perf-tool" => (!has_program("perf")).then(|| "the perf tool is not installed".to_string()),
        "cc" | "gcc" | "go" | "objcopy" | "objdump" | "python3" | "script" | "setpriv" => {
            (!has_program(what)).then(|| format!("there is no program {what}"))
        }
        _ => Some(format!("{what} is not known to the tests")),
    }
}

/// Waits until no other test runs programs, and returns from the test when any of these is missing, saying why.
macro_rules! require {
    ($($what:literal),+) => {
        let _turn = $crate::turn::Turn::take();
        $(if let Some(why) = $crate::support::missing($what) {
            return $crate::support::skip($what, why);
        })+
    };
}

/// The SQL engine lies where the program under test looks for it.
fn engine() -> Option<String> {
    let program = option_env!("IRONLAW_PROGRAM").unwrap_or(env!("CARGO_BIN_EXE_ironlaw"));
    let folder = std::path::Path::new(program).parent()?;
    let there = ["", "../lib/ironlaw", "../release"].iter().any(|way| folder.join(way).join("ironlaw-fleet").is_file());
    (!there).then(|| format!("no ironlaw-fleet beside {program}; build it: cargo build --release -p ironlaw-fleet"))
}

fn has_program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

fn perf() -> Option<String> {
    let level = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").ok();
    match level.and_then(|level| level.trim().parse::<i32>().ok()) {
        None => Some("this kernel has no perf events".to_string()),
        Some(level) if level > 2 && !is_root() => Some(format!("kernel.perf_event_paranoid is {level}")),
        Some(_) => None,
    }
}

/// It is mounted, or this process may mount it: it has `CAP_SYS_ADMIN`.
fn tracefs_can_be_had() -> bool {
    const SYS_ADMIN: u32 = 21;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let capabilities = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let capabilities = capabilities.and_then(|text| u64::from_str_radix(text.trim(), 16).ok()).unwrap_or(0);
    std::path::Path::new("/sys/kernel/tracing/events/sched").exists() || capabilities >> SYS_ADMIN & 1 == 1
}

fn is_root() -> bool {
    std::fs::read_to_string("/proc/self/status")
        .is_ok_and(|status| status.lines().any(|line| line.starts_with("Uid:\t0\t0\t0")))
}
