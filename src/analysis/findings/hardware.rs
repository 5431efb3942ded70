//! Rules that need hardware counters, from the metrics of one window. Without its counter, each rule reports why it
//! cannot decide. Nothing is inferred from time alone, and the same stalls never get two reasons.

use super::{Confidence, Evidence, Finding, FindingKind, Rule, RuleContext, Whole, limits};
use crate::analysis::text::{digits, percent};
use crate::model::{MetricId, Unit as U, Why};

const fn rule(
    id: &'static str,
    title: &'static str,
    evaluate: fn(&RuleContext<'_>) -> Result<Option<Finding>, Why>,
) -> Rule {
    Rule { id, title, kind: FindingKind::Limit, of: Whole::CpuTime, explains: &[], evaluate }
}

pub(super) const FREQUENCY: Rule = rule("frequency", "lower clock frequency", frequency);
pub(super) const SMT: Rule = rule("smt-sharing", "core shared with a sibling thread", smt_sharing);
pub(super) const BANDWIDTH: Rule = rule("memory-bandwidth", "memory bandwidth used up", bandwidth);
pub(super) const SHARING: Rule = rule("false-sharing", "cache lines shared between threads", sharing);
pub(super) const REMOTE: Rule = rule("remote-memory", "memory of another NUMA node", remote);
pub(super) const CAPACITY: Rule = rule("cache-capacity", "last-level cache too small", capacity);
pub(super) const WALKS: Rule = rule("page-walks", "TLB misses and page walks", walks);

impl RuleContext<'_> {
    /// A hardware metric, or why it is missing.
    fn hardware(&self, id: MetricId) -> Result<f64, Why> {
        self.require_cpu_time()?;
        self.metric(id).map_err(|why| if why == Why::NotRecorded { self.no_counter() } else { why })
    }
}

/// An evidence row, if the metric was measured.
fn plain(context: &RuleContext<'_>, id: MetricId, label: &'static str, unit: U) -> Option<Evidence> {
    context.metric(id).ok().map(|value| Evidence::plain(label, value, unit).read_from(id))
}

