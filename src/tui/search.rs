//! The search of all screens: text or a regular expression.

use regex::{Regex, RegexBuilder};
use std::cell::RefCell;

/// A name that holds one of these is searched for as it is first: C++ is full of them.
const OF_EXPRESSIONS: [char; 13] = ['.', '*', '+', '?', '^', '$', '(', ')', '[', ']', '{', '|', '\\'];

thread_local! {
    /// The last text that was searched for and whether its case counts, as an expression if it is one.
    static LAST: RefCell<(String, bool, Option<Regex>)> = const { RefCell::new((String::new(), false, None)) };
}

/// Whether a name contains the text, or a match of it as an expression, in any case.
pub fn holds(name: &str, text: &str) -> bool {
    name.to_lowercase().contains(&text.to_lowercase()) || holds_match(name, text, false)
}

/// The same, but a capital letter in the text makes its case count.
pub fn holds_smart(name: &str, text: &str) -> bool {
    if is_exact(text) { name.contains(text) || holds_match(name, text, true) } else { holds(name, text) }
}

fn holds_match(name: &str, text: &str, exact: bool) -> bool {
    text.contains(OF_EXPRESSIONS)
        && LAST.with_borrow_mut(|(last, was_exact, expression)| {
            if last != text || *was_exact != exact {
                (*last, *was_exact, *expression) = (text.to_string(), exact, compiled(text, exact));
            }
            expression.as_ref().is_some_and(|expression| expression.is_match(name))
        })
}

fn compiled(text: &str, exact: bool) -> Option<Regex> {
    // An expression of any size can be pasted.
    const MOST_BYTES: usize = 1 << 20;
    RegexBuilder::new(text).case_insensitive(!exact).size_limit(MOST_BYTES).build().ok()
}

/// Whether it has a capital letter that is not that of a class, as in `\S`.
fn is_exact(text: &str) -> bool {
    let mut escaped = false;
    text.chars().any(|c| {
        let capital = c.is_uppercase() && !escaped;
        escaped = c == '\\' && !escaped;
        capital
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_is_text_or_an_expression() {
        for (text, found, not) in [
            ("lru", "LRUCache::Lookup", "hash"),
            ("LOOKUP", "LRUCache::Lookup", "hash"),
            ("^std::.*map", "std::unordered_map::find", "my::std::map"),
            ("read|write", "__GI___write", "open"),
            ("_block$", "checksum_block", "block_io"),
            (r"\Slock", "futex_lock", "lock"),
            // Not expressions, or expressions that mean something else: found as they are written.
            ("operator()", "Foo::operator()(int)", "bar"),
            ("operator[]", "std::vector::operator[]", "operator()"),
            ("f(", "f(int)", "g(int)"),
            ("char*", "copy(char*)", "copy(int*)"),
        ] {
            assert!(holds(found, text), "{text} in {found}");
            assert!(!holds(not, text), "{text} in {not}");
        }
        for (text, found, not) in [("LRU", "LRUCache", "lru"), ("lru", "LRUCache", "hash"), ("^Get", "Get", "get")] {
            assert!(holds_smart(found, text) && !holds_smart(not, text), "{text}");
        }
    }
}
