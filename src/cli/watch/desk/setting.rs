//! What was asked for, as far as the watch needs it while it goes on.
//! It never changes.

use super::super::folder::Folder;
use super::super::name_of;
use crate::cli::args::{OnAlarm, WatchArgs};
use crate::model::{Baseline, Meta};
use crate::units::Nanos;
use crate::view::watch::Clocked;
use std::sync::Arc;

/// What does not change while the watch goes on.
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
            baseline,
        }
    }
}
