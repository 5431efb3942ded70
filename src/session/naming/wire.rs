//! What the process that makes names and the one that asks for them say to each other. Neither trusts the other's bytes.

use crate::error::{Error, ErrorKind, Result};
use crate::model::{FileStamp, Note, Symbol};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::path::PathBuf;

/// Asked of the process that makes names. It answers each with [`Reply`], after any number of [`Call`]s.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Request {
    /// Adds a module. A file comes as a descriptor.
    Add { module: u32, source: Source },
    /// The names at addresses of a module.
    Names { module: u32, addresses: Vec<u64> },
    /// Forgets what was read of files and not used lately, if all takes more bytes than that.
    Release { beyond: usize },
    /// Leaves the names to later sessions, and says what to note.
    Finish,
    /// The symbols that a stripped file carries. It comes as a descriptor.
    DebugData { length: u64 },
}

/// What the names of a module are read from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Source {
    File {
        length: u64,
        stamp: Option<FileStamp>,
        path: String,
        root: PathBuf,
    },
    Vdso {
        #[serde(with = "serde_bytes")]
        image: Vec<u8>,
    },
    Kernel,
    Jit {
        pid: u32,
        root: PathBuf,
        dump: Option<PathBuf>,
    },
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Reply {
    Done,
    /// At each address, innermost first, and whether those without any may get some later.
    Names(Vec<Vec<Symbol>>, bool),
    Notes(Vec<Note>),
    /// A file; empty without one.
    File(#[serde(with = "serde_bytes")] Vec<u8>),
}

/// What the process that makes names asks of the one that started it, which opens files for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Call {
    /// An object file or jitdump.
    Open(PathBuf),
    /// A list of /proc, as a descriptor or as text.
    List(PathBuf),
    Head(PathBuf),
    Stored(String),
    Store(String, #[serde(with = "serde_bytes")] Vec<u8>),
    Fetch(#[serde(with = "serde_bytes")] Vec<u8>),
    Grown(PathBuf, u64),
    /// No call: the answer to the request.
    Reply(Reply),
}

/// The answer to a call. A descriptor may come with it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Answer {
    /// Whether there is what was asked for.
    pub found: bool,
    /// The length of the file.
    pub length: u64,
    pub stamp: Option<FileStamp>,
    /// Its bytes, if it comes without a descriptor.
    #[serde(with = "serde_bytes")]
    pub bytes: Vec<u8>,
}

pub(super) fn encode(message: &impl Serialize) -> Result<Vec<u8>> {
    postcard::to_stdvec(message).map_err(|error| Error::new(ErrorKind::Corrupt, error.to_string()))
}

pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    let (message, rest) = postcard::take_from_bytes(bytes).map_err(|error| damaged(&error.to_string()))?;
    if rest.is_empty() { Ok(message) } else { Err(damaged("there is more after its end")) }
}

fn damaged(why: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("a damaged message between ironlaw's processes: {why}"))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn whatever_is_cut_or_longer_says_nothing(function: String, line: Option<u32>, at: prop::sample::Index) {
            let names = vec![vec![], vec![Symbol { file: Some("a.c".into()), line, calls: Some("g".into()), ..Symbol::named(function) }]];
            let call = Call::Reply(Reply::Names(names, true));
            let mut bytes = encode(&call).unwrap();
            prop_assert!(decode::<Call>(&bytes[..at.index(bytes.len())]).is_err());
            prop_assert_eq!(decode::<Call>(&bytes).ok(), Some(call));
            bytes.push(0);
            prop_assert!(decode::<Call>(&bytes).is_err());
        }

        #[test]
        fn any_bytes_are_decoded_without_a_panic(bytes: Vec<u8>) {
            let _ = (decode::<Call>(&bytes), decode::<Request>(&bytes), decode::<Answer>(&bytes));
        }
    }

    /// A number of items that is a lie takes no memory.
    #[test]
    fn a_list_that_claims_to_be_endless_is_refused() {
        let mut bytes = encode(&Request::Names { module: 1, addresses: vec![] }).unwrap();
        bytes.pop();
        bytes.extend([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]);
        assert!(decode::<Request>(&bytes).is_err());
    }
}
