//! More CPU time in the kernel than in the program, excluding code that other findings explain, and what the kernel
//! does in it. This alone is not a fault: a server's work is in the kernel.

use super::code_path::{CodeClass, Families};
use super::families::KernelEntry;
use super::stacks::StackKind;
use super::{Confidence, Evidence, Finding, RemainderRule, RuleContext};
use crate::analysis::text::{name, percent};
use crate::model::{MetricId, Unit as U, Why};

pub(super) const RULE: RemainderRule = RemainderRule { id: "kernel-time", title: "time in the kernel", evaluate };

/// Share of samples in the kernel: more than in the program. [P]
const KERNEL: f64 = 0.5;

fn evaluate(context: &RuleContext<'_>, explained: &[CodeClass]) -> Result<Option<Finding>, Why> {
    let counted = context.metric(MetricId::SystemShare);
    let Ok(stacks) = context.kernel_samples() else { return by_count(context, counted?) };
    let in_kernel = |kind: &StackKind| kind.runs(Families::KERNEL) && !explained.contains(&kind.class);
    let share = stacks.part(|kind| in_kernel(kind).then_some(0)).share;
    // Counting hardware events at context switches also takes kernel time, which is not the program's.
    let switching = context.switching();
    if share - switching < KERNEL {
        return Ok(None);
    }
    let by = |wanted: KernelEntry| {
        stacks.part(|kind| {
            let entry = kind.entry.filter(|(entry, _)| *entry == wanted && in_kernel(kind));
            entry.map(|(_, at)| at)
        })
    };
    let services = [
        (KernelEntry::SystemCall, "system calls"),
        (KernelEntry::PageFault, "page faults"),
        (KernelEntry::Interrupt, "interrupts"),
    ];
    let leading = services.map(|(wanted, words)| (words, by(wanted))).into_iter();
    let leading = leading.max_by(|(_, a), (_, b)| a.share.total_cmp(&b.share)).filter(|(_, part)| part.share > 0.0);
    let mut evidence = vec![Evidence::of("in the kernel", share, U::Share, KERNEL)];
    evidence.extend(counted.map(|value| Evidence::plain("in the kernel, counted", value, U::Share)));
    if switching > 0.0 {
        evidence.push(Evidence::plain("by counting at context switches, about", switching, U::Share));
    }
    let why = leading.as_ref().map_or(String::new(), |(words, part)| {
        format!(", {} in {words}, most of that in {}", percent(part.share), name(part.function()))
    });
    Ok(Some(finding(
        share,
        format!("The kernel takes {} of the CPU time{}{why}.", percent(share), beyond(explained)),
        evidence,
        leading.and_then(|(_, part)| part.place()),
    )))
}

/// What the share excludes, in words.
fn beyond(explained: &[CodeClass]) -> &'static str {
    let kernel = |code: &&CodeClass| !matches!(code, CodeClass::Own | CodeClass::UserSpin);
    if explained.iter().any(|code| kernel(&code)) { " beyond other findings" } else { "" }
}

/// Without visible kernel functions, reports the share alone.
fn by_count(context: &RuleContext<'_>, share: f64) -> Result<Option<Finding>, Why> {
    context.wall()?;
    if share - context.switching() < KERNEL {
        return Ok(None);
    }
    context.require_work()?;
    let evidence = vec![Evidence::of("in the kernel, counted", share, U::Share, KERNEL)];
    Ok(Some(finding(share, format!("The kernel takes {} of the CPU time.", percent(share)), evidence, None)))
}

fn finding(share: f64, claim: String, evidence: Vec<Evidence>, place: Option<super::Place>) -> Finding {
    Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim,
        evidence,
        confidence: Confidence::High,
        place,
        culprits: Vec::new(),
        refuted_by: "the program's work belongs in the kernel: sockets, files, pipes",
        next_step: "Look at the leading path: make fewer and larger calls, or a cheaper call for the same work."
            .to_string(),
    }
}
