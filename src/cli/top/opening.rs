//! From what was typed or chosen to something open: a live capture or a recording, and the baseline beside it.
//! It never runs on the session's thread: opening 5,000 threads takes a second.

use super::super::args::{CaptureArgs, TargetArgs, TopArgs};
use super::super::capture;
use crate::error::Result;
use crate::model::profile::Profile;
use crate::session::{self, Keeper, Limit, Live, News};
use crate::store::{self, Writer};
use crate::sys::perf::tracefs;
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
    /// Whether waits are captured; `None` where they can be seen.
    pub off_cpu: Option<bool>,
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
    pub live: bool,
    /// Whether all of it is being recorded anyway.
    pub recorded: Option<PathBuf>,
}

impl Opening {
    pub(in crate::cli) fn of(args: TopArgs) -> Opening {
        let off_cpu = match (args.no_off_cpu, args.capture.off_cpu) {
            (true, _) => Some(false),
            (_, true) => Some(true),
            _ => None,
        };
        Opening {
            target: args.target,
            capture: args.capture,
            off_cpu,
            baseline: args.baseline,
            output: args.output,
            force: args.force,
            no_inline: false,
        }
    }

    /// Opens the target of the command line, or what was chosen; news go to `sender`.
    pub(super) fn open(&self, choice: Option<Choice>, limit: Limit, sender: Sender<Msg>) -> Result<Opened> {
        let baseline = self.baseline.as_deref().map(session::open).transpose()?.map(Arc::new);
        let tell = move |news| {
            // The session is over: nobody wants news.
            let _ = sender.send(message(news));
        };
        if let Some(Choice::Recording(path)) = choice {
            let mut profile = session::open(&path)?;
            if self.no_inline {
                profile.drop_inlined();
            }
            return Ok(Opened { keeper: Keeper::replay(profile, tell)?, baseline, live: false, recorded: None });
        }
        let target = choice.map_or_else(|| Ok(self.target.clone()), chosen)?;
        let capture = CaptureArgs { off_cpu: self.sees_waits(), ..self.capture.clone() };
        let (request, notes) = capture::plan(&target, &capture)?;
        let live = Live::open(request, notes, capture.debuginfod)?;
        let recorded = self.output.as_deref().map(store::path);
        let writer = recorded.as_deref().map(|path| Writer::create(path, live.meta(), self.force)).transpose()?;
        Ok(Opened { keeper: Keeper::live(live, writer, limit, None, tell)?, baseline, live: true, recorded })
    }

    fn sees_waits(&self) -> bool {
        self.off_cpu.unwrap_or_else(|| tracefs::is_readable(Path::new("/")))
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
