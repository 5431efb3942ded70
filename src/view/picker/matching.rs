//! The search filter: words that must all occur, as in other pickers.
//! Callers choose the texts that an item is matched against.

/// Words to find.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    words: Vec<String>,
}

impl Filter {
    /// Splits a text into words. A lowercase word matches any case, a word with a capital only itself.
    #[must_use]
    pub fn new(text: &str) -> Filter {
        Filter { words: text.split_whitespace().map(str::to_string).collect() }
    }

    /// Whether it matches everything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// How well an item with these texts matches, most important text first: 0 is best; `None` if a word occurs in none
    /// of them.
    #[must_use]
    pub fn rank(&self, texts: &[&str]) -> Option<usize> {
        self.words.iter().map(|word| rank(word, texts)).try_fold(0, |worst, rank| Some(worst.max(rank?)))
    }
}

/// 0 at the start of the first text, 1 inside it, 2 in the second text, and so on.
fn rank(word: &str, texts: &[&str]) -> Option<usize> {
    let at = texts.iter().position(|text| find(text, word).is_some())?;
    let begins = at == 0 && texts.first().and_then(|text| find(text, word)) == Some(0);
    Some(if begins { 0 } else { at + 1 })
}

fn find(text: &str, word: &str) -> Option<usize> {
    if word.chars().any(char::is_uppercase) {
        return text.find(word);
    }
    // Names are almost always ASCII, and each key press searches thousands of them.
    if word.is_ascii() {
        let (text, word) = (text.as_bytes(), word.as_bytes());
        return text.windows(word.len()).position(|part| part.eq_ignore_ascii_case(word));
    }
    text.to_lowercase().find(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_must_occur_and_a_capital_is_meant() {
        let texts = ["redis-server", "/usr/bin/redis-server *:7777 --Größe", "4123"];
        for (typed, expected) in [
            ("", Some(0)),
            ("redis", Some(0)),
            ("REDIS", None),
            ("server", Some(1)),
            ("7777", Some(2)),
            ("412", Some(3)),
            ("redis 7777", Some(2)),
            ("redis 8888", None),
            ("größe", Some(2)),
            ("Größe", Some(2)),
            ("GRÖSSE", None),
            ("a-word-longer-than-all-of-the-texts-that-are-searched-for-it", None),
        ] {
            assert_eq!(Filter::new(typed).rank(&texts), expected, "{typed}");
        }
        assert_eq!(Filter::new("x").rank(&[]), None);
        assert!(Filter::new("  ").is_empty());
    }
}
