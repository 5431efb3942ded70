//! What a recording's directory is called. Pure: it looks at no file system and no clock.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The suffix of every recording's directory.
const SUFFIX: &str = "ironlaw";

/// The directory for a name as typed: `.ironlaw` is added unless it is there. `cpu.1` becomes `cpu.1.ironlaw`.
#[must_use]
pub fn path(name: &Path) -> PathBuf {
    match name.file_name() {
        Some(file) if name.extension().is_none_or(|extension| extension != SUFFIX) => {
            let mut with_suffix = OsString::from(file);
            with_suffix.push(".");
            with_suffix.push(SUFFIX);
            name.with_file_name(with_suffix)
        }
        _ => name.to_path_buf(),
    }
}

/// The name of a recording that was given none: `ironlaw-YYYYMMDD-HHMMSS.ironlaw`, in UTC.
#[must_use]
pub fn default_name(unix_seconds: u64) -> PathBuf {
    let (days, second) = (unix_seconds / 86_400, unix_seconds % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("ironlaw-{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}.{SUFFIX}").into()
}

/// Year, month and day of a day counted from 1970-01-01 (H. Hinnant, "chrono-compatible low-level date algorithms").
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suffix_is_added_once() {
        for (typed, expected) in [
            ("foo", "foo.ironlaw"),
            ("foo/", "foo.ironlaw"),
            ("a/cpu.1", "a/cpu.1.ironlaw"),
            ("foo.ironlaw", "foo.ironlaw"),
            ("foo.ironlaw/", "foo.ironlaw/"),
            ("..", ".."),
        ] {
            assert_eq!(path(Path::new(typed)), Path::new(expected), "{typed}");
        }
    }

    #[test]
    fn a_default_name_tells_the_second_it_began() {
        for (unix, expected) in [
            (0, "19700101-000000"),
            (951_827_696, "20000229-123456"),
            (1_735_689_599, "20241231-235959"),
            (4_107_542_400, "21000301-000000"),
        ] {
            assert_eq!(default_name(unix), Path::new(&format!("ironlaw-{expected}.ironlaw")));
        }
    }
}
