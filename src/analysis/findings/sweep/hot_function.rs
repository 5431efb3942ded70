//! The one function of the program's own that has most of the growth of CPU time, if there is one. Its numbers do not
//! show why: a spin loop, a shared line and a growing scan look the same.

use super::context::WidthContext;
use super::limits;
use crate::analysis::findings::families::{is_allocator, is_user_spin, is_yield};
use crate::analysis::names::{CodeKind, Function};
use crate::analysis::sweep::{FunctionId, LossRow};
use crate::model::Why;

/// A function that has most of the growth of CPU time.
pub(super) struct HotFunction<'a> {
    pub row: &'a LossRow,
    /// Its share of the growth of CPU time per operation.
    pub part: f64,
    /// Its share of the CPU time at the base.
    pub before: f64,
    /// The share of the lost cores that it took.
    pub share: f64,
    /// Whether its cost never fell from one width to the next.
    pub rises: bool,
    /// The path to it that has most of its time at this width.
    pub frames: Vec<String>,
}

impl HotFunction<'_> {
    /// Whether it grew far beyond its share of the time. A slowdown of all code does not cause that.
    pub fn stands_out(&self) -> bool {
        self.part >= self.before * limits::STANDS_OUT
    }
}

/// Finds that function, if there is one.
pub(super) fn hot_function<'a>(context: &WidthContext<'a>) -> Result<Option<HotFunction<'a>>, Why> {
    let Some(loss) = context.loss else { return Err(Why::TooFewSamples) };
    let own = loss.functions.iter().filter(|row| is_own(&row.function) && row.is_real());
    let Some(row) = own.max_by(|a, b| a.growth().total_cmp(&b.growth())) else { return Ok(None) };
    let growth = loss.here - loss.base;
    let part = if growth > 0.0 { (row.growth() / growth).min(1.0) } else { 0.0 };
    if part < limits::CONCENTRATED || row.here < row.base * limits::HOTTER {
        return Ok(None);
    }
    let before = if loss.base > 0.0 { row.base / loss.base } else { 0.0 };
    let share = context.work() * part;
    let (rises, frames) = (rises(context, row), frames(context, &row.function));
    Ok((share >= limits::FACTOR).then_some(HotFunction { row, part, before, share, rises, frames }))
}

/// Whether the function is the program's own and in no table of names.
fn is_own(id: &FunctionId) -> bool {
    let function = Function { name: id.name.clone(), module: id.module.clone(), kind: id.kind, source: id.source };
    let known = is_allocator(&function) || is_user_spin(&function) || is_yield(&function);
    matches!(id.kind, CodeKind::User | CodeKind::Jit) && !known
}

fn rises(context: &WidthContext<'_>, row: &LossRow) -> bool {
    let mut last = row.base;
    let between = context.points.iter().skip(1).filter_map(|point| {
        let loss = context.losses.iter().find(|loss| loss.n == point.n)?;
        loss.functions.iter().find(|known| known.function == row.function)
    });
    for known in between {
        if known.here < last - limits::ERRORS * known.error {
            return false;
        }
        last = known.here;
    }
    true
}

/// Ignores inlining: losses combine a function's inlined calls with its others.
fn same(leaf: &FunctionId, function: &FunctionId) -> bool {
    leaf.name == function.name && leaf.module == function.module && leaf.kind == function.kind
}

/// The path, root first, to the function that has most of its time at this width.
pub(super) fn frames(context: &WidthContext<'_>, function: &FunctionId) -> Vec<String> {
    let paths = context.here.runs.iter().flat_map(|run| &run.cpu.paths);
    let own = paths.filter(|path| path.frames.last().is_some_and(|leaf| same(leaf, function)));
    let most = own.max_by(|a, b| a.weight.total_cmp(&b.weight));
    most.map_or_else(|| vec![function.name.clone()], |path| path.frames.iter().map(|id| id.name.clone()).collect())
}
