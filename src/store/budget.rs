//! What the parts of a recording may hold in all, by their size on disk: no recorder fills a small file with many rows.

use crate::error::{Error, ErrorKind, Result};
use crate::model::limits::{ROWS_LEAST, ROWS_PER_BYTE, TEXT_LEAST, TEXT_PER_BYTE};
use crate::tables::Table;

/// What was read of a recording so far.
#[derive(Debug, Default)]
pub(super) struct Budget {
    bytes: u64,
    rows: u64,
    text: u64,
}

impl Budget {
    /// Takes a part of this size.
    ///
    /// # Errors
    /// `Corrupt` if the parts hold more than files of their size do. The part is not taken.
    pub(super) fn take(&mut self, size: u64, table: &Table) -> Result<()> {
        let bytes = self.bytes + size;
        let (rows, text) = (self.rows + table.rows() as u64, self.text + table.text_bytes());
        for (taken, most, what) in [
            (rows, ROWS_LEAST.max(ROWS_PER_BYTE * bytes), "rows"),
            (text, TEXT_LEAST.max(TEXT_PER_BYTE * bytes), "bytes of text"),
        ] {
            if taken > most {
                let text = format!("the recording would have {taken} {what}; files of this size have up to {most}");
                return Err(Error::new(ErrorKind::Corrupt, text));
            }
        }
        *self = Budget { bytes, rows, text };
        Ok(())
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn parts_are_taken_up_to_what_their_size_allows() {
        let rows = ROWS_LEAST as usize;
        let table = Table::builder(rows).bool("kernel", (0..rows).map(|_| true)).build().unwrap();
        let one = Table::builder(1).bool("kernel", [true].into_iter()).build().unwrap();
        let mut budget = Budget::default();
        budget.take(100, &table).unwrap();
        assert_eq!(budget.take(100, &one).unwrap_err().kind(), ErrorKind::Corrupt);
        budget.take(ROWS_LEAST / ROWS_PER_BYTE, &one).unwrap();
        let long = "x".repeat(1 << 20);
        let text = Table::builder(64).text("path", std::iter::repeat_n(&long, 64)).build().unwrap();
        let mut budget = Budget::default();
        (0..TEXT_LEAST >> 26).for_each(|_| budget.take(100, &text).unwrap());
        assert_eq!(budget.take(100, &text).unwrap_err().kind(), ErrorKind::Corrupt);
        budget.take((TEXT_LEAST + (1 << 26)) / TEXT_PER_BYTE, &text).unwrap();
    }
}
