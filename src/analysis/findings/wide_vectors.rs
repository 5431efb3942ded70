//! 512-bit vector instructions beside other code on the same cores. On the CPUs that [`lowers_clock`] names, one lowers the
//! highest clock of its core until about 0.7 ms after the last, and slows down whatever runs there. Whether the clock fell
//! is not measured without counters.

use super::{Confidence, Evidence, Finding, FindingKind, Rule, RuleContext, Whole, limits};
use crate::analysis::names::CodeKind;
use crate::analysis::observe::chosen_samples;
use crate::analysis::selection::Axis;
use crate::analysis::text::{name, percent};
use crate::model::{HostFacts, MetricId, SampledCode, Unit as U, Why};
use crate::units::Nanos;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Applied only where code was read.
pub(super) const RULE: Rule = Rule {
    id: "wide-vectors",
    title: "wide vector code beside other code",
    kind: FindingKind::Hint,
    of: Whole::CpuTime,
    explains: &[],
    evaluate,
};

/// Share of samples at 512-bit instructions: with less, few moments are near one. [P]
const WIDE: f64 = 0.01;
/// Share of samples at other code on the same core, near one in time. With less, most time is the vectors' own, which do
/// twice the work of narrower ones. [P]
const BESIDE: f64 = 0.5;
/// How near at least. Samples come too rarely to see the 0.7 ms. [P]
const NEAR: Nanos = Nanos(100_000_000);
/// Samples at 512-bit instructions that are expected on a core within the time that counts as near, if they come evenly: a
/// program that gets little of its CPUs has fewer samples, and its vector code is not further away for that. [P]
const EXPECTED_NEAR: u64 = 3;
/// Share of samples at code that cannot be read, from which it is unknown what the program runs. [P]
const UNREAD: f64 = 0.1;
/// Share of cycles with a lowered clock, from counters. [P]
const LOWERED: f64 = 0.1;

/// Whether 512-bit instructions lower the clock of the CPUs notably: those of model 85 of Intel's family 6, Skylake-SP,
/// Cascade Lake and Cooper Lake. Later ones and those of AMD hardly do. [V]
fn lowers_clock(host: &HostFacts) -> Result<bool, Why> {
    match &host.cpuid {
        _ if host.arch != "x86_64" => Ok(false),
        Some(cpuid) => Ok(cpuid.starts_with("GenuineIntel,6,85,")),
        None => Err(Why::NotRecorded),
    }
}

fn evaluate(context: &RuleContext<'_>) -> Result<Option<Finding>, Why> {
    let code = context.code.ok_or(Why::NotRecorded)?;
    if !lowers_clock(&context.profile.meta.host)? {
        return Ok(None);
    }
    context.require_cpu_time()?;
    let stacks = context.samples()?;
    let leaf_code = |stack| code.get(&context.profile.walk(stack).next()?);
    let (mut by_function, mut wide, mut unread) = (BTreeMap::<(&str, &str), u64>::new(), 0_u64, 0_u64);
    for (row, kind) in stacks.rows().filter(|(_, kind)| stacks.leaf(kind).kind != CodeKind::Kernel) {
        match leaf_code(row.stack) {
            Some(code) if code.wide => {
                let leaf = stacks.leaf(kind);
                let sum = by_function.entry((&leaf.name, &leaf.module)).or_default();
                (wide, *sum) = (wide.saturating_add(row.weight), sum.saturating_add(row.weight));
            }
            Some(_) => {}
            None => unread = unread.saturating_add(row.weight),
        }
    }
    let beside = stacks.share(beside(context, code));
    let wide = stacks.share(wide);
    let Some((hottest, _)) = by_function.into_iter().max_by_key(|(function, weight)| (*weight, *function)) else {
        return if stacks.share(unread) >= UNREAD { Err(Why::NotRecorded) } else { Ok(None) };
    };
    if wide < WIDE || beside < BESIDE {
        return Ok(None);
    }
    let mut evidence = vec![
        Evidence::of("at 512-bit instructions", wide, U::Share, WIDE),
        Evidence::of("other code near them on their cores", beside, U::Share, BESIDE),
    ];
    let mut confidence = Confidence::Low;
    match (context.metric(MetricId::AvxLicenseShare), context.metric(MetricId::ClockRatio)) {
        // Counted: the clock was not lowered.
        (Ok(lowered), _) if lowered < LOWERED => return Ok(None),
        (Ok(lowered), _) => {
            confidence = Confidence::Medium;
            let counted = Evidence::of("cycles at a lowered clock", lowered, U::Share, LOWERED);
            evidence.push(counted.read_from(MetricId::AvxLicenseShare));
        }
        (Err(_), Ok(ratio)) if ratio <= limits::BASE_CLOCK => {
            confidence = Confidence::Medium;
            let clock = Evidence::up_to("clock over base clock", ratio, U::Ratio, limits::BASE_CLOCK);
            evidence.push(clock.read_from(MetricId::ClockRatio));
        }
        (Err(_), Ok(ratio)) => {
            let clock = Evidence::plain("clock over base clock", ratio, U::Ratio);
            evidence.push(clock.read_from(MetricId::ClockRatio));
        }
        (Err(_), Err(_)) => {}
    }
    let part = stacks.part_at_leaf(|function| (function.name.as_str(), function.module.as_str()) == hottest);
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        // Samples do not tell by how much the clock fell.
        share: None,
        claim: format!(
            "{} of the CPU time is spent at 512-bit instructions, most of it in {}, and {} in other code on the same \
             cores, which this CPU may run at a lower clock for that.",
            percent(wide),
            name(part.function()),
            percent(beside),
        ),
        evidence,
        confidence,
        place: part.place(),
        culprits: Vec::new(),
        refuted_by: "the cycles of a CPU second are the same without these instructions",
        next_step:
            "Count the cycles at a lowered clock (avx_license_share), or compare the throughput with vectors of 256 \
                    bits (gcc and clang: -mprefer-vector-width=256; glibc: GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F)."
                .to_string(),
    }))
}