fn found(
    rule: &Rule,
    share: Option<f64>,
    claim: String,
    evidence: Vec<Evidence>,
    (confidence, refuted_by, next_step): (Confidence, &'static str, &str),
) -> Finding {
    Finding {
        rule: rule.id,
        title: rule.title,
        share: share.map(|share| share.clamp(0.0, 1.0)),
        claim,
        evidence,
        confidence,
        // Counted for the threads as a whole, not by function.
        place: None,
        culprits: Vec::new(),
        refuted_by,
        next_step: next_step.to_string(),
    }
}

fn frequency(context: &RuleContext<'_>) -> Result<Option<Finding>, Why> {
    let ratio = context.hardware(MetricId::ClockRatio)?;
    if ratio > limits::BASE_CLOCK {
        return Ok(None);
    }
    // On mostly idle CPUs the governor lowers the clock, and nothing is lost.
    let busy = context.work()?.running >= limits::BUSY_FOR_CLOCK;
    let clock = Evidence::up_to("clock over base clock", ratio, U::Ratio, limits::BASE_CLOCK);
    let mut evidence = vec![clock.read_from(MetricId::ClockRatio)];
    evidence.extend(plain(context, MetricId::Frequency, "frequency", U::Hertz));
    Ok(Some(found(
        &FREQUENCY,
        Some(1.0 - ratio),
        format!("The CPUs ran at {} of their base clock while the program ran.", percent(ratio)),
        evidence,
        (
            if busy { Confidence::Medium } else { Confidence::Low },
            "the governor keeps the clock of idle CPUs low, and under full load it rises",
            "Check the governor and the power and thermal limits (turbostat); in a virtual machine, those of its \
             host.",
        ),
    )))
}

fn smt_sharing(context: &RuleContext<'_>) -> Result<Option<Finding>, Why> {
    let share = context.hardware(MetricId::TmaSmtContention)?;
    if share < limits::SMT_SLOTS {
        return Ok(None);
    }
    Ok(Some(found(
        &SMT,
        Some(share),
        format!("The core's other hardware thread took {} of the pipeline slots.", percent(share)),
        vec![
            Evidence::of("slots of the sibling", share, U::Share, limits::SMT_SLOTS)
                .read_from(MetricId::TmaSmtContention),
        ],
        (
            Confidence::Medium,
            "the sibling runs the same program, and both together do more than one alone",
            "Check what runs on the sibling CPUs (--neighbours); compare with one busy thread per core.",
        ),
    )))
}

/// Share of the cycles that waited for memory, by the most exact metric that was counted.
fn memory_bound(context: &RuleContext<'_>) -> Result<Evidence, Why> {
    let known = [
        (MetricId::TmaDramBound, "stalled on loads from memory", limits::DRAM_BOUND),
        (MetricId::TmaMemoryBound, "slots lost to memory", limits::MEMORY_BOUND),
        (MetricId::MemoryStallShare, "stalled on caches and memory", limits::MEMORY_BOUND),
    ];
    let mut why = Why::NotRecorded;
    for (id, label, threshold) in known {
        match context.hardware(id) {
            Ok(value) => return Ok(Evidence::of(label, value, U::Share, threshold).read_from(id)),
            Err(reason) => why = reason,
        }
    }
    Err(why)
}

/// The stalls, if memory costs enough to need a reason.
fn waits_for_memory(context: &RuleContext<'_>) -> Result<Option<Evidence>, Why> {
    let bound = memory_bound(context)?;
    Ok(bound.threshold.is_some_and(|threshold| bound.value >= threshold).then_some(bound))
}

fn bandwidth(context: &RuleContext<'_>) -> Result<Option<Finding>, Why> {
    let many = context.hardware(MetricId::TmaMemoryBandwidth)?;
    let Some(bound) = waits_for_memory(context)?.filter(|_| many >= limits::MEMORY_BANDWIDTH) else { return Ok(None) };
    let share = many.min(bound.value);
    let mut evidence = vec![
        bound,
        Evidence::of("four or more reads in flight", many, U::Share, limits::MEMORY_BANDWIDTH)
            .read_from(MetricId::TmaMemoryBandwidth),
    ];
    evidence.extend(plain(context, MetricId::MemoryBandwidth, "bytes per second, at least", U::BytesPerSecond));
    evidence.extend(plain(context, MetricId::L3MissLatency, "latency of an L3 miss", U::Seconds));
    Ok(Some(found(
        &BANDWIDTH,
        Some(share),
        format!("Up to {} of the cycles wait for memory with four or more reads in flight.", percent(share)),
        evidence,
        (
            Confidence::Medium,
            "the machine moves far more bytes per second for another program (STREAM), at the same latency",
            "Touch less memory per operation, in smaller or reused blocks, or spread it over more nodes.",
        ),
    )))
}

fn sharing(context: &RuleContext<'_>) -> Result<Option<Finding>, Why> {
    let lines = context.hardware(MetricId::HitmPerKinstr)?;
    // Seconds waiting for these lines per second of CPU time; unknown if the clock frequency is.
    let cost = context.metric(MetricId::Cpi).and_then(|cpi| Ok((cpi, context.metric(MetricId::Frequency)?)));
    let cost = cost.ok().filter(|(cpi, _)| *cpi > 0.0);
    let cost = cost.map(|(cpi, hertz)| lines / 1000.0 * limits::HITM_SECONDS * hertz / cpi);
    if lines < limits::HITM || cost.is_some_and(|cost| cost < limits::CONTESTED) {
        return Ok(None);
    }
    let read = Evidence::of("modified lines of others, per 1000", lines, U::Count, limits::HITM);
    let mut evidence = vec![read.read_from(MetricId::HitmPerKinstr)];
    evidence.extend(cost.map(|cost| Evidence::of("waiting for them, at least", cost, U::Share, limits::CONTESTED)));
    evidence.extend(plain(context, MetricId::OrderClearsPerKinstr, "ordering clears, per 1000", U::Count));
    Ok(Some(found(
        &SHARING,
        cost,
        format!(
            "{} loads per 1,000 instructions read a cache line that another core had just modified.",
            digits(lines)
        ),
        evidence,
        (
            Confidence::Medium,
            "the lines hold data that threads must hand over: work queues, results",
            "Find the line with `ironlaw record --mem` (or `perf c2c record`) and `ironlaw report`: different offsets in it are false \
             sharing, the same one is a lock or a counter.",
        ),
    )))
}

fn remote(context: &RuleContext<'_>) -> Result<Option<Finding>, Why> {
    let remote = context.hardware(MetricId::RemoteDramShare)?;
    if remote < limits::REMOTE {
        return Ok(None);
    }
    let Some(bound) = waits_for_memory(context)? else { return Ok(None) };
    let share = remote * bound.value;
    Ok(Some(found(
        &REMOTE,
        Some(share),
        format!(
            "Another NUMA node served {} of the memory reads, and {} of the cycles wait for memory.",
            percent(remote),
            percent(bound.value)
        ),
        vec![
            Evidence::of("of reads from memory", remote, U::Share, limits::REMOTE).read_from(MetricId::RemoteDramShare),
            bound,
        ],
        (
            Confidence::Medium,
            "with threads and memory bound to one node (numactl) the program is as slow",
            "Let the thread that uses memory touch it first, or bind threads and memory (numactl); check numastat \
             -p.",
        ),
    )))
}

fn capacity(context: &RuleContext<'_>) -> Result<Option<Finding>, Why> {
    let misses = context.hardware(MetricId::LlcMpki)?;
    let Some(bound) = waits_for_memory(context)?.filter(|_| misses >= limits::LLC_MPKI) else { return Ok(None) };
    // Then the same misses have another reason.
    if matches!(bandwidth(context), Ok(Some(_))) || matches!(remote(context), Ok(Some(_))) {
        return Ok(None);
    }
    let depends = context.metric(MetricId::Mlp).is_ok_and(|reads| reads < limits::FEW_READS);
    let share = bound.value;
    let missed = Evidence::of("LLC misses, per 1000", misses, U::Count, limits::LLC_MPKI);
    let mut evidence = vec![missed.read_from(MetricId::LlcMpki), bound];
    evidence.extend(plain(context, MetricId::Mlp, "reads in flight", U::Count));
    evidence.extend(plain(context, MetricId::L3MissLatency, "latency of an L3 miss", U::Seconds));
    Ok(Some(found(
        &CAPACITY,
        Some(share),
        format!(
            "Up to {} of the cycles wait for memory: {} last-level cache misses per 1,000 instructions.",
            percent(share),
            digits(misses)
        ),
        evidence,
        (
            if depends { Confidence::Medium } else { Confidence::Low },
            "the data is read once (a stream), so that no cache could hold it",
            "Touch less memory per operation: smaller or reused blocks, denser data; prefetch where reads depend on \
             each other.",
        ),
    )))
}

fn walks(context: &RuleContext<'_>) -> Result<Option<Finding>, Why> {
    let share = context.hardware(MetricId::PageWalkShare)?;
    if share < limits::PAGE_WALKS {
        return Ok(None);
    }
    let walking = Evidence::of("cycles with a page walk in progress", share, U::Share, limits::PAGE_WALKS);
    let mut evidence = vec![walking.read_from(MetricId::PageWalkShare)];
    evidence.extend(plain(context, MetricId::WalksPerKinstr, "page walks, per 1000", U::Count));
    evidence.extend(plain(context, MetricId::MeanWalkCycles, "cycles of a page walk", U::Count));
    Ok(Some(found(
        &WALKS,
        Some(share),
        format!("Up to {} of the cycles have a page walk in progress.", percent(share)),
        evidence,
        (
            Confidence::Medium,
            "with huge pages the program is as slow: the walks overlapped with other work",
            "Back large data with huge pages (THP, MAP_HUGETLB), or keep data that is used together on fewer \
             pages.",
        ),
    )))
}
