//! `ironlaw import`: converts another tool's recording and reports what it lacks, on standard error.

use super::args::{ImportArgs, ImportFormat};
use super::out::Terminal;
use super::progress::ProgressLine;
use crate::error::{Error, ErrorKind, Result};
use crate::model::Unit;
use crate::session::import::{self, Format, Imported, Options, Source};
use crate::store::{self, Writer};
use crate::units::Nanos;
use crate::view::escape::visible;
use std::path::{Path, PathBuf};

/// Runs the command.
pub(super) fn run(args: &ImportArgs, terminal: &Terminal) -> Result<()> {
    let source = open(&args.file)?;
    let path = store::path(&output(args)?);
    let line = ProgressLine::start(terminal);
    let options = Options {
        format: args.format.map(|format| match format {
            ImportFormat::Perf => Format::Perf,
            ImportFormat::Perfscript => Format::Script,
            ImportFormat::Folded => Format::Folded,
        }),
        symfs: args.symfs.clone(),
        kallsyms: args.kallsyms.clone(),
        progress: line.progress.clone(),
    };
    if let Some(missing) = options.symfs.iter().find(|dir| !dir.is_dir()) {
        return Err(Error::new(ErrorKind::NotFound, format!("{} is not a directory", missing.display())));
    }
    let imported = import::import(&source, &options, |meta| Writer::create(&path, meta, args.force))?;
    drop(line);
    imported.meta.notes.iter().for_each(|note| terminal.note(note));
    terminal.say(&summary(&imported));
    terminal.say(&format!(
        "{} ({:.1} kB); look at it with: ironlaw view {0}, ironlaw report {0}",
        path.display(),
        imported.bytes as f64 / 1e3
    ));
    Ok(())
}

fn open(file: &Path) -> Result<Source> {
    if file == Path::new("-") {
        return Source::read(std::io::stdin().lock(), "the standard input".into());
    }
    Source::open(file)
}

/// The output path: in the current directory, because the file's own directory may not be writable.
fn output(args: &ImportArgs) -> Result<PathBuf> {
    if let Some(name) = &args.output {
        return Ok(name.clone());
    }
    if args.file == Path::new("-") {
        return Err(Error::new(ErrorKind::Usage, "the standard input has no name to call the recording by")
            .hint("Name it with -o."));
    }
    let name = args.file.file_name().ok_or_else(|| {
        Error::new(ErrorKind::Usage, format!("{} is not a file", args.file.display())).hint("Name a perf.data file.")
    })?;
    Ok(PathBuf::from(name))
}

/// Events that the summary names: a file may hold thousands.
const SHOWN: usize = 16;

/// Summary of the result: duration, number of samples, events.
fn summary(imported: &Imported) -> String {
    let Imported { meta, stats, .. } = imported;
    let mut names: Vec<String> = meta.events.iter().take(SHOWN).map(|event| visible(&event.name).to_string()).collect();
    names.extend(meta.events.get(SHOWN..).filter(|more| !more.is_empty()).map(|more| format!("{} more", more.len())));
    // Counts of samples came with each stack.
    let is_counted = meta.events.iter().all(|event| matches!(event.unit, Unit::Samples | Unit::Microsamples));
    let what = if is_counted { "stacks" } else { "samples" };
    let whole = stats.whole_share().map(|share| format!(", {:.1}% of stacks complete", 100.0 * share));
    format!(
        "imported {:.1} s of {}: {} {what} of {}, {} lost{}",
        Nanos(meta.duration_ns.unwrap_or_default()).seconds(),
        visible(&meta.plan.target.label()),
        stats.samples,
        names.join(", "),
        stats.lost,
        whole.unwrap_or_default(),
    )
}
