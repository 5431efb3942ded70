//! A sample or wait with all its attributes as text.
//! Single names are not escaped: a database column contains them as they are.

use crate::model::TaskState;
use crate::view::escape::visible;
use crate::view::sampled::{Path, Row, Sampled};
use rustc_hash::FxHashMap;
use std::cell::OnceCell;
use std::rc::Rc;

/// One row.
pub(super) struct Record<'a> {
    pub row: Row,
    pub thread: &'a str,
    pub process: &'a str,
    pub event: &'a str,
    /// The state a wait began in; `None` for a sample.
    pub state: Option<&'static str>,
    /// Why the thread did not run, in the terms of the report's JSON; empty for a sample.
    pub cause: Rc<str>,
    pub words: Rc<Words>,
}

/// The text of a stack.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// The leaf's name.
    pub function: String,
    /// Its module's path; empty if unknown.
    pub module: String,
    /// Its source file and line, where known.
    pub file: Option<String>,
    pub line: Option<u32>,
    /// All frames from the root, separated by `;`, which becomes `:` within a name.
    pub stack: String,
    /// Function, module and stack as cells of a CSV line, once requested.
    pub cells: OnceCell<String>,
}

/// Memory for formatted stacks, bytes.
const KEEP_BYTES: usize = 64 << 20;

/// Formatted stacks, cached as long as there is room, because samples share them.
#[derive(Default)]
pub(super) struct Stacks {
    known: FxHashMap<Path, Rc<Words>>,
    bytes: usize,
    causes: FxHashMap<(Path, Option<TaskState>), Rc<str>>,
}

impl Stacks {
    pub fn record<'a>(&mut self, sampled: &'a Sampled<'_>, row: Row) -> Record<'a> {
        Record {
            row,
            thread: sampled.comm(row.tid),
            process: sampled.process_name(row.pid),
            event: sampled.event_name(row.event),
            state: row.state.map(word),
            cause: self.causes.entry((row.path(), row.state)).or_insert_with(|| cause(sampled, &row)).clone(),
            words: self.words(sampled, row.path()),
        }
    }

    fn words(&mut self, sampled: &Sampled<'_>, path: Path) -> Rc<Words> {
        if let Some(words) = self.known.get(&path) {
            return words.clone();
        }
        let words = Rc::new(words(sampled, path));
        if self.bytes < KEEP_BYTES {
            self.bytes += 2 * words.stack.len() + words.module.len() + 200;
            self.known.insert(path, words.clone());
        }
        words
    }
}

fn words(sampled: &Sampled<'_>, path: Path) -> Words {
    let cells = sampled.cells(path);
    let names: Vec<String> = cells.iter().map(|cell| visible(cell.name).replace(';', ":")).collect();
    let Some(leaf) = cells.last() else { return Words::default() };
    let symbol = sampled.symbol(leaf);
    Words {
        function: leaf.name.to_string(),
        module: sampled.module(leaf).map_or(String::new(), |module| module.path.clone()),
        file: symbol.and_then(|symbol| symbol.file.clone()),
        line: symbol.and_then(|symbol| symbol.line),
        stack: names.join(";"),
        cells: OnceCell::new(),
    }
}

fn cause(sampled: &Sampled<'_>, row: &Row) -> Rc<str> {
    let word = sampled.cause(row).and_then(|cause| serde_json::to_value(cause).ok());
    word.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default().into()
}

/// The same words as in a recording.
fn word(state: TaskState) -> &'static str {
    match state {
        TaskState::Runnable => "runnable",
        TaskState::Sleeping => "sleeping",
        TaskState::DiskSleep => "disk_sleep",
        TaskState::Other => "other",
    }
}
