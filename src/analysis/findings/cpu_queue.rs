//! Runnable threads without a CPU. Neither the cost of a wake-up nor time throttled by a quota counts.

use super::contention::queued_for_locks;
use super::context::ThreadStates;
use super::{Confidence, Evidence, Finding, FindingKind, Place, Rule, RuleContext, Whole, limits};
use crate::analysis::text::{digits, percent, seconds};
use crate::analysis::{CpuUser, CpuUserKind, cpu_users};
use crate::model::{MetricId, Target, Unit as U, Why};

pub(super) const RULE: Rule = Rule {
    id: "cpu-queue",
    title: "waiting for CPUs",
    kind: FindingKind::Limit,
    of: Whole::WorkingTime,
    explains: &[],
    evaluate,
};

/// Mean wait for a CPU, seconds. A shorter one is the cost of a wake-up, not another thread's time slice. [P]
const QUEUE_WAIT: f64 = 100e-6;
/// The same on a machine whose CPUs are not all busy: threads that are bound to too few wait for slices of others, and others for
/// no more than a CPU that wakes from its idle state, which takes some hundred microseconds in a virtual machine. [P]
const SLICE: f64 = 1e-3;

/// Moments at which threads waited for a CPU, as equal waits, below which chance put them there: a neighbour's burst, a start. [P]
const MOMENTS: f64 = 10.0;

/// Share of time in which some task waited for a CPU. [P]
const CPU_PRESSURE: f64 = 0.1;

fn evaluate(context: &RuleContext<'_>) -> Result<Option<Finding>, Why> {
    let (wall, delay) = match context.count("run-delay") {
        Ok(delay) => (context.wall()?, delay * 1e-9),
        Err(why) => return by_pressure(context, why),
    };
    let work = context.require_work()?;
    let share = work.queued / work.total();
    // A throttled thread waits for its quota, and the kernel counts that as run delay too.
    let delay = if work.throttled > 0.0 { work.queued * wall } else { delay };
    // Each time slice ends one wait.
    let mean = context.count("timeslices").ok().filter(|count| *count > 0.0).map(|count| delay / count);
    let host = context.metric(MetricId::HostBusy).ok();
    let crowded = host.is_some_and(|busy| busy >= limits::HOST_BUSY);
    let least = if host.is_some() && !crowded { SLICE } else { QUEUE_WAIT };
    let long = mean.is_none_or(|mean| mean >= least);
    // Without the time, the periods say that a quota is why threads wait while CPUs are free.
    let throttled = context.metric(MetricId::ThrottledShare).is_ok_and(|share| share > limits::THROTTLED_PERIODS);
    let by_chance = !are_enough(context, delay);
    if share < limits::QUEUED || !(long || crowded) || (throttled && !crowded) || by_chance {
        return Ok(None);
    }
    // More CPUs would only let more threads wait for a contended lock.
    let helped = 1.0 - queued_for_locks(context).unwrap_or(0.0);
    let share = share * helped;
    if share < limits::QUEUED {
        return Ok(None);
    }
    let culprits = cpu_users(context.profile, context.counters, (&context.who, &context.threads), context.window);
    let mut evidence = vec![Evidence::of("queued, of working time", share, U::Share, limits::QUEUED)];
    evidence.extend(mean.map(|mean| Evidence::of("mean wait", mean, U::Seconds, least)));
    evidence.extend(host.map(|busy| Evidence::of("machine busy", busy, U::Share, limits::HOST_BUSY)));
    let preempted = context.metric(MetricId::InvoluntarySwitches).ok();
    evidence.extend(preempted.map(|rate| Evidence::plain("preempted", rate, U::PerSecond)));
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "Runnable threads wait {} of their working time for a CPU: {} in {}{}.{}",
            percent(share),
            seconds(delay * helped),
            seconds(wall),
            mean.map_or(String::new(), |mean| format!(", {} each time", seconds(mean))),
            named(&culprits)
        ),
        evidence,
        confidence: if crowded && long { Confidence::High } else { Confidence::Medium },
        place: waiting(context),
        refuted_by: "run_delay (second field of /proc/PID/schedstat) does not grow",
        next_step: next_step(context, &work, &culprits, crowded),
        culprits,
    }))
}

/// Whether threads waited for a CPU at enough moments, as far as that was recorded.
fn are_enough(context: &RuleContext<'_>, delay: f64) -> bool {
    let moments = context.waits().ok().and_then(|waits| waits.queue_moments(delay));
    moments.is_none_or(|moments| moments >= MOMENTS)
}

