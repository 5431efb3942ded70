//! Patterns over names of events as a shell reads them: `*` is any text, `?` any one character. Case does not matter, as
//! in names of caches.

use super::names;

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
            (Some(c), _) if *c == '?' || c.eq_ignore_ascii_case(&text[next]) => {
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

/// The known names nearest to a name or a pattern without a match, nearest first; none if nothing is near enough.
/// A pattern is compared by the longer of its beginning and its end.
#[must_use]
pub fn nearest(wrong: &str, known: &[String], most: usize) -> Vec<String> {
    let wild = ['*', '?'];
    let (head, tail) = (wrong.split(wild).next().unwrap_or_default(), wrong.rsplit(wild).next().unwrap_or_default());
    let part = |name: &str| match (is_glob(wrong), head.len() >= tail.len()) {
        (false, _) => name.to_string(),
        (true, true) => name.chars().take(head.chars().count()).collect(),
        (true, false) => name.chars().skip(name.chars().count().saturating_sub(tail.chars().count())).collect(),
    };
    let typed = if !is_glob(wrong) {
        wrong
    } else if head.len() >= tail.len() {
        head
    } else {
        tail
    };
    if typed.is_empty() {
        return Vec::new();
    }
    let mut near: Vec<_> =
        known.iter().filter_map(|name| Some((names::slip(typed, &part(name))?, name.clone()))).collect();
    near.sort();
    near.dedup();
    near.into_iter().take(most).map(|(_, name)| name).collect()
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
            ("llc-*", "LLC-loads", true),
            ("*a*b*c", "xaybzbc", true),
            ("*a*b*c", "xaybzb", false),
            ("c?cles", "cycles", true),
            ("c?cles", "ccles", false),
            ("", "", true),
            ("*", "", true),
            ("?", "", false),
            ("größe*", "größer", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn a_slip_in_a_pattern_finds_what_was_meant_by_its_longer_end() {
        let known =
            ["sched:sched_switch", "sched:sched_wakeup", "irq:irq_handler_entry", "cache-misses"].map(String::from);
        for (wrong, expected) in [
            ("shced:sched_*", vec!["sched:sched_switch", "sched:sched_wakeup"]),
            ("*-mises", vec!["cache-misses"]),
            ("cache-miss", vec!["cache-misses"]),
            ("zzzzzzzz*", vec![]),
            ("*", vec![]),
        ] {
            assert_eq!(nearest(wrong, &known, 8), expected, "{wrong}");
        }
        assert_eq!(nearest("shced:sched_*", &known, 1).len(), 1);
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
