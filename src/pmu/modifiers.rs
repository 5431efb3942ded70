//! Applies the letters after an event: the modes it counts in, and its precision.
//! Letters that the model cannot represent are rejected with the reason.

use crate::error::{Error, ErrorKind, Result};
use crate::model::EventSpec;

/// Whether a text after a colon can only be modifiers: no tracepoint is named `u`.
pub(super) fn are_letters(text: &str) -> bool {
    text.chars().all(|letter| "ukhGHpPSDWeI".contains(letter))
}

/// Applies the letters to an event. `max_precise` resolves `P`.
pub(super) fn apply(letters: &str, max_precise: impl Fn() -> Option<u8>, event: &mut EventSpec) -> Result<()> {
    for letter in letters.chars() {
        if let Some(reason) = refusal(letter) {
            return Err(Error::new(ErrorKind::Usage, format!("modifier '{letter}' {reason}"))
                .hint("Known modifiers: u user, k kernel, h hypervisor, G guest, H host, p pp ppp P precision; of a group, as in {cycles,instructions}:S, also S."));
        }
    }
    let has = |letter| letters.contains(letter);
    if has('u') || has('k') || has('h') {
        event.exclude_user = !has('u');
        event.exclude_kernel = !has('k');
        event.exclude_hv = !has('h');
    }
    if has('G') || has('H') {
        event.exclude_guest = !has('G');
        event.exclude_host = !has('H');
    }
    event.precise = precision(letters, max_precise)?;
    Ok(())
}

fn refusal(letter: char) -> Option<&'static str> {
    match letter {
        'u' | 'k' | 'h' | 'G' | 'H' | 'p' | 'P' => None,
        'S' => Some("is for a group: its leader takes the samples, which carry the counts of all"),
        'D' => Some("is not supported: events are not pinned; their coverage is shown instead"),
        'W' => Some("is not supported: a group that does not fit is refused, not split"),
        'e' => Some("is not supported: the counters are shared with other users"),
        'I' => Some("is not supported: idle is not part of any target"),
        _ => Some("is not known"),
    }
}

fn precision(letters: &str, max_precise: impl Fn() -> Option<u8>) -> Result<u8> {
    let precise = letters.matches('p').count();
    if precise > 3 {
        return Err(Error::new(ErrorKind::Usage, format!("precision {precise} does not exist"))
            .hint("The highest is :ppp; :P takes what this CPU can."));
    }
    if !letters.contains('P') {
        return Ok(precise as u8);
    }
    max_precise().ok_or_else(|| {
        Error::new(ErrorKind::Unsupported, "modifier 'P': this machine does not say how precise its events are")
            .hint("Leave the P away, or ask for :p, :pp or :ppp.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{EventKind, Unit};

    fn event() -> EventSpec {
        EventSpec { exclude_guest: true, ..EventSpec::new("cycles", EventKind::Hardware(0), Unit::Cycles) }
    }

    #[test]
    fn letters_name_what_is_kept_and_none_keeps_all() {
        for (letters, user, kernel, hv, guest, host) in [
            ("", true, true, true, false, true),
            ("u", true, false, false, false, true),
            ("k", false, true, false, false, true),
            ("h", false, false, true, false, true),
            ("uk", true, true, false, false, true),
            ("ku", true, true, false, false, true),
            ("ukh", true, true, true, false, true),
            ("G", true, true, true, true, false),
            ("H", true, true, true, false, true),
            ("GH", true, true, true, true, true),
            ("uG", true, false, false, true, false),
            ("uu", true, false, false, false, true),
        ] {
            let mut event = event();
            assert!(apply(letters, || None, &mut event).is_ok(), "{letters}");
            let kept =
                [event.exclude_user, event.exclude_kernel, event.exclude_hv, event.exclude_guest, event.exclude_host];
            assert_eq!(kept.map(|excluded| !excluded), [user, kernel, hv, guest, host], "{letters:?}");
        }
    }

    #[test]
    fn precision_is_counted_or_asked_of_the_machine() {
        for (letters, max, expected) in [
            ("", Some(3), Ok(0)),
            ("p", None, Ok(1)),
            ("upp", None, Ok(2)),
            ("ppp", None, Ok(3)),
            ("pup", None, Ok(2)),
            ("pppp", None, Err("precision 4 does not exist")),
            ("P", Some(2), Ok(2)),
            ("P", Some(0), Ok(0)),
            ("P", None, Err("does not say how precise")),
            ("pP", Some(3), Ok(3)),
        ] {
            let mut event = event();
            match (apply(letters, || max, &mut event), expected) {
                (Ok(()), Ok(precise)) => assert_eq!(event.precise, precise, "{letters}"),
                (Err(error), Err(text)) => {
                    assert!(error.to_string().contains(text) && error.remedy().is_some(), "{letters}: {error}");
                }
                (result, _) => panic!("{letters}: {result:?}"),
            }
        }
    }

    #[test]
    fn a_letter_that_perf_knows_is_refused_with_its_reason() {
        for (letter, reason) in [
            ('S', "is for a group"),
            ('D', "not pinned"),
            ('W', "refused, not split"),
            ('e', "shared with other users"),
            ('I', "idle"),
            ('x', "is not known"),
            ('\u{e9}', "is not known"),
            (' ', "is not known"),
        ] {
            let mut changed = event();
            let error = apply(&format!("u{letter}"), || None, &mut changed).err();
            let text = error.map(|error| error.to_string()).unwrap_or_default();
            assert!(text.starts_with(&format!("modifier '{letter}' ")) && text.contains(reason), "{text}");
            assert_eq!(changed, event(), "a refused event is not changed by half");
        }
    }
}
