//! Stacks as lines of text, `main;parse;strtol 42`, for other flame graph tools and for grep.
//! Names cannot break a line: `;` becomes `:`, and a number that ends a name is protected from parsers.

use crate::export::inert;
use crate::model::{MICROSAMPLES, Unit};
use crate::view::CodeKind;
use crate::view::Label;
use crate::view::escape::visible;
use crate::view::flame::FlameGraph;

/// The lines, ordered by name. With `annotate`, frames end in `_[k]`, `_[j]` or `_[i]` (kernel, JIT, inlined).
#[must_use]
pub fn render(flame: &FlameGraph, annotate: bool) -> Vec<u8> {
    let mut out = String::new();
    for line in &flame.stacks {
        out.push_str(&stack(&line.frames, annotate));
        out.push_str(&format!(" {}\n", value(line.value, flame.unit)));
    }
    inert::document(out)
}

/// A value; millionths are written as the fractions that they were read from.
fn value(value: u64, unit: &str) -> String {
    let (whole, part) = (value / MICROSAMPLES, value % MICROSAMPLES);
    match (unit == Unit::Microsamples.symbol(), part) {
        (false, _) => value.to_string(),
        (true, 0) => whole.to_string(),
        (true, _) => format!("{whole}.{part:06}").trim_end_matches('0').to_string(),
    }
}

/// One stack without its value.
pub(super) fn stack(frames: &[Label], annotate: bool) -> String {
    let mut names: Vec<String> = frames.iter().map(|frame| cell(frame, annotate)).collect();
    if let Some(root) = names.first_mut().filter(|name| name.starts_with("# ")) {
        // Lines that begin with `# ` are comments.
        root.replace_range(1..2, HARD_SPACE);
    }
    if let Some(leaf) = names.last_mut()
        && let Some((head, tail)) = leaf.rsplit_once(' ')
        && tail.chars().all(|c| c.is_ascii_digit() || c == '.')
    {
        // "worker 3" before a value would read as a second value.
        *leaf = format!("{head}{HARD_SPACE}{tail}");
    }
    names.join(";")
}

/// Looks like a space but does not separate fields.
const HARD_SPACE: &str = "\u{a0}";

/// A frame's name as written in a line.
pub(super) fn cell(frame: &Label, annotate: bool) -> String {
    let shown = visible(&frame.text);
    let name = shown.trim().replace(';', ":");
    let name = if name.is_empty() { "[no name]" } else { &name };
    format!("{name}{}", if annotate { suffix(frame) } else { "" })
}

fn suffix(frame: &Label) -> &'static str {
    match (frame.inlined, frame.kind) {
        (true, _) => "_[i]",
        (false, CodeKind::Kernel) => "_[k]",
        (false, CodeKind::Jit) => "_[j]",
        (false, CodeKind::User | CodeKind::Heading) => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(name: &str, kind: CodeKind, inlined: bool) -> Label {
        Label { text: name.to_string(), kind, inlined }
    }

    #[test]
    fn millionths_come_out_as_fractions() {
        for (number, expected) in [(500_000, "0.5"), (10_000_000, "10"), (3_250_001, "3.250001")] {
            assert_eq!(value(number, "microsamples"), expected);
            assert_eq!(value(number, "samples"), number.to_string());
        }
    }

    #[test]
    fn no_name_can_break_a_line() {
        let user = |name| frame(name, CodeKind::User, false);
        for (frames, expected) in [
            (vec![user("main"), user("[u8; 8]::eq")], "main;[u8: 8]::eq"),
            (vec![user("# evil"), user("worker 3")], "#\u{a0}evil;worker\u{a0}3"),
            (vec![user("a\nb 7"), user(" ")], "a␊b 7;[no name]"),
            (vec![frame("read", CodeKind::Kernel, false), frame("x", CodeKind::Kernel, true)], "read_[k];x_[i]"),
            (vec![frame("js", CodeKind::Jit, false)], "js_[j]"),
        ] {
            assert_eq!(stack(&frames, true), expected);
        }
    }
}
