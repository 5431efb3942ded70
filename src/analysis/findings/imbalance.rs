//! Threads that do like work, of which some are done early and wait for the busiest.
//! It never compares unlike threads: like are those of one process with the same name but for digits and the same first
//! function of their own.

use super::families::is_starter;
use super::words::{percent, threads};
use super::{Confidence, Evidence, Finding, Kind, Place, Rule, Sight, limits};
use crate::analysis::MetricUnit as U;
use crate::analysis::ThreadRow;
use crate::model::Why;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

pub(super) const RULE: Rule = Rule { id: "load-imbalance", title: "uneven load", kind: Kind::Limit, judge };

/// A thread with the share of its life in which it had something to do: running, or waiting for a CPU.
struct Member {
    tid: u32,
    wanted: f64,
}

fn judge(sight: &Sight<'_>) -> Result<Option<Finding>, Why> {
    sight.busy()?;
    sight.samples()?;
    let total = sight.cpu_time()? / sight.wall()?;
    let mut worst: Option<(f64, String, Vec<Member>)> = None;
    for ((_, name, _), members) in groups(sight) {
        let most = members.iter().map(|member| member.wanted).fold(0.0, f64::max);
        let mean = members.iter().map(|member| member.wanted).sum::<f64>() / members.len() as f64;
        let uneven = members.len() >= 2 && most >= limits::SATURATED && mean / most < limits::BALANCE;
        let weighs = worst.as_ref().is_none_or(|(_, _, known)| known.len() < members.len());
        if uneven && weighs && mean * members.len() as f64 >= total / 2.0 {
            worst = Some((mean / most, name, members));
        }
    }
    let Some((balance, name, members)) = worst else { return Ok(None) };
    let most = members.iter().map(|member| member.wanted).fold(0.0, f64::max);
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(1.0 - balance),
        claim: format!(
            "Of {} `{name}` that do like work the busiest is at work {} of its time, on average only {} of that.",
            threads(members.len()),
            percent(most),
            percent(balance)
        ),
        evidence: vec![
            Evidence::of("mean over most", balance, U::Share, limits::BALANCE),
            Evidence::of("busiest at work", most, U::Share, limits::SATURATED),
        ],
        confidence: Confidence::Medium,
        place: Some(Place {
            frames: Vec::new(),
            axis: sight.axis(),
            threads: members.iter().map(|member| member.tid).collect(),
        }),
        refuted_by: "over a longer time all of them are at work equally, or the others do other work",
        next_step: "Compare what the busiest does with the others (--thread); share the work out in smaller pieces."
            .to_string(),
    }))
}

type Group = (u32, String, String);

/// Like threads, the busiest first; those without work are no part of it.
fn groups(sight: &Sight<'_>) -> BTreeMap<Group, Vec<Member>> {
    let entries = entries(sight);
    let mut groups: BTreeMap<Group, Vec<Member>> = BTreeMap::new();
    for row in &sight.threads {
        let (Some(entry), Some(wanted)) = (entries.get(&row.task.tid), wanted(row)) else { continue };
        if wanted >= limits::IDLE_THREADS {
            let group = (row.task.pid, stem(&row.task.comm), entry.clone());
            groups.entry(group).or_default().push(Member { tid: row.task.tid, wanted });
        }
    }
    groups.values_mut().for_each(|members| members.sort_by(|a, b| b.wanted.total_cmp(&a.wanted)));
    groups
}

/// Share of a thread's life in which it had something to do; waiting for a CPU is not idleness.
pub(super) fn wanted(row: &ThreadRow) -> Option<f64> {
    let queued = row.queued().value().copied().unwrap_or(0.0);
    row.utilisation().value().map(|busy| (busy + queued).min(1.0))
}

/// The first function of its own that most of a thread's samples begin with. Threads with few samples have none.
fn entries(sight: &Sight<'_>) -> FxHashMap<u32, String> {
    let Ok(stacks) = sight.samples() else { return FxHashMap::default() };
    let mut sums: FxHashMap<u32, (u64, BTreeMap<&str, u64>)> = FxHashMap::default();
    for row in &stacks.rows {
        let own =
            stacks.calls(row).iter().rev().map(|call| stacks.function(*call)).find(|function| !is_starter(function));
        let (samples, entries) = sums.entry(row.tid).or_default();
        *samples += row.samples;
        if let Some(function) = own.filter(|_| !row.incomplete) {
            *entries.entry(&function.name).or_default() += row.samples;
        }
    }
    let enough = sums.into_iter().filter(|(_, (samples, _))| *samples >= limits::THREAD_SAMPLES);
    enough
        .map(|(tid, (_, entries))| {
            let most = entries.into_iter().max_by_key(|(_, samples)| *samples);
            (tid, most.map_or(String::new(), |(name, _)| name.to_string()))
        })
        .collect()
}

/// A thread's name without its number: `worker-12` and `worker-3` are `worker-#`.
fn stem(comm: &str) -> String {
    let mut out = String::new();
    for c in comm.chars() {
        match c {
            '0'..='9' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stem_stands_for_all_numbers() {
        assert_eq!([stem("worker-12"), stem("io_thd_3"), stem("main")], ["worker-#", "io_thd_#", "main"]);
    }
}
