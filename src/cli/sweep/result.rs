//! What a sweep comes to, in every form it can be printed in.
//! It never runs anything.

use crate::cli::args::{GlobalArgs, SweepFormat};
use crate::cli::out;
use crate::error::Result;
use crate::export;
use crate::model::SweepMeta;
use crate::sweep::scaling;
use crate::view::scaling::ScalingView;

/// The view of a sweep, as far as it has come.
pub(in crate::cli) fn view(meta: &SweepMeta, results: &[Option<crate::analysis::scaling::Run>]) -> ScalingView {
    ScalingView::of(meta, &scaling(meta, results), None)
}

/// The view as bytes.
pub(in crate::cli) fn render(view: &ScalingView, format: SweepFormat, global: &GlobalArgs, to_file: bool) -> Result<Vec<u8>> {
    Ok(match format {
        SweepFormat::Text => export::text::sweep(view, out::style(global, to_file)),
        SweepFormat::Json => export::json::sweep(view)?,
        SweepFormat::Csv => export::csv::sweep(view),
        SweepFormat::Markdown => export::markdown::sweep(view),
        SweepFormat::Html => export::html::sweep(view)?,
    })
}
