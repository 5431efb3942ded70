//! `ironlaw export`: writes a recording in the format of another tool. Refuses to write binary data to a terminal.

use super::args::{ExportArgs, ExportFormat};
use super::out::{self, Terminal};
use super::report::{load, recording, selection};
use crate::analysis::{Axis, Selection};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::export::{firefox, folded, gzip, perfscript, pprof, rows, speedscope};
use crate::model::profile::Profile;
use crate::sweep::Folder;
use crate::view::flame::{FlameGraph, FlameOptions};
use crate::view::sampled::Sampled;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::Path;

/// Writes the export and prints the path of the file.
pub(super) fn run(args: &ExportArgs, terminal: &Terminal) -> Result<()> {
    let file = args.output.as_deref().filter(|path| path.as_os_str() != "-");
    let format = format(args.format, file)?;
    let to_terminal = file.is_none() && std::io::stdout().is_terminal();
    if to_terminal && matches!(format, ExportFormat::Pprof | ExportFormat::Parquet) {
        return Err(Error::new(ErrorKind::Usage, "this format is binary and cannot be printed on a terminal")
            .hint("Name a file with -o, or send it into a pipe."));
    }
    let source = recording(&args.selection)?;
    if Folder::is_one(&source) {
        return Err(Error::new(ErrorKind::Usage, format!("{} is a sweep, not a recording", source.display()))
            .hint("Name one of the recordings in it; `ironlaw report` shows the sweep."));
    }
    let profile = load(&source, &args.selection)?;
    let mut selection = selection(&args.selection, &profile)?;
    if args.off_cpu {
        selection.axis = Axis::OffCpu;
    }
    // Check the selection first: an invalid one must not create a file.
    let content = Content::of(&profile, selection, format, args.selection.event.is_some())?;
    // pprof is always compressed.
    let compress = file.is_some_and(|path| ending(path) == "gz") && format != ExportFormat::Pprof;
    out::stream(file, |sink| {
        let mut sink = BufWriter::with_capacity(1 << 16, sink);
        if compress {
            return gzip(sink, |out| content.write(format, out));
        }
        content.write(format, &mut sink)?;
        sink.flush().context(|| "cannot write the export")
    })?;
    if let Some(path) = file {
        let size = std::fs::metadata(path).map_or(0, |file| file.len());
        terminal.say(&format!("{} ({:.1} kB)", path.display(), size as f64 / 1e3));
    }
    Ok(())
}

/// The exported data.
enum Content<'a> {
    Folded(FlameGraph),
    Sampled(Box<Sampled<'a>>),
}

impl<'a> Content<'a> {
    fn of(profile: &'a Profile, selection: Selection, format: ExportFormat, one_event: bool) -> Result<Content<'a>> {
        if format == ExportFormat::Folded {
            return Ok(Content::Folded(FlameGraph::build(profile, &FlameOptions { selection, title: None })?));
        }
        // Formats with an event name per row do not need a single event.
        let has_events = matches!(format, ExportFormat::Perfscript | ExportFormat::Csv | ExportFormat::Parquet);
        Ok(Content::Sampled(Box::new(Sampled::of(profile, selection, has_events && !one_event)?)))
    }

    fn write(&self, format: ExportFormat, out: &mut (dyn Write + Send)) -> Result<()> {
        let sampled = match self {
            Content::Folded(flame) => {
                return out.write_all(&folded::render(flame, false)).context(|| "cannot write the export");
            }
            Content::Sampled(sampled) => sampled,
        };
        match format {
            ExportFormat::Folded => Ok(()),
            ExportFormat::Pprof => pprof::write(sampled, out),
            ExportFormat::Speedscope => speedscope::write(sampled, &sampled.title(), out),
            ExportFormat::Firefox => firefox::write(sampled, &sampled.title(), out),
            ExportFormat::Perfscript => perfscript::write(sampled, out),
            ExportFormat::Csv => rows::csv(sampled, out),
            ExportFormat::Parquet => rows::parquet(sampled, out),
        }
    }
}

fn ending(path: &Path) -> &str {
    path.extension().and_then(|ending| ending.to_str()).unwrap_or_default()
}

/// The given format, or the one that matches the file's extension.
fn format(named: Option<ExportFormat>, file: Option<&Path>) -> Result<ExportFormat> {
    if let Some(format) = named {
        return Ok(format);
    }
    let name = file.and_then(Path::file_name).map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let plain = name.strip_suffix(".gz").unwrap_or(&name);
    let endings = [
        (".pb", ExportFormat::Pprof),
        (".pprof", ExportFormat::Pprof),
        (".speedscope.json", ExportFormat::Speedscope),
        (".speedscope", ExportFormat::Speedscope),
        (".firefox.json", ExportFormat::Firefox),
        (".folded", ExportFormat::Folded),
        (".perf", ExportFormat::Perfscript),
        (".csv", ExportFormat::Csv),
        (".parquet", ExportFormat::Parquet),
    ];
    let known = endings.iter().find(|(ending, _)| plain.ends_with(ending)).map(|(_, format)| *format);
    known.ok_or_else(|| {
        let message = match file {
            None => "which format?".to_string(),
            Some(path) => format!("the ending of {} names no format", path.display()),
        };
        Error::new(ErrorKind::Usage, message)
            .hint("Say --format folded, pprof, speedscope, firefox, perfscript, csv or parquet.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_files_ending_decides_the_format_that_was_not_named() {
        for (file, expected) in [
            ("run.pb.gz", Some(ExportFormat::Pprof)),
            ("run.PPROF", Some(ExportFormat::Pprof)),
            ("a/run.speedscope.json", Some(ExportFormat::Speedscope)),
            ("run.firefox.json.gz", Some(ExportFormat::Firefox)),
            ("run.csv.gz", Some(ExportFormat::Csv)),
            ("run.parquet", Some(ExportFormat::Parquet)),
            ("run.json", None),
            ("run", None),
        ] {
            assert_eq!(format(None, Some(Path::new(file))).ok(), expected, "{file}");
        }
        let named = format(Some(ExportFormat::Firefox), Some(Path::new("run.csv")));
        assert_eq!(named.ok(), Some(ExportFormat::Firefox));
        assert!(format(None, None).is_err());
    }
}
