//! What is typed to find something among many: words that must all occur, as in other pickers.
//! It knows no kinds of things: whoever asks says which texts belong to one.

/// Words to find.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    words: Vec<String>,
}

impl Filter {
    /// The words of a text. One in lower case finds any case, one with a capital only itself.
    #[must_use]
    pub fn new(text: &str) -> Filter {
        Filter { words: text.split_whitespace().map(str::to_string).collect() }
    }

    /// Whether it lets everything through.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// How well something goes with it that has these texts, the most telling one first: 0 is best; `None` if a word
    /// occurs in none of them.
    #[must_use]
    pub fn rank(&self, texts: &[&str]) -> Option<usize> {
        self.words.iter().map(|word| rank(word, texts)).try_fold(0, |worst, rank| Some(worst.max(rank?)))
    }
}

/// In the first text from its beginning, inside it, in the second text and so on.
fn rank(word: &str, texts: &[&str]) -> Option<usize> {
    let at = texts.iter().position(|text| find(text, word).is_some())?;
    let begins = at == 0 && texts.first().and_then(|text| find(text, word)) == Some(0);
    Some(if begins { 0 } else { at + 1 })
}

fn find(text: &str, word: &str) -> Option<usize> {
    if word.chars().any(char::is_uppercase) {
        return text.find(word);
    }
    // Names are plain ASCII almost always, and thousands of them are searched for every key.
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
