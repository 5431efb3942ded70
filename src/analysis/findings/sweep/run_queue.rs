//! Runnable workers without a CPU.

use super::lock_costs::{culprits, queued_for_locks};
use super::values::known;
use super::{Confidence, CostKind, Evidence, Finding, Rule, WidthContext, limits, lost_cores};
use crate::analysis::cpu_users::own_part;
use crate::analysis::findings::cpu_queue::named;
use crate::analysis::sweep::SliceKind;
use crate::analysis::text::{digits, percent};
use crate::model::{MetricId, Region, Unit as U, Why};

pub(super) const RULE: Rule =
    Rule { id: "cpu-queue", title: "waiting for CPUs", kind: CostKind::Wait, explains: &[], evaluate };

fn evaluate(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    let queued = context.state(|run| known(run.split.queued))?;
    // More CPUs would only let more workers wait for a contended lock.
    let whole = context.share(&[SliceKind::RunQueue]);
    let share = whole - queued_for_locks(context);
    if share < limits::FACTOR || queued.here.value < limits::QUEUED || !queued.grew_beyond_scatter()? {
        return Ok(None);
    }
    let mut evidence =
        vec![lost_cores(share), Evidence::of("runnable without a CPU", queued.here.value, U::Share, limits::QUEUED)];
    if let Ok(switches) = context.per_op(MetricId::InvoluntarySwitches) {
        evidence.push(Evidence::plain("preempted, per operation", switches.here.value, U::Count));
    }
    if let Ok(busy) = context.number(|numbers| numbers.busy_cores) {
        evidence.push(Evidence::plain("CPUs kept busy", busy.here.value, U::Cores));
    }
    let culprits = culprits(&context.here.runs);
    let crowded = context.here.region == Region::Oversubscribed;
    let own = own_part(&culprits).is_some_and(|own| own > 0.5);
    let why = if crowded {
        "there are more threads than CPUs"
    } else if own {
        "mostly, threads of its own have the CPUs"
    } else if culprits.is_empty() {
        "the workers may use fewer CPUs than n, or something used them that was not recorded"
    } else {
        "others use the CPUs"
    };
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "{} of the lost cores are runnable workers without a CPU, on average {} of {} workers: {why}.{}",
            percent(share),
            digits(queued.here.value * f64::from(context.here.n) * share / whole),
            context.here.n,
            named(&culprits)
        ),
        evidence,
        confidence: Confidence::High,
        place: None,
        culprits,
        refuted_by: "run delay in the threads' schedstat does not grow with n",
        next_step: if crowded {
            "Run no more threads than CPUs; wider points measure the machine, not the program.".to_string()
        } else if own {
            "See in the recording of this width which of its threads run meanwhile: helpers beside the workers, or workers that \
             yield the CPU to each other."
                .to_string()
        } else {
            "Check what else runs (`ironlaw top -a`), and widen the CPU set or quota of the run.".to_string()
        },
    }))
}
