//! A sweep as one file to hand on: a page with its charts, tables and flame graphs that needs no network.
//! It never lets a name from a target act as markup.

mod chart;
mod findings;
mod flames;
mod head;
mod stack;
mod tables;
mod template;

use crate::error::Result;
use crate::view::scaling::SweepReport;

const PAGE: &str = include_str!("../../assets/html/sweep.html");

/// The sweep as an HTML page.
///
/// # Errors
/// Those of [`crate::export::svg::render`].
pub fn sweep(report: &SweepReport) -> Result<Vec<u8>> {
    let view = &report.view;
    let parts = [
        ("title", super::markup::escaped(&view.title)),
        ("tool", super::markup::escaped(&report.meta.tool)),
        ("facts", head::facts(report)),
        ("tiles", head::tiles(view)),
        ("notes", head::notes(view)),
        ("findings", findings::section(&view.findings)),
        ("scaling", chart::section(view)),
        ("table", tables::points(view)),
        ("stack", stack::section(view)),
        ("loss", tables::losses(view)),
        ("differences", flames::differences(report)),
        ("flames", flames::section(report)?),
    ];
    Ok(template::fill(PAGE, &parts).into_bytes())
}
