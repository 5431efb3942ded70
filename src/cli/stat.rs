//! `ironlaw stat`: counts events of a command or another target, as `perf stat` does, and returns the command's exit code.
//! Prints nothing to standard output, which belongs to that command.

use super::args::StatArgs;
use super::out::Terminal;
use super::{capture, plan, record};
use crate::analysis::Window;
use crate::error::{Context, Result};
use crate::export::stat::{StatEnd, StatFormat, interval_head, lines, text};
use crate::model::profile::Profile;
use crate::model::{Note, Plan};
use crate::session::{CountedRun, LiveCapture};
use crate::sys::clock;
use crate::sys::event_sources::EventSourceFiles;
use crate::units::Nanos;
use crate::view::number::date;
use crate::view::stat::{StatPart, StatRow, StatRun, label, mean};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// Runs the command.
pub(super) fn run(args: &StatArgs, terminal: &Terminal) -> Result<ExitCode> {
    let (target, beside) = plan::clock(&args.target);
    let (request, notes) = capture::plan(&target, &plan::stat_capture(args))?;
    capture::check_program(&request.target)?;
    let (request, events) = plan::stat(request, args, &EventSourceFiles::open(Path::new("/sys")));
    let format = match (&args.field_separator, args.json) {
        (Some(by), _) => StatFormat::Separated(by.replace("\\t", "\t")),
        (None, true) => StatFormat::Json,
        (None, false) => StatFormat::Text,
    };
    let parts = StatPart::of(&request.target, &events);
    let mut stat = Stat { out: open(args)?, parts, format, failed: None };
    if args.interval.is_some() {
        stat.write(interval_head(&stat.format).to_string());
    }
    let (runs, last) = stat.runs(args, &request, &notes, beside.as_deref())?;
    if args.interval.is_none() {
        stat.finish(&request, &runs, &last);
    }
    stat.failed.map_or(Ok(()), Err)?;
    // Between the lines of a program's input, they would be taken for some.
    if matches!(stat.format, StatFormat::Text) || args.output.is_some() {
        last.profile.meta.notes.iter().for_each(|note| terminal.note(note));
    }
    Ok(record::exit_code(last.status))
}

/// The file, opened before a command starts.
fn open(args: &StatArgs) -> Result<Box<dyn Write>> {
    let Some(path) = &args.output else { return Ok(Box::new(std::io::stderr())) };
    let context = || format!("cannot write {}", path.display());
    let mut how = OpenOptions::new();
    let file = if args.append { how.append(true) } else { how.write(true).truncate(true) }.create(true).open(path);
    let mut file = file.context(context)?;
    if !args.json {
        writeln!(file, "# started on {}\n", date(clock::unix_ns())).context(context)?;
    }
    Ok(Box::new(file))
}

struct Stat {
    out: Box<dyn Write>,
    /// The whole target, or each of several control groups.
    parts: Vec<StatPart>,
    format: StatFormat,
    /// The first failure to write: the target goes on.
    failed: Option<crate::error::Error>,
}

impl Stat {
    fn write(&mut self, text: String) {
        let written = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
        if let Err(error) = written.context(|| "cannot write the counts") {
            self.failed.get_or_insert(error);
        }
    }

    /// Counts as often as asked for, or until a signal. Returns what each run came to, and the last one itself.
    fn runs(
        &mut self,
        args: &StatArgs,
        plan: &Plan,
        notes: &[Note],
        beside: Option<&[String]>,
    ) -> Result<(Vec<Vec<StatRun>>, CountedRun)> {
        let mut runs = Vec::new();
        loop {
            let live = LiveCapture::open(plan.clone(), notes.to_vec(), false)?;
            let mut began = None;
            let run = live.count(beside, |profile, window| {
                let began = *began.get_or_insert(window.from);
                if args.interval.is_some() {
                    let run = self.run_of(profile, window, window.span());
                    let at = (window.to - began).seconds();
                    self.write(lines(&self.rows(&[run]), Some(at), &self.format, false));
                }
            })?;
            let whole = crate::analysis::TimeRange::default().window(&run.profile.ticks, run.profile.duration());
            runs.push(self.run_of(&run.profile, whole, run.elapsed));
            if runs.len() >= args.runs as usize || run.interrupted {
                return Ok((runs, run));
            }
        }
    }

    /// Each part's run.
    fn run_of(&self, profile: &Profile, window: Window, elapsed: Nanos) -> Vec<StatRun> {
        self.parts.iter().map(|part| StatRun::of(profile, part, window, elapsed)).collect()
    }

    /// The lines of all parts.
    fn rows(&self, runs: &[Vec<StatRun>]) -> Vec<StatRow> {
        let of = |at: usize| runs.iter().filter_map(|run| run.get(at).cloned()).collect::<Vec<_>>();
        self.parts.iter().enumerate().flat_map(|(at, part)| part.rows(&of(at))).collect()
    }

    fn finish(&mut self, plan: &Plan, runs: &[Vec<StatRun>], last: &CountedRun) {
        let rows = self.rows(runs);
        let elapsed: Vec<f64> = runs.iter().flat_map(|run| run.first()).map(|run| run.elapsed).collect();
        let times = last.times.map(|(user, system): (Nanos, Nanos)| (user.seconds(), system.seconds()));
        let end = StatEnd { elapsed: mean(&elapsed).unwrap_or_default(), times };
        self.write(match self.format {
            StatFormat::Text => text(&label(&plan.target), runs.len(), &rows, &end),
            _ => lines(&rows, None, &self.format, runs.len() > 1),
        });
    }
}
