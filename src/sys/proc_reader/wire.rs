//! What a reader and its helper say to each other.

use crate::model::{FileStamp, Identity};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What is looked up of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum LookUp {
    /// The first bytes of a file, by its name below `/proc/ID`.
    Read {
        /// Its name, e.g. `task/7/comm`.
        file: String,
        /// Bytes that are read.
        most: u64,
    },
    /// The numbers among the names in a folder: `task`, `fd`.
    Numbers {
        /// Its name below `/proc/ID`.
        folder: String,
    },
    /// What a link names.
    Link {
        /// Its name below `/proc/ID`.
        link: String,
    },
    /// Whether a file is a pipe with a name: the number 1.
    IsFifo {
        /// Its name below `/proc/ID`.
        file: String,
    },
    /// Its memory.
    Memory {
        /// The first address.
        address: u64,
        /// Bytes that are read, or fewer where the mapping ends.
        length: u32,
    },
    /// A file by its path, for the task or, if that is 0, for nobody.
    Open {
        /// Its path here.
        path: PathBuf,
        /// Whether the last name may be a link.
        follow: bool,
    },
    /// The file behind one of its mappings.
    Mapped {
        /// Its path, as the process sees it.
        path: String,
        /// The first address.
        start: u64,
        /// The first address after it.
        end: u64,
        /// The file, as the list of mappings names it.
        identity: Identity,
    },
}

/// A look-up with its number, which the answer has too.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Question {
    pub number: u64,
    pub task: u32,
    pub look_up: LookUp,
}

/// An answer.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Answer {
    pub number: u64,
    pub found: Found,
}

/// What was found.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Found {
    /// What was read, or what a link names.
    Bytes(#[serde(with = "serde_bytes")] Vec<u8>),
    Numbers(Vec<u32>),
    /// A file, which comes as a descriptor; whether it was found below the root of the process.
    File {
        stamp: FileStamp,
        below_its_root: bool,
    },
    /// The number of the error.
    Nothing(i32),
    /// Too many look-ups of its user wait.
    Busy,
}
