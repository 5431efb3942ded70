//! Parses files of a process that are read a few times only: its limits and its scheduling.

use super::{fields, number};
use crate::model::{Bound, Scheduling};
use std::collections::BTreeMap;

/// The soft limits in `/proc/PID/limits` by the kernel's names without `Max`: `stack size`.
#[must_use]
pub fn soft_limits(text: &str) -> BTreeMap<String, Bound> {
    let limit = |line: &str| {
        // A column ends at two blanks; names have single ones.
        let (name, rest) = line.strip_prefix("Max ")?.split_once("  ")?;
        let bound = match rest.split_whitespace().next()? {
            "unlimited" => Bound::Unlimited,
            number => Bound::At(number.parse().ok()?),
        };
        Some((name.to_string(), bound))
    };
    text.lines().filter_map(limit).collect()
}

/// Policy, nice value and real-time priority in `stat`, for `/proc/PID/stat` those of the main thread.
#[must_use]
pub fn scheduling(stat: &[u8]) -> Option<Scheduling> {
    // The name may contain parentheses itself, but the fields after it cannot: the last one closes it.
    let close = stat.iter().rposition(|&byte| byte == b')')?;
    let mut rest = fields(&stat[close + 1..]).skip(16);
    let nice = number(&mut rest)?;
    let mut rest = rest.skip(20);
    Some(Scheduling { nice, priority: number(&mut rest)?, policy: number(&mut rest)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: &str = "\
Limit                     Soft Limit           Hard Limit           Units     
Max cpu time              unlimited            unlimited            seconds   
Max stack size            8388608              unlimited            bytes     
Max nice priority         0                    0                    
Max nonsense              many                 0                    
";

    #[test]
    fn soft_limits_are_read_by_name_and_nonsense_is_left_out() {
        let expected =
            [("cpu time", Bound::Unlimited), ("stack size", Bound::At(8_388_608)), ("nice priority", Bound::At(0))];
        let expected: BTreeMap<String, Bound> = expected.map(|(name, bound)| (name.to_string(), bound)).into();
        assert_eq!(soft_limits(LIMITS), expected);
        assert_eq!(soft_limits("Max"), BTreeMap::new());
    }

    #[test]
    fn the_scheduling_is_read_behind_a_name_with_parentheses() {
        let numbers: Vec<String> = (4..=52).map(|field| field.to_string()).collect();
        let text = format!("7 (a) b) R {}\n", numbers.join(" "));
        assert_eq!(scheduling(text.as_bytes()), Some(Scheduling { nice: 19, priority: 40, policy: 41 }));
        assert_eq!((scheduling(b"7 (a) R 1 2"), scheduling(b"")), (None, None));
    }
}
