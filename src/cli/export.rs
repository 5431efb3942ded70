//! `ironlaw export`: writes a recording in the format of another tool. Refuses to write binary data to a terminal.

use super::args::ExportArgs;
use super::out::{self, Terminal};
use super::report::{load, recording, selection};
use crate::analysis::{Axis, Selection};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::export::format::{ExportFormat, WriteFormat};
use crate::export::gzip;
use crate::model::profile::Profile;
use crate::sweep::Folder;
use crate::view::flame::{FlameGraph, FlameOptions};
use crate::view::notes::other_event;
use crate::view::sampled::Sampled;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::Path;

/// Writes the export and prints the path of the file.
pub(super) fn run(args: &ExportArgs, terminal: &Terminal) -> Result<()> {
    let file = args.output.as_deref().filter(|path| path.as_os_str() != "-");
    let format = format(args.format, file)?;
    let to_terminal = file.is_none() && std::io::stdout().is_terminal();
    if to_terminal && format.binary {
        return Err(Error::new(ErrorKind::Usage, format!("cannot write {} to a terminal: it is binary", format.name))
            .hint("Name a file with -o, or send it into a pipe."));
    }
    let source = recording(&args.selection)?;
    if Folder::is_one(&source) {
        return Err(Error::new(ErrorKind::Usage, format!("{} is a sweep, not a recording", source.display()))
            .hint("Name one of the recordings in it; `ironlaw report` shows the sweep."));
    }
    let profile = load(&source, &args.selection, terminal)?;
    let mut selection = selection(&args.selection, profile)?;
    if args.off_cpu {
        selection.axis = Axis::OffCpu;
    }
    other_event(profile, &selection).iter().for_each(|note| terminal.note(note));
    // Check the selection first: an invalid one must not create a file.
    let content = Content::of(profile, selection, format, args.selection.event.is_some())?;
    let compress = file.is_some_and(|path| path.extension().is_some_and(|end| end == "gz")) && !format.compressed;
    out::stream(file, |sink| {
        let mut sink = BufWriter::with_capacity(1 << 16, sink);
        if compress {
            return gzip(sink, |out| content.write(out));
        }
        content.write(&mut sink)?;
        sink.flush().context(|| "cannot write the export")
    })?;
    if let Some(path) = file {
        let size = std::fs::metadata(path).map_or(0, |file| file.len());
        terminal.say(&format!("{} ({:.1} kB)", path.display(), size as f64 / 1e3));
    }
    Ok(())
}

/// The exported data, and what renders it.
enum Content<'a> {
    Stacks(FlameGraph, fn(&FlameGraph) -> Vec<u8>),
    Samples(Box<Sampled<'a>>, fn(&Sampled<'_>, &mut (dyn Write + Send)) -> Result<()>),
}

impl<'a> Content<'a> {
    fn of(profile: &'a Profile, selection: Selection, format: &ExportFormat, one_event: bool) -> Result<Content<'a>> {
        Ok(match format.write {
            WriteFormat::Stacks(render) => Content::Stacks(
                FlameGraph::build(profile, &FlameOptions { selection, ..FlameOptions::default() })?,
                render,
            ),
            WriteFormat::Samples(write) => {
                Content::Samples(Box::new(Sampled::of(profile, selection, format.every_event && !one_event)?), write)
            }
        })
    }

    fn write(&self, out: &mut (dyn Write + Send)) -> Result<()> {
        match self {
            Content::Stacks(flame, render) => out.write_all(&render(flame)).context(|| "cannot write the export"),
            Content::Samples(sampled, write) => write(sampled, out),
        }
    }
}

/// The given format, or the one that matches the file's ending.
fn format(named: Option<&'static ExportFormat>, file: Option<&Path>) -> Result<&'static ExportFormat> {
    let by_ending = || ExportFormat::of_file(&file?.file_name()?.to_string_lossy());
    named.or_else(by_ending).ok_or_else(|| {
        let message = match file {
            None => "the export has no format: neither --format nor a file is given".to_string(),
            Some(path) => format!("unknown format of '{}': no format has this ending", path.display()),
        };
        Error::new(ErrorKind::Usage, message).hint(format!("Give --format {}.", ExportFormat::names("or", |_| true)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_format_wins_over_the_files_ending() {
        let file = Some(Path::new("a/run.csv"));
        let name = |named: Option<&str>, file| {
            format(named.and_then(ExportFormat::named), file)
                .map(|format| format.name)
                .map_err(|error| error.to_string())
        };
        assert_eq!(name(Some("firefox"), file).as_deref(), Ok("firefox"));
        assert_eq!(name(None, file).as_deref(), Ok("csv"));
        assert!(name(None, None).is_err_and(|message| message.contains("--format")));
        assert!(name(None, Some(Path::new("csv/run.json"))).is_err_and(|message| message.contains("run.json")));
    }
}
