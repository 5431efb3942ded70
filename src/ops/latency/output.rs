//! Latencies in a command's output: what a load generator prints at its end, or a number for each operation. It reads
//! bytes that have already been passed on.

use super::bins::LatencyBins;
use super::generators;
use super::printed::duration;
use crate::error::{Error, ErrorKind, Result};
use crate::model::limits::LATENCY_OUTPUT_BYTES;
use crate::model::{LatencyCount, LatencySpec, LoadGenerator, Note, Plan, TimeUnit};
use crate::ops::output::{Lines, Stream, pattern};
use crate::units::Nanos;
use regex::bytes::Regex;

/// Finds latencies in a command's output.
#[derive(Debug)]
pub struct OutputLatencies(Reader);

#[derive(Debug)]
enum Reader {
    Summary { generator: LoadGenerator, arguments: Vec<String>, printed: [Printed; 2] },
    Matches { pattern: Regex, unit: Option<TimeUnit>, lines: Lines, bins: LatencyBins, found: u64, without_unit: u64 },
}

/// The end of what was printed.
#[derive(Debug, Default)]
struct Printed {
    bytes: Vec<u8>,
    cut: bool,
}

impl Printed {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        // Rarely, so that each byte is moved once at most.
        if self.bytes.len() > 2 * LATENCY_OUTPUT_BYTES {
            self.bytes.drain(..self.bytes.len() - LATENCY_OUTPUT_BYTES);
            self.cut = true;
        }
    }
}

impl OutputLatencies {
    /// A reader of the plan's latencies, without any input; `None` if they are not read from output.
    ///
    /// # Errors
    /// `Usage` for an invalid pattern, a command that is not a load generator, or none at all.
    pub fn of(plan: &Plan) -> Result<Option<OutputLatencies>> {
        let Some(spec) = plan.latency.as_ref().filter(|spec| spec.reads_output()) else { return Ok(None) };
        let Some(command) = plan.command() else {
            return Err(Error::new(
                ErrorKind::Usage,
                "--latency reads what a command prints, and none is started here",
            )
            .hint("Start it here: -- CMD; of a server that runs, with the load generator as CMD: -p PID -- CMD."));
        };
        Ok(Some(OutputLatencies(match spec {
            LatencySpec::Matches { pattern: text, unit } => Reader::Matches {
                pattern: pattern("--latency", text)?,
                unit: *unit,
                lines: Lines::default(),
                bins: LatencyBins::default(),
                found: 0,
                without_unit: 0,
            },
            LatencySpec::Output { generator } => Self::summary(*generator, command)?,
            _ => return Ok(None),
        })))
    }

    fn summary(named: Option<LoadGenerator>, command: &[String]) -> Result<Reader> {
        let found = LoadGenerator::of_command(command);
        let Some(generator) = named.or(found.map(|(generator, _)| generator)) else {
            let names = LoadGenerator::ALL.map(LoadGenerator::name).join(", ");
            let name = command.first().map_or("", String::as_str);
            return Err(Error::new(ErrorKind::Usage, format!("{name} is not a load generator whose output is known"))
                .hint(format!(
                    "Name the one that it runs: --latency output:NAME, one of {names}; or give regex:PATTERN."
                )));
        };
        let arguments = found.map(|(_, arguments)| arguments.to_vec()).unwrap_or_default();
        Ok(Reader::Summary { generator, arguments, printed: Default::default() })
    }

    /// Takes bytes that were printed. None means that the stream has ended.
    pub fn take(&mut self, stream: Stream, bytes: &[u8]) {
        match &mut self.0 {
            Reader::Summary { printed, .. } => printed[stream as usize].push(bytes),
            Reader::Matches { pattern, unit, lines, bins, found, without_unit } => {
                let mut line = |line: &[u8]| {
                    for matched in pattern.captures_iter(line) {
                        let Some(text) = matched.get(1).or_else(|| matched.get(0)) else { continue };
                        *found += 1;
                        match duration(&String::from_utf8_lossy(text.as_bytes()), *unit) {
                            Some(interval) => bins.add_one(interval),
                            None => *without_unit += 1,
                        }
                    }
                };
                if bytes.is_empty() { lines.end(stream, &mut line) } else { lines.take(stream, bytes, &mut line) }
            }
        }
    }

    /// The operations since the last call, as those of the window that ends then.
    pub fn rows(&mut self, at: Nanos) -> Vec<LatencyCount> {
        match &mut self.0 {
            Reader::Matches { bins, .. } => bins.take(at),
            Reader::Summary { .. } => Vec::new(),
        }
    }

    /// What was not returned before, once the output has ended, and what is to be known of it.
    pub fn finish(mut self, at: Nanos) -> (Vec<LatencyCount>, Vec<Note>) {
        [Stream::Out, Stream::Err].into_iter().for_each(|stream| self.take(stream, &[]));
        let mut rows = self.rows(at);
        let notes = match self.0 {
            Reader::Matches { found, without_unit, .. } => matched(found, without_unit),
            Reader::Summary { generator, arguments, printed } => {
                let [out, err] =
                    printed.map(|printed| (String::from_utf8_lossy(&printed.bytes).into_owned(), printed.cut));
                let parse = |text: &str| generators::parse(generator, text, &arguments);
                // What standard output lacks, standard error may hold.
                let found = parse(&out.0).or_else(|error| parse(&err.0).map_err(|_| error));
                let mut notes = Vec::new();
                if out.1 {
                    notes.push(note(
                        format!("only the last {LATENCY_OUTPUT_BYTES} bytes of the output were read"),
                        None,
                    ));
                }
                match found {
                    Ok(mut found) => {
                        rows.extend(found.bins.take(at));
                        notes.extend(found.lacks.map(|(text, fix)| note(text.to_string(), Some(fix.to_string()))));
                    }
                    Err(error) => notes.push(note(error.to_string(), error.remedy().map(ToString::to_string))),
                }
                notes
            }
        };
        (rows, notes)
    }
}

fn matched(found: u64, without: u64) -> Vec<Note> {
    let mut notes = Vec::new();
    if found == 0 {
        let fix = "Try the pattern on what the command prints; its first group is the latency.".to_string();
        notes.push(note("nothing that the command printed fits the pattern of --latency".to_string(), Some(fix)));
    }
    if without > 0 {
        let text = format!("{without} of {found} matches hold no latency, or a number without a unit");
        let fix = "State the unit of numbers without one: regex-ns:, regex-us:, regex-ms: or regex-s:.".to_string();
        notes.push(note(text, Some(fix)));
    }
    notes
}

/// A note about latencies that are missing.
pub(super) fn note(text: String, fix: Option<String>) -> Note {
    Note { topic: "latency-gap".to_string(), text: format!("latency: {text}"), fix }
}
