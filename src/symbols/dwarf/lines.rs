//! The line table of a unit.

use super::UnitRef;
use gimli::Range;

/// A row: from its address to the next row's.
#[derive(Debug, Clone, Copy)]
struct Row {
    address: u64,
    file: u32,
    /// 0 if unknown.
    line: u32,
}

/// Rows of code that lies in one piece.
#[derive(Debug)]
struct Sequence {
    range: Range,
    rows: std::ops::Range<usize>,
}

/// The rows by address.
#[derive(Debug, Default)]
pub(super) struct Lines {
    rows: Vec<Row>,
    sequences: Vec<Sequence>,
}

impl Lines {
    /// Runs the unit's line program.
    pub(super) fn read(unit: UnitRef<'_, '_>) -> gimli::Result<Lines> {
        let mut lines = Lines::default();
        let Some(program) = unit.line_program.clone() else { return Ok(lines) };
        let (mut first, mut program) = (0, program.rows());
        while let Some((_, row)) = program.next_row()? {
            if row.end_sequence() {
                lines.close(&mut first, row.address());
                continue;
            }
            let line = row.line().map_or(0, |line| line.get() as u32);
            let new = Row { address: row.address(), file: u32::try_from(row.file_index()).unwrap_or(u32::MAX), line };
            match lines.rows.get_mut(first..).and_then(<[Row]>::last_mut) {
                Some(last) if last.address == new.address => *last = new,
                _ => lines.rows.push(new),
            }
        }
        lines.rows.truncate(first);
        lines.rows.shrink_to_fit();
        lines.sequences.sort_unstable_by_key(|sequence| sequence.range.begin);
        Ok(lines)
    }

    /// Makes the rows from `first` on a sequence; drops them if they cover nothing.
    fn close(&mut self, first: &mut usize, end: u64) {
        let begin = self.rows.get(*first).map(|row| row.address);
        match begin.filter(|begin| *begin < end) {
            Some(begin) => self.sequences.push(Sequence { range: Range { begin, end }, rows: *first..self.rows.len() }),
            None => self.rows.truncate(*first),
        }
        *first = self.rows.len();
    }

    /// The addresses that have lines.
    pub(super) fn ranges(&self) -> impl Iterator<Item = Range> + '_ {
        self.sequences.iter().map(|sequence| sequence.range)
    }

    /// Number of the file in the unit's table, and the line if it is known.
    pub(super) fn at(&self, address: u64) -> Option<(u64, Option<u32>)> {
        let after = self.sequences.partition_point(|sequence| sequence.range.begin <= address);
        let sequence = self.sequences.get(after.checked_sub(1)?).filter(|sequence| address < sequence.range.end)?;
        let rows = self.rows.get(sequence.rows.clone())?;
        let row = rows.get(rows.partition_point(|row| row.address <= address).checked_sub(1)?)?;
        Some((row.file.into(), (row.line != 0).then_some(row.line)))
    }

    /// Memory of the table, bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.rows) + size_of_val(&*self.sequences)
    }
}

/// The path of a file of the unit's table; `None` without a table.
pub(super) fn file(unit: UnitRef<'_, '_>, index: u64) -> Option<String> {
    let header = unit.line_program.as_ref()?.header();
    let Some(file) = header.file(index) else {
        // Up to version 4, files are numbered from 1.
        return (index == 0).then(String::new);
    };
    let mut path = unit.comp_dir.map(|dir| dir.to_string_lossy().into_owned()).unwrap_or_default();
    // Directory 0 is the unit's.
    if file.directory_index() != 0
        && let Some(directory) = file.directory(header)
    {
        join(&mut path, &unit.attr_string(directory).ok()?.to_string_lossy());
    }
    join(&mut path, &unit.attr_string(file.path_name()).ok()?.to_string_lossy());
    Some(path)
}

/// Compilers of other systems write their own kind of path.
fn join(path: &mut String, part: &str) {
    let backward = |text: &str| text.starts_with('\\') || text.get(1..3) == Some(":\\");
    let rooted = part.starts_with('/') || part.get(1..3) == Some(":/") || backward(part);
    if rooted {
        path.clear();
    } else {
        let separator = if backward(path) { '\\' } else { '/' };
        if !path.is_empty() && !path.ends_with(separator) {
            path.push(separator);
        }
    }
    *path += part;
}
