//! Which file it is, and in which state: what the kernel says about it, not what the file says.

use serde::{Deserialize, Serialize};

/// Identity of a file, independent of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Identity {
    /// Major number of its device.
    pub major: u32,
    /// Minor number of its device.
    pub minor: u32,
    /// Inode number.
    pub inode: u64,
}

/// The state of a file. Whoever writes the file cannot choose it: the kernel alone sets the time of the last change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileStamp {
    /// The file.
    pub identity: Identity,
    /// Its size, bytes.
    pub size: u64,
    /// Time of the last write, seconds and nanoseconds since the Unix epoch. Its owner can set it.
    pub modified: (i64, u64),
    /// Time of the last write or change of attributes, seconds and nanoseconds since the Unix epoch.
    pub changed: (i64, u64),
    /// The user it belongs to.
    pub owner: u32,
    /// Whether that is root or the user of this process: the file may say something about those of others.
    pub believed: bool,
}

impl std::fmt::Display for FileStamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let FileStamp { identity: Identity { major, minor, inode }, size, modified, changed, .. } = self;
        write!(
            f,
            "{major:x}-{minor:x}-{inode:x}-{size:x}-{:x}.{:x}-{:x}.{:x}",
            modified.0, modified.1, changed.0, changed.1
        )
    }
}
