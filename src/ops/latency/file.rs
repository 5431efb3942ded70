//! Follows the files that a load generator writes its latencies to: a path, or one with numbers after it for each of its
//! processes and threads. Only what is written after the first reading counts.

use super::bins::{Interval, LatencyBins};
use super::log_line::{Ended, Format};
use super::{fio, hdr_text};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::limits::{LATENCY_FILE_BYTES, LATENCY_FILES, LATENCY_WINDOWS, OPS_LINE_BYTES};
use crate::model::{FileStamp, LatencyCount, TimeUnit};
use crate::sys::files::{open_regular, read_from};
use crate::units::Nanos;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Bytes at the start of a file by which it is known again, if it is written anew in place.
const HEAD: u64 = 64;

/// The files of a source.
#[derive(Debug)]
pub(super) struct LatencyFiles {
    path: PathBuf,
    unit: Option<TimeUnit>,
    /// Windows end at multiples of it.
    interval: Nanos,
    /// Start of the session, since the epoch.
    start_unix_ns: u64,
    tails: BTreeMap<PathBuf, Tail>,
    begun: bool,
    /// Operations by the end of their window, until it is over.
    windows: BTreeMap<Nanos, LatencyBins>,
    /// Lines without an operation, such as failed transactions.
    pub(super) without: u64,
    /// Operations that ended before the session.
    pub(super) early: u64,
}

/// A file as far as it was read.
#[derive(Debug, Default)]
struct Tail {
    from: u64,
    head: Vec<u8>,
    line: Vec<u8>,
    format: Option<Format>,
    /// The state of a file that is read as a whole when it was last looked at.
    stamp: Option<FileStamp>,
    /// Whether it was there, unchanged since, when the session began.
    old: bool,
}

/// Operations by the window of a run whose start is not known yet.
#[derive(Debug, Default)]
struct RunWindows {
    bins: BTreeMap<u64, LatencyBins>,
    last: u64,
}

impl RunWindows {
    fn add(&mut self, after: u64, window: Nanos, interval: Interval) {
        self.last = self.last.max(after);
        let number = after / window.0;
        // Times that make too many windows belong to no run.
        let room = self.bins.len() < LATENCY_WINDOWS || self.bins.contains_key(&number);
        self.bins.entry(if room { number } else { 0 }).or_default().add_one(interval);
    }
}

impl LatencyFiles {
    pub(super) fn new(path: PathBuf, unit: Option<TimeUnit>, interval: Nanos, start_unix_ns: u64) -> LatencyFiles {
        LatencyFiles {
            path,
            unit,
            interval: interval.max(Nanos(1)),
            start_unix_ns,
            tails: BTreeMap::new(),
            begun: false,
            windows: BTreeMap::new(),
            without: 0,
            early: 0,
        }
    }

    /// Whether a file is there.
    pub(super) fn has_begun(&self) -> bool {
        !self.tails.is_empty()
    }

    /// Reads what was added, and returns the operations of windows that are over. `now` is the time since the start.
    pub(super) fn read(&mut self, now: Nanos) -> Result<Vec<LatencyCount>> {
        let paths = paths(&self.path);
        let first = !std::mem::replace(&mut self.begun, true);
        if paths.is_empty() && !self.has_begun() {
            return Err(Error::new(ErrorKind::NotFound, format!("there is no file {}", self.path.display()))
                .hint("Give the file that the load generator writes latencies to, or its path before .NUMBER."));
        }
        for path in paths {
            let mut tail = self.tails.remove(&path).unwrap_or_default();
            let read = self.follow(&path, &mut tail, first, now);
            self.tails.insert(path.clone(), tail);
            read.context(|| format!("cannot read latencies from {}", path.display()))?;
        }
        Ok(self.over(|end| end <= now))
    }

    /// Reads the rest, once nothing more is written, and returns all operations; those of runs that a file describes as a
    /// whole ended `at`.
    pub(super) fn finish(&mut self, at: Nanos) -> Result<Vec<LatencyCount>> {
        let mut rows = self.read(at)?;
        let mut whole = LatencyBins::default();
        for (path, tail) in &mut self.tails {
            // The last line may lack its end.
            if let Some((_, interval)) = tail.format.and_then(|it| it.operation(&String::from_utf8_lossy(&tail.line))) {
                whole.add_one(interval);
                tail.line.clear();
            }
            let Some(format) = tail.format.filter(|format| format.is_whole() && !tail.old) else { continue };
            read_whole(path, format, &mut whole)
                .context(|| format!("cannot read latencies from {}", path.display()))?;
        }
        rows.extend(self.over(|_| true).into_iter().map(|row| LatencyCount { at: row.at.min(at), ..row }));
        rows.extend(whole.take(at));
        Ok(rows)
    }

