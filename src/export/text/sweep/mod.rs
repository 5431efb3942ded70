//! A sweep for people: the bottleneck, the table, the law, where the cores went and which code lost them.
//! The page is at most 100 columns wide.

mod chart;
mod loss;
mod table;

use super::page::{Ink, Page};
use super::{Style, findings, header};
use crate::export::columns;
use crate::model::RunState;
use crate::view::escape::visible;
use crate::view::number;
use crate::view::sweep::{SweepReport, words};

const WIDEST: usize = 100;

/// The sweep as UTF-8 text.
#[must_use]
pub fn sweep(report: &SweepReport, style: Style) -> Vec<u8> {
    let mut page = Page::new(Style { width: style.width.map(|width| width.min(WIDEST)), ..style });
    title(&mut page, report);
    findings::write(&mut page, &report.view.findings, "what keeps it from scaling, most important first");
    header::notes(&mut page, &report.view.notes);
    runs(&mut page, report);
    table::write(&mut page, &report.view);
    table::latency(&mut page, &report.view);
    chart::write(&mut page, &report.view);
    loss::stacks(&mut page, &report.view);
    loss::code(&mut page, &report.view);
    page.finish()
}

fn title(page: &mut Page, report: &SweepReport) {
    let room = page.width - columns::width("ironlaw sweep  ");
    let title = page.paint(Ink::Heading, &columns::middle(&visible(&report.view.title), room));
    page.line(&format!("{}  {title}", page.paint(Ink::Quiet, "ironlaw sweep")));
}

/// Where and how its programs ran.
fn runs(page: &mut Page, report: &SweepReport) {
    let (view, meta) = (&report.view, &report.meta);
    page.heading("Runs", "");
    let host = [meta.host.hostname.as_str(), view.machine.as_str()];
    let host: Vec<_> = host.into_iter().filter(|part| !part.is_empty()).collect();
    header::field(page, "host", &visible(&host.join(", ")));
    let tool = visible(&meta.tool);
    header::field(page, "started", &format!("{}, ironlaw {tool}", number::date(meta.started_unix_ns)));
    header::field(page, "runs", &counted(report));
    header::field(page, "CPUs", &view.placement);
    header::field(page, "ops", &visible(view.ops.as_deref().unwrap_or("not counted")));
}

/// `7 widths of threads x 3, in random order (seed 42); 20 count, 1 failed`.
fn counted(report: &SweepReport) -> String {
    let meta = &report.meta;
    let is = |wanted: fn(&RunState) -> bool| meta.runs.iter().filter(|run| wanted(&run.state)).count();
    let done = is(|state| matches!(state, RunState::Done { .. }));
    let failed = is(|state| matches!(state, RunState::Failed { .. }));
    let to_come = meta.runs.len() - done - failed;
    let widths = meta.widths.len();
    let mut text = format!(
        "{} of {} x {}, in random order (seed {}); {done} count",
        number::several(widths as u64, "width"),
        words::width(meta.width),
        meta.repeats,
        meta.seed
    );
    for (count, what) in [(failed, "failed"), (to_come, "not started")] {
        if count > 0 {
            text.push_str(&format!(", {count} {what}"));
        }
    }
    text
}
