//! Reads a file in which a program keeps its total. Only regular files are read, so a reading cannot block.

use super::number::first_number;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::limits::OPS_FILE_BYTES;
use crate::sys::files::{open_regular, read_from};
use std::path::Path;
use std::time::Duration;

/// How often an empty file is read again: a program that writes it anew has emptied it, and writes the number next.
const RETRIES: u32 = 10;
const PAUSE: Duration = Duration::from_millis(10);

/// The first number in the file. Waits while the file is empty, for 100 ms at most.
pub(super) fn read(path: &Path) -> Result<f64> {
    let read = || open_regular(path).and_then(|(file, _)| read_from(&file, 0, OPS_FILE_BYTES));
    let mut bytes = read();
    for _ in 0..RETRIES {
        if !bytes.as_ref().is_ok_and(Vec::is_empty) {
            break;
        }
        std::thread::sleep(PAUSE);
        bytes = read();
    }
    let bytes = bytes.context(|| format!("cannot read operations from {}", path.display())).map_err(|error| {
        let hint = "Give a file that the program writes its total number of operations to.";
        if error.kind() == ErrorKind::NotFound { error.hint(hint) } else { error }
    })?;
    first_number(&String::from_utf8_lossy(&bytes)).ok_or_else(|| {
        Error::new(ErrorKind::NotFound, format!("{} holds no number", path.display()))
            .hint("The first number in the file is taken as the total so far.")
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn the_first_number_of_a_file_is_its_total() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("total");
        for (text, expected) in [
            ("1234\n", Ok(1234.0)),
            ("requests: 5,000 of 9", Ok(5000.0)),
            ("", Err("no number")),
            ("-", Err("no number")),
        ] {
            std::fs::write(&path, text).unwrap();
            match (read(&path), expected) {
                (Ok(value), Ok(expected)) => assert_eq!(value, expected, "{text:?}"),
                (Err(error), Err(expected)) => assert!(error.to_string().contains(expected), "{error}"),
                other => panic!("{text:?}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_file_that_is_being_written_anew_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("total");
        std::fs::write(&path, "").unwrap();
        let reads = std::thread::scope(|scope| {
            let reading = scope.spawn(|| (0..3).find_map(|_| read(&path).ok()));
            std::fs::write(&path, "7").unwrap();
            reading.join().unwrap()
        });
        assert_eq!(reads, Some(7.0));
    }

    #[test]
    fn what_is_no_file_is_refused_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let error = read(&dir.path().join("none")).unwrap_err();
        assert!(error.kind() == ErrorKind::NotFound && error.remedy().is_some(), "{error}");
        assert!(error.to_string().contains("none"), "{error}");
        assert!(read(dir.path()).is_err());
    }
}