/// Weight of the samples without 512-bit instructions on a core that ran some near in time.
fn beside(context: &RuleContext<'_>, code: &SampledCode) -> u64 {
    let Axis::Event(event) = context.axis() else { return 0 };
    let (profile, samples) = (context.profile, &context.profile.samples);
    let cores: FxHashMap<u32, (u32, u32)> =
        profile.meta.host.cpus.iter().map(|cpu| (cpu.cpu, (cpu.package, cpu.core))).collect();
    let chosen: Vec<_> = chosen_samples(profile, event, &context.selection, &context.who)
        .map(|at| {
            let cpu = samples.cpu[at];
            let leaf = profile.walk(samples.stack[at]).next().and_then(|frame| code.get(&frame));
            let core = cores.get(&cpu).copied().unwrap_or((u32::MAX, cpu));
            (samples.at[at].0, core, leaf.is_some_and(|code| code.wide), samples.weight[at])
        })
        .collect();
    let wide = chosen.iter().filter(|(_, _, wide, _)| *wide).count() as u64;
    let on_cores = chosen.iter().map(|(_, core, ..)| core).collect::<FxHashSet<_>>().len() as u64;
    let (first, last) = chosen.iter().fold((u64::MAX, 0), |(first, last), (at, ..)| (first.min(*at), last.max(*at)));
    let evenly = last.saturating_sub(first).saturating_mul(on_cores) / wide.max(1);
    let near = evenly.saturating_mul(EXPECTED_NEAR).max(NEAR.0);
    let mut slots: FxHashMap<((u32, u32), u64), (bool, u64)> = FxHashMap::default();
    for (at, core, wide, weight) in chosen {
        let (ran, others) = slots.entry((core, at / near)).or_default();
        match wide {
            true => *ran = true,
            false => *others = others.saturating_add(weight),
        }
    }
    slots.values().filter(|(ran, _)| *ran).fold(0, |sum, (_, others)| sum.saturating_add(*others))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::finding::RuleResults;
    use crate::analysis::findings::evaluate;
    use crate::analysis::testing::{Synthetic, ms};
    use crate::analysis::{Counters, Names, Selection, StackCounts, Tasks};
    use crate::model::{SampledInstruction, Scope};

    const SKYLAKE: Option<&str> = Some("GenuineIntel,6,85,4");
    const CODE: &str = "/bin/app!main;/bin/app!decode";
    const VECTORS: &str = "/bin/app!main;/bin/app!scale_wide";

    /// Nine seconds of one thread: a sample in 10 at wide instructions, all of these in the first `first` of ten parts.
    fn profile(cpuid: Option<&str>, first: u64) -> Synthetic {
        profile_of(cpuid, first, ms(10))
    }

    /// The same with a sample every `weight`.
    fn profile_of(cpuid: Option<&str>, first: u64, weight: Nanos) -> Synthetic {
        let mut s = Synthetic::new();
        s.weight = weight.0;
        s.meta.host.cpuid = cpuid.map(str::to_string);
        s.alive(41, "app").tick(10_000, 10_000);
        for part in 0..10 {
            let each = ms(900).0 / weight.0;
            let wide = if part < first { each / first } else { 0 };
            s.samples(part * 900, 41, CODE, each - wide);
            (0..wide).for_each(|nth| _ = s.samples(part * 900 + nth * 900 / wide, 41, VECTORS, 1));
        }
        for (counter, ns) in [("task-clock", 9_000), ("thread-time", 10_000), ("run-delay", 1)] {
            s.reading(counter, Scope::Target, 10_000, ms(ns).0);
        }
        s
    }

    fn results(s: Synthetic, read: bool) -> RuleResults {
        let (profile, selection) = (s.finish(), Selection::default());
        let (names, tasks, counters) = (Names::of(&profile), Tasks::of(&profile), Counters::of(&profile));
        let code: SampledCode = (profile.frames.iter())
            .filter(|_| read)
            .map(|frame| {
                let wide = profile.names_at(frame.id).iter().any(|name| name.function == "scale_wide");
                (frame.id, SampledInstruction { locked: false, wide })
            })
            .collect();
        let window = selection.time.window(&profile.ticks, profile.duration());
        let counts = StackCounts::of(&profile, &tasks, &selection);
        let mut context = RuleContext::of(&profile, &names, &tasks, &counters, &counts, window);
        context.code = Some(&code);
        evaluate(&context)
    }

    fn found(results: &RuleResults) -> Option<&Finding> {
        results.found.iter().find(|finding| finding.rule == RULE.id)
    }

    #[test]
    fn wide_instructions_among_other_code_are_found_on_cpus_whose_clock_they_lower() {
        let on = |cpuid| results(profile(cpuid, 9), true);
        let skylake = on(SKYLAKE);
        let finding = found(&skylake).unwrap_or_else(|| panic!("{skylake:?}"));
        assert_eq!((finding.confidence, finding.share), (Confidence::Low, None));
        assert!(finding.claim.contains("scale_wide") && finding.claim.starts_with("10.0%"), "{}", finding.claim);
        for other in ["GenuineIntel,6,106,6", "GenuineIntel,6,207,2", "AuthenticAMD,25,17,1", "GenuineIntel,6,8,5"] {
            assert!(on(Some(other)).clear.contains(&RULE.id), "{other}");
        }
        let unknown = on(None);
        let why = unknown.undecided.iter().find(|(rule, ..)| *rule == RULE.id).map(|(.., why)| *why);
        assert_eq!(why, Some(Why::NotRecorded), "another generation may be like it");
    }

    #[test]
    fn neither_code_away_from_them_nor_code_that_cannot_be_read_is_beside_them() {
        assert!(
            results(profile(SKYLAKE, 1), true).clear.contains(&RULE.id),
            "all at once, then nothing but other code"
        );
        let unread = results(profile(SKYLAKE, 9), false);
        assert!(unread.undecided.iter().any(|(rule, ..)| *rule == RULE.id), "{unread:?}");
    }

    #[test]
    fn few_samples_do_not_set_the_vectors_apart_from_the_other_code() {
        let sparse = results(profile_of(SKYLAKE, 9, ms(30)), true);
        assert!(found(&sparse).is_some(), "{sparse:?}");
        assert!(results(profile_of(SKYLAKE, 1, ms(30)), true).clear.contains(&RULE.id));
    }

    #[test]
    fn counters_confirm_that_the_clock_is_lowered_or_clear_it() {
        let counted = |lowered: u64| {
            let mut s = profile(SKYLAKE, 9);
            for (role, value) in [("cycles", 1000), ("core-power-lvl1", lowered), ("core-power-lvl2", 0)] {
                s.reading(role, Scope::Target, 10_000, value);
            }
            results(s, true)
        };
        assert_eq!(found(&counted(400)).map(|finding| finding.confidence), Some(Confidence::Medium));
        assert!(counted(10).clear.contains(&RULE.id));
    }
}
