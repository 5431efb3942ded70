//! Renews the listing every second on a separate thread, so that a slow /proc does not block the session.
//! The thread ends at most one listing after its owner.

use super::recordings::Recordings;
use crate::collect::targets::{TargetLister, Targets};
use crate::error::{Context, Error, Result};
use crate::sys::clock;
use crate::tui::msg::Msg;
use crate::units::Nanos;
use crate::view::picker::Choices;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// The second listing follows soon, because the first one cannot show CPU usage.
const SOON: Duration = Duration::from_millis(200);

/// Interval of all later listings.
const EACH: Duration = Duration::from_secs(1);

/// The periodic listings. Dropping it ends them.
#[derive(Debug)]
pub(in crate::cli::top) struct Chooser {
    _stop: Sender<()>,
}

impl Chooser {
    /// Starts listing this machine. Sends each listing to `sender` until the receiver is gone.
    ///
    /// # Errors
    /// The thread could not be started.
    pub fn start(sender: Sender<Msg>) -> Result<Chooser> {
        Chooser::paced([SOON, EACH], move |choices| sender.send(Msg::Choices(choices)).is_ok())
    }

    fn paced([soon, each]: [Duration; 2], mut send: impl FnMut(Choices) -> bool + Send + 'static) -> Result<Chooser> {
        let (stop, stopped) = channel::<()>();
        let list = move || {
            let mut targets = TargetLister::here();
            let mut recordings = Recordings::new(".".into());
            let mut wait = soon;
            while send(choices(targets.list(Nanos(clock::monotonic_ns())), &mut recordings)) {
                match stopped.recv_timeout(wait) {
                    Err(RecvTimeoutError::Timeout) => wait = each,
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
                }
            }
        };
        thread::Builder::new()
            .name("choices".into())
            .spawn(list)
            .context(|| "cannot start the thread that lists processes")?;
        Ok(Chooser { _stop: stop })
    }
}

fn choices(targets: Targets, recordings: &mut Recordings) -> Choices {
    let Targets { machine, processes, cgroups } = targets;
    let (processes, problem) = match processes {
        Ok(processes) => (processes, None),
        Err(error) => (Vec::new(), Some(with_remedy(&error))),
    };
    Choices { machine, processes, cgroups, recordings: recordings.list(), unix_ns: clock::unix_ns(), problem }
}

fn with_remedy(error: &Error) -> String {
    match error.remedy() {
        Some(remedy) => format!("{error}: {remedy}"),
        None => error.to_string(),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    const OFTEN: [Duration; 2] = [Duration::from_millis(1); 2];

    #[test]
    fn the_second_listing_says_who_is_busy() {
        let (sender, listings) = channel();
        let _chooser = Chooser::paced(OFTEN, move |choices| sender.send(choices).is_ok()).unwrap();
        let (first, second) = (listings.recv().unwrap(), listings.recv().unwrap());
        assert!(first.problem.is_none() && first.unix_ns > 0 && first.machine.cpus > 0);
        assert!(!first.processes.is_empty() && first.processes.iter().all(|it| it.cpu.value().is_none()));
        assert!(second.processes.iter().all(|it| it.cpu.value().is_some()));
        assert!(second.machine.cpu.value().is_some());
    }

    #[test]
    fn the_listings_end_with_whoever_started_them_or_listens() {
        let (sender, listings) = channel();
        let chooser = Chooser::paced(OFTEN, move |choices| sender.send(choices).is_ok()).unwrap();
        listings.recv().unwrap();
        drop(chooser);
        // Ends only when the thread has dropped the sender.
        assert!(listings.iter().count() < usize::MAX);
    }
}
