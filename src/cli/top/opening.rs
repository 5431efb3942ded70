//! From what was typed or chosen to something open: a live capture or a recording, and the baseline beside it.
//! It never runs on the session's thread: opening 5,000 threads takes a second.

use super::super::args::{CaptureArgs, TargetArgs, TopArgs};
use super::super::{baseline, capture};
use super::usual::Usual;
use crate::error::Result;
use crate::model::profile::Profile;
use crate::session::{self, Judging, Keeper, Limit, Live, News};
use crate::store::{self, Writer};
use crate::tui::msg::Msg;
use crate::view::picker::Choice;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Sender;

/// How whatever is chosen is opened.
#[derive(Debug, Clone)]
pub(in crate::cli) struct Opening {
    pub target: TargetArgs,
    pub capture: CaptureArgs,
    pub baseline: Option<PathBuf>,
    pub output: Option<PathBuf>,
    pub force: bool,
    pub no_inline: bool,
}

/// Something open.
#[derive(Debug)]
pub(super) struct Opened {
    pub keeper: Keeper,
    pub baseline: Option<Arc<Profile>>,
    /// How the session is held against what is usual, if it is.
    pub usual: Option<Arc<Usual>>,
    pub live: bool,
    /// Whether all of it is being recorded anyway.
    pub recorded: Option<PathBuf>,
}

impl Opening {
    pub(in crate::cli) fn of(args: TopArgs) -> Opening {
        Opening {
            target: args.target,
            capture: CaptureArgs { off_cpu: !args.no_off_cpu, ..args.capture },
            baseline: args.baseline,
            output: args.output,
            force: args.force,
            no_inline: false,
        }
    }

    /// Opens the target of the command line, or what was chosen; news go to `sender`.
    pub(super) fn open(&self, choice: Option<Choice>, limit: Limit, sender: Sender<Msg>) -> Result<Opened> {
        // Either a recording to compare with, or what is usual.
        let (usual, compared): (Option<&Path>, Option<&Path>) = match self.baseline.as_deref() {
            Some(path) if baseline::is_one(path) => (Some(path), None),
            other => (None, other),
        };
        let compared = compared.map(session::open).transpose()?.map(Arc::new);
        let tell = move |news| {
            // The session is over: nobody wants news.
            let _ = sender.send(message(news));
        };
        if let Some(Choice::Recording(path)) = choice {
            let mut profile = session::open(&path)?;
            if self.no_inline {
                profile.drop_inlined();
            }
            let usual = Usual::of_recording(&path, usual, &profile)?.map(Arc::new);
            let keeper = Keeper::replay(profile, tell)?;
            return Ok(Opened { keeper, baseline: compared, usual, live: false, recorded: None });
        }
        let target = choice.map_or_else(|| Ok(self.target.clone()), chosen)?;
        let (mut request, mut notes) = capture::plan(&target, &self.capture)?;
        // Whoever looks sees on the screen what does not hold any more.
        let fitted = usual.map(|path| baseline::fit(path, &request, true)).transpose()?;
        if let Some(fitted) = &fitted {
            request.neighbours = true;
            notes.extend_from_slice(&fitted.notes);
        }
        let usual = fitted.map(|fitted| Arc::new(Usual::of_session(fitted)));
        let live = Live::open(request, notes, self.capture.debuginfod)?;
        let recorded = self.output.as_deref().map(store::path);
        let writer = recorded.as_deref().map(|path| Writer::create(path, live.meta(), self.force)).transpose()?;
        if let (Some(path), Some(usual)) = (&recorded, &usual) {
            store::baseline::write_within(path, &usual.baseline)?;
        }
        let judging = usual.as_ref().map(|usual| Judging::new(usual.baseline.clone(), live.meta().host.clone()));
        let keeper = Keeper::live(live, writer, limit, judging, tell)?;
        Ok(Opened { keeper, baseline: compared, usual, live: true, recorded })
    }
}

/// A target by the same flags as on the command line.
fn chosen(choice: Choice) -> Result<TargetArgs> {
    let none = TargetArgs::default();
    Ok(match choice {
        Choice::Process(pid) => TargetArgs { pid: vec![pid], ..none },
        Choice::Cgroup(path) => TargetArgs { cgroup: Some(path), ..none },
        Choice::Machine | Choice::Recording(_) => TargetArgs { all_cpus: true, ..none },
        Choice::Command(line) => TargetArgs { command: super::choices::words(&line)?, ..none },
    })
}

fn message(news: News) -> Msg {
    match news {
        News::Fresh => Msg::Fresh,
        News::Ended(ending) => Msg::Ended(ending),
        News::Failed(error) => Msg::Failed(error),
    }
}
