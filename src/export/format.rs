//! The formats of other tools that a recording can be written in: one entry each.

use super::{firefox, folded, perfscript, pprof, rows, speedscope};
use crate::error::Result;
use crate::view::flame::FlameGraph;
use crate::view::sampled::Sampled;
use std::io::Write;

/// Another tool's format.
#[derive(Debug)]
pub struct ExportFormat {
    /// As the command line names it.
    pub name: &'static str,
    /// What it holds and for which tool, in one line.
    pub about: &'static str,
    /// Endings of file names, before a `.gz`.
    pub endings: &'static [&'static str],
    /// Not text: never written to a terminal.
    pub binary: bool,
    /// Compressed by its own definition, whatever the file is called.
    pub compressed: bool,
    /// Each sample has its event's name, so that one file can hold all events.
    pub every_event: bool,
    /// Writes it.
    pub write: WriteFormat,
}

/// What a format is written from.
#[derive(Debug)]
pub enum WriteFormat {
    /// Summed stacks.
    Stacks(fn(&FlameGraph) -> Vec<u8>),
    /// Single samples.
    Samples(fn(&Sampled<'_>, &mut (dyn Write + Send)) -> Result<()>),
}

const TEXT: ExportFormat = ExportFormat {
    name: "",
    about: "",
    endings: &[],
    binary: false,
    compressed: false,
    every_event: false,
    write: WriteFormat::Samples(|_, _| Ok(())),
};

/// All formats, in the order of the help.
pub static FORMATS: [ExportFormat; 8] = [
    ExportFormat {
        name: "folded",
        about: "a line per stack, for inferno, flamegraph.pl and grep",
        endings: &["folded"],
        write: WriteFormat::Stacks(|flame| folded::render(flame, false)),
        ..TEXT
    },
    ExportFormat {
        name: "pprof",
        about: "profile.proto with mappings, lines and inlined calls, compressed",
        endings: &["pb", "pprof"],
        binary: true,
        compressed: true,
        write: WriteFormat::Samples(|sampled, out| pprof::write(sampled, out)),
        ..TEXT
    },
    ExportFormat {
        name: "speedscope",
        about: "JSON, a profile per thread, for speedscope.app",
        endings: &["speedscope.json", "speedscope"],
        write: WriteFormat::Samples(|sampled, out| speedscope::write(sampled, &sampled.title(), out)),
        ..TEXT
    },
    ExportFormat {
        name: "firefox",
        about: "JSON with threads, waits and marks, for profiler.firefox.com",
        endings: &["firefox.json"],
        write: WriteFormat::Samples(|sampled, out| firefox::write(sampled, &sampled.title(), out)),
        ..TEXT
    },
    ExportFormat {
        name: "perfscript",
        about: "text as `perf script` prints it, for what reads that",
        endings: &["perf"],
        every_event: true,
        write: WriteFormat::Samples(|sampled, out| perfscript::write(sampled, out)),
        ..TEXT
    },
    ExportFormat {
        name: "csv",
        about: "a row per sample, for spreadsheets",
        endings: &["csv"],
        every_event: true,
        write: WriteFormat::Samples(|sampled, out| rows::csv(sampled, out)),
        ..TEXT
    },
    ExportFormat {
        name: "jsonl",
        about: "a JSON object per sample, for jq and scripts",
        endings: &["jsonl", "ndjson"],
        every_event: true,
        write: WriteFormat::Samples(|sampled, out| rows::jsonl(sampled, out)),
        ..TEXT
    },
    ExportFormat {
        name: "parquet",
        about: "the same with names as they are, for databases",
        endings: &["parquet"],
        binary: true,
        every_event: true,
        write: WriteFormat::Samples(|sampled, out| rows::parquet(sampled, out)),
        ..TEXT
    },
];

impl ExportFormat {
    /// The format of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static ExportFormat> {
        FORMATS.iter().find(|format| format.name == name)
    }

    /// The format that the ending of a file's name stands for.
    #[must_use]
    pub fn of_file(name: &str) -> Option<&'static ExportFormat> {
        let name = name.to_lowercase();
        let plain = name.strip_suffix(".gz").unwrap_or(&name);
        let ends = |ending: &&str| plain.strip_suffix(*ending).is_some_and(|stem| stem.ends_with('.'));
        FORMATS.iter().find(|format| format.endings.iter().any(ends))
    }

    /// Names of the formats that pass, as a sentence lists them: `a, b or c`.
    #[must_use]
    pub fn names(word: &str, pass: fn(&ExportFormat) -> bool) -> String {
        let names: Vec<&str> = FORMATS.iter().filter(|format| pass(format)).map(|format| format.name).collect();
        match names.split_last() {
            Some((last, [])) => (*last).to_string(),
            Some((last, others)) => format!("{} {word} {last}", others.join(", ")),
            None => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_files_ending_decides_the_format() {
        for (file, expected) in [
            ("run.pb.gz", Some("pprof")),
            ("run.PPROF", Some("pprof")),
            ("a.b.speedscope.json", Some("speedscope")),
            ("run.firefox.json.gz", Some("firefox")),
            ("run.csv.gz", Some("csv")),
            ("run.parquet", Some("parquet")),
            ("run.json", None),
            ("csv", None),
            ("run", None),
            ("", None),
        ] {
            assert_eq!(ExportFormat::of_file(file).map(|format| format.name), expected, "{file}");
        }
    }

    #[test]
    fn names_and_endings_are_unique() {
        for (at, format) in FORMATS.iter().enumerate() {
            assert!(std::ptr::eq(ExportFormat::named(format.name).expect("its name finds it"), format), "{format:?}");
            for other in &FORMATS[..at] {
                let shared = format.endings.iter().find(|ending| other.endings.contains(ending));
                assert!(shared.is_none(), "{} and {} both end in {shared:?}", format.name, other.name);
            }
        }
    }
}
