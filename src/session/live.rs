//! A live capture with its readers: one thread drains the kernel, one reads /proc, one names frames; this one records.
//! It never makes the drain thread wait: what cannot be handed over in time is counted as lost there.

use super::naming::Namer;
use super::recorder::Recorder;
use crate::collect::sampler::Sampler;
use crate::error::{Error, ErrorKind, Result};
use crate::model::profile::Profile;
use crate::model::{Meta, Note, Plan};
use crate::store::{FORMAT, Writer};
use crate::symbols::Options;
use crate::sys::clock::{self, Clock};
use crate::sys::signals::StopToken;
use std::sync::mpsc::sync_channel;

/// Batches in flight between the drain thread and this one; at some hundred samples each, seconds of backlog.
const BACKLOG: usize = 256;

/// A capture, opened and ready to run.
#[derive(Debug)]
pub struct Live {
    sampler: Sampler,
    clock: Clock,
    meta: Meta,
}

/// What a finished capture left.
#[derive(Debug)]
pub struct Outcome {
    /// The whole session.
    pub profile: Profile,
    /// Bytes the recording takes on disk.
    pub bytes: u64,
    /// Why the recording on disk is incomplete, if it is.
    pub write_failure: Option<Error>,
}

impl Live {
    /// Opens everything on the target, paused. A started command waits before its first instruction.
    ///
    /// # Errors
    /// The target does not exist, or the kernel refuses to profile it; the hint says what would change that.
    pub fn open(plan: Plan, mut notes: Vec<Note>) -> Result<Live> {
        let clock = Clock::start();
        let sampler = Sampler::open(&plan, &clock)?;
        notes.extend_from_slice(sampler.notes());
        let meta = Meta {
            format: FORMAT,
            tool: env!("CARGO_PKG_VERSION").to_string(),
            host: crate::model::HostFacts::default(),
            events: sampler.events().to_vec(),
            plan,
            coverage: vec![],
            started_unix_ns: clock::unix_ns(),
            started_mono_ns: clock.start_ns(),
            duration_ns: None,
            exit_status: None,
            notes,
        };
        Ok(Live { sampler, clock, meta })
    }

    /// What is known of the session before it runs.
    #[must_use]
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// Runs until the target ends, the plan's duration is over or a signal asks to stop, recording into `output` if given.
    ///
    /// # Errors
    /// Nothing could be captured. A full disk is not such an error: it stops the capture and is told in the outcome.
    pub fn run(self, output: Option<Writer>) -> Result<Outcome> {
        let (sender, batches) = sync_channel(BACKLOG);
        let stop = StopToken::new()?;
        let namer = Namer::start(self.sampler.modules(), Options::default());
        let (sampler, stopping) = (self.sampler, stop.clone());
        let drain = std::thread::spawn(move || sampler.run(sender, stopping));
        let mut recorder = Recorder::new(self.meta, output, self.clock);
        recorder.consume(&batches, &namer, &stop);
        let ended = drain.join().unwrap_or_else(|_| Err(Error::new(ErrorKind::Io, "the sampling thread failed")));
        recorder.finish(namer, ended?)
    }
}
