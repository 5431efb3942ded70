//! Runnable threads without a CPU. Neither the cost of a wake-up nor time throttled by a quota counts.

use super::{Confidence, Evidence, Finding, FindingKind, Place, Rule, RuleContext, limits};
use crate::analysis::text::{digits, percent, seconds};
use crate::model::{MetricId, Target, Unit as U, Why};

pub(super) const RULE: Rule =
    Rule { id: "cpu-queue", title: "waiting for CPUs", kind: FindingKind::Limit, explains: &[], evaluate };

/// Mean wait for a CPU, seconds. A shorter one is the cost of a wake-up, not another thread's time slice. [P]
const QUEUE_WAIT: f64 = 100e-6;

/// Share of time in which some task waited for a CPU. [P]
const CPU_PRESSURE: f64 = 0.1;

/// Busy share of the machine from which CPUs are scarce. [P]
const HOST_BUSY: f64 = 0.9;

fn evaluate(context: &RuleContext<'_>) -> Result<Option<Finding>, Why> {
    let (wall, delay) = match context.count("run-delay") {
        Ok(delay) => (context.wall()?, delay * 1e-9),
        Err(why) => return by_pressure(context, why),
    };
    let work = context.require_work()?;
    let share = work.queued / work.total();
    // Each time slice ends one wait.
    let mean = context.count("timeslices").ok().filter(|count| *count > 0.0).map(|count| delay / count);
    let host = context.metric(MetricId::HostBusy).ok();
    let crowded = host.is_some_and(|busy| busy >= HOST_BUSY);
    let long = mean.is_none_or(|mean| mean >= QUEUE_WAIT);
    let throttled = context.metric(MetricId::ThrottledShare).is_ok_and(|share| share > limits::THROTTLED_PERIODS);
    if share < limits::QUEUED || !(long || crowded) || (throttled && !crowded) {
        return Ok(None);
    }
    let cpus = context.profile.meta.host.cpus.len();
    let mut evidence = vec![Evidence::of("queued, of working time", share, U::Share, limits::QUEUED)];
    evidence.extend(mean.map(|mean| Evidence::of("mean wait", mean, U::Seconds, QUEUE_WAIT)));
    evidence.extend(host.map(|busy| Evidence::of("machine busy", busy, U::Share, HOST_BUSY)));
    let preempted = context.metric(MetricId::InvoluntarySwitches).ok();
    evidence.extend(preempted.map(|rate| Evidence::plain("preempted", rate, U::PerSecond)));
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "Runnable threads wait {} of their working time for a CPU: {} in {}{}.",
            percent(share),
            seconds(delay),
            seconds(wall),
            mean.map_or(String::new(), |mean| format!(", {} each time", seconds(mean)))
        ),
        evidence,
        confidence: if crowded && long { Confidence::High } else { Confidence::Medium },
        place: waiting(context),
        refuted_by: "run_delay (second field of /proc/PID/schedstat) does not grow",
        next_step: next_step(work.running + work.queued, cpus, crowded),
    }))
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

fn next_step(wanted: f64, cpus: usize, crowded: bool) -> String {
    let wanted = digits(wanted);
    let of = if cpus == 0 { String::new() } else { format!(" of {cpus} that other programs use too") };
    if crowded {
        format!(
            "{wanted} CPUs were wanted{of}: run no more busy threads than CPUs, or check what else runs \
                 (`top`)."
        )
    } else {
        format!(
            "{wanted} CPUs were wanted and others were idle: check whether the threads are bound to too few \
             (taskset -p, cpuset.cpus)."
        )
    }
}
