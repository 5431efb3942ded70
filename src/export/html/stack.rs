//! Where the cores of each width went: stacked bars, and the same as a table.
//! Gains hang below the line, so that they cannot be taken for losses.

use super::tables::Html;
use crate::export::column_format::ColumnFormat;
use crate::export::markup::{escaped, px};
use crate::view::sweep::{SliceKind, Stack, SweepView, words};

const WIDTH: f64 = 1100.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 12.0;
/// Pixels of a full bar.
const WHOLE: f64 = 260.0;

pub(super) fn section(view: &SweepView) -> String {
    let stacks: Vec<&Stack> = view.stacks.iter().filter(|stack| stack.n > 0 && !stack.slices.is_empty()).collect();
    let Some(base) = view.base.filter(|_| !stacks.is_empty()) else { return String::new() };
    let kinds = words::kinds(&stacks);
    format!(
        "<section><h2>Where the cores went</h2><p class=\"about\">Each bar is all the {} of a run: those that do the base's \
         work, and what the others are lost to against n = {base}. Gains hang below the line.</p>{}{}{}</section>",
        words::width(view.width),
        figure(&stacks),
        legend(&kinds),
        table(&stacks, &kinds)
    )
}

fn figure(stacks: &[&Stack]) -> String {
    let gained = |stack: &&Stack| {
        let gains = stack.slices.iter().map(|slice| (-slice.cores).max(0.0)).sum::<f64>();
        gains / f64::from(stack.n)
    };
    let below = stacks.iter().map(gained).fold(0.0, f64::max).min(1.0);
    let top = stacks.iter().map(|stack| positive(stack) / f64::from(stack.n)).fold(1.0, f64::max).min(2.0);
    let (zero, height) = (TOP + WHOLE * top, TOP + WHOLE * (top + below) + 40.0);
    let mut out = format!(
        "<figure><svg viewBox=\"0 0 {WIDTH} {}\" role=\"img\" font-size=\"12\"><title>Cores by what became of them</title>",
        px(height)
    );
    for percent in [0, 25, 50, 75, 100] {
        let y = zero - WHOLE * f64::from(percent) / 100.0;
        out.push_str(&format!(
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{1}\" y2=\"{1}\"/>\
             <text class=\"label\" x=\"{2}\" y=\"{3}\" text-anchor=\"end\">{percent}%</text>",
            WIDTH - RIGHT,
            px(y),
            LEFT - 8.0,
            px(y + 4.0)
        ));
    }
    let slot = (WIDTH - LEFT - RIGHT) / stacks.len() as f64;
    for (at, stack) in stacks.iter().enumerate() {
        bar(&mut out, stack, (LEFT + slot * at as f64, slot), zero, height);
    }
    out.push_str(&format!("<path class=\"axis\" d=\"M{LEFT} {0}H{1}\"/></svg></figure>", px(zero), WIDTH - RIGHT));
    out
}

fn positive(stack: &Stack) -> f64 {
    stack.useful.max(0.0) + stack.slices.iter().map(|slice| slice.cores.max(0.0)).sum::<f64>()
}

fn bar(out: &mut String, stack: &Stack, (left, slot): (f64, f64), zero: f64, height: f64) {
    let wide = (slot * 0.66).min(96.0);
    let x = left + (slot - wide) / 2.0;
    let scale = WHOLE / f64::from(stack.n);
    let (mut up, mut down) = (zero, zero);
    let shape = ColumnFormat::fixed(2);
    let slices = stack.slices.iter().map(|slice| (Some(slice.kind), slice.cores));
    for (kind, cores) in std::iter::once((None, stack.useful)).chain(slices).filter(|(_, cores)| cores.is_finite()) {
        let tall = (cores.abs() * scale).min(WHOLE * 2.0);
        let y = if cores < 0.0 { down } else { up - tall };
        if cores < 0.0 {
            down += tall
        } else {
            up -= tall
        }
        let name = kind.map_or("useful".to_string(), words::slice);
        let fill = kind.map_or(" class=\"useful\"".to_string(), |kind| format!(" fill=\"{}\"", colour(kind)));
        out.push_str(&format!(
            "<g><title>n = {}: {}, {} cores</title><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{fill}/>",
            stack.n,
            escaped(&name),
            shape.show(cores),
            px(x),
            px(y),
            px(wide),
            px((tall - 1.0).max(0.4))
        ));
        if tall >= 16.0 && wide >= 40.0 {
            out.push_str(&format!(
                "<text class=\"inside\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                px(x + wide / 2.0),
                px(y + tall / 2.0 + 4.0),
                shape.show(cores)
            ));
        }
        out.push_str("</g>");
    }
    out.push_str(&format!(
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">n = {}</text>",
        px(left + slot / 2.0),
        px(height - 12.0),
        stack.n
    ));
}

fn legend(kinds: &[SliceKind]) -> String {
    let item = |kind: &SliceKind| {
        format!("<li><i style=\"background:{}\"></i>{}</li>", colour(*kind), escaped(&words::slice(*kind)))
    };
    let slices: String = kinds.iter().map(item).collect();
    format!("<ul class=\"legend\"><li><i style=\"background:var(--useful)\"></i>useful: the speed-up</li>{slices}</ul>")
}

fn table(stacks: &[&Stack], kinds: &[SliceKind]) -> String {
    let shape = ColumnFormat::fixed(2);
    let mut table = Html::table("Cores lost by cause; below 0: gained");
    table.head(std::iter::once("cores at n".to_string()).chain(stacks.iter().map(|stack| stack.n.to_string())), 1);
    table.row("useful: the speed-up", stacks.iter().map(|stack| shape.show(stack.useful)));
    for kind in kinds {
        let cores = |stack: &&Stack| {
            let slice = stack.slices.iter().find(|slice| slice.kind == *kind);
            slice.map_or("-".to_string(), |slice| shape.show(slice.cores))
        };
        table.row(&words::slice(*kind), stacks.iter().map(cores));
    }
    table.finish()
}

/// White text is readable on all of these colours.
fn colour(kind: SliceKind) -> &'static str {
    use crate::view::Cause;
    match kind {
        SliceKind::MoreWork => "#b3541e",
        SliceKind::Smt => "#8a6d1d",
        SliceKind::Cpi | SliceKind::CpuTime => "#c2410c",
        SliceKind::Frequency => "#a8326e",
        SliceKind::RunQueue => "#7c4bc0",
        SliceKind::Throttled => "#5b3a8c",
        SliceKind::Blocked(Cause::Lock) => "#1d5fae",
        SliceKind::Blocked(Cause::BlockIo) => "#0f766e",
        SliceKind::Blocked(Cause::Network) => "#0e7490",
        SliceKind::Blocked(Cause::Pipe) => "#4d6a1f",
        SliceKind::Blocked(Cause::Events) => "#475f7b",
        SliceKind::Blocked(Cause::Sleep) => "#64748b",
        SliceKind::Blocked(_) => "#6b6258",
        SliceKind::Unseen => "#6b7280",
    }
}
