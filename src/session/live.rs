//! A live capture with its readers: one thread drains the kernel, one reads /proc, one names frames; this one records.
//! It never makes the drain thread wait: what cannot be handed over in time is counted as lost there.

use super::counting::Counting;
use super::naming::Namer;
use super::recorder::Recorder;
use super::tally::Tally;
use crate::collect::readings::{Readings, Sources};
use crate::collect::sampler::Sampler;
use crate::collect::{catalog, host};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Definition, Event, Meta, Note, Plan};
use crate::store::{FORMAT, Writer};
use crate::symbols::Options;
use crate::sys::clock::{self, Clock};
use crate::sys::procfs::ProcFs;
use crate::sys::signals::{Signals, StopToken};
use crate::sys::sysfs::SysFs;
use std::sync::mpsc::sync_channel;

/// Batches in flight between the drain thread and this one; at some hundred samples each, seconds of backlog.
const BACKLOG: usize = 256;

/// A capture, opened and ready to run.
#[derive(Debug)]
pub struct Live {
    signals: Signals,
    sampler: Sampler,
    readings: Readings,
    clock: Clock,
    meta: Meta,
    fetch: bool,
}

/// What a finished capture left.
#[derive(Debug)]
pub struct Outcome {
    /// The session's last word about itself.
    pub meta: Meta,
    /// What went by.
    pub tally: Tally,
    /// Bytes the recording takes on disk; 0 if it could not be finished.
    pub bytes: u64,
    /// Why the recording on disk is incomplete, if it is.
    pub write_failure: Option<Error>,
}

impl Live {
    /// Opens everything on the target, paused; a command is started, but waits before its first instruction. `notes` are
    /// what the recording shall say besides; with `fetch` missing debug information is asked of debuginfod. From here on Ctrl-C and SIGTERM end the capture, not the process.
    ///
    /// # Errors
    /// The target does not exist, or the kernel refuses to profile it; the hint says what would change that.
    pub fn open(plan: Plan, mut notes: Vec<Note>, fetch: bool) -> Result<Live> {
        // Before any thread is started, so that none of them is ended by a signal.
        let signals = Signals::block()?;
        let clock = Clock::start();
        let sampler = Sampler::open(&plan, &clock)?;
        let mut readings = Readings::open(Sources::live()?, &plan.target, sampler.command_pid(), clock.now())?;
        notes.extend_from_slice(sampler.notes());
        notes.extend(readings.take_notes());
        let meta = Meta {
            format: FORMAT,
            tool: env!("CARGO_PKG_VERSION").to_string(),
            host: host::facts(&ProcFs::new("/proc"), &SysFs::new("/sys")),
            events: sampler.events().to_vec(),
            plan,
            coverage: vec![],
            started_unix_ns: clock::unix_ns() - clock.now().0,
            started_mono_ns: clock.start_ns(),
            duration_ns: None,
            exit_status: None,
            notes,
        };
        Ok(Live { signals, sampler, readings, clock, meta, fetch })
    }

    pub(super) fn parts(self) -> (Sampler, Readings, Clock, Meta) {
        (self.sampler, self.readings, self.clock, self.meta)
    }

    /// What is known of the session before it runs.
    #[must_use]
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// Runs until the target ends, the planned time is over or a signal asks to stop, recording into `output`.
    ///
    /// # Errors
    /// Nothing could be captured. A full disk is no such error: it stops the capture and is told in the outcome.
    pub fn run(self, output: Writer) -> Result<Outcome> {
        let (sender, batches) = sync_channel(BACKLOG);
        let stop = StopToken::new()?;
        let namer = Namer::start(self.sampler.modules(), Options::default(), self.fetch);
        let counting = Counting::start(self.readings, self.meta.plan.interval, self.clock, sender.clone())?;
        let mut recorder = Recorder::new(self.meta, output, self.clock);
        let counters = catalog::definitions().into_iter().map(|def| Event::Define(Definition::Counter(def)));
        recorder.keep(&counters.collect::<Vec<_>>());
        let (sampler, stopping, last) = (self.sampler, stop.clone(), counting.last_reading());
        let drain = std::thread::spawn(move || {
            let ended = sampler.run(sender, stopping, || last.take());
            // Also after a failure: the counters' thread must end, or nobody would ever hang up.
            last.take();
            ended
        });
        recorder.consume(&batches, &namer, &counting, &stop, self.signals);
        let ended = drain.join().unwrap_or_else(|_| Err(Error::new(ErrorKind::Io, "the sampling thread failed")));
        recorder.finish(namer, counting, ended?)
    }
}
