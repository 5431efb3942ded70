//! A checklist for people: items that work take one line each, the others show how to fix them.
//! The caller supplies the marks.

use super::page::{Ink, Page};
use super::{Style, columns};
use crate::view::escape::visible;

/// State of an item, shown by a word as well as by colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// It works.
    Good,
    /// It works in part.
    Partial,
    /// It does not work.
    Bad,
    /// It could not be determined.
    Unknown,
}

impl Mark {
    fn word(self) -> &'static str {
        match self {
            Mark::Good => "ok",
            Mark::Partial => "part",
            Mark::Bad => "NO",
            Mark::Unknown => "?",
        }
    }
}

/// One item that was checked.
#[derive(Debug, Clone, Copy)]
pub struct Item<'a> {
    /// Its state.
    pub mark: Mark,
    /// Its short name.
    pub topic: &'a str,
    /// The result of the check.
    pub text: &'a str,
    /// What it means; may be empty.
    pub detail: &'a str,
    /// The command or setting that fixes it.
    pub fix: Option<&'a str>,
}

/// Columns of a topic; a longer one gets a line of its own.
const TOPIC: usize = 19;

/// The list below its verdict.
#[must_use]
pub fn checklist(verdict: &str, items: &[Item<'_>], style: Style) -> Vec<u8> {
    let mut page = Page::new(style);
    page.line(&page.paint(Ink::Heading, verdict));
    page.line("");
    for item in items {
        write(&mut page, item);
    }
    page.finish()
}

fn write(page: &mut Page, item: &Item<'_>) {
    let topic = visible(item.topic);
    let mut lead = format!("{}  {}  ", columns::right(item.mark.word(), 4), columns::left(&topic, TOPIC));
    let below = " ".repeat(4 + 2 + TOPIC + 2);
    if columns::width(&topic) > TOPIC {
        page.line(&lead);
        lead.clone_from(&below);
    }
    let alert = (item.mark == Mark::Bad).then_some(Ink::Alert);
    page.paragraph(&lead, item.text, alert);
    if item.mark != Mark::Good && !item.detail.is_empty() {
        page.paragraph(&below, item.detail, Some(Ink::Quiet));
    }
    if let Some(fix) = item.fix {
        // Commands are not wrapped, so that they can be copied.
        page.line(&format!("{below}fix: {}", visible(fix)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lack_says_why_and_how_to_mend_it_and_what_works_is_one_line() {
        let items = [
            Item { mark: Mark::Good, topic: "perf-events", text: "opened", detail: "not shown", fix: None },
            Item { mark: Mark::Bad, topic: "pmu", text: "no \x1b[31mcycles", detail: "virtual", fix: Some("x=1") },
        ];
        let text = String::from_utf8(checklist("verdict", &items, Style::default())).unwrap_or_default();
        let expected = "verdict\n\n  ok  perf-events          opened\n  NO  pmu                  no ␛[31mcycles\n";
        assert_eq!(text, format!("{expected}{0}virtual\n{0}fix: x=1\n", " ".repeat(27)));
    }
}
