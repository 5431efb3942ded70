//! The legend above the cells: colours, marks and borders.

use super::{COLUMN, HEAD, PAD, STEPS};
use crate::export::markup::px;

pub(super) fn legend(out: &mut String, hatch: &str) {
    let mut x = PAD;
    let gone = format!("url(#{hatch})");
    let entries = STEPS.iter().map(|(mark, fill, words)| (format!("{mark} {words}"), *fill, ""));
    let more = [
        ("gone".to_string(), gone.as_str(), " stroke=\"#2f5f9e\" stroke-dasharray=\"3 2\""),
        ("new".to_string(), STEPS[4].1, " stroke=\"#a34a00\" stroke-width=\"1.5\""),
    ];
    let y = HEAD - 20.0;
    for (text, fill, edge) in entries.chain(more) {
        out.push_str(&format!(
            "<rect x=\"{}\" y=\"{}\" width=\"12\" height=\"12\" rx=\"1.5\" fill=\"{fill}\"{edge}/>\
             <text x=\"{}\" y=\"{}\" fill=\"currentColor\">{text}</text>",
            px(x),
            px(y - 10.0),
            px(x + 17.0),
            px(y)
        ));
        x += 17.0 + COLUMN * (text.len() as f64 + 2.5);
    }
}
