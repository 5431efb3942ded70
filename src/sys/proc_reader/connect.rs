//! Starts the helper, once for all readers of this process, and serves them there.

use super::pool::{Asker, Pool};
use super::wire::Question;
use crate::error::Result;
use crate::sys::helper::{self, Channel, Helper};
use crate::sys::limits::{URGENT, set_nice};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The helper's name, by which it is started.
const NAME: &str = "ironlaw-proc";

/// No wait for the helper is longer: it sends what it has at once.
const SILENCE: Duration = Duration::from_secs(2);

/// The helper of all readers of this process.
static HELPER: Mutex<Option<Helper>> = Mutex::new(None);

/// A connection to a helper. Without privileges it is a thread: then only this user's processes are read, a command
/// that this process started among them, which Yama lets none but its ancestors read.
pub(super) fn connect(root: &Path) -> Result<Channel> {
    let (ours, theirs) = Channel::pair()?;
    ours.limit_silence(SILENCE)?;
    if !(helper::can_start() && root == Path::new("/proc") && rustix::process::geteuid().is_root()) {
        let pool = Pool::new(root.to_path_buf(), false);
        std::thread::Builder::new().name("proc".into()).spawn(move || serve(&pool, Channel::new(theirs)))?;
        return Ok(ours);
    }
    let mut running = HELPER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(helper) = &*running
        && helper.channel.send(&[], Some(theirs.as_fd())).is_ok()
    {
        return Ok(ours);
    }
    let helper = running.insert(Helper::start(NAME, SILENCE)?);
    helper.channel.send(&[], Some(theirs.as_fd()))?;
    Ok(ours)
}

/// Answers the readers of the process that started this one, if it was started for that, and returns true when that has
/// ended.
#[must_use]
pub fn serve_readers() -> bool {
    let Some(starter) = helper::enter(NAME) else { return false };
    // As lists of processes show it.
    let _ = rustix::thread::set_name(c"ironlaw-proc");
    // Threads have it of the one that starts them.
    set_nice(URGENT);
    let pool = Pool::new(PathBuf::from("/proc"), true);
    while let Ok(packet) = starter.receive() {
        let Some(reader) = packet.descriptor else { continue };
        let pool = pool.clone();
        // Without a thread for it, the reader finds its connection closed.
        let _ = std::thread::Builder::new().spawn(move || answer_all(&pool, Channel::new(reader)));
    }
    true
}

/// Answers one reader, and ends the threads with it.
fn serve(pool: &Arc<Pool>, reader: Channel) {
    answer_all(pool, reader);
    pool.end();
}

fn answer_all(pool: &Arc<Pool>, reader: Channel) {
    let reader = Arc::new(reader);
    let asker = Arc::new(Asker::new(reader.clone()));
    while let Ok(packet) = reader.receive() {
        let Ok(question) = postcard::from_bytes::<Question>(&packet.bytes) else { break };
        pool.add(question, &asker);
    }
}
