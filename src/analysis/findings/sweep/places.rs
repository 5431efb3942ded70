//! Where in the code a finding of a sweep is, and how its claim names that place.

use super::context::WidthContext;
use super::growth::{GrowthByClass, LeadingPath};
use super::{Place, hot_function, limits};
use crate::analysis::findings::code_path::CodeClass;
use crate::analysis::sweep::{FunctionId, LossRow};
use crate::analysis::{CodeKind, text};
use crate::model::{MetricId, Why};

/// A place on the CPU.
pub(super) fn cpu_place(leading_path: &LeadingPath) -> Place {
    Place::on_cpu(leading_path.frames.clone())
}

/// A place off the CPU.
pub(super) fn blocked_place(leading_path: &LeadingPath) -> Place {
    Place::off_cpu(leading_path.frames.clone())
}

/// The program's own function that led there, in words.
pub(super) fn below(leading_path: &LeadingPath) -> String {
    leading_path.caller.as_ref().map_or(String::new(), |caller| format!(" below {}", text::name(caller)))
}

/// The end of a claim: the function that has most of the cost.
pub(super) fn mostly_in(leading_path: Option<&LeadingPath>) -> String {
    leading_path.map_or(String::new(), |path| format!(", most of it in {}", text::name(&path.function)))
}

/// The same with the program's own function that led there.
pub(super) fn mostly_in_below(leading_path: Option<&LeadingPath>) -> String {
    leading_path.map_or(String::new(), |path| format!(", most of it in {}{}", text::name(&path.function), below(path)))
}

/// Fails with `NotPermitted` unless samples show kernel functions by name, or there is hardly any kernel time.
pub(super) fn require_kernel_names(context: &WidthContext<'_>) -> Result<(), Why> {
    context.cpu()?;
    let frames = context.here.runs.iter().flat_map(|run| &run.cpu.paths).flat_map(|path| &path.frames);
    let named = |id: &FunctionId| id.kind == CodeKind::Kernel && !id.name.starts_with('[');
    let hardly_there =
        || context.metric(MetricId::SystemShare).is_ok_and(|share| share.here.value < limits::KERNEL_SEEN);
    if frames.into_iter().any(named) || hardly_there() { Ok(()) } else { Err(Why::NotPermitted) }
}

/// The functions whose CPU time per operation grew most, in words: up to three that grew beyond noise.
pub(super) fn grown_functions(context: &WidthContext<'_>) -> String {
    let named: Vec<String> = grown(context)
        .take(3)
        .map(|row| {
            let part = row.share.map_or(String::new(), |share| format!(" ({})", text::percent(share)));
            format!("{}{part}", text::name(&row.function.name))
        })
        .collect();
    if named.is_empty() { String::new() } else { format!(", most of it in {}", named.join(", ")) }
}

/// The place of the function that grew most, if one grew.
pub(super) fn grown_function_place(context: &WidthContext<'_>) -> Option<Place> {
    let row = grown(context).next()?;
    Some(Place::on_cpu(hot_function::frames(context, &row.function)))
}

/// Functions that cost more than at the base, beyond noise, with most of the growth in code that no finding explains.
fn grown<'a>(context: &'a WidthContext<'_>) -> impl Iterator<Item = &'a LossRow> {
    let rows = context.loss.map_or(&[][..], |loss| &loss.functions);
    let named = context.explained.functions.clone();
    let free = move |row: &&LossRow| {
        let of = |cpu: &GrowthByClass<CodeClass>| {
            cpu.of_function(&row.function, |code| !context.explained.codes.contains(&code))
        };
        !named.contains(&row.function.name) && context.cpu().map_or(1.0, of) > 0.5
    };
    rows.iter().filter(|row| row.is_real() && row.growth() > 0.0).filter(free)
}
