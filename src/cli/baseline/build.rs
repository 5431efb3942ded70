//! `ironlaw baseline build`: merges recordings and older baselines into one file.
//! Only one recording is in memory at a time.

use crate::analysis::baseline::{BaselineBuilder, BuildResult, LEAST_CORES, Levels, Source};
use crate::cli::args::BuildArgs;
use crate::cli::out::Terminal;
use crate::cli::progress::ProgressLine;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::{Note, Progress};
use crate::session;
use crate::store::baseline;
use crate::sweep::Folder;
use crate::view::baseline::{BaselineView, words};
use crate::view::escape::visible;
use std::path::Path;

pub(super) fn run(args: &BuildArgs, terminal: &Terminal) -> Result<()> {
    let output = baseline::path(&args.output);
    // Check before reading the recordings, which may take a while.
    baseline::check_free(&output, args.force)?;
    let mut builder = BaselineBuilder::default();
    let line = ProgressLine::start(terminal);
    for source in &args.sources {
        let name = source.display().to_string();
        let told =
            add(&mut builder, source, &name, args, &line.progress).context(|| format!("cannot learn from {name}"))?;
        terminal.say(&format!("{}: {told}", visible(&name)));
    }
    drop(line);
    let learnt = builder.finish()?;
    baseline::write(&output, &learnt, args.force)?;
    let size = std::fs::metadata(&output).map_or(0, |file| file.len());
    let view = BaselineView::of(&learnt, &output.display().to_string(), vec![]);
    terminal.say(&format!("{} ({:.1} kB): {}", visible(&view.name), size as f64 / 1e3, words::size(&view)));
    for text in Levels::of(&learnt).strength.weaknesses {
        terminal.note(&Note { topic: "baseline-weak".to_string(), text, fix: None });
    }
    Ok(())
}

/// Adds one of the files and returns a line about the result.
fn add(
    builder: &mut BaselineBuilder,
    path: &Path,
    name: &str,
    args: &BuildArgs,
    progress: &Progress,
) -> Result<String> {
    if Folder::is_one(path) || (!path.exists() && Folder::is_one(&Folder::name(path))) {
        return Err(Error::new(ErrorKind::Usage, "it is a sweep, not usual work".to_string())
            .hint("Name recordings of the program at its usual work; those of the sweep are in its folder runs."));
    }
    if super::is_one(path) {
        let windows = builder.include(&baseline::read(path)?)?;
        return Ok(taken(windows));
    }
    let profile = session::open_with(path, progress)?;
    let source = Source { name, profile: &profile, time: args.time.unwrap_or_default() };
    let BuildResult { windows, skipped } = builder.add(&source)?;
    let mut told = taken(windows);
    for (count, why) in [
        (skipped.idle, format!("kept less than {LEAST_CORES} of a CPU busy")),
        (skipped.lost, "lost records".to_string()),
    ] {
        if count > 0 && windows > 0 {
            told += &format!("; {count} left out that {why}");
        }
    }
    Ok(told)
}

fn taken(windows: usize) -> String {
    match windows {
        0 => "already in it".to_string(),
        windows => words::several(windows, "window"),
    }
}
