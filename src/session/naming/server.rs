//! The process that makes names: it reads object files, debug information, perf maps and jitdumps that anyone may have
//! written. It opens nothing itself.

use super::wire::{Answer, Call, Reply, Request, Source, decode, encode};
use crate::error::{Error, ErrorKind, Result};
use crate::model::limits::MAPS_BYTES;
use crate::model::{BuildId, Bytes, FileStamp, ModuleId, ObjectFile};
use crate::symbols::{self, FileTail, Files, ModuleSource, Options, Symbolizer};
use crate::sys;
use crate::sys::helper::Channel;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

/// Bytes of a list read at once: the kernel writes it as it is read.
const LINES: usize = 64 << 10;

/// Answers requests until the other side closes the connection or says something that cannot be understood.
pub(super) fn serve(channel: Channel) {
    let channel = Arc::new(channel);
    let mut server =
        Server { symbolizer: Symbolizer::new(Options::default(), Box::new(RemoteFiles(channel.clone()))), channel };
    while server.answer().is_ok() {}
}

struct Server {
    symbolizer: Symbolizer,
    channel: Arc<Channel>,
}

impl Server {
    fn answer(&mut self) -> Result<()> {
        let packet = self.channel.receive()?;
        let reply = self.reply(decode(&packet.bytes)?, packet.descriptor)?;
        self.channel.send(&encode(&Call::Reply(reply))?, None)
    }

    fn reply(&mut self, request: Request, descriptor: Option<OwnedFd>) -> Result<Reply> {
        match request {
            Request::Add { module, source } => {
                self.symbolizer.add(ModuleId(module), source_of(source, descriptor)?);
                Ok(Reply::Done)
            }
            Request::Names { module, addresses } => {
                let module = ModuleId(module);
                let names = addresses.iter().map(|address| self.symbolizer.names(Some(module), *address)).collect();
                Ok(Reply::Names(names, self.symbolizer.may_learn(module)))
            }
            Request::Release { beyond } => {
                self.symbolizer.release_unused_beyond(beyond);
                if beyond == 0 {
                    self.symbolizer.release();
                    sys::heap::trim();
                }
                Ok(Reply::Done)
            }
            Request::DebugData { length } => {
                let file = descriptor.map(|file| object(File::from(file), length, None));
                let carried = file.and_then(|file| symbols::debug_data(&file));
                let bytes = carried.and_then(|carried| carried.bytes(0, carried.length()));
                Ok(Reply::File(bytes.map(Vec::from).unwrap_or_default()))
            }
            Request::Finish => {
                self.symbolizer.store();
                Ok(Reply::Notes(self.symbolizer.notes()))
            }
        }
    }
}

fn source_of(source: Source, descriptor: Option<OwnedFd>) -> Result<ModuleSource> {
    Ok(match source {
        Source::File { length, stamp, path, root } => {
            let file = descriptor.ok_or_else(|| Error::new(ErrorKind::Corrupt, "a module without its file"))?;
            ModuleSource::File { file: object(File::from(file), length, stamp), path, root }
        }
        Source::Vdso { image } => ModuleSource::Vdso { image: ObjectFile::new(image) },
        Source::Kernel => ModuleSource::Kernel,
        Source::Jit { pid, root, dump } => ModuleSource::Jit { pid, root, dump },
    })
}

fn object(file: File, length: u64, stamp: Option<FileStamp>) -> ObjectFile {
    let file = sys::files::object_of_length(file, length);
    if let Some(stamp) = stamp { file.stamped(stamp) } else { file }
}

/// Files that the process that started this one opens.
struct RemoteFiles(Arc<Channel>);

impl RemoteFiles {
    /// `None` if there is no such file, or if nobody answers any more.
    fn ask(&self, call: &Call) -> Option<(Answer, Option<File>)> {
        self.0.send(&encode(call).ok()?, None).ok()?;
        let packet = self.0.receive().ok()?;
        let answer: Answer = decode(&packet.bytes).ok()?;
        answer.found.then(|| (answer, packet.descriptor.map(File::from)))
    }

    fn object(&self, call: &Call) -> Option<ObjectFile> {
        let (answer, file) = self.ask(call)?;
        Some(object(file?, answer.length, answer.stamp))
    }

    fn list(&self, path: &Path) -> Result<(Vec<u8>, Option<File>)> {
        let (answer, file) = self
            .ask(&Call::List(path.to_path_buf()))
            .ok_or_else(|| Error::new(ErrorKind::NotFound, format!("cannot read {}", path.display())))?;
        Ok((answer.bytes, file))
    }
}

impl Files for RemoteFiles {
    fn open(&self, path: &Path) -> Option<ObjectFile> {
        self.object(&Call::Open(path.to_path_buf()))
    }

    fn text(&self, path: &Path) -> Result<String> {
        let (mut bytes, file) = self.list(path)?;
        if let Some(file) = file {
            file.take(MAPS_BYTES).read_to_end(&mut bytes)?;
        }
        Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    fn lines(&self, path: &Path, to: &mut dyn FnMut(&str)) -> Result<()> {
        let (bytes, file) = self.list(path)?;
        bytes.split_inclusive(|byte| *byte == b'\n').for_each(|line| to(&String::from_utf8_lossy(line)));
        let Some(file) = file else { return Ok(()) };
        let mut file = BufReader::with_capacity(LINES, file);
        let mut line = Vec::new();
        while file.read_until(b'\n', &mut line)? > 0 {
            to(&String::from_utf8_lossy(&line));
            line.clear();
        }
        Ok(())
    }

    fn head(&self, path: &Path) -> Option<Vec<u8>> {
        self.ask(&Call::Head(path.to_path_buf())).map(|(answer, _)| answer.bytes)
    }

    /// These files are the user's own, which nobody else writes to, and they are never written in place.
    fn stored(&self, name: &str) -> Option<Bytes> {
        let (answer, file) = self.ask(&Call::Stored(name.to_string()))?;
        sys::files::map_of_length(&file?, answer.length).ok()
    }

    fn store(&self, name: &str, bytes: &[u8]) {
        // What cannot be stored is found again by the next session.
        let _ = self.ask(&Call::Store(name.to_string(), bytes.to_vec()));
    }

    fn fetch(&self, id: &BuildId) -> Option<ObjectFile> {
        self.object(&Call::Fetch(id.0.clone()))
    }

    fn grown(&self, path: &Path, from: u64) -> Option<FileTail> {
        let (answer, _) = self.ask(&Call::Grown(path.to_path_buf(), from))?;
        Some(FileTail { length: answer.length, stamp: answer.stamp, bytes: answer.bytes })
    }
}
