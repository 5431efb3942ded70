//! Writes JSON piece by piece, for files that are larger than memory should hold.
//! Names are complete; characters that would act on a terminal are written as escapes such as `\u001b`.

use crate::error::{Context, Result};
use crate::view::escape::visible;
use std::borrow::Cow;
use std::io::Write;

/// A text as a JSON string, quotes included.
pub(super) fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", if is_inert(text) { escaped } else { in_ascii(&escaped) })
}

fn is_inert(text: &str) -> bool {
    matches!(visible(text), Cow::Borrowed(_))
}

/// JSON in which no character acts on a terminal: text that is shown unchanged is kept as it is; in any other text, all
/// characters but printable ASCII are escaped.
pub(super) fn inert(json: &str) -> Cow<'_, str> {
    if is_inert(json) { Cow::Borrowed(json) } else { Cow::Owned(in_ascii(json)) }
}

fn in_ascii(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        match c {
            ' '..='~' => out.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    out
}

/// Nanoseconds as milliseconds, exactly.
pub(super) fn milliseconds(nanos: u64) -> String {
    let (whole, part) = (nanos / 1_000_000, nanos % 1_000_000);
    if part == 0 { whole.to_string() } else { format!("{whole}.{}", format!("{part:06}").trim_end_matches('0')) }
}

/// `"key":[a,b,...]`, its values already JSON.
pub(super) fn array<W: Write + ?Sized>(
    out: &mut W,
    key: &str,
    values: impl Iterator<Item = impl std::fmt::Display>,
) -> Result<()> {
    write!(out, "\"{key}\":[").context(failed)?;
    for (at, value) in values.enumerate() {
        write!(out, "{}{value}", if at == 0 { "" } else { "," }).context(failed)?;
    }
    write!(out, "]").context(failed)
}

/// The context of write errors.
pub(super) fn failed() -> &'static str {
    "cannot write the export"
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back_as_it_was_and_none_can_act_on_a_terminal() {
        for name in ["main", "größe", "a\"b\\c", "\u{1b}[31m", "\u{9b}2J名前", "\u{202e}x\u{1f600}", "a\nb\u{7f}"] {
            let written = quoted(name);
            assert_eq!(serde_json::from_str::<String>(&written).unwrap(), name);
            assert_eq!(visible(&written), written);
        }
    }

    #[test]
    fn milliseconds_are_exact() {
        for (nanos, expected) in [(0, "0"), (1, "0.000001"), (1_500_000, "1.5"), (u64::MAX, "18446744073709.551615")] {
            assert_eq!(milliseconds(nanos), expected);
        }
    }
}
