//! UTC dates for names and headers. UTC only, because recordings are read on other machines and in other time zones.

/// A date and time of day in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Utc {
    /// Year, e.g. 2026.
    pub year: u64,
    /// Month, from 1.
    pub month: u64,
    /// Day of the month, from 1.
    pub day: u64,
    /// Hour, 0 to 23.
    pub hour: u64,
    /// Minute.
    pub minute: u64,
    /// Second.
    pub second: u64,
}

impl Utc {
    /// The date of a second since the Unix epoch. Like Unix time, it ignores leap seconds.
    ///
    /// Counts days in 400-year cycles from 0000-03-01, so that a leap day is the last day of its year (Howard Hinnant,
    /// "chrono-compatible low-level date algorithms").
    #[must_use]
    pub fn from_unix(seconds: u64) -> Utc {
        let shifted = seconds / 86_400 + 719_468;
        let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
        let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let second = seconds % 86_400;
        Utc {
            year: era * 400 + year_of_era + u64::from(month <= 2),
            month,
            day: day_of_year - (153 * month_from_march + 2) / 5 + 1,
            hour: second / 3_600,
            minute: second / 60 % 60,
            second: second % 60,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leap_days_and_year_ends_fall_where_they_should() {
        for (unix, expected) in [
            (0, (1970, 1, 1, 0, 0, 0)),
            (951_827_696, (2000, 2, 29, 12, 34, 56)),
            (1_735_689_599, (2024, 12, 31, 23, 59, 59)),
            (4_107_542_400, (2100, 3, 1, 0, 0, 0)),
        ] {
            let Utc { year, month, day, hour, minute, second } = Utc::from_unix(unix);
            assert_eq!((year, month, day, hour, minute, second), expected);
        }
    }
}
