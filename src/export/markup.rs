//! Escapes text for XML and HTML, so that a name from a target cannot end its element or its attribute.

use crate::view::escape::visible;

/// A name as the content of an element or of an attribute between double quotes.
pub(super) fn escaped(text: &str) -> String {
    attribute(&visible(text))
}

/// Our own text, including line breaks, as an attribute between double quotes.
pub(super) fn attribute(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}

/// A coordinate; a tenth of a pixel is precise enough, and short.
pub(super) fn px(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_neither_ends_its_element_nor_its_attribute() {
        assert_eq!(escaped("</a>\"'&\u{1b}"), "&lt;/a&gt;&quot;&#39;&amp;␛");
    }

    #[test]
    fn coordinates_are_short() {
        assert_eq!([px(12.04), px(0.25), px(-0.02)], ["12", "0.2", "-0"]);
    }
}
