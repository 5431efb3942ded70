//! Reads the sides of a comparison: recordings, or the runs of sweeps at one width.

use super::super::args::DiffArgs;
use crate::analysis::TimeRange;
use crate::analysis::diff::{Digest, RecordingPart, Side};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::{Progress, RunState, SweepMeta};
use crate::session;
use crate::store::{self, Recording};
use crate::sweep::Folder;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The parts of a side.
pub(super) enum Source {
    Recordings { label: String, paths: Vec<PathBuf> },
    Sweeps { label: String, folders: Vec<(Folder, SweepMeta)> },
}

impl Source {
    /// One path, or several separated by commas. An existing path that contains a comma is one path.
    pub fn of(text: &str) -> Result<Source> {
        let whole = Path::new(text);
        let paths: Vec<PathBuf> = if whole.exists() {
            vec![whole.to_path_buf()]
        } else {
            text.split(',').filter(|part| !part.is_empty()).map(found).collect()
        };
        let label = text.to_string();
        let sweeps = paths.iter().filter(|path| Folder::is_one(path)).count();
        match sweeps {
            0 if !paths.is_empty() => Ok(Source::Recordings { label, paths }),
            count if count == paths.len() && count > 0 => {
                let folders = paths.iter().map(|path| Folder::open(path)).collect::<Result<_>>()?;
                Ok(Source::Sweeps { label, folders })
            }
            _ => Err(Error::new(
                ErrorKind::Usage,
                format!("invalid side '{text}': it names no recording, or recordings and sweeps together"),
            )
            .hint("Repeats are all recordings or all sweeps: a1.ironlaw,a2.ironlaw,a3.ironlaw.")),
        }
    }

    /// Whether stacks of all its recordings have functions that ended in a jump. What cannot be read here is an import, or fails
    /// later.
    pub fn has_tail_calls(&self) -> bool {
        let has = |path: &Path| Recording::open(path).map_or(true, |it| it.meta().format >= store::WITH_TAIL_CALLS);
        match self {
            Source::Recordings { paths, .. } => paths.iter().all(|path| has(path)),
            Source::Sweeps { folders, .. } => {
                folders.iter().all(|(folder, meta)| done(folder, meta).all(|(path, _)| has(&path)))
            }
        }
    }

    /// Reads and digests the recordings one after the other; of each only the samples of `event`, if there is one.
    pub fn side(
        &self,
        width: Option<u32>,
        args: &DiffArgs,
        event: Option<&str>,
        tail_calls: bool,
        progress: &Progress,
    ) -> Result<Side> {
        let one = |path: &Path, part: RecordingPart| {
            let opened = session::open_with(path, progress);
            let mut profile = opened.context(|| format!("cannot compare {}", path.display()))?;
            if args.no_inline {
                profile.drop_inlined();
            }
            if !tail_calls {
                profile.drop_tail_calls();
            }
            if let Some(event) = event {
                profile.keep_event(event);
                // Both sides count the same, whatever the event is called.
                profile.meta.events.iter_mut().for_each(|event| event.name = "samples".to_string());
            }
            Ok(Digest::of(&profile, &part))
        };
        let time = |from: TimeRange| args.time_range.unwrap_or(from);
        let (label, runs) = match self {
            Source::Recordings { label, paths } => {
                let part = |path: &Path| RecordingPart {
                    name: path.display().to_string(),
                    time: time(TimeRange::default()),
                    ..RecordingPart::default()
                };
                (label, paths.iter().map(|path| one(path, part(path))).collect::<Result<Vec<_>>>()?)
            }
            Source::Sweeps { label, folders } => {
                let mut runs = Vec::new();
                for (folder, meta) in folders {
                    let whole = TimeRange { from: meta.leave_out, to: None };
                    for (path, run) in done(folder, meta).filter(|(_, run)| Some(run.n) == width) {
                        let name = path.display().to_string();
                        let part = RecordingPart { name, time: time(whole), cpus: run.cpus.clone(), width };
                        runs.push(one(&path, part)?);
                    }
                }
                (label, runs)
            }
        };
        let label = event.map_or_else(|| label.clone(), |event| format!("{label} {event}"));
        Ok(Side { label, runs })
    }
}

/// The name as typed, or with the extension of recordings.
fn found(text: &str) -> PathBuf {
    let path = Path::new(text);
    let named = store::path(path);
    if !path.exists() && named.exists() { named } else { path.to_path_buf() }
}

/// The runs of a sweep that count, with the paths of their recordings.
fn done<'a>(folder: &'a Folder, meta: &'a SweepMeta) -> impl Iterator<Item = (PathBuf, &'a crate::model::RunMeta)> {
    let runs = meta.runs.iter().filter(|run| matches!(run.state, RunState::Done { .. }));
    runs.filter_map(|run| Some((folder.recording(&run.recording).ok()?, run)))
}

/// The width at which sweeps are compared: as requested, or the largest that all have.
pub(super) fn width(sources: &[Source], asked: Option<u32>) -> Result<Option<u32>> {
    let sweeps: Vec<_> = sources
        .iter()
        .filter_map(|source| match source {
            Source::Recordings { .. } => None,
            Source::Sweeps { folders, .. } => Some(folders),
        })
        .collect();
    let widths = |folders: &&Vec<(Folder, SweepMeta)>| -> BTreeSet<u32> {
        folders.iter().flat_map(|(folder, meta)| done(folder, meta).map(|(_, run)| run.n)).collect()
    };
    let common = sweeps.iter().map(widths).reduce(|a, b| a.intersection(&b).copied().collect());
    let listed = |all: &BTreeSet<u32>| all.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    match (common, asked) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err(Error::new(ErrorKind::Usage, "--width needs sweeps, and these are recordings")),
        (Some(common), Some(width)) if !common.contains(&width) => {
            Err(Error::new(ErrorKind::Usage, format!("not all of these sweeps have runs at {width}"))
                .hint(format!("They have in common: {}.", listed(&common))))
        }
        (Some(_), Some(width)) => Ok(Some(width)),
        (Some(common), None) => match common.last() {
            Some(width) => Ok(Some(*width)),
            None => Err(Error::new(ErrorKind::Usage, "these sweeps have no width in common")),
        },
    }
}
