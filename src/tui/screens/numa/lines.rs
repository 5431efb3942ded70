//! The lines of the screen: memory and threads by node, sampled accesses, shared cache lines.

use crate::view::fit::{left, right, width};
use crate::view::memory::{self, LevelView, LineView, MemoryView, NodeView};
use crate::view::numa::NumaView;
use crate::view::number::count;
use crate::view::places::{self, NodePlacesView, PlacesView};

/// The kind of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Heading,
    Captions,
    Text,
    Quiet,
    Alert,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub tone: Tone,
    pub text: String,
}

impl Line {
    pub fn of(tone: Tone, text: impl Into<String>) -> Line {
        Line { tone, text: text.into() }
    }
}

/// All lines.
pub(super) fn lines(view: &NumaView) -> Vec<Line> {
    let mut out = match &view.places {
        Some(places) => nodes(places),
        None => vec![Line::of(Tone::Text, "the CPUs of the machine and their nodes were not recorded")],
    };
    out.push(Line::of(Tone::Text, ""));
    match &view.accesses {
        Some(accesses) => {
            out.extend(levels(accesses));
            out.extend(accesses.lines.iter().flat_map(shared));
        }
        None => {
            out.push(Line::of(Tone::Heading, "Memory accesses"));
            let text = "  none were sampled: `perf mem record` does where the CPU can, and ironlaw reads its perf.data";
            out.push(Line::of(Tone::Quiet, text));
        }
    }
    out
}

fn nodes(places: &PlacesView) -> Vec<Line> {
    let mut out = vec![Line::of(Tone::Heading, format!("Memory and threads by node  {}", places.about()))];
    out.push(Line::of(Tone::Text, format!("  {}", places.text())));
    out.extend(table(places::NODE_CAPTIONS, &places.nodes.iter().map(NodePlacesView::cells).collect::<Vec<_>>()));
    out
}

fn levels(view: &MemoryView) -> Vec<Line> {
    let mut out = vec![Line::of(Tone::Heading, format!("Memory accesses  {}", view.about()))];
    out.extend(table(memory::LEVEL_CAPTIONS, &view.levels.iter().map(LevelView::cells).collect::<Vec<_>>()));
    out.push(Line::of(Tone::Quiet, format!("  {}", view.rest())));
    if !view.nodes.is_empty() {
        out.push(Line::of(Tone::Text, ""));
        out.push(Line::of(Tone::Heading, "Accesses by NUMA node  those of the CPUs of each node, by who answered"));
        out.extend(table(memory::NODE_CAPTIONS, &view.nodes.iter().map(NodeView::cells).collect::<Vec<_>>()));
    }
    out
}

fn shared(line: &LineView) -> Vec<Line> {
    let of = line.pid.map_or("the kernel".to_string(), |pid| format!("pid {pid}"));
    let hitm = format!("HITM {} local, {} remote", count(line.hitm_local), count(line.hitm_remote));
    let tone = if line.sharing == "false_sharing" { Tone::Alert } else { Tone::Text };
    let mut out = vec![
        Line::of(Tone::Text, ""),
        Line::of(Tone::Heading, format!("Cache line {} of {of}  {hitm}", line.address)),
        Line::of(tone, format!("  {}", line.verdict())),
    ];
    let head = ["offset", "loads", "stores", "HITM", "who"];
    let rows = line.uses.iter().map(|it| {
        let who = format!("{} by {}", it.function, it.threads.join(", "));
        [format!("+{:#04x}", it.offset), count(it.loads), count(it.stores), count(it.hitm_local + it.hitm_remote), who]
    });
    out.extend(table(head, &rows.collect::<Vec<_>>()));
    out
}

/// Rows below their captions; the first column and a last one of names are left-aligned.
fn table<const N: usize>(captions: [&str; N], rows: &[[String; N]]) -> Vec<Line> {
    let head = captions.map(String::from);
    let wide = |at: usize| rows.iter().chain([&head]).map(|row| width(&row[at])).max().unwrap_or_default();
    let widths: [usize; N] = std::array::from_fn(wide);
    let line = |row: &[String; N]| {
        let mut text = String::from(" ");
        for (at, cell) in row.iter().enumerate() {
            let is_name = at == 0 || head[at] == "who";
            text += &format!(" {} ", if is_name { left(cell, widths[at]) } else { right(cell, widths[at]) });
        }
        text.trim_end().to_string()
    };
    let captions = Line::of(Tone::Captions, line(&head));
    std::iter::once(captions).chain(rows.iter().map(|row| Line::of(Tone::Text, line(row)))).collect()
}
