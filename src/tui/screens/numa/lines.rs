//! The lines of the screen: memory and threads by node, sampled accesses, shared cache lines.

use crate::view::fit::{left, right, width};
use crate::view::memory::{self, LineView, MemoryView};
use crate::view::numa::NumaView;
use crate::view::number::count;
use crate::view::places::{self, PlacesView};
use crate::view::sockets::{self, SocketsView};

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
    out.extend(bandwidth(&view.sockets));
    out.push(Line::of(Tone::Text, ""));
    match &view.accesses {
        Some(accesses) => {
            out.extend(levels(accesses));
            out.extend(accesses.lines.iter().flat_map(shared));
        }
        None => {
            out.push(Line::of(Tone::Heading, "Memory accesses"));
            let text = "  none were sampled: --mem does where the CPU can; perf.data of `perf mem record` has them too";
            out.push(Line::of(Tone::Quiet, text));
        }
    }
    out
}

fn nodes(places: &PlacesView) -> Vec<Line> {
    let mut out = vec![Line::of(Tone::Heading, format!("Memory and threads by node  {}", places.about()))];
    out.push(Line::of(Tone::Text, format!("  {}", places.text())));
    out.extend(table(&places::NODE_CAPTIONS, places.nodes.iter().map(|node| node.cells().to_vec()).collect()));
    if let Some((captions, rows)) = places.expected_table() {
        out.extend(heading(places::EXPECTED_HEADING));
        out.extend(table(&captions, rows));
    }
    out
}

fn bandwidth(view: &SocketsView) -> Vec<Line> {
    let mut out = heading(sockets::HEADING).to_vec();
    match view {
        SocketsView::Counted(sockets) => {
            out.extend(table(&sockets::CAPTIONS, sockets.iter().map(|socket| socket.cells()).collect()));
        }
        SocketsView::NotCounted(why) => out.push(Line::of(Tone::Quiet, format!("  {why}"))),
    }
    out
}

fn levels(view: &MemoryView) -> Vec<Line> {
    let mut out = vec![Line::of(Tone::Heading, format!("Memory accesses  {}", view.about()))];
    out.extend(table(&memory::LEVEL_CAPTIONS, view.levels.iter().map(|row| row.cells().to_vec()).collect()));
    out.push(Line::of(Tone::Quiet, format!("  {}", view.rest())));
    if !view.nodes.is_empty() {
        out.extend(heading(memory::NODE_HEADING));
        out.extend(table(&memory::NODE_CAPTIONS, view.nodes.iter().map(|row| row.cells().to_vec()).collect()));
    }
    if !view.pairs.is_empty() {
        out.extend(heading(memory::PAIR_HEADING));
        out.extend(table(&memory::PAIR_CAPTIONS, view.pairs.iter().map(|row| row.cells().to_vec()).collect()));
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
        let counts = [it.loads, it.stores, it.hitm_local + it.hitm_remote].map(count);
        [vec![format!("+{:#04x}", it.offset)], counts.to_vec(), vec![who]].concat()
    });
    out.extend(table(&head, rows.collect()));
    out
}

/// The heading of another table.
fn heading((title, about): (&str, &str)) -> [Line; 2] {
    [Line::of(Tone::Text, ""), Line::of(Tone::Heading, format!("{title}  {about}"))]
}

/// Rows below their captions; the first column and a last one of names are left-aligned.
fn table(captions: &[impl AsRef<str>], rows: Vec<Vec<String>>) -> Vec<Line> {
    let head: Vec<String> = captions.iter().map(|caption| caption.as_ref().to_string()).collect();
    let wide = |at: usize| rows.iter().chain([&head]).filter_map(|row| row.get(at)).map(|cell| width(cell)).max();
    let widths: Vec<usize> = (0..head.len()).map(|at| wide(at).unwrap_or_default()).collect();
    let line = |row: &Vec<String>| {
        let mut text = String::from(" ");
        for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let is_name = at == 0 || head[at] == "who";
            text += &format!(" {} ", if is_name { left(cell, *width) } else { right(cell, *width) });
        }
        text.trim_end().to_string()
    };
    let captions = Line::of(Tone::Captions, line(&head));
    std::iter::once(captions).chain(rows.iter().map(|row| Line::of(Tone::Text, line(row)))).collect()
}
