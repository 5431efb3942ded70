//! The main table: functions, or the groups in their place.
//! Every share is shown with its error.

use super::page::{Ink, Page};
use crate::export::columns;
use crate::view::code_ipc::cell;
use crate::view::escape::visible;
use crate::view::number;
use crate::view::report::{FunctionRow, Groups, Report, key_values};
use crate::view::{CodeKind, Measured};

const MODULE: usize = 18;
/// `  self   ±     total  k `: the columns before the name.
const NUMBERS: usize = 27;
/// `     IPC    MPKI`: two columns more, if they were measured.
const RATES: usize = 16;

pub(super) fn write(page: &mut Page, report: &Report) {
    let (what, rows, left_out) = match &report.groups {
        Some(groups) => (groups.by.as_str(), groups.rows.as_slice(), groups.left_out),
        None => ("function", report.functions.as_slice(), report.functions_left_out),
    };
    let many = plural(what);
    // Of several keys, each is a column of its own.
    let keyed = what.contains(',').then(|| columned(what, rows));
    let (what, rows) = keyed.as_ref().map_or((what, rows), |(heading, rows)| (heading.as_str(), rows.as_slice()));
    let samples = number::count(report.samples.count);
    let of = match report.samples.waits {
        _ if report.groups.as_ref().is_some_and(Groups::is_of_accesses) => {
            let count = report.memory.as_ref().map_or(0, |memory| memory.accesses);
            format!("share of the cycles of {} sampled memory accesses", number::count(count))
        }
        Some(waits) => format!("share of time blocked, {} spans", number::count(waits)),
        None => format!("share of {}, {samples} samples", visible(&report.selection.event)),
    };
    page.heading(&columns::capital(many), &format!("{of}; k: kernel, j: JIT"));
    if rows.is_empty() {
        page.line("  - no samples");
        return;
    }
    let modules = rows.iter().any(|row| !row.module.is_empty()) && what == "function";
    let widest = |width: fn(&FunctionRow) -> usize| rows.iter().map(width).max().unwrap_or(0);
    // Beyond 80 columns, half of the additional space may go to the module.
    let most = MODULE + page.room.saturating_sub(80) / 2;
    let module = if modules { widest(|row| columns::width(&visible(short(&row.module)))).clamp(6, most) } else { 0 };
    let ipc = report.row_ipc();
    let rates = if ipc.is_some() { RATES } else { 0 };
    let others = NUMBERS + rates + if modules { module + 2 } else { 0 };
    let name = page.name_column(widest(|row| columns::width(&visible(&row.name))).max(what.len()), others);
    page.captions(&format!(
        "    self      ±    total{}    {}  {}",
        if ipc.is_some() { "     IPC    MPKI" } else { "" },
        columns::left(what, name),
        if modules { "module" } else { "" }
    ));
    for row in rows {
        page.line(&line(row, name, module));
        for step in &row.call_paths {
            let share = format!("{}%", two_decimals(step.share));
            let lead = format!("{:1$}{2}{3} ", "", 26 + rates, "  ".repeat(step.level), columns::right(&share, 7));
            let room = page.room_after(columns::width(&lead));
            let name = columns::function(&visible(&step.name), room);
            page.line(&page.paint(Ink::Quiet, &format!("{lead}{name}")));
        }
    }
    page.left_out(left_out, many, " (--limit 0 shows all)");
    if let Some(note) = report.late_samples() {
        page.paragraph("  ", &note.text, Some(Ink::Quiet));
    }
    if let Some(ipc) = ipc {
        page.paragraph("  ", &ipc.text(), Some(Ink::Quiet));
        for reason in missing(rows) {
            page.paragraph("  ", &format!("-: {reason}"), Some(Ink::Quiet));
        }
    }
}

/// Why rows have no IPC, each reason once.
fn missing(rows: &[FunctionRow]) -> Vec<&'static str> {
    let mut reasons = Vec::new();
    for rates in rows.iter().filter_map(|row| row.rates) {
        if let Measured::Missing { reason, .. } = rates.ipc
            && !reasons.contains(&reason)
        {
            reasons.push(reason);
        }
    }
    reasons
}

/// The names of the keys, and the rows with their values below them.
fn columned(what: &str, rows: &[FunctionRow]) -> (String, Vec<FunctionRow>) {
    let heads: Vec<&str> = what.split(',').collect();
    let values = |row: &FunctionRow| -> Vec<String> {
        key_values(what, &row.name).into_iter().map(|value| visible(value).into_owned()).collect()
    };
    let all: Vec<Vec<String>> = rows.iter().map(values).collect();
    let width = |at: usize| {
        let cells = all.iter().filter_map(|row| row.get(at)).map(|cell| columns::width(cell));
        cells.chain([heads[at].len()]).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let joined = |cells: Vec<&str>| {
        let padded: Vec<String> = cells.iter().zip(&widths).map(|(cell, width)| columns::left(cell, *width)).collect();
        padded.join("  ").trim_end().to_string()
    };
    let named = |(row, cells): (&FunctionRow, &Vec<String>)| FunctionRow {
        name: joined(cells.iter().map(String::as_str).collect()),
        module: String::new(),
        ..row.clone()
    };
    (joined(heads.clone()), rows.iter().zip(&all).map(named).collect())
}

fn line(row: &FunctionRow, name: usize, module: usize) -> String {
    let percent = |share: f64| format!("{}%", two_decimals(share));
    let error = row.self_error.map_or("-".to_string(), two_decimals);
    let mark = match row.kind {
        CodeKind::Kernel => 'k',
        CodeKind::Jit => 'j',
        CodeKind::User | CodeKind::Heading => ' ',
    };
    let shown = columns::function(&visible(&row.name), name);
    let right = |value| columns::right(&cell(value), 6);
    let rates = row.rates.map_or(String::new(), |rates| format!("  {}  {}", right(rates.ipc), right(rates.mpki)));
    format!(
        "{}  {}  {}{rates} {mark} {}  {}",
        columns::right(&percent(row.self_share), 8),
        columns::right(&error, 5),
        columns::right(&percent(row.total_share), 7),
        columns::left(&shown, name),
        columns::middle(&visible(short(&row.module)), module),
    )
}

/// Percentages in one column share their decimals, as in perf; three significant digits would stagger the point.
fn two_decimals(share: f64) -> String {
    format!("{:.2}", share * 100.0)
}

fn short(path: &str) -> &str {
    path.trim_end_matches(" (deleted)").rsplit('/').next().unwrap_or(path)
}

fn plural(what: &str) -> &'static str {
    match what {
        "module" => "modules",
        "thread" => "threads",
        "process" => "processes",
        "cpu" => "CPUs",
        "comm" => "names",
        "cgroup" => "control groups",
        "memory" => "places of data",
        "function" => "functions",
        _ => "rows",
    }
}
