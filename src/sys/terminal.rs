//! How wide a terminal is. It never changes the terminal's settings.

use std::os::fd::AsFd;

/// Columns of the terminal behind `fd`; `None` if it is none, or does not say.
pub fn columns(fd: impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(fd).ok()?;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_no_columns() {
        assert_eq!(std::fs::File::open("/dev/null").ok().and_then(columns), None);
    }
}
