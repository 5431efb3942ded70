//! The pages of the guide: `ironlaw help SUBJECT` prints them, and manual pages end with the one about their command.

use crate::error::{Error, ErrorKind, Result};
use crate::tui::keys::KeyTable;
use std::fmt::Write as _;

/// One page.
#[derive(Debug)]
struct Page {
    subject: &'static str,
    /// Commands that have no page of their own and are described here.
    commands: &'static [&'static str],
    text: &'static str,
}

const PAGES: [Page; 20] = [
    Page {
        subject: "record",
        commands: &["demo", "doctor", "flamegraph", "list"],
        text: include_str!("../../assets/guide/record.md"),
    },
    Page {
        subject: "session",
        commands: &["top", "view", "config"],
        text: include_str!("../../assets/guide/session.md"),
    },
    Page { subject: "stat", commands: &[], text: include_str!("../../assets/guide/stat.md") },
    Page { subject: "operations", commands: &["ops"], text: include_str!("../../assets/guide/operations.md") },
    Page { subject: "latency", commands: &[], text: include_str!("../../assets/guide/latency.md") },
    Page { subject: "numbers", commands: &[], text: include_str!("../../assets/guide/numbers.md") },
    Page { subject: "sweep", commands: &[], text: include_str!("../../assets/guide/sweep.md") },
    Page { subject: "colocate", commands: &[], text: include_str!("../../assets/guide/colocate.md") },
    Page { subject: "diff", commands: &[], text: include_str!("../../assets/guide/diff.md") },
    Page { subject: "baseline", commands: &[], text: include_str!("../../assets/guide/baseline.md") },
    Page { subject: "watch", commands: &[], text: include_str!("../../assets/guide/watch.md") },
    Page { subject: "fleet", commands: &["query"], text: include_str!("../../assets/guide/fleet.md") },
    Page { subject: "many-machines", commands: &[], text: include_str!("../../assets/guide/many-machines.md") },
    Page { subject: "metrics", commands: &[], text: include_str!("../../assets/guide/metrics.md") },
    Page { subject: "memory", commands: &[], text: include_str!("../../assets/guide/memory.md") },
    Page { subject: "runtimes", commands: &[], text: include_str!("../../assets/guide/runtimes.md") },
    Page { subject: "performance", commands: &[], text: include_str!("../../assets/guide/performance.md") },
    Page {
        subject: "formats",
        commands: &["report", "script", "annotate", "export", "import"],
        text: include_str!("../../assets/guide/formats.md"),
    },
    Page { subject: "faults", commands: &[], text: include_str!("../../assets/guide/faults.md") },
    Page { subject: "security", commands: &[], text: include_str!("../../assets/guide/security.md") },
];

/// The page about a subject or a command, of which `help_of` makes the help; without one, the list of subjects.
///
/// # Errors
/// `Usage` if there is no such page.
pub(super) fn page(subject: Option<&str>, help_of: impl Fn(&str) -> Option<String>) -> Result<String> {
    let Some(subject) = subject else { return Ok(list()) };
    if subject == "keys" {
        return Ok(keys());
    }
    let Some(help) = help_of(subject) else { return named(subject) };
    // A command is described by its flags first if its page is about more.
    Ok(match found(subject) {
        Some(page) if page.subject == subject => page.text.to_string(),
        Some(page) => format!("{help}\n{}", page.text),
        None => help,
    })
}

fn named(subject: &str) -> Result<String> {
    found(subject).map(|page| page.text.to_string()).ok_or_else(|| {
        let known: Vec<_> = PAGES.iter().map(|page| page.subject).collect();
        Error::new(ErrorKind::Usage, format!("no guide page for '{subject}'"))
            .hint(format!("Choose one of: {}. For flags: ironlaw COMMAND --help.", known.join(", ")))
    })
}

/// The keys of the session, by section.
fn keys() -> String {
    let mut out =
        String::from("Keys of the session (`?` shows those of the open screen, `ironlaw config` changes them):\n");
    for (section, rows) in KeyTable::default().help(|_| true) {
        let _ = writeln!(out, "\n{section}");
        rows.iter().for_each(|(keys, text)| _ = writeln!(out, "  {keys:<22}  {text}"));
    }
    out
}

/// The subjects of all pages.
pub(super) fn subjects() -> impl Iterator<Item = &'static str> {
    PAGES.iter().map(|page| page.subject)
}

fn found(subject: &str) -> Option<&'static Page> {
    PAGES.iter().find(|page| page.subject == subject || page.commands.contains(&subject))
}

fn list() -> String {
    let mut out = String::from("Pages of the guide:\n\n");
    for page in &PAGES {
        let title = page.text.lines().next().unwrap_or_default().trim_start_matches("# ");
        let _ = writeln!(out, "  ironlaw help {:<15}{title}", page.subject);
    }
    out + "\nFlags of a command: ironlaw COMMAND --help\n"
}

