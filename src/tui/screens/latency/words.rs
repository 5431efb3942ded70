//! What the screen says in words: the reasons for an empty screen, and the chosen latency and time in full.

use super::State;
use crate::model::Unit;
use crate::tui::panel::PanelContext;
use crate::tui::time::clock;
use crate::view::latency_history::{Band, LatencyView, QUANTILES};
use crate::view::number::{count, percent, quantity};

/// A latency with its unit.
pub(super) fn time(ns: f64) -> String {
    quantity(ns, Unit::Nanos).joined()
}

/// Why there is nothing to draw: the text, and what to do.
pub(super) fn nothing(view: &LatencyView, cx: &PanelContext<'_>) -> Option<(String, Vec<String>)> {
    match &view.total {
        None => {
            let what = "the latency of operations is not measured".to_string();
            let forms = "SPEC is uprobe:BINARY:FUNCTION or usdt:BINARY:BEGIN..END, measured in the kernel (as root)";
            Some((what, vec!["start with --latency SPEC, e.g.".into(), view.example.clone(), forms.into()]))
        }
        Some(total) if total.count == 0 => {
            let what = format!("{}: no operation ended in the selected time", total.source);
            let hint = if cx.head.live {
                "operations count when they end; is the program asked for any, and is this what runs for each?"
            } else {
                "operations count when they end; another time may have some"
            };
            Some((what, vec![hint.to_string()]))
        }
        Some(_) => None,
    }
}

/// The operations of the chosen bands and column; without a choice, what to know about the intervals.
pub(super) fn status(state: &State, view: &LatencyView) -> Option<String> {
    let total = view.total.as_ref().filter(|total| total.count > 0)?;
    let (Some(cursor), Some(column)) = (state.cursor, state.column()) else {
        return Some(total.remarks().join("; ")).filter(|text| !text.is_empty());
    };
    let column = &view.columns[column];
    let bands = || view.bands.iter().enumerate();
    let inside = |band: Band| band >= cursor.band && band < cursor.end;
    let all: f64 = bands().filter(|(_, band)| inside(band.band)).map(|(_, band)| band.count).sum();
    let faster: f64 = bands().filter(|(_, band)| band.band < cursor.band).map(|(_, band)| band.count).sum();
    let here: f64 = bands().filter(|(_, band)| inside(band.band)).map(|(at, _)| column.bands[at]).sum();
    let share = |part: f64| percent(part / total.count as f64).joined();
    let range = format!("{} to {}", time(cursor.band.low()), time(cursor.end.low()));
    let mut text = format!("{range}: {} of all ({}), {} took less", rounded(all), share(all), share(faster));
    text += &format!("; to {} {} of {}", clock(column.window.to), rounded(here), count(column.count));
    for (label, value) in QUANTILES.iter().zip(column.quantiles) {
        text += &value.map_or(String::new(), |value| format!(", {label} {}", time(value)));
    }
    Some(text)
}

fn rounded(value: f64) -> String {
    count(value.round() as u64)
}
