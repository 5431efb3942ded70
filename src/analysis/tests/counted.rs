//! The counted way against the plain way: what is computed along the tree of distinct stacks is what a walk of every
//! observation's stack comes to.

use super::recordings::{any_recording, cases, profile};
use crate::analysis::{
    Axis, GroupBy, Label, Names, Observation, ProfileTree, QUEUED, Selection, SortBy, StackCounts, TRUNCATED, Tasks,
    TimeRange, UNKNOWN, Weight, observations, rank, short,
};
use crate::model::StackEnd;
use crate::model::profile::Profile;
use crate::units::Nanos;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn selections() -> Vec<Selection> {
    let time = TimeRange { from: Nanos(2_000_000_000), to: Some(Nanos(6_000_000_000)) };
    let all = Selection::default();
    let some = Selection { tids: vec![42, 51], time, ..Selection::default() };
    let waits = |of: &Selection| Selection { axis: Axis::OffCpu, ..of.clone() };
    vec![waits(&all), waits(&some), all, some]
}

fn seen(profile: &Profile, tasks: &Tasks, selection: &Selection) -> Vec<Observation> {
    observations(profile, selection, &selection.who(tasks)).collect()
}

fn is_incomplete(one: &Observation) -> bool {
    matches!(one.end, StackEnd::Truncated | StackEnd::Broken)
}

/// Own and total weight and samples by name and module, from a walk of every observation's stack.
fn plain_ranking(
    profile: &Profile,
    names: &Names,
    seen: &[Observation],
    by: GroupBy,
) -> BTreeMap<(String, String), [u64; 4]> {
    let mut rows: BTreeMap<(String, String), [u64; 4]> = BTreeMap::new();
    for one in seen {
        let mut keys: Vec<_> = names
            .walk(profile, one.stack)
            .map(|call| {
                let function = &names.functions[call.function as usize];
                let file = if function.module.is_empty() { UNKNOWN } else { short(&function.module) };
                let name = if by == GroupBy::Module { file } else { &function.name };
                (name.to_string(), function.module.clone())
            })
            .collect();
        if keys.is_empty() {
            keys.push((UNKNOWN.to_string(), String::new()));
        }
        let own = rows.entry(keys[0].clone()).or_default();
        (own[0], own[1]) = (own[0] + one.weight, own[1] + 1);
        keys.sort();
        keys.dedup();
        for key in keys {
            let total = rows.entry(key).or_default();
            (total[2], total[3]) = (total[2] + one.weight, total[3] + 1);
        }
    }
    rows
}

/// Own weight and samples by path of cells, from a walk of every observation's stack.
fn plain_tree(
    profile: &Profile,
    names: &Names,
    tasks: &Tasks,
    seen: &[Observation],
    threads: bool,
) -> BTreeMap<Vec<Label>, Weight> {
    let heading = |text: String| Label { text, kind: crate::analysis::CodeKind::Heading, inlined: false };
    let several = seen.iter().any(|one| one.pid != seen[0].pid);
    let mut by_stack: BTreeMap<_, (Vec<Label>, Weight, u64)> = BTreeMap::new();
    for one in seen {
        let tid = threads.then_some(one.tid);
        let (_, own, queued) = by_stack.entry((one.pid, tid, is_incomplete(one), one.stack)).or_insert_with(|| {
            let mut path: Vec<Label> = names.walk(profile, one.stack).map(|call| names.label(call.label)).collect();
            if path.is_empty() {
                path.push(heading(UNKNOWN.to_string()));
            }
            path.extend(is_incomplete(one).then(|| heading(TRUNCATED.to_string())));
            let named = |name: &str, id: u32| heading(format!("{name} {id}").trim_start().to_string());
            path.extend(tid.map(|tid| named(&tasks.get(tid).map_or(String::new(), |task| task.comm.clone()), tid)));
            path.extend(several.then(|| named(tasks.process_name(one.pid), one.pid)));
            path.reverse();
            (path, Weight::default(), 0)
        });
        *own += Weight { weight: one.weight, samples: 1 };
        *queued += one.queued;
    }
    let mut lines: BTreeMap<Vec<Label>, Weight> = BTreeMap::new();
    for (mut path, own, queued) in by_stack.into_values() {
        *lines.entry(path.clone()).or_default() += own;
        if queued > 0 {
            path.push(heading(QUEUED.to_string()));
            *lines.entry(path).or_default() += Weight { weight: queued, samples: own.samples };
        }
    }
    lines.retain(|_, sum| sum.weight > 0);
    lines
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn functions_and_modules_rank_as_a_walk_of_every_stack_ranks_them(taken in any_recording()) {
        let profile = profile(&taken);
        let (names, tasks) = (Names::of(&profile), Tasks::of(&profile));
        for selection in selections() {
            let counts = StackCounts::of(&profile, &tasks, &selection);
            let seen = seen(&profile, &tasks, &selection);
            for by in [GroupBy::Function, GroupBy::Module] {
                let ranking = rank(&profile, &names, &tasks, &counts, by, SortBy::SelfWeight);
                let sums = |row: &crate::analysis::Rank| [row.self_weight, row.self_samples, row.total_weight, row.total_samples];
                let rows: BTreeMap<_, _> =
                    ranking.rows.iter().map(|row| ((row.name.clone(), row.module.clone()), sums(row))).collect();
                prop_assert_eq!(rows.len(), ranking.rows.len());
                prop_assert_eq!(rows, plain_ranking(&profile, &names, &seen, by));
            }
        }
    }

    #[test]
    fn a_call_tree_is_that_of_a_walk_of_every_stack(taken in any_recording()) {
        let profile = profile(&taken);
        let (names, tasks) = (Names::of(&profile), Tasks::of(&profile));
        for selection in selections() {
            let counts = StackCounts::of(&profile, &tasks, &selection);
            let seen = seen(&profile, &tasks, &selection);
            for threads in [false, true] {
                let grow = if threads { ProfileTree::by_thread } else { ProfileTree::of };
                let tree = grow(&profile, &names, &tasks, &counts);
                let folded: Vec<_> = tree.folded().into_iter().map(|(path, own)| (path.into_iter().cloned().collect(), own)).collect();
                let plain: Vec<(Vec<Label>, Weight)> = plain_tree(&profile, &names, &tasks, &seen, threads).into_iter().collect();
                prop_assert_eq!(folded, plain);
            }
        }
    }

    #[test]
    fn counts_hold_every_observation_once(taken in any_recording()) {
        let profile = profile(&taken);
        let tasks = Tasks::of(&profile);
        for selection in selections() {
            let counts = StackCounts::of(&profile, &tasks, &selection);
            let seen = seen(&profile, &tasks, &selection);
            let mut plain: BTreeMap<_, [u64; 3]> = BTreeMap::new();
            for one in &seen {
                let sum = plain.entry((one.pid, one.tid, one.stack, one.end as u8)).or_default();
                *sum = [sum[0] + one.weight, sum[1] + one.queued, sum[2] + 1];
            }
            let rows: BTreeMap<_, _> = counts.rows.iter().map(|row| {
                ((row.pid, row.tid, row.stack, row.end as u8), [row.weight, row.queued, row.samples])
            }).collect();
            prop_assert_eq!((rows.len(), counts.samples), (counts.rows.len(), seen.len() as u64));
            prop_assert_eq!(rows, plain);
            prop_assert_eq!(counts.alike, seen.iter().all(|one| one.weight == seen[0].weight));
        }
    }
}
