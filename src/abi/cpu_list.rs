//! Parses and formats CPU lists as the kernel and people write them: `0-3,8`.

use crate::error::{Error, ErrorKind, Result};
use std::collections::BTreeSet;

/// The most CPUs any kernel can be built for, with a margin; a longer range is a typing error.
const HIGHEST: u32 = 65_535;

/// Parses a list such as `0-3,8` into ascending, distinct numbers; an empty text is an empty list.
pub fn parse_cpu_list(text: &str) -> Result<Vec<u32>> {
    let invalid = |part: &str, why: &str| {
        Error::new(ErrorKind::Usage, format!("invalid CPU list '{}': '{part}' {why}", text.trim()))
    };
    let mut cpus = BTreeSet::new();
    for part in text.trim().split(',').filter(|_| !text.trim().is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |digits: &str| {
            digits.trim().parse::<u32>().map_err(|_| invalid(part, "is not a CPU or range of CPUs, such as 0-3,8"))
        };
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return Err(invalid(part, "runs backwards"));
        }
        if last > HIGHEST {
            return Err(invalid(part, "is beyond the highest CPU number"));
        }
        cpus.extend(first..=last);
    }
    Ok(cpus.into_iter().collect())
}

/// Formats numbers as a list; the inverse of [`parse_cpu_list`] for ascending numbers.
#[must_use]
pub fn format_cpu_list(cpus: &[u32]) -> String {
    let runs = cpus.chunk_by(|&before, &after| before.checked_add(1) == Some(after));
    let parts: Vec<String> = runs
        .filter_map(|run| match run {
            [only] => Some(only.to_string()),
            [first, .., last] => Some(format!("{first}-{last}")),
            [] => None,
        })
        .collect();
    parts.join(",")
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ranges_and_numbers_are_joined_in_order() {
        let rows: [(&str, &[u32]); 5] = [
            ("0-3,8\n", &[0, 1, 2, 3, 8]),
            ("5", &[5]),
            ("", &[]),
            ("3,1-2,2", &[1, 2, 3]),
            (" 1 , 4 - 5", &[1, 4, 5]),
        ];
        for (text, cpus) in rows {
            assert_eq!(parse_cpu_list(text).unwrap(), cpus, "{text:?}");
        }
    }

    #[test]
    fn what_is_no_list_is_refused_with_its_wrong_part() {
        for (text, part) in
            [("0-", "0-"), ("a", "a"), ("1,,2", ""), ("3-1", "3-1"), ("0-99999999", "0-99999999"), ("-1", "-1")]
        {
            let error = parse_cpu_list(text).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage);
            assert!(error.to_string().starts_with(&format!("invalid CPU list '{text}': '{part}' ")), "{error}");
        }
    }

    proptest! {
        #[test]
        fn a_list_survives_being_written_and_read(cpus in proptest::collection::btree_set(0u32..300, 0..40)) {
            let cpus: Vec<u32> = cpus.into_iter().collect();
            prop_assert_eq!(parse_cpu_list(&format_cpu_list(&cpus)).unwrap(), cpus);
        }

        #[test]
        fn no_text_makes_it_panic(text in "[0-9,\\- \\PC]{0,24}") {
            let _ = parse_cpu_list(&text);
        }
    }
}
