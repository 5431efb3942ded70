//! Patterns over names as a shell reads them: `*` is any text, `?` any one character.

/// Whether a text has a wildcard.
#[must_use]
pub fn is_glob(text: &str) -> bool {
    text.contains(['*', '?'])
}

/// Whether a pattern matches the whole text.
#[must_use]
pub fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    // Where the last star stands, and the text that it has not taken yet. Earlier stars need not take more.
    let (mut at, mut next, mut star) = (0, 0, None);
    while next < text.len() {
        match (pattern.get(at), star) {
            (Some('*'), _) => {
                star = Some((at, next));
                at += 1;
            }
            (Some(c), _) if *c == '?' || *c == text[next] => {
                at += 1;
                next += 1;
            }
            (_, Some((place, taken))) => {
                star = Some((place, taken + 1));
                (at, next) = (place + 1, taken + 1);
            }
            _ => return false,
        }
    }
    pattern[at..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_pattern_matches_a_whole_name() {
        for (pattern, text, expected) in [
            ("sched:*", "sched:sched_switch", true),
            ("sched:sched_sw*", "sched:sched_switch", true),
            ("sched:sched_sw*", "sched:sched_wakeup", false),
            ("*-misses", "LLC-load-misses", true),
            ("*-misses", "misses-of", false),
            ("LLC-*", "LLC-loads", true),
            ("llc-*", "LLC-loads", false),
            ("*a*b*c", "xaybzbc", true),
            ("*a*b*c", "xaybzb", false),
            ("c?cles", "cycles", true),
            ("c?cles", "ccles", false),
            ("", "", true),
            ("*", "", true),
            ("?", "", false),
            ("größe*", "größer", true),
            ("worker", "worker-1", false),
            ("w*r*1", "worker-1", true),
            ("ab*ba", "aba", false),
            ("a*b*c", "acb", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    proptest! {
        #[test]
        fn a_name_matches_itself_and_any_pattern_made_of_it(name in "[a-z:_]{0,12}", at in 0_usize..13, star in "[*?]") {
            prop_assert!(matches(&name, &name));
            let at = at.min(name.len());
            let parted = format!("{}*{}", &name[..at], &name[at..]);
            prop_assert!(matches(&parted, &name));
            let longer = format!("{name}{star}");
            prop_assert_eq!(matches(&longer, &name), star == "*");
        }
    }
}