/// Uses the CPU pressure of the cgroup, or of the machine if it is the target, where waits were not counted.
fn by_pressure(context: &RuleContext<'_>, why: Why) -> Result<Option<Finding>, Why> {
    let machine = matches!(&context.profile.meta.plan.target, Target::Cpus { cpus } if cpus.is_empty());
    let group = context.metric(MetricId::PsiCpuSome).is_ok();
    let id = if machine && !group { MetricId::HostPsiCpuSome } else { MetricId::PsiCpuSome };
    let (pressure, wall) = (context.metric(id).map_err(|_| why)?, context.wall()?);
    if pressure < CPU_PRESSURE {
        return Ok(None);
    }
    let running = context.require_work()?.running;
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: None,
        claim: format!("For {} of {}, some runnable task had no CPU.", percent(pressure), seconds(wall)),
        evidence: vec![Evidence::of("CPU pressure, some", pressure, U::Share, CPU_PRESSURE).read_from(id)],
        confidence: Confidence::Medium,
        place: None,
        culprits: Vec::new(),
        refuted_by: "CPU pressure (PSI) is about 0",
        next_step: format!(
            "{} of {} CPUs were in use: find the processes that wait longest (`top`) and profile one.",
            digits(running),
            context.profile.meta.host.cpus.len()
        ),
    }))
}

/// The threads that waited longest; no code is to blame.
fn waiting(context: &RuleContext<'_>) -> Option<Place> {
    const MOST: usize = 16;
    let waited = |row: &crate::analysis::ThreadRow| row.run_delay.value().copied().filter(|delay| *delay > 0.0);
    let mut rows: Vec<_> = context.threads.iter().filter_map(|row| Some((waited(row)?, row.task.tid))).collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let threads: Vec<_> = rows.into_iter().take(MOST).map(|(_, tid)| tid).collect();
    (!threads.is_empty()).then(|| Place { frames: Vec::new(), axis: context.axis(), threads })
}

/// At most so many users are named in a sentence.
const NAMED: usize = 3;

/// Who had the CPUs meanwhile, as a sentence.
pub(super) fn named(culprits: &[CpuUser]) -> String {
    let names: Vec<String> = culprits
        .iter()
        .take(NAMED)
        .map(|user| {
            let number = user.pid.map_or(String::new(), |pid| format!(" {pid}"));
            format!("{}{number} {}", user.name, percent(user.share))
        })
        .collect();
    if names.is_empty() { String::new() } else { format!(" Meanwhile the CPUs ran {}.", names.join(", ")) }
}

fn next_step(context: &RuleContext<'_>, work: &ThreadStates, culprits: &[CpuUser], crowded: bool) -> String {
    let cpus = context.profile.meta.host.cpus.len();
    let (used, wanted) = (digits(work.running), digits(work.running + work.queued));
    let of = if cpus == 0 { String::new() } else { format!(" of {cpus}") };
    // Its own threads are in each other's way where they alone would keep all CPUs busy.
    let alone = culprits.is_empty() && cpus > 0 && work.running + work.queued > cpus as f64;
    let first = culprits.first();
    let others = first.filter(|user| matches!(user.kind, CpuUserKind::Process | CpuUserKind::Unknown));
    match (others, first.map(|user| user.kind)) {
        (Some(user), _) => format!(
            "It used {used} CPUs{of}; {}. Give it CPUs of its own (taskset, cpuset.cpus) or a larger part of them \
             (cpu.weight, nice).",
            match user.kind {
                CpuUserKind::Process => format!("run {} at another time or place, or with less weight", user.name),
                _ => "find out which short-lived processes run beside it (`perf trace -a`, `execsnoop`)".to_string(),
            }
        ),
        (None, Some(CpuUserKind::Kernel)) => {
            "Profile the machine (`ironlaw record -a`) to see what the kernel's threads do, and for whom.".to_string()
        }
        (None, Some(CpuUserKind::Steal)) => {
            "The host gave the CPUs to other guests: ask for dedicated ones, or move to another host.".to_string()
        }
        (None, Some(_)) if crowded => format!("{wanted} CPUs were wanted{of}: run no more busy threads than CPUs."),
        (None, None) if alone => {
            format!(
                "{wanted} CPUs were wanted{of}: run no more busy threads than CPUs, or check what else runs (`top`)."
            )
        }
        (None, None) if crowded => format!(
            "It used {used} CPUs{of}, others the rest: `record --off-cpu` names them; give it CPUs of its own (taskset, \
             cpuset.cpus) or a larger part of them (cpu.weight, nice)."
        ),
        (None, _) => format!(
            "{wanted} CPUs were wanted and others were idle: check whether the threads are bound to too few \
                 (taskset -p, cpuset.cpus)."
        ),
    }
}
