//! Applies the letters after an event: the modes it counts in, and its precision.
//! Letters that the model cannot represent are rejected with the reason.

use crate::error::{Error, ErrorKind, Result};
use crate::model::EventSpec;

/// Applies the letters to an event. `max_precise` resolves `P`.
pub(super) fn apply(letters: &str, max_precise: impl Fn() -> Option<u8>, event: &mut EventSpec) -> Result<()> {
    for letter in letters.chars() {
        if let Some(reason) = refusal(letter) {
            return Err(Error::new(ErrorKind::Usage, format!("modifier '{letter}' {reason}"))
                .hint("Known modifiers: u user, k kernel, h hypervisor, G guest, H host, p pp ppp P precision."));
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
        'S' => Some("is not supported: every event of a group is sampled by itself here"),
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
