//! Where in the code a finding of a sweep is, and how its claim names that place.

use super::growth::{Growths, Lead};
use super::step::Step;
use super::{Place, hot, limits};
use crate::analysis::findings::paths::Code;
use crate::analysis::sweep::{FunctionId, LossRow};
use crate::analysis::{Axis, CodeKind, text};
use crate::model::Why;

/// A place on the CPU.
pub(super) fn cpu_place(lead: &Lead) -> Place {
    Place { frames: lead.frames.clone(), axis: Axis::Event(0), threads: Vec::new() }
}

/// A place off the CPU.
pub(super) fn blocked_place(lead: &Lead) -> Place {
    Place { frames: lead.frames.clone(), axis: Axis::OffCpu, threads: Vec::new() }
}

/// The program's own function that led there, in words.
pub(super) fn below(lead: &Lead) -> String {
    lead.caller.as_ref().map_or(String::new(), |caller| format!(" below {}", text::name(caller)))
}

/// Fails with `NotPermitted` unless samples show kernel functions by name, or there is hardly any kernel time.
pub(super) fn kernel_seen(step: &Step<'_>) -> Result<(), Why> {
    step.cpu()?;
    let frames = step.here.runs.iter().flat_map(|run| &run.cpu.paths).flat_map(|path| &path.frames);
    let named = |id: &FunctionId| id.kind == CodeKind::Kernel && !id.name.starts_with('[');
    let hardly_there = || step.metric("system_share").is_ok_and(|share| share.here.value < limits::KERNEL_SEEN);
    if frames.into_iter().any(named) || hardly_there() { Ok(()) } else { Err(Why::NotPermitted) }
}

/// The functions whose CPU time per operation grew most, in words: up to three that grew beyond noise.
pub(super) fn growers(step: &Step<'_>) -> String {
    let named: Vec<String> = grown(step)
        .take(3)
        .map(|row| {
            let part = row.share.map_or(String::new(), |share| format!(" ({})", text::percent(share)));
            format!("{}{part}", text::name(&row.function.name))
        })
        .collect();
    if named.is_empty() { String::new() } else { format!(", most of it in {}", named.join(", ")) }
}

/// The place of the function that grew most, if one grew.
pub(super) fn grower_place(step: &Step<'_>) -> Option<Place> {
    let row = grown(step).next()?;
    Some(Place { frames: hot::frames(step, &row.function), axis: Axis::Event(0), threads: Vec::new() })
}

/// Functions that cost more than at the base, beyond noise, with most of the growth in code that no finding explains.
fn grown<'a>(step: &'a Step<'_>) -> impl Iterator<Item = &'a LossRow> {
    let rows = step.loss.map_or(&[][..], |loss| &loss.functions);
    let named = step.taken.functions.clone();
    let free = move |row: &&LossRow| {
        let of = |cpu: &Growths<Code>| cpu.of_function(&row.function, |code| !step.taken.codes.contains(&code));
        !named.contains(&row.function.name) && step.cpu().map_or(1.0, of) > 0.5
    };
    rows.iter().filter(|row| row.is_real() && row.growth() > 0.0).filter(free)
}
