//! Several recordings after the base: repeats of one side, or a side each.

use crate::cli::args::DiffArgs;
use crate::cli::out::Terminal;
use std::path::Path;

/// The arguments with repeats joined to one side, and says which was taken where both could be meant.
pub(super) fn joined(args: DiffArgs, terminal: &Terminal) -> DiffArgs {
    let [first, rest @ ..] = &args.new[..] else { return args };
    if rest.is_empty() || args.each {
        return args;
    }
    let count = args.new.len();
    if rest.iter().any(|other| !are_repeats(first, other)) {
        terminal.say(&format!(
            "each of these {count} is compared with {}; if they are repeats of one side, separate them by commas",
            args.base
        ));
        return args;
    }
    let new = args.new.join(",");
    terminal.say(&format!(
        "these {count} are taken as repeats of one side: {new}; --each compares each with {}",
        args.base
    ));
    DiffArgs { new: vec![new], ..args }
}

/// Whether the names differ by a number alone: `new.ironlaw` and `new-2.ironlaw`. A list is a side of its own.
fn are_repeats(a: &str, b: &str) -> bool {
    let is_list = |text: &str| text.contains(',');
    !is_list(a) && !is_list(b) && unnumbered(a) == unnumbered(b)
}

/// The path without the extension of recordings and without the number at the end of its name.
fn unnumbered(text: &str) -> (Option<&Path>, &str) {
    let path = Path::new(text);
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or(text);
    let name = [".ironlaw", ".sweep"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    let is_number = |c: char| c.is_ascii_digit() || "-_.() ".contains(c);
    let bare = name.trim_end_matches(is_number);
    // A name that is a number has nothing else to differ by.
    (path.parent(), bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_by_a_number_alone_are_repeats() {
        for (a, b, expected) in [
            ("new.ironlaw", "new.ironlaw", true),
            ("new", "new-2.ironlaw", true),
            ("b1.ironlaw", "b2.ironlaw", true),
            ("runs/n0001-r01.ironlaw", "runs/n0001-r02.ironlaw", true),
            ("1.ironlaw", "2.ironlaw", true),
            ("main.sweep", "main-2.sweep", true),
            ("fix-a.ironlaw", "fix-b.ironlaw", false),
            ("main.ironlaw", "fix.ironlaw", false),
            ("x/new.ironlaw", "y/new.ironlaw", false),
            ("b1.ironlaw,b2.ironlaw", "b3.ironlaw", false),
        ] {
            assert_eq!(are_repeats(a, b), expected, "{a} {b}");
        }
    }
}
