//! Where the cores of each width went, by cause.

use crate::export::column_format::ColumnFormat;
use crate::export::columns::{left, right, width};
use crate::export::text::page::Page;
use crate::view::sweep::{Stack, SweepView, words};

const LABEL: usize = 28;

pub(super) fn write(page: &mut Page, view: &SweepView) {
    let stacks: Vec<&Stack> = view.stacks.iter().filter(|stack| !stack.slices.is_empty()).collect();
    let Some(base) = view.base.filter(|_| !stacks.is_empty()) else { return };
    page.heading("Where the cores went", &format!("cores lost against n = {base}, by cause; below 0: gained"));
    let numbers = stacks.iter().flat_map(|stack| stack.slices.iter().map(|slice| slice.cores).chain([stack.useful]));
    // Two decimals show a hundredth of a core.
    let shape = ColumnFormat::fixed(2);
    let column = numbers.map(|cores| width(&shape.show(cores))).max().unwrap_or(0).max(6) + 2;
    let fit = ((page.width.saturating_sub(LABEL + 2)) / column).max(1);
    for (at, block) in stacks.chunks(fit).enumerate() {
        if at > 0 {
            page.line("");
        }
        let row = |label: &str, of: &dyn Fn(&Stack) -> String| {
            let cells: String = block.iter().map(|stack| right(&of(stack), column)).collect();
            format!("  {}{cells}", left(label, LABEL))
        };
        page.captions(&row("n", &|stack| stack.n.to_string()));
        page.line(&row("useful: the speed-up", &|stack| shape.show(stack.useful)));
        for kind in words::kinds(&stacks) {
            let cores = |stack: &Stack| {
                let slice = stack.slices.iter().find(|slice| slice.kind == kind);
                slice.map_or("-".to_string(), |slice| shape.show(slice.cores))
            };
            page.line(&row(&words::slice(kind), &cores));
        }
    }
}
