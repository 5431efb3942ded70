//! The lines of the screen, from the expectations to the recordings that were read. The caller wraps and escapes them.

use crate::view::diff::{ComparisonView, DiffView, Outcome, Severity, SideView, SubgroupCheck, words};
use crate::view::number::{date, percent, seconds};

/// The kind of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Heading,
    Text,
    Quiet,
    Good,
    Bad,
}

/// One line; leading blanks are its indent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub tone: Tone,
    pub text: String,
}

impl Line {
    pub fn of(tone: Tone, text: String) -> Line {
        Line { tone, text }
    }
}

/// All lines of a comparison.
pub(super) fn lines(view: &DiffView, found: &ComparisonView) -> Vec<Line> {
    let parts = [
        answer(found),
        expected(found),
        gates(found),
        mismatches(found),
        load(found),
        groups(found),
        read(view, found),
    ];
    let mut out: Vec<Line> = Vec::new();
    for (heading, lines) in parts.into_iter().filter(|(_, lines)| !lines.is_empty()) {
        if !out.is_empty() {
            out.push(Line::of(Tone::Text, String::new()));
        }
        out.push(Line::of(Tone::Heading, heading.to_string()));
        out.extend(lines);
    }
    out
}

type Part = (&'static str, Vec<Line>);

fn answer(found: &ComparisonView) -> Part {
    let line = |text: &String| Line::of(Tone::Text, format!("  {text}"));
    ("Answer", found.headline.iter().map(line).collect())
}

fn expected(found: &ComparisonView) -> Part {
    let tone = |outcome| match outcome {
        Outcome::Confirmed => Tone::Good,
        Outcome::Contradicted => Tone::Bad,
        Outcome::NotConfirmed | Outcome::Undecided => Tone::Text,
    };
    let rows = found.expectations.iter();
    let line = rows.map(|row| Line::of(tone(row.outcome), format!("  '{}' {}", row.text, words::expectation(row))));
    ("Expected", line.collect())
}

fn gates(found: &ComparisonView) -> Part {
    let tone = |passes| if passes { Tone::Good } else { Tone::Bad };
    let rows = found.gates.iter();
    let line = rows.map(|gate| Line::of(tone(gate.passes), format!("  '{}' {}", gate.text, words::gate(gate))));
    ("Gate", line.collect())
}

fn mismatches(found: &ComparisonView) -> Part {
    let rows = found.mismatches.iter().map(|mismatch| {
        let tone = if mismatch.severity == Severity::Info { Tone::Text } else { Tone::Bad };
        Line::of(tone, format!("  {} ({})", words::mismatch(mismatch), words::severity(mismatch.severity)))
    });
    let mut lines: Vec<Line> = rows.collect();
    if lines.is_empty() {
        lines.push(Line::of(Tone::Quiet, "  machine, kernel, events and program are the same".to_string()));
    }
    ("Mismatches", lines)
}

fn load(found: &ComparisonView) -> Part {
    ("Load", vec![Line::of(Tone::Text, format!("  {}", found.load_text))])
}

fn groups(found: &ComparisonView) -> Part {
    ("Groups", found.groups.iter().flat_map(group).collect())
}

/// The effect of a mixture on the whole, then each group by itself.
fn group(check: &SubgroupCheck) -> Vec<Line> {
    let by = words::group_kind(check.by);
    let verdict = if check.disagrees {
        Line::of(Tone::Bad, format!("  {}", words::subgroup_text(check)))
    } else {
        Line::of(Tone::Text, format!("  {} by {by}: the whole and its groups agree.", check.quantity))
    };
    let row = |group: &crate::view::diff::GroupRow| {
        let change = words::relative(group.value[1] / group.value[0] - 1.0);
        let [base, new] = group.share.map(|share| percent(share).joined());
        Line::of(Tone::Quiet, format!("    {}: {change}; {base} of the base, {new} of the new", group.name))
    };
    std::iter::once(verdict).chain(check.groups.iter().map(row)).collect()
}

fn read(view: &DiffView, found: &ComparisonView) -> Part {
    let renamed = found.code.iter().flat_map(|code| &code.renamed_modules);
    let renamed = renamed.map(|module| Line::of(Tone::Text, format!("  {}", words::renamed(module))));
    let settings = Line::of(Tone::Quiet, format!("  {}", words::settings(&view.settings)));
    let lines = side("base", &view.base).chain(side("new", &found.new)).chain(renamed).chain([settings]);
    ("What was read", lines.collect())
}

fn side<'a>(name: &'a str, side: &'a SideView) -> impl Iterator<Item = Line> + 'a {
    side.recordings.iter().map(move |run| {
        let program = words::program(run);
        let ops = run.operations.as_ref().map_or(", no operations".to_string(), |ops| format!(", operations by {ops}"));
        let (when, long) = (date(run.started_unix_ns), seconds(run.seconds).joined());
        Line::of(Tone::Text, format!("  {name}: {}, on {}, {when}, {long}{program}{ops}", run.name, run.host))
    })
}
