//! `ironlaw diff`: recordings or sweeps compared, the difference drawn, and the gate of a merge.
//! It never captures.

use super::args::{DiffArgs, DiffFormat, GlobalArgs, LoadArg, NormalizeArg};
use super::out::{self, Terminal};
use crate::analysis::TimeRange;
use crate::analysis::compare::{Comparison, Digest, Gravity, LoadBy, Part, Per, Settings, Side, unlike};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::export::{compare, difference};
use crate::model::{RunState, SweepMeta};
use crate::session;
use crate::store;
use crate::sweep::Folder;
use crate::view::compare::{DiffView, picture, words};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Compares, prints, draws, and fails where a gate is broken.
pub(super) fn run(args: &DiffArgs, global: &GlobalArgs, terminal: &Terminal) -> Result<()> {
    if args.flamegraph.is_some() && args.new.len() > 1 {
        return Err(
            Error::new(ErrorKind::Usage, "--flamegraph draws one NEW").hint("Compare one at a time to draw it.")
        );
    }
    let sources: Vec<Source> =
        std::iter::once(&args.base).chain(&args.new).map(|text| Source::of(text)).collect::<Result<_>>()?;
    let width = width(&sources, args.width)?;
    let mut sides = sources.iter().map(|source| source.side(width, args)).collect::<Result<Vec<_>>>()?;
    let base = sides.remove(0);
    refuse(&base, &sides, args.force)?;
    let settings = settings(args, &base, &sides);
    let view = DiffView::of(&base, &sides, &settings, &args.fail_if, args.allow_missing);
    let bytes = match args.format {
        DiffFormat::Text => compare::text(&view, out::style(global, args.output.is_some()), args.limit),
        DiffFormat::Json => compare::json(&view)?,
        DiffFormat::Csv => compare::csv(&view),
        DiffFormat::Markdown => compare::markdown(&view, args.limit),
    };
    out::deliver(&bytes, args.output.as_deref())?;
    if let (Some(file), [new]) = (&args.flamegraph, &sides[..]) {
        draw(file, &base, new, &settings, terminal)?;
    }
    gate(&view)
}

/// What a side is made of.
enum Source {
    Recordings { label: String, paths: Vec<PathBuf> },
    Sweeps { label: String, folders: Vec<(Folder, SweepMeta)> },
}

impl Source {
    /// One path, or several with commas between; a name with a comma in it is one path if it is there.
    fn of(text: &str) -> Result<Source> {
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
                format!("'{text}' names no recording, or recordings and sweeps together"),
            )
            .hint("Repeats are all recordings or all sweeps: a1.ironlaw,a2.ironlaw,a3.ironlaw.")),
        }
    }

    /// The recordings, worked out one after another.
    fn side(&self, width: Option<u32>, args: &DiffArgs) -> Result<Side> {
        let one = |path: &Path, part: Part| {
            let mut profile = session::open(path).context(|| format!("cannot compare {}", path.display()))?;
            if args.no_inline {
                profile.drop_inlined();
            }
            Ok(Digest::of(&profile, &part))
        };
        let time = |from: TimeRange| args.time_range.unwrap_or(from);
        let (label, runs) = match self {
            Source::Recordings { label, paths } => {
                let part = |path: &Path| Part {
                    name: path.display().to_string(),
                    time: time(TimeRange::default()),
                    ..Part::default()
                };
                (label, paths.iter().map(|path| one(path, part(path))).collect::<Result<Vec<_>>>()?)
            }
            Source::Sweeps { label, folders } => {
                let mut runs = Vec::new();
                for (folder, meta) in folders {
                    let whole = TimeRange { from: meta.leave_out, to: None };
                    for (path, run) in done(folder, meta).filter(|(_, run)| Some(run.n) == width) {
                        let name = path.display().to_string();
                        let part = Part { name, time: time(whole), cpus: run.cpus.clone(), width };
                        runs.push(one(&path, part)?);
                    }
                }
                (label, runs)
            }
        };
        Ok(Side { label: label.clone(), runs })
    }
}

/// The name as typed, or with the ending of recordings.
fn found(text: &str) -> PathBuf {
    let path = Path::new(text);
    let named = store::path(path);
    if !path.exists() && named.exists() { named } else { path.to_path_buf() }
}

/// The runs of a sweep that count, with where their recordings are.
fn done<'a>(folder: &'a Folder, meta: &'a SweepMeta) -> impl Iterator<Item = (PathBuf, &'a crate::model::RunMeta)> {
    let runs = meta.runs.iter().filter(|run| matches!(run.state, RunState::Done { .. }));
    runs.filter_map(|run| Some((folder.recording(&run.recording)?, run)))
}

/// The width to compare sweeps at: as asked for, or the most that all have.
fn width(sources: &[Source], asked: Option<u32>) -> Result<Option<u32>> {
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
        (None, Some(_)) => Err(Error::new(ErrorKind::Usage, "--width is for sweeps, and these are recordings")),
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

/// Numbers that do not compare are refused before anybody reads them.
fn refuse(base: &Side, others: &[Side], force: bool) -> Result<()> {
    let grave = |new: &Side| {
        let all = unlike(base, new).into_iter().filter(|unlike| unlike.gravity == Gravity::Refuse);
        all.map(|unlike| words::unlike(&unlike)).collect::<Vec<_>>().join("; ")
    };
    for new in others {
        let grave = grave(new);
        if !grave.is_empty() && !force {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!("{} and {} are not alike: {grave}", base.label, new.label),
            )
            .hint("Record both alike, or compare them all the same with --force."));
        }
    }
    Ok(())
}

fn settings(args: &DiffArgs, base: &Side, others: &[Side]) -> Settings {
    let counted = |side: &Side| side.runs.iter().all(|run| run.run.totals.ops.value().is_some());
    let per = match args.normalize {
        NormalizeArg::Auto if counted(base) && others.iter().all(counted) => Per::Op,
        NormalizeArg::Auto | NormalizeArg::Cpu => Per::Cpu,
        NormalizeArg::Op => Per::Op,
        NormalizeArg::Share => Per::Share,
        NormalizeArg::None => Per::None,
    };
    let load = match args.load {
        LoadArg::Auto => LoadBy::Auto,
        LoadArg::Ops => LoadBy::Operations,
        LoadArg::Cores => LoadBy::Cores,
        LoadArg::None => LoadBy::Off,
    };
    let (confidence, margin, noise) = (args.confidence, args.same_within, args.run_noise);
    Settings { confidence, margin, noise, load, per, seed: args.seed, comparisons: others.len() }
}

fn draw(file: &Path, base: &Side, new: &Side, settings: &Settings, terminal: &Terminal) -> Result<()> {
    let found = Comparison::of(base, new, settings).functions;
    let Some(drawn) = found.as_ref().and_then(picture) else {
        return Err(Error::new(ErrorKind::Unsupported, "there is no difference to draw")
            .hint("Both sides need samples, and operations unless --normalize cpu, share or none is given."));
    };
    let bytes = difference::render(&drawn, &format!("{} -> {}", base.label, new.label));
    out::deliver(&bytes, Some(file))?;
    terminal.say(&format!("{} ({:.1} kB)", file.display(), bytes.len() as f64 / 1e3));
    Ok(())
}

fn gate(view: &DiffView) -> Result<()> {
    let broken: Vec<String> = view
        .broken()
        .map(|(comparison, gate)| format!("{}: {}: {}", comparison.new.label, gate.text, words::gate(gate)))
        .collect();
    if broken.is_empty() { Ok(()) } else { Err(Error::new(ErrorKind::Breach, broken.join("; "))) }
}
