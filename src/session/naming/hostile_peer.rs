//! Both ends of the connection for names, each with another end that says anything at all.

use super::client::NameClient;
use super::host_files::{FileSource, List};
use super::server;
use super::wire::{Answer, Call, Request, decode};
use crate::model::{BuildId, ModuleId, ObjectFile};
use crate::symbols::{FileTail, ModuleSource};
use crate::sys::helper::Channel;
use std::fs::File;
use std::path::{Path, PathBuf};

/// More packets do not fit into a socket that nobody reads yet, and neither do more bytes.
const MOST_PACKETS: usize = 64;
const MOST: usize = 16 << 10;

/// Texts only.
struct Texts;

impl FileSource for Texts {
    fn open(&self, _: &Path) -> Option<ObjectFile> {
        None
    }

    fn list(&self, path: &Path) -> Option<List> {
        Some(List::Text(path.as_os_str().as_encoded_bytes().to_vec()))
    }

    fn stored(&self, _: &str) -> Option<(File, u64)> {
        None
    }

    fn store(&self, _: &str, _: &[u8]) {}

    fn fetch(&self, _: &BuildId) -> Option<ObjectFile> {
        None
    }

    fn grown(&self, _: &Path, from: u64) -> Option<FileTail> {
        Some(FileTail { length: from, stamp: None, bytes: b"1000 80 f\n".to_vec() })
    }
}

/// Has the data decoded as each kind of message, or heard by one of the two ends: by which, the first byte decides. Each
/// packet begins with its length, two bytes.
pub(crate) fn hear(data: &[u8]) {
    let Some((by, said)) = data.split_first() else { return };
    match by % 3 {
        0 => drop((decode::<Call>(said), decode::<Request>(said), decode::<Answer>(said))),
        1 => heard(said, server::serve),
        _ => heard(said, |channel| {
            let mut client = NameClient::of(Texts, channel);
            client.add(ModuleId(1), ModuleSource::Jit { pid: 7, root: PathBuf::from("/"), dump: None }, 0);
            client.add(ModuleId(2), ModuleSource::Kernel, 0);
            let _ = client.names(ModuleId(1), vec![0x1000, 0, u64::MAX]);
            client.finish();
        }),
    }
}

fn heard(mut said: &[u8], by: impl FnOnce(Channel)) {
    let Ok((ours, theirs)) = Channel::both() else { return };
    said = &said[..said.len().min(MOST)];
    for _ in 0..MOST_PACKETS {
        let Some((length, rest)) = said.split_first_chunk() else { break };
        let (packet, rest) = rest.split_at(rest.len().min(usize::from(u16::from_le_bytes(*length))));
        let _ = theirs.send(packet, None);
        said = rest;
    }
    let _ = theirs.send_no_more();
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| while theirs.receive().is_ok() {});
        by(ours);
        // A scope waits for its threads' work, not for their end: what they still hold would pass for a leak.
        let _ = reader.join();
    });
}
