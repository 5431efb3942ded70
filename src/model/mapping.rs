//! Code that can appear in a stack: executables, libraries, the kernel, the vdso, just-in-time code.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// The bytes of a file, mapped or read. Shared, and alive as long as anything refers to them.
pub type Bytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// Index into the recording's modules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ModuleId(pub u32);

/// A GNU build-id: up to 20 bytes that identify one build of one file.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct BuildId(pub Vec<u8>);

impl fmt::Display for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BuildId({self})")
    }
}

impl From<BuildId> for String {
    fn from(id: BuildId) -> String {
        id.to_string()
    }
}

impl TryFrom<String> for BuildId {
    type Error = String;

    fn try_from(hex: String) -> Result<Self, String> {
        let digits = hex.as_bytes();
        if !digits.len().is_multiple_of(2) || !digits.iter().all(u8::is_ascii_hexdigit) {
            return Err(format!("not a build-id: {hex:?}"));
        }
        (0..digits.len())
            .step_by(2)
            .map(|i| u8::from_str_radix(&hex[i..i + 2], 16).map_err(|_| format!("not a build-id: {hex:?}")))
            .collect::<Result<Vec<u8>, String>>()
            .map(BuildId)
    }
}

/// The kind of code in a module, which determines the meaning of its addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModuleKind {
    /// An executable or shared library: frame addresses are file offsets.
    File,
    /// The kernel and its modules: frame addresses are absolute.
    Kernel,
    /// The kernel's code page in user space: frame addresses are offsets into its image.
    Vdso,
    /// Code without a file, mostly just-in-time: frame addresses are absolute in that process.
    Jit,
}

/// A module as first seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleDef {
    /// Its number in this recording.
    pub id: ModuleId,
    /// The kind of code.
    pub kind: ModuleKind,
    /// Path as the target sees it (`/usr/lib/libc.so.6`), or `[kernel]`, `[vdso]`, `[jit]`.
    pub path: String,
    /// Its build-id, once the file has been read.
    pub build_id: Option<BuildId>,
    /// The process it belongs to, for `Jit`; otherwise the first process that mapped it.
    pub pid: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_id_reads_back_from_its_hex_form() {
        let id = BuildId(vec![0x0a, 0xff, 0x10]);
        assert_eq!(id.to_string(), "0aff10");
        assert_eq!(BuildId::try_from("0aff10".to_string()), Ok(id));
        for bad in ["abc", "zz", "é1"] {
            assert!(BuildId::try_from(bad.to_string()).is_err(), "{bad}");
        }
    }
}
