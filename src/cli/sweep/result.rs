//! The result of a sweep in all output formats.

use crate::analysis::sweep::Run;
use crate::cli::args::{GlobalArgs, SweepFormat};
use crate::cli::out;
use crate::error::Result;
use crate::export;
use crate::model::SweepMeta;
use crate::sweep::scaling;
use crate::view::sweep::SweepReport;

/// The report on a sweep with the runs so far.
pub(in crate::cli) fn report(meta: &SweepMeta, results: &[Option<Run>]) -> SweepReport {
    SweepReport::of(meta, &scaling(meta, results))
}

/// The report as bytes.
pub(in crate::cli) fn render(
    report: &SweepReport,
    format: SweepFormat,
    global: &GlobalArgs,
    to_file: bool,
) -> Result<Vec<u8>> {
    Ok(match format {
        SweepFormat::Text => export::text::sweep(report, out::style(global, to_file)),
        SweepFormat::Json => export::json::sweep(report)?,
        SweepFormat::Csv => export::csv::sweep(report),
        SweepFormat::Markdown => export::markdown::sweep(report),
        SweepFormat::Html => export::html::sweep(report)?,
    })
}
