//! A source that is read again and again: an endpoint, a file, a page, a rate.
//! It never sleeps and never repeats a reading: who reads decides when.

use super::total::{Raw, Total};
use super::{file, http, page, prometheus};
use crate::error::{Context, Result};
use crate::model::OpsSpec;
use crate::units::{Nanos, Ops};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a server may take for a page of metrics.
const PATIENCE: Duration = Duration::from_secs(2);

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
    /// When a page that the program will make was last seen not to exist: its count began from nothing after that.
    absent: Option<Nanos>,
}

impl Meter {
    /// A meter for a source that is read; `None` for one that is not, but matched or counted by the kernel. Nothing is
    /// opened yet.
    #[must_use]
    pub fn of(spec: &OpsSpec) -> Option<Meter> {
        let source = match spec.clone() {
            OpsSpec::Http { authority, path, metric, labels } => Source::Http { authority, path, metric, labels },
            OpsSpec::File { path } => Source::File(path),
            OpsSpec::Page { name } => Source::Page(page::path(Path::new(page::DIRECTORY), &name)),
            OpsSpec::Rate { per_second } => Source::Rate(per_second),
            OpsSpec::Output { .. } | OpsSpec::Uprobe { .. } | OpsSpec::Tracepoint { .. } => return None,
        };
        let total = if matches!(source, Source::Rate(_)) { Total::from_nothing() } else { Total::default() };
        Some(Meter { source, total, absent: None })
    }

    /// Reads once; `now` is asked before and after. What comes are totals with their times, one or, when the source began
    /// to count since the last call, two. The first total of all is 0.
    ///
    /// # Errors
    /// What could not be read, by name; the next call may succeed.
    pub fn read(&mut self, now: impl Fn() -> Nanos) -> Result<Vec<(Nanos, Ops)>> {
        let before = now();
        let counters = self.source.read(before).inspect_err(|_| {
            if !self.total.has_begun() && matches!(&self.source, Source::Page(path) if !path.exists()) {
                self.absent = Some(before);
            }
        })?;
        // A server has put its page together somewhere between the question and the answer.
        let at = Nanos(before.0 + (now() - before).0 / 2);
        let mut totals = Vec::new();
        if let Some(absent) = self.absent.take() {
            self.total = Total::from_nothing();
            totals.push((absent, Ops(0)));
        } else if let Source::Rate(_) = self.source
            && self.total.ops() == Ops(0)
        {
            totals.push((Nanos(0), Ops(0)));
        }
        let at = if let Source::Rate(_) = self.source { before } else { at };
        self.total.read(counters);
        totals.push((at, self.total.ops()));
        Ok(totals)
    }
}

impl Source {
    fn read(&self, at: Nanos) -> Result<Vec<Raw>> {
        match self {
            Source::Http { authority, path, metric, labels } => {
                let body = http::get(authority, path, PATIENCE);
                let counters =
                    body.and_then(|body| prometheus::counters(&String::from_utf8_lossy(&body), metric, labels));
                counters.context(|| format!("cannot read operations from http://{authority}{path}"))
            }
            Source::File(path) => Ok(vec![(String::new(), file::read(path)?)]),
            Source::Page(path) => Ok(vec![page::read(path)?]),
            Source::Rate(per_second) => Ok(vec![(String::new(), per_second * at.seconds())]),
        }
    }
}
