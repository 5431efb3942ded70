//! A source of latencies that is read repeatedly: an endpoint, a page, files. Callers decide when to read.

use super::bins::LatencyBins;
use super::file::LatencyFiles;
use super::histogram::{self, Growth};
use super::output::note;
use super::page::{self, Counts};
use crate::error::{Context, Result};
use crate::model::{LatencyCount, LatencySpec, Note, Plan, Target, TimeUnit};
use crate::ops::meter::TIMEOUT;
use crate::ops::{http, page as ops_page};
use crate::sys::clock::{self, Clock};
use crate::units::Nanos;
use std::path::{Path, PathBuf};

/// A source, and what was read of it.
#[derive(Debug)]
pub struct LatencyMeter {
    source: Source,
    bins: LatencyBins,
}

#[derive(Debug)]
enum Source {
    Http { authority: String, path: String, name: String, labels: Vec<(String, String)>, growth: Growth },
    Page { path: PathBuf, last: Option<Counts>, from_nothing: bool },
    Files(Box<LatencyFiles>),
}

impl LatencyMeter {
    /// A meter for the plan's source if it has to be read. Nothing is opened yet. What a command makes that is started
    /// after the first reading counts from its beginning.
    #[must_use]
    pub fn of(plan: &Plan, clock: Clock) -> Option<LatencyMeter> {
        let starts = matches!(plan.target, Target::Command { .. });
        let source = match plan.latency.clone()? {
            LatencySpec::Http { authority, path, histogram, labels } => {
                let growth = if starts { Growth::from_nothing() } else { Growth::default() };
                Source::Http { authority, path, name: histogram, labels, growth }
            }
            LatencySpec::Page { name } => {
                let path = ops_page::path(Path::new(ops_page::DIRECTORY), &name);
                Source::Page { path, last: None, from_nothing: starts }
            }
            LatencySpec::File { path, unit } => {
                let start_unix_ns = clock::unix_ns().saturating_sub(clock.now().0);
                Source::Files(Box::new(LatencyFiles::new(path, unit, plan.interval, start_unix_ns)))
            }
            LatencySpec::Calls { .. }
            | LatencySpec::Probes { .. }
            | LatencySpec::Output { .. }
            | LatencySpec::Matches { .. } => return None,
        };
        Some(LatencyMeter { source, bins: LatencyBins::default() })
    }

    /// Whether it has answered.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        match &self.source {
            Source::Http { growth, .. } => growth.has_begun(),
            Source::Page { last, .. } => last.is_some(),
            Source::Files(files) => files.has_begun(),
        }
    }

    /// Whether it is a file, which always answers.
    #[must_use]
    pub fn is_file(&self) -> bool {
        matches!(self.source, Source::Files(_))
    }

    /// Reads once and returns the operations since the last reading; `now` is called before and after.
    ///
    /// # Errors
    /// What could not be read, by name; the next call may succeed.
    pub fn read(&mut self, now: impl Fn() -> Nanos) -> Result<Vec<LatencyCount>> {
        let before = now();
        match &mut self.source {
            Source::Http { authority, path, name, labels, growth } => {
                let body = http::get(authority, path, TIMEOUT);
                let found = body.and_then(|body| histogram::buckets(&String::from_utf8_lossy(&body), name, labels));
                let found = found.context(|| format!("cannot read latencies from http://{authority}{path}"))?;
                growth.read(found, histogram::unit(name).unwrap_or(TimeUnit::Seconds).ns(), &mut self.bins);
            }
            Source::Page { path, last, from_nothing } => {
                let counts = page::read(path)?;
                if std::mem::replace(from_nothing, true) {
                    counts.since(last.as_ref(), &mut self.bins);
                }
                *last = Some(counts);
            }
            Source::Files(files) => return files.read(before),
        }
        Ok(self.bins.take(Nanos(before.0 + (now() - before).0 / 2)))
    }

    /// Reads for the last time, at the session's end, and returns the rest.
    ///
    /// # Errors
    /// As for [`LatencyMeter::read`].
    pub fn finish(&mut self, now: impl Fn() -> Nanos) -> Result<Vec<LatencyCount>> {
        match &mut self.source {
            Source::Files(files) => files.finish(now()),
            _ => self.read(now),
        }
    }

    /// Notes on what was read.
    #[must_use]
    pub fn notes(&self) -> Vec<Note> {
        match &self.source {
            Source::Http { name, .. } if histogram::unit(name).is_none() => {
                let text = format!("{name} names no unit: its buckets were read as seconds");
                vec![note(text, Some("End the name in _seconds, _milliseconds or _microseconds.".to_string()))]
            }
            Source::Files(files) => {
                let without = (files.without > 0).then(|| {
                    note(format!("{} lines hold no latency, e.g. of transactions that failed", files.without), None)
                });
                let early = (files.early > 0)
                    .then(|| note(format!("{} operations ended before the session", files.early), None));
                without.into_iter().chain(early).collect()
            }
            _ => Vec::new(),
        }
    }
}
