//! The table of functions, modules, threads or processes.

use super::change::ReferenceRanking;
use super::detail::Detail;
use super::row::Row;
use crate::analysis::{Axis, CodeIpc, GroupBy, RowRates, SortBy, UNRESOLVED, metrics, rank, short, value_of};
use crate::model::MetricId;
use crate::view::Measured;
use crate::view::code_ipc::CodeIpcView;
use crate::view::context::ViewContext;
use crate::view::labels::axis_of;
use serde::Serialize;

/// Maximum number of rows in a view.
const MOST_ROWS: usize = 5_000;

/// The functions view.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FunctionsView {
    /// What a row represents.
    pub by: GroupBy,
    /// Whether off-CPU time is counted instead of an event.
    pub off_cpu: bool,
    /// What the weights count: `ns`, `cycles`, ...
    pub unit: &'static str,
    /// Weight of the whole selection.
    pub weight: u64,
    /// Samples of the whole selection, or off-CPU spans.
    pub samples: u64,
    /// CPU time in seconds, to explain why there are no samples; `None` if there are samples.
    pub cpu_time: Option<Measured>,
    /// Instructions per cycle of code; `None` unless cycles and instructions were sampled.
    pub code_ipc: Option<CodeIpcView>,
    /// The rows, by self weight.
    pub rows: Vec<Row>,
    /// Number of rows left out.
    pub left_out: usize,
    /// The largest total share among those; 0 if no rows were left out.
    pub left_out_share: f64,
    /// Whether a comparison was requested.
    pub compared: bool,
    /// Details of the requested function; `None` for rows other than functions, and without samples.
    pub detail: Option<Box<Detail>>,
}

impl FunctionsView {
    /// The view of a context. `detail` is the name and module of the function to detail; `None` takes the first row.
    #[must_use]
    pub fn of(context: &ViewContext<'_>, by: GroupBy, detail: Option<&(String, String)>) -> FunctionsView {
        let ranked = |context: &ViewContext<'_>| {
            rank(context.profile, &context.names, &context.tasks, context.counts(), by, SortBy::SelfWeight)
        };
        let ranking = ranked(context);
        let off_cpu = context.selection.axis == Axis::OffCpu;
        let before = context
            .reference
            .as_deref()
            .and_then(|against| ReferenceRanking::of(context, against, ranked(against), by));
        let code_ipc = CodeIpc::of(context.profile, &context.tasks, &context.selection);
        let rates =
            code_ipc.map(|ipc| RowRates::of(&ipc, context.profile, &context.names, &context.tasks, &[by.into()]));
        let row = |rank| Row {
            rates: rates.as_ref().map(|rates| rates.get(rank).into()),
            ..Row::of(&ranking, rank, off_cpu)
        };
        let mut rows: Vec<Row> = ranking.rows.iter().map(row).collect();
        // A thread that was only preempted was not blocked: it waited for a CPU.
        rows.retain(|row| !off_cpu || row.total_weight > 0);
        if let Some(before) = before {
            before.compare(&ranking, &mut rows, off_cpu);
        }
        let around = (by == GroupBy::Function).then(|| match detail {
            Some((name, module)) => match find(&rows, name, module) {
                Some(row) => Some(Detail::of(context, &row.name, &row.module, Some(row.clone()))),
                None => Some(Detail::of(context, name, module, None)),
            },
            None => rows.first().map(|row| Detail::of(context, &row.name, &row.module, Some(row.clone()))),
        });
        let (left_out, left_out_share) = keep_largest(&mut rows, MOST_ROWS);
        FunctionsView {
            by,
            off_cpu,
            unit: axis_of(&context.profile.meta, context.selection.axis).1,
            weight: ranking.weight,
            samples: ranking.samples,
            cpu_time: (ranking.samples == 0).then(|| cpu_time(context)),
            code_ipc: code_ipc.as_ref().map(CodeIpcView::of),
            rows,
            left_out,
            left_out_share,
            compared: context.reference.is_some(),
            detail: around.flatten().map(Box::new),
        }
    }
}

fn cpu_time(context: &ViewContext<'_>) -> Measured {
    let who = context.selection.who(&context.tasks);
    let metrics = metrics(&context.counters, &who, context.window, None);
    value_of(&metrics, MetricId::CpuTime).into()
}

/// Finds the row of a function. A cell of a call tree has no module path, and its name is an address if the function
/// has no name.
fn find<'a>(rows: &'a [Row], name: &str, module: &str) -> Option<&'a Row> {
    let exact = rows.iter().find(|row| row.name == name && row.module == module);
    if exact.is_some() || !module.is_empty() {
        return exact;
    }
    let file = name.rsplit_once("+0x").map_or(name, |(file, _)| file);
    let largest = |fits: &dyn Fn(&Row) -> bool| {
        rows.iter().filter(|row| fits(row)).max_by(|a, b| a.total_share.total_cmp(&b.total_share))
    };
    largest(&|row| row.name == name)
        .or_else(|| largest(&|row| row.name == UNRESOLVED && file_name(&row.module) == file))
}

/// A module's file name, short enough for a column.
#[must_use]
pub fn file_name(module: &str) -> &str {
    short(module)
}

/// Keeps the largest rows in their order. Returns how many were dropped, and the largest share among them.
pub(super) fn keep_largest(rows: &mut Vec<Row>, most: usize) -> (usize, f64) {
    if rows.len() <= most {
        return (0, 0.0);
    }
    let mut order: Vec<u32> = (0..rows.len() as u32).collect();
    order.sort_by(|a, b| rows[*b as usize].size().total_cmp(&rows[*a as usize].size()));
    let largest = order.get(most).map_or(0.0, |at| rows[*at as usize].size());
    let mut kept = vec![false; rows.len()];
    order.iter().take(most).for_each(|at| kept[*at as usize] = true);
    let mut kept = kept.into_iter();
    let before = rows.len();
    rows.retain(|_| kept.next().unwrap_or(false));
    (before - rows.len(), largest)
}
