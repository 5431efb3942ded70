//! Formats ages and lengths of recordings.

/// The time from `then` to `now`, both in nanoseconds since the epoch: `3 min ago`.
#[must_use]
pub fn age(now: u64, then: u64) -> String {
    let Some(seconds) = now.checked_sub(then).map(|age| age / 1_000_000_000) else {
        return "in the future".to_string();
    };
    match seconds {
        0..60 => "just now".to_string(),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..172_800 => format!("{} h ago", seconds / 3600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

/// A length in seconds: `12.3 s`, `4 min 5 s`, `2 h 7 min`.
#[must_use]
pub fn length(seconds: f64) -> String {
    if seconds < 100.0 {
        return crate::view::number::seconds(seconds).joined();
    }
    let whole = seconds.round() as u64;
    match whole {
        0..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_told_in_the_unit_that_matters() {
        const SECOND: u64 = 1_000_000_000;
        for (seconds, expected) in [
            (0, "just now"),
            (59, "just now"),
            (60, "1 min ago"),
            (3599, "59 min ago"),
            (3600, "1 h ago"),
            (172_799, "47 h ago"),
            (172_800, "2 days ago"),
            (86_400 * 400, "400 days ago"),
        ] {
            assert_eq!(age(seconds * SECOND, 0), expected);
        }
        assert_eq!(age(0, 1), "in the future", "the clock was set back");
    }

    #[test]
    fn lengths_are_told_in_two_units_at_most() {
        for (seconds, expected) in [
            (0.5, "500 ms"),
            (12.34, "12.3 s"),
            (245.0, "4 min 5 s"),
            (7620.0, "2 h 7 min"),
            (f64::MAX, "5124095576030431 h 0 min"),
        ] {
            assert_eq!(length(seconds), expected);
        }
    }
}
