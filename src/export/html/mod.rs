//! A sweep or a comparison as one HTML file to share: charts, tables and flame graphs that need no network.
//! Names from a target are escaped, so they cannot act as markup.

mod chart;
mod diff;
mod findings;
mod flames;
mod head;
mod interval;
mod stack;
mod tables;
mod template;

use super::diff_flamegraph;
use crate::error::Result;
use crate::view::sweep::SweepReport;

pub use diff::diff;

const PAGE: &str = include_str!("../../../assets/html/sweep.html");
const STYLE: &str = include_str!("../../../assets/html/style.css");

/// The sweep as an HTML page.
///
/// # Errors
/// Those of [`crate::export::svg::render`].
pub fn sweep(report: &SweepReport) -> Result<Vec<u8>> {
    let view = &report.view;
    let parts = [
        ("style", STYLE.to_string()),
        ("script", diff_flamegraph::SCRIPT.to_string()),
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
