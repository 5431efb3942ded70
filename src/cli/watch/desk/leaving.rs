//! Ends a watch: finishes all commands, captures and recordings, then prints the last line and returns the exit code.

use super::super::Msg;
use super::super::command::Commands;
use super::super::recording::Recording;
use super::{LOOK, WatchLoop};
use crate::error::Result;
use crate::view::watch::{End, What};
use std::process::ExitCode;
use std::sync::mpsc::Receiver;

/// The exit code of a watch that raised an alarm; the same as for a violated gate.
const ALARMED: u8 = 3;

impl WatchLoop {
    /// Finishes pending work, unless a signal asks to hurry. Prints the last line and returns the exit code.
    pub(super) fn leave(mut self, inbox: &Receiver<Msg>) -> Result<ExitCode> {
        let reason = self.ending.take().unwrap_or_default();
        self.hurry |= self.lines.is_closed();
        self.finish_actions(inbox);
        self.last_look(inbox);
        let WatchLoop { live_session, mut lines, metrics, recording, commands, failure, exit_status, setting, .. } =
            self;
        // The live session first: this ends a started command and its sampling.
        let finished = live_session.finish();
        recording.into_iter().for_each(Recording::finish);
        commands.into_iter().for_each(Commands::finish);
        while let Ok(message) = inbox.try_recv() {
            if let Msg::Tell(what) = message {
                lines.tell(what);
            }
        }
        let (windows, alarms, lost) = {
            let gauges = metrics.gauges();
            (gauges.all_windows(), gauges.all_alarms(), gauges.lost)
        };
        lines.tell(What::End(End { reason, windows, alarms, lost }));
        finished?;
        match failure {
            Some(error) => Err(error),
            None if setting.exit_on_alarm && alarms > 0 => Ok(ExitCode::from(ALARMED)),
            None => Ok(ExitCode::from(u8::try_from(exit_status.unwrap_or(0)).unwrap_or(1))),
        }
    }

    fn finish_actions(&mut self, inbox: &Receiver<Msg>) {
        loop {
            if self.hurry {
                self.recording.iter().for_each(Recording::stop);
                self.commands.iter().for_each(Commands::stop);
            }
            let busy = self.recording.as_ref().is_some_and(Recording::is_busy)
                || self.commands.as_ref().is_some_and(Commands::is_busy);
            if !busy {
                return;
            }
            match inbox.recv_timeout(LOOK) {
                Ok(Msg::Tell(what)) => self.lines.tell(what),
                Ok(Msg::Stop) => self.hurry = true,
                _ => {}
            }
        }
    }

    /// Reads what the capture knows only at its end, above all a command's exit code.
    fn last_look(&mut self, inbox: &Receiver<Msg>) {
        self.looking = false;
        self.look();
        while self.looking {
            match inbox.recv_timeout(10 * LOOK) {
                Ok(Msg::Looked(look)) => {
                    self.looking = false;
                    self.exit_status = look.exit_status;
                    self.metrics.gauges().lost = look.lost;
                }
                Ok(Msg::Tell(what)) => self.lines.tell(what),
                Ok(_) => {}
                Err(_) => return,
            }
        }
    }
}
