//! A source that is read repeatedly: an endpoint, a file, a page, a rate. Callers decide when to read.

use super::total::{Raw, Total};
use super::{file, http, page, prometheus};
use crate::error::{Context, Result};
use crate::model::OpsSpec;
use crate::units::{Nanos, Ops};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time limit for a server to send a page of metrics.
pub(super) const TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Debug)]
enum Source {
    Http { authority: String, path: String, metric: String, labels: Vec<(String, String)> },
    File(PathBuf),
    Page(PathBuf),
    Rate(f64),
}

/// A source and its total so far.
#[derive(Debug)]
pub struct Meter {
    source: Source,
    total: Total,
    /// The target's program has not begun yet: whatever appears later was made by it, from zero.
    before_program: bool,
}

impl Meter {
    /// A meter for a source that has to be read; `None` for one that is matched in output or counted by the kernel.
    /// Nothing is opened yet. `before_program`: the target is a command that will be started after the first reading.
    #[must_use]
    pub fn of(spec: &OpsSpec, before_program: bool) -> Option<Meter> {
        let source = match spec.clone() {
            OpsSpec::Http { authority, path, metric, labels } => Source::Http { authority, path, metric, labels },
            OpsSpec::File { path } => Source::File(path),
            OpsSpec::Page { name } => Source::Page(page::path(Path::new(page::DIRECTORY), &name)),
            OpsSpec::Rate { per_second } => Source::Rate(per_second),
            OpsSpec::Output { .. } | OpsSpec::Uprobe { .. } | OpsSpec::Usdt { .. } | OpsSpec::Tracepoint { .. } => {
                return None;
            }
        };
        Some(Meter { source, total: Total::default(), before_program })
    }

    /// Whether the total has a base: from then on readings return totals.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.total.has_begun()
    }

    /// Reads once and returns the total with its time; `now` is called before and after. The first total is 0. If the
    /// program has not begun, its time is the session's start: until then nothing could be counted.
    ///
    /// # Errors
    /// What could not be read, by name; the next call may succeed.
    pub fn read(&mut self, now: impl Fn() -> Nanos) -> Result<(Nanos, Ops)> {
        let known = matches!(self.source, Source::Rate(_));
        let first = !self.total.has_begun();
        let at_start = std::mem::take(&mut self.before_program) || known && first;
        let before = if known && first { Nanos(0) } else { now() };
        let counters = match self.source.read(before) {
            // The program itself creates the page, empty.
            Err(_) if first && at_start && self.source.is_absent_page() => Vec::new(),
            Err(error) => return Err(error),
            Ok(counters) => counters,
        };
        // The server assembled its page somewhere between the request and the answer.
        let at = if known { before } else { Nanos(before.0 + (now() - before).0 / 2) };
        self.total.read(counters);
        Ok((if first && at_start { Nanos(0) } else { at }, self.total.ops()))
    }
}

impl Source {
    fn read(&self, at: Nanos) -> Result<Vec<Raw>> {
        match self {
            Source::Http { authority, path, metric, labels } => {
                let body = http::get(authority, path, TIMEOUT);
                let counters =
                    body.and_then(|body| prometheus::counters(&String::from_utf8_lossy(&body), metric, labels));
                counters.context(|| format!("cannot read operations from http://{authority}{path}"))
            }
            Source::File(path) => Ok(vec![(String::new(), file::read(path)?)]),
            Source::Page(path) => Ok(vec![page::read(path)?]),
            Source::Rate(per_second) => Ok(vec![(String::new(), per_second * at.seconds())]),
        }
    }

    fn is_absent_page(&self) -> bool {
        matches!(self, Source::Page(path) if !path.exists())
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::cell::Cell;

    const SECOND: u64 = 1_000_000_000;

    /// Reads once a second, from second 3 on.
    fn check(mut meter: Meter, set: &mut dyn FnMut(usize), expected: &[Option<(u64, u64)>]) {
        for (nth, expected) in expected.iter().enumerate() {
            set(nth);
            let now = || Nanos((nth as u64 + 3) * SECOND);
            let read = meter.read(now).ok().map(|(at, total)| (at.0 / SECOND, total.0));
            assert_eq!(read, *expected, "reading {nth}");
        }
    }

    #[test]
    fn a_file_counts_from_the_first_reading_on() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("total");
        let spec = OpsSpec::File { path: path.clone() };
        let texts = ["100", "150", "no number", "180", "30"];
        let expected = [Some((3, 0)), Some((4, 50)), None, Some((6, 80)), Some((7, 110))];
        check(Meter::of(&spec, false).unwrap(), &mut |nth| std::fs::write(&path, texts[nth]).unwrap(), &expected);
        let from_start = [Some((0, 0)), Some((4, 50))];
        check(Meter::of(&spec, true).unwrap(), &mut |nth| std::fs::write(&path, texts[nth]).unwrap(), &from_start);
    }

    #[test]
    fn a_page_that_the_program_makes_counts_from_nothing() {
        let name = format!("meter-test-{}", std::process::id());
        let spec = OpsSpec::Page { name: name.clone() };
        let path = page::path(Path::new(page::DIRECTORY), &name);
        let mut set = |nth| {
            if nth == 2 {
                std::fs::write(&path, page::tests::page(64, 1, &[40])).unwrap();
            }
        };
        check(Meter::of(&spec, true).unwrap(), &mut set, &[Some((0, 0)), None, Some((5, 40))]);
        std::fs::remove_file(&path).unwrap();
        check(Meter::of(&spec, false).unwrap(), &mut set, &[None, None, Some((5, 0))]);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_rate_counts_the_sessions_time() {
        let meter = Meter::of(&OpsSpec::Rate { per_second: 2.5 }, false).unwrap();
        check(meter, &mut |_| (), &[Some((0, 0)), Some((4, 10)), Some((5, 12)), Some((6, 15))]);
    }

    #[test]
    fn a_servers_totals_stand_in_the_middle_of_question_and_answer() {
        let mut meter = Meter::of(&OpsSpec::File { path: "/proc/self/stat".into() }, false).unwrap();
        let asked = Cell::new(0);
        let (at, _) = meter.read(|| Nanos(asked.replace(asked.get() + 100))).unwrap();
        assert_eq!(at, Nanos(50));
    }
}