/// The page about a command as the last part of its manual page (roff); nothing if there is none.
pub(super) fn roff(command: &str) -> String {
    let Some(page) = found(command) else { return String::new() };
    let mut out = String::new();
    let mut verbatim = false;
    for line in page.text.lines() {
        let is_code = line.starts_with("    ") || line.starts_with('|') || verbatim && line.is_empty();
        if is_code != verbatim {
            out += if is_code { ".PP\n.nf\n" } else { ".fi\n" };
            verbatim = is_code;
        }
        let _ = match line {
            _ if is_code => writeln!(out, "{}", escaped(line)),
            "" => writeln!(out, ".PP"),
            _ => match (line.strip_prefix("# ").or(line.strip_prefix("## ")), line.strip_prefix("- ")) {
                (Some(title), _) => writeln!(out, ".SH {}", escaped(&title.to_uppercase())),
                (_, Some(item)) => writeln!(out, ".IP \\(bu 2\n{}", escaped(&unmarked(item))),
                _ => writeln!(out, "{}", escaped(&unmarked(line.trim_start()))),
            },
        };
    }
    out += if verbatim { ".fi\n" } else { "" };
    out
}

/// Text without Markdown's emphasis; of a link only its words.
fn unmarked(line: &str) -> String {
    let mut text = line.replace("**", "").replace('`', "");
    while let Some(middle) = text.find("](") {
        let Some(start) = text[..middle].rfind('[') else { break };
        let Some(end) = text[middle..].find(')') else { break };
        text = format!("{}{}{}", &text[..start], &text[start + 1..middle], &text[middle + end + 1..]);
    }
    text
}

/// Text that roff takes for text: it reads backslashes anywhere, and dots and quotes at the start of a line, as requests.
fn escaped(line: &str) -> String {
    let text = line.replace('\\', "\\e").replace('-', "\\-");
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::cli::args::{Cli, help_text};

    fn page(subject: Option<&str>) -> Result<String> {
        super::page(subject, help_text)
    }

    #[test]
    fn every_subject_has_a_page_that_is_listed_by_its_title() {
        let list = page(None).unwrap();
        for Page { subject, commands, .. } in &PAGES {
            let text = page(Some(subject)).unwrap();
            let title = text.lines().next().unwrap().strip_prefix("# ").unwrap();
            assert!(list.contains(title), "{subject}");
            assert!(text.lines().all(|line| line.chars().count() <= 110), "{subject}");
            assert!(commands.iter().all(|command| page(Some(command)).unwrap().ends_with(&text)), "{subject}");
        }
        assert!(page(Some("flamegraph")).unwrap().contains("Usage: ironlaw flamegraph"));
        assert!(page(Some("keys")).unwrap().contains("flame graph"));
        assert_eq!(page(Some("nonesuch")).unwrap_err().kind(), ErrorKind::Usage);
    }

    /// The command lines of ironlaw in a text, each up to where a shell would go on with something else. Outputs are indented
    /// like them and named ironlaw too: they have signs that no example has.
    fn examples(text: &str) -> Vec<String> {
        let text = text.replace("\\\n", " ").replace("$i", "1");
        let lines = text.lines().filter(|line| line.starts_with("    "));
        let own = lines.filter_map(|line| line.trim_start().trim_start_matches("$ ").strip_prefix("ironlaw "));
        let end = |line: &str| {
            let stops = ["  #", " | ", " && ", " > ", "; ", " & "].iter().filter_map(|stop| line.find(stop));
            stops.filter(|at| line[..*at].matches('\'').count().is_multiple_of(2)).min().unwrap_or(line.len())
        };
        let output = |line: &String| ["·", "…", "...", " -> ", "own CPU"].iter().any(|sign| line.contains(sign));
        own.map(|line| line[..end(line)].trim().to_string()).filter(|line| !output(line)).collect()
    }

    #[test]
    fn every_example_is_a_command_line_that_is_understood() {
        let texts = PAGES.iter().map(|page| page.text).chain([include_str!("../../README.md")]);
        let all: Vec<String> = texts.flat_map(examples).collect();
        let wrong = all.iter().filter_map(|example| {
            let words = crate::cli::top::words(&format!("ironlaw {example}"));
            let understood = words.map_err(|error| error.to_string()).and_then(|words| Cli::from_words(&words));
            Some(format!("{example}: {}", understood.err()?.lines().next()?))
        });
        let wrong: Vec<String> = wrong.filter(|text| !text.contains("--help")).collect();
        assert!(wrong.is_empty() && all.len() > 40, "{} examples, wrong: {wrong:#?}", all.len());
    }

    #[test]
    fn a_page_becomes_roff_with_its_examples_as_they_are() {
        let page = roff("operations");
        assert!(
            page.starts_with(".SH ") && page.contains(".nf\n") && page.contains("ironlaw record \\-\\-ops"),
            "{page}"
        );
        assert_eq!(page.matches(".nf\n").count(), page.matches(".fi\n").count());
        assert_eq!(escaped(".5 \\n"), "\\&.5 \\en");
        assert_eq!(unmarked("see **the** [page](a.md) and `x`, [y] [b](c)"), "see the page and x, [y] b");
        assert_eq!(roff("completions"), "");
    }
}
