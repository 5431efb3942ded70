//! Parses numbers as programs print them for people: `1,234.5`, `1e6`, `12k`, `3.4M`. Only decimal k, M, G and T are
//! read.

/// The first number in a text; `None` if there is none, or if it is negative, because a count cannot be.
///
/// A comma or underscore separates thousands if exactly three digits follow it. A `k`, `M`, `G` or `T` directly after
/// the number multiplies it unless it begins a word (`12kops` is a number of thousands, `12kelvin` is not).
pub(super) fn first_number(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let from = (0..bytes.len()).find(|at| digit(*at) || bytes[*at] == b'.' && digit(at + 1))?;
    let negative = from > 0 && bytes[from - 1] == b'-' && (from == 1 || !bytes[from - 2].is_ascii_alphanumeric());
    if negative {
        return None;
    }
    let mut plain = String::new();
    let mut at = whole_part(bytes, from, &mut plain);
    if bytes.get(at) == Some(&b'.') && digit(at + 1) {
        plain.push('.');
        at = digits(bytes, at + 1, &mut plain);
    }
    let exponent = at + 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
    if matches!(bytes.get(at), Some(b'e' | b'E')) && digit(exponent) {
        plain.push_str(&text[at..exponent]);
        at = digits(bytes, exponent, &mut plain);
    }
    let value = plain.parse::<f64>().ok()? * multiple(&bytes[at..]);
    value.is_finite().then_some(value)
}

fn digits(bytes: &[u8], from: usize, plain: &mut String) -> usize {
    let end = bytes[from..].iter().position(|byte| !byte.is_ascii_digit()).map_or(bytes.len(), |length| from + length);
    plain.extend(bytes[from..end].iter().map(|byte| char::from(*byte)));
    end
}

/// Reads digits with thousands separators; returns where they end.
fn whole_part(bytes: &[u8], from: usize, plain: &mut String) -> usize {
    let mut at = digits(bytes, from, plain);
    if at - from > 3 {
        return at;
    }
    while let Some(separator @ (b',' | b'_')) = bytes.get(at)
        && bytes[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count() == 3
    {
        let (group, same) = (at + 1, *separator);
        at = digits(bytes, group, plain);
        if bytes.get(at).is_some_and(|next| matches!(next, b',' | b'_') && *next != same) {
            break;
        }
    }
    at
}

fn multiple(rest: &[u8]) -> f64 {
    let factor = match rest.first() {
        Some(b'k' | b'K') => 1e3,
        Some(b'M') => 1e6,
        Some(b'G') => 1e9,
        Some(b'T') => 1e12,
        _ => return 1.0,
    };
    let word = rest[1..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let operations = rest[1..].to_ascii_lowercase().starts_with(b"op");
    if word == 0 || operations { factor } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for (text, expected) in [
            ("42", Some(42.0)),
            ("ops 1,234,567.5 done", Some(1_234_567.5)),
            ("1_000_000", Some(1e6)),
            ("12,34", Some(12.0)),
            ("1234,567", Some(1234.0)),
            ("1e6", Some(1e6)),
            ("2.5E-1x", Some(0.25)),
            ("3.4M", Some(3.4e6)),
            ("12k requests", Some(12_000.0)),
            ("12kops/s", Some(12_000.0)),
            ("12kelvin", Some(12.0)),
            ("5 M", Some(5.0)),
            ("7ms", Some(7.0)),
            (".5", Some(0.5)),
            ("v.2", Some(0.2)),
            ("1e", Some(1.0)),
            ("-3", None),
            ("run-3", Some(3.0)),
            ("", None),
            ("none, really", None),
            ("1e999", None),
            ("1,2345", Some(1.0)),
            ("1.", Some(1.0)),
            ("99\u{20ac}", Some(99.0)),
        ] {
            assert_eq!(first_number(text), expected, "{text:?}");
        }
    }
}
