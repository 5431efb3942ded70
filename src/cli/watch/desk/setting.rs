//! The request, as far as the running watch needs it.
//! Only the offset between wall clock and session time changes.

use super::super::folder::Folder;
use super::super::name_of;
use crate::cli::args::{OnAlarm, WatchArgs};
use crate::model::{Baseline, Meta};
use crate::sys::clock::{self, Clock};
use crate::units::Nanos;
use crate::view::watch::Clocked;
use std::sync::Arc;

/// The request and its time.
#[derive(Debug)]
pub(in super::super) struct Setting {
    pub target: String,
    pub folder: Folder,
    pub before: Nanos,
    pub on_alarm: Vec<OnAlarm>,
    pub every: Option<u64>,
    pub exit_on_alarm: bool,
    pub stale_ok: bool,
    pub clock: Clocked,
    /// The session's clock.
    since_start: Clock,
    pub baseline: Arc<Baseline>,
}

impl Setting {
    pub(in super::super) fn of(args: &WatchArgs, meta: &Meta, baseline: Arc<Baseline>) -> Setting {
        let target = &meta.plan.target;
        let keep = usize::try_from(args.keep).unwrap_or(usize::MAX);
        Setting {
            target: target.label(),
            folder: Folder::new(args.output.clone(), name_of(target), keep),
            before: args.before,
            on_alarm: args.on_alarm.clone(),
            every: args.every,
            exit_on_alarm: args.exit_on_alarm,
            stale_ok: args.stale_ok,
            clock: Clocked { started_unix_ns: meta.started_unix_ns },
            since_start: Clock::starting_at(meta.started_mono_ns),
            baseline,
        }
    }

    /// Adjusts the offset after the wall clock was set or the machine slept.
    pub(in super::super) fn follow_clock(&mut self) {
        self.clock = self.clock.anchored(self.since_start.now(), clock::unix_ns());
    }
}
