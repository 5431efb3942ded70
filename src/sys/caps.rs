//! Reads the privileges of this process: capabilities, user, seccomp.

use super::procfs::{ProcFs, Status};
use crate::error::Result;
use serde::{Deserialize, Serialize};

/// Capabilities that a profiler needs, with the kernel's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capability {
    /// Inspect other users' processes.
    SysPtrace = 19,
    /// Nearly everything; before Linux 5.8 the only way to profile the kernel.
    SysAdmin = 21,
    /// Read kernel addresses.
    Syslog = 34,
    /// Profile (Linux 5.8).
    Perfmon = 38,
    /// Load BPF programs (Linux 5.8).
    Bpf = 39,
}

/// The privileges of a process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Privileges {
    /// Effective capabilities, one bit each.
    pub effective: u64,
    /// Effective user id.
    pub uid: u32,
    /// 0 none, 1 strict, 2 filtered; `None` where the kernel does not report it.
    pub seccomp: Option<u8>,
    /// Whether executing a program can no longer grant privileges.
    pub no_new_privs: bool,
}

impl Privileges {
    /// Reads the privileges of this process.
    pub fn open(proc: &ProcFs) -> Result<Privileges> {
        let text = proc.read("self/status")?;
        Ok(Privileges::of(&super::procfs::status(&text)))
    }

    /// Extracts the privileges from a `status` file; missing fields count as not held.
    #[must_use]
    pub fn of(status: &Status) -> Privileges {
        Privileges {
            effective: status.cap_effective.unwrap_or(0),
            uid: status.uid.unwrap_or(u32::MAX),
            seccomp: status.seccomp,
            no_new_privs: status.no_new_privs.unwrap_or(false),
        }
    }

    /// Whether the capability is effective.
    #[must_use]
    pub fn has(self, capability: Capability) -> bool {
        self.effective & 1 << capability as u32 != 0
    }

    /// Whether this process is exempt from `perf_event_paranoid`.
    #[must_use]
    pub fn may_profile_anything(self) -> bool {
        self.has(Capability::Perfmon) || self.has(Capability::SysAdmin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::procfs::status;

    #[test]
    fn capabilities_are_read_from_the_mask() {
        let rows = [
            ("0000000000000000", false, false),
            ("0000004000000000", true, false),
            ("0000000000200000", true, false),
            ("000001ffffffffff", true, true),
            ("0000000400000000", false, true),
        ];
        for (mask, profile, syslog) in rows {
            let privileges = Privileges::of(&status(format!("CapEff:\t{mask}\n").as_bytes()));
            assert_eq!(
                (privileges.may_profile_anything(), privileges.has(Capability::Syslog)),
                (profile, syslog),
                "{mask}"
            );
        }
    }

    #[test]
    fn a_status_that_says_nothing_grants_nothing() {
        let privileges = Privileges::of(&status(b""));
        assert!(!privileges.may_profile_anything() && privileges.uid != 0);
    }
}
