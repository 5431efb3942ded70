//! The values of a column: one type for all rows, and which rows hold one.

use super::format::corrupt;
use crate::error::Result;
use std::hash::Hash;
use std::ops::Range;

/// A number of one of the two widths.
pub(super) trait Number: Copy + Default + Eq + Ord + Hash {
    /// Bytes of a plainly written number.
    const BYTES: usize;
    /// The number whose lowest bits these are.
    fn of(bits: u64) -> Self;
    /// The number as a signed one of its width.
    fn signed(self) -> i64;
}

impl Number for u32 {
    const BYTES: usize = 4;

    fn of(bits: u64) -> u32 {
        bits as u32
    }

    fn signed(self) -> i64 {
        i64::from(self as i32)
    }
}

impl Number for u64 {
    const BYTES: usize = 8;

    fn of(bits: u64) -> u64 {
        bits
    }

    fn signed(self) -> i64 {
        self as i64
    }
}

/// One value a row; a row without a value has the type's default.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Values {
    Narrow(Vec<u32>),
    Wide(Vec<u64>),
    Bool(Vec<bool>),
    Text(Texts),
}

impl Values {
    pub fn len(&self) -> usize {
        match self {
            Values::Narrow(values) => values.len(),
            Values::Wide(values) => values.len(),
            Values::Bool(values) => values.len(),
            Values::Text(values) => values.rows.len(),
        }
    }

    /// Appends values of the same type; those of another change nothing.
    pub fn append(&mut self, other: &Values) {
        match (self, other) {
            (Values::Narrow(values), Values::Narrow(other)) => values.extend_from_slice(other),
            (Values::Wide(values), Values::Wide(other)) => values.extend_from_slice(other),
            (Values::Bool(values), Values::Bool(other)) => values.extend_from_slice(other),
            (Values::Text(values), Values::Text(other)) => values.append(other),
            _ => {}
        }
    }
}

/// Texts in one buffer. Rows of the same text may share its place.
#[derive(Debug, Clone, Default)]
pub(super) struct Texts {
    buffer: String,
    rows: Vec<Range<usize>>,
}

impl Texts {
    pub fn push(&mut self, text: &str) {
        let start = self.buffer.len();
        self.buffer.push_str(text);
        self.rows.push(start..self.buffer.len());
    }

    /// A text in bytes as they come from a file.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Corrupt`] unless it is UTF-8.
    pub fn push_bytes(&mut self, text: &[u8]) -> Result<()> {
        self.push(str::from_utf8(text).map_err(|error| corrupt(&error))?);
        Ok(())
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().map(|row| &self.buffer[row.clone()])
    }

    /// Rows with the texts of these rows, which share their places; `None` where a row does not exist.
    pub fn select(mut self, rows: &[u32]) -> Option<Texts> {
        self.rows = rows.iter().map(|row| self.rows.get(*row as usize).cloned()).collect::<Option<_>>()?;
        Some(self)
    }

    /// Gives rows without a text an empty one.
    pub fn spread(mut self, present: &[bool]) -> Texts {
        let mut rows = self.rows.into_iter();
        let place = |present: &bool| if *present { rows.next().unwrap_or_default() } else { 0..0 };
        self.rows = present.iter().map(place).collect();
        self
    }

    fn append(&mut self, other: &Texts) {
        let start = self.buffer.len();
        self.buffer.push_str(&other.buffer);
        self.rows.extend(other.rows.iter().map(|row| start + row.start..start + row.end));
    }
}

impl PartialEq for Texts {
    fn eq(&self, other: &Texts) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<T: AsRef<str>> FromIterator<T> for Texts {
    fn from_iter<I: IntoIterator<Item = T>>(texts: I) -> Texts {
        let mut collected = Texts::default();
        texts.into_iter().for_each(|text| collected.push(text.as_ref()));
        collected
    }
}