    fn over(&mut self, is_over: impl Fn(Nanos) -> bool) -> Vec<LatencyCount> {
        let ended: Vec<Nanos> = self.windows.keys().copied().filter(|end| is_over(*end)).collect();
        let take = |end: Nanos| self.windows.remove(&end).map(|mut bins| bins.take(end)).unwrap_or_default();
        ended.into_iter().flat_map(take).collect()
    }

    fn follow(&mut self, path: &Path, tail: &mut Tail, first: bool, now: Nanos) -> Result<()> {
        let (file, stamp) = open_regular(path)?;
        let head = read_from(&file, 0, HEAD)?;
        if stamp.size < tail.from || !head.starts_with(&tail.head) {
            *tail = Tail::default();
        }
        tail.head = head;
        if first {
            // If the first line does not show the format, what is added does.
            let line = String::from_utf8_lossy(&tail.head).into_owned();
            tail.format = line.lines().next().and_then(|line| Format::of(line, self.unit).ok().flatten());
            (tail.from, tail.old, tail.stamp) = (stamp.size, true, Some(stamp));
            return Ok(());
        }
        tail.old &= tail.stamp == Some(stamp);
        let mut run = RunWindows::default();
        while !tail.format.is_some_and(Format::is_whole) {
            let bytes = read_from(&file, tail.from, LATENCY_FILE_BYTES)?;
            if bytes.is_empty() {
                break;
            }
            tail.from += bytes.len() as u64;
            for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
                tail.line.extend_from_slice(&piece[..piece.len().min(OPS_LINE_BYTES)]);
                if tail.line.len() <= OPS_LINE_BYTES && piece.ends_with(b"\n") {
                    let line = String::from_utf8_lossy(&tail.line).into_owned();
                    tail.line.clear();
                    self.line(&line, tail, now, &mut run)?;
                } else if piece.ends_with(b"\n") {
                    tail.line.clear();
                } else {
                    tail.line.truncate(OPS_LINE_BYTES + 1);
                }
            }
        }
        // The last operation ended just now, and the others as long before as the file says.
        for (number, bins) in run.bins {
            let end = (number + 1).saturating_mul(self.interval.0).min(run.last);
            self.windows.entry(Nanos(now.0.saturating_sub(run.last - end).max(1))).or_default().merge(bins);
        }
        Ok(())
    }

    fn line(&mut self, line: &str, tail: &mut Tail, now: Nanos, run: &mut RunWindows) -> Result<()> {
        if tail.format.is_none() {
            tail.format = Format::of(line, self.unit)?;
        }
        let Some(format) = tail.format else { return Ok(()) };
        match format.operation(line) {
            None => self.without += u64::from(!line.trim().is_empty() && !format.is_whole()),
            Some((Ended::Unknown, interval)) => self.add(now, interval),
            Some((Ended::After(ns), interval)) => run.add(ns, self.interval, interval),
            Some((Ended::At(ns), _)) if ns < self.start_unix_ns => self.early += 1,
            Some((Ended::At(ns), interval)) => self.add(Nanos(ns - self.start_unix_ns).min(now), interval),
        }
        Ok(())
    }

    fn add(&mut self, at: Nanos, interval: Interval) {
        let end = at.0.max(1).div_ceil(self.interval.0).saturating_mul(self.interval.0);
        self.windows.entry(Nanos(end)).or_default().add_one(interval);
    }
}

fn read_whole(path: &Path, format: Format, bins: &mut LatencyBins) -> Result<()> {
    let file: File = open_regular(path)?.0;
    let text = String::from_utf8_lossy(&read_from(&file, 0, LATENCY_FILE_BYTES)?).into_owned();
    match format {
        Format::Percentiles(unit) => hdr_text::parse(&text, unit)?.add_to(bins),
        _ => bins.merge(fio::parse(&text)?.bins),
    }
    Ok(())
}

/// The file itself and those with numbers after it: `PATH.18064`, `PATH.18064.1`, `PATH.1.log`.
fn paths(path: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = path.is_file().then(|| path.to_path_buf()).into_iter().collect();
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return found };
    let numbered = |entry: std::fs::DirEntry| {
        let rest = entry.file_name().to_str()?.strip_prefix(name)?.strip_prefix('.')?.to_string();
        let rest = rest.strip_suffix(".log").unwrap_or(&rest);
        rest.split('.').all(|part| part.parse::<u64>().is_ok()).then(|| directory.join(entry.file_name()))
    };
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    found.extend(entries.filter_map(numbered).take(LATENCY_FILES));
    found
}
