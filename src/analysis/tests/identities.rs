//! Sums: every way to divide a recording comes to the same whole.

use super::recordings::{any_recording, cases, profile};
use crate::analysis::{
    Axis, BranchKind, Butterfly, Counters, GroupBy, Names, ProfileTree, Rank, Ranking, Selection, SortBy, StackCounts,
    Tasks, ThreadSet, TimeRange, blocked_paths, observations, off_cpu_totals, processes, rank, summary, threads,
    waits_by_thread,
};
use crate::model::TaskState;
use crate::model::profile::Profile;
use crate::units::Nanos;
use proptest::prelude::*;

const GROUPS: [GroupBy; 4] = [GroupBy::Function, GroupBy::Module, GroupBy::Thread, GroupBy::Process];

fn axes() -> [Selection; 2] {
    [Selection::default(), Selection { axis: Axis::OffCpu, ..Selection::default() }]
}

fn ranking(profile: &Profile, selection: &Selection, by: GroupBy) -> Ranking {
    let tasks = Tasks::of(profile);
    rank(profile, &Names::of(profile), &tasks, &StackCounts::of(profile, &tasks, selection), by, SortBy::SelfWeight)
}

/// Weight and number of a selection's observations.
fn whole(profile: &Profile, selection: &Selection) -> (u64, u64) {
    let who = selection.who(&Tasks::of(profile));
    let seen: Vec<_> = observations(profile, selection, &who).collect();
    (seen.iter().map(|one| one.weight).sum(), seen.len() as u64)
}

fn own(rows: &[Rank]) -> (u64, u64) {
    (rows.iter().map(|row| row.self_weight).sum(), rows.iter().map(|row| row.self_samples).sum())
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn rows_of_every_kind_sum_to_the_selection_and_their_shares_to_one(taken in any_recording()) {
        let profile = profile(&taken);
        for selection in axes() {
            let whole = whole(&profile, &selection);
            for by in GROUPS {
                let ranking = ranking(&profile, &selection, by);
                prop_assert_eq!((ranking.weight, ranking.samples), whole, "{:?}", by);
                prop_assert_eq!(own(&ranking.rows), whole, "{:?}", by);
                for row in &ranking.rows {
                    prop_assert!(row.self_weight <= row.total_weight && row.total_weight <= whole.0, "{row:?}");
                    prop_assert!(row.self_samples <= row.total_samples && row.total_samples <= whole.1, "{row:?}");
                }
                let shares: f64 = ranking.rows.iter().map(|row| ranking.share(row.self_weight)).sum();
                prop_assert!(whole.0 == 0 || (shares - 1.0).abs() < 1e-9, "{shares}");
            }
        }
    }

    #[test]
    fn a_threads_and_a_processes_row_has_no_callees_so_its_total_is_its_own(taken in any_recording()) {
        let profile = profile(&taken);
        for by in [GroupBy::Thread, GroupBy::Process] {
            for row in ranking(&profile, &Selection::default(), by).rows {
                prop_assert_eq!((row.self_weight, row.self_samples), (row.total_weight, row.total_samples));
                prop_assert!(row.id.is_some());
            }
        }
    }

    #[test]
    fn a_call_tree_holds_each_sample_once_and_a_path_what_is_below_it(taken in any_recording()) {
        let profile = profile(&taken);
        let (names, tasks) = (Names::of(&profile), Tasks::of(&profile));
        for selection in axes() {
            let who = selection.who(&tasks);
            let queued: u64 = observations(&profile, &selection, &who).map(|one| one.queued).sum();
            let expected = whole(&profile, &selection).0 + queued;
            let counts = StackCounts::of(&profile, &tasks, &selection);
            for tree in [
                ProfileTree::of(&profile, &names, &tasks, &counts),
                ProfileTree::by_thread(&profile, &names, &tasks, &counts),
            ] {
                let own: u64 = tree.nodes.iter().map(|node| node.own.weight).sum();
                prop_assert_eq!(own, expected);
                let folded: u64 = tree.folded().iter().map(|(_, weight)| weight.weight).sum();
                prop_assert_eq!(folded, expected);
                let sums = tree.inclusive();
                let mut below = vec![0; tree.nodes.len()];
                let mut roots = 0;
                for (at, node) in tree.nodes.iter().enumerate() {
                    match node.parent {
                        Some(parent) => {
                            prop_assert!((parent as usize) < at, "a caller comes before its callee");
                            below[parent as usize] += sums[at].weight;
                        }
                        None => roots += sums[at].weight,
                    }
                }
                prop_assert_eq!(roots, expected);
                for (at, node) in tree.nodes.iter().enumerate() {
                    prop_assert_eq!(sums[at].weight, node.own.weight + below[at]);
                }
            }
        }
    }

    #[test]
    fn laid_out_breadth_first_a_tree_keeps_every_path_below_its_caller(taken in any_recording()) {
        let profile = profile(&taken);
        let (names, tasks) = (Names::of(&profile), Tasks::of(&profile));
        let counts = StackCounts::of(&profile, &tasks, &Selection::default());
        let tree = ProfileTree::of(&profile, &names, &tasks, &counts);
        let (places, roots) = tree.breadth_first(|_| true, |a, b| a.cmp(b));
        prop_assert_eq!(places.len(), tree.nodes.len());
        let mut seen: Vec<u32> = places.iter().map(|place| place.node).collect();
        seen.sort_unstable();
        prop_assert!(seen.iter().enumerate().all(|(at, node)| *node as usize == at), "each path once");
        for (at, place) in places.iter().enumerate() {
            prop_assert_eq!(place.parent.is_none(), at < roots as usize);
            let parent = place.parent.map(|parent| places[parent as usize].node);
            prop_assert_eq!(parent, tree.nodes[place.node as usize].parent);
            let below = place.first_child as usize..(place.first_child + place.children) as usize;
            for child in &places[below.clone()] {
                prop_assert_eq!(child.parent, Some(at as u32));
            }
            let names: Vec<_> = places[below].iter().map(|child| tree.function(child.node)).collect();
            prop_assert!(names.is_sorted(), "{names:?}");
        }
    }

    #[test]
    fn a_butterflys_wings_carry_what_the_ranking_says_of_the_function(taken in any_recording()) {
        let profile = profile(&taken);
        let (names, tasks) = (Names::of(&profile), Tasks::of(&profile));
        for selection in axes() {
            let counts = StackCounts::of(&profile, &tasks, &selection);
            for row in ranking(&profile, &selection, GroupBy::Function).rows {
                let around = Butterfly::of(&profile, &names, &counts, (&row.name, &row.module));
                prop_assert_eq!(around.weight, row.total_weight, "{}", &row.name);
                if selection.axis != Axis::OffCpu {
                    prop_assert_eq!(around.samples, row.total_samples, "{}", &row.name);
                }
                for (wing, is_callees) in [(&around.callers, false), (&around.callees, true)] {
                    let next: u64 = wing.iter().filter(|branch| branch.parent.is_none()).map(|branch| branch.weight).sum();
                    prop_assert_eq!(next, around.weight, "{}: callees: {}", &row.name, is_callees);
                    let mut below = vec![0; wing.len()];
                    for (at, branch) in wing.iter().enumerate() {
                        if let Some(parent) = branch.parent {
                            prop_assert!((parent as usize) < at);
                            below[parent as usize] += branch.weight;
                        }
                        prop_assert!((branch.stack as usize) < around.stacks.len());
                    }
                    let fits = |(at, sum): (usize, &u64)| *sum <= wing[at].weight;
                    prop_assert!(below.iter().enumerate().all(fits), "{}: callees: {}", &row.name, is_callees);
                }
                let of_own = around.callees.iter().filter(|branch| branch.parent.is_none() && branch.kind == BranchKind::Own);
                let of_own: u64 = of_own.map(|branch| branch.weight).sum();
                prop_assert!(of_own <= row.self_weight, "{}: recursion ends in own code as well", &row.name);
                let lines: u64 = around.lines.iter().map(|line| line.self_weight).sum();
                prop_assert!(lines <= row.self_weight);
                let leaf: u64 = around.instructions.iter().map(|instruction| instruction.weight).sum();
                prop_assert!(row.module.is_empty() || leaf == row.self_weight, "{}: {leaf}", row.name);
            }
        }
    }

    #[test]
    fn a_recording_cut_in_two_times_or_two_groups_of_threads_adds_up(
        taken in any_recording(),
        cut_ms in 0..10_000_u64,
        first in prop::sample::subsequence(vec![41_u32, 42, 43, 51], 1..4),
    ) {
        let profile = profile(&taken);
        let at = Nanos(cut_ms * 1_000_000);
        let rest: Vec<u32> = [41, 42, 43, 51].into_iter().filter(|tid| !first.contains(tid)).collect();
        for selection in axes() {
            let all = whole(&profile, &selection);
            let before = Selection { time: TimeRange { from: Nanos(0), to: Some(at) }, ..selection.clone() };
            let after = Selection { time: TimeRange { from: at, to: None }, ..selection.clone() };
            let parts = [before, after].map(|part| whole(&profile, &part));
            prop_assert_eq!(parts[0].0 + parts[1].0, all.0, "by time");
            if selection.axis == Axis::Event(0) {
                prop_assert_eq!(parts[0].1 + parts[1].1, all.1, "by time");
            }
            let of = |tids: &[u32]| whole(&profile, &Selection { tids: tids.to_vec(), ..selection.clone() });
            let (ours, others) = (of(&first), of(&rest));
            prop_assert_eq!((ours.0 + others.0, ours.1 + others.1), all, "by thread");
            let pids = |pid: u32| whole(&profile, &Selection { pids: vec![pid], ..selection.clone() });
            let (one, two) = (pids(41), pids(50));
            prop_assert_eq!((one.0 + two.0, one.1 + two.1), all, "by process");
        }
    }

    #[test]
    fn causes_paths_and_threads_of_waits_come_to_the_same_time(taken in any_recording()) {
        let profile = profile(&taken);
        let (names, tasks) = (Names::of(&profile), Tasks::of(&profile));
        let selection = Selection { axis: Axis::OffCpu, ..Selection::default() };
        let totals = off_cpu_totals(&profile, &names, &tasks, &selection);
        let spans = || profile.off_cpu.iter().filter(|span| span.blocked.0 > 0 || span.queued.is_some_and(|queued| queued.0 > 0));
        let blocked: u64 = spans().filter(|span| span.state != TaskState::Runnable).map(|span| span.blocked.0).sum();
        let preempted = spans().filter(|span| span.state == TaskState::Runnable);
        let preempted: u64 = preempted.map(|span| span.blocked.0 + span.queued.unwrap_or_default().0).sum();
        prop_assert_eq!(totals.causes.iter().map(|row| row.total.0).sum::<u64>(), blocked + preempted);
        prop_assert_eq!(totals.causes.iter().map(|row| row.count).sum::<u64>(), spans().count() as u64);
        prop_assert!(totals.causes.iter().all(|row| row.mean() <= row.max && row.max <= row.total));
        prop_assert!(totals.causes.is_sorted_by(|a, b| a.total >= b.total), "largest first");
        let paths = blocked_paths(&profile, &names, &tasks, &selection);
        prop_assert_eq!(paths.iter().map(|path| path.total.0).sum::<u64>(), blocked);
        let threads = waits_by_thread(&profile, &names, &tasks, &selection);
        prop_assert_eq!(threads.values().flatten().map(|(_, time)| time.0).sum::<u64>(), blocked);
    }

    #[test]
    fn threads_processes_and_the_summary_count_every_sample(taken in any_recording()) {
        let profile = profile(&taken);
        let (tasks, counters) = (Tasks::of(&profile), Counters::of(&profile));
        for selection in axes() {
            let window = selection.time.window(&profile.ticks, profile.duration());
            let (weight, samples) = whole(&profile, &selection);
            let counts = StackCounts::of(&profile, &tasks, &selection);
            let rows = threads(&tasks, &counters, &counts, window);
            prop_assert_eq!(rows.iter().map(|row| row.weight).sum::<u64>(), weight);
            prop_assert_eq!(rows.iter().map(|row| row.samples).sum::<u64>(), samples);
            let programs = processes(&tasks, &rows);
            prop_assert_eq!(programs.iter().map(|row| row.weight).sum::<u64>(), weight);
            prop_assert_eq!(programs.iter().map(|row| row.threads).sum::<u64>(), rows.len() as u64);
            let summary = summary(&profile, &counters, &counts, window);
            prop_assert_eq!(summary.count, samples);
            prop_assert_eq!(summary.whole + summary.truncated + summary.broken + summary.not_taken, samples);
            let parts = [summary.whole, summary.truncated, summary.broken].map(|part| summary.stack_share(part));
            let shares: Option<f64> = parts.into_iter().sum();
            prop_assert!(shares.is_none_or(|sum| (sum - 1.0).abs() < 1e-9), "{shares:?}");
        }
    }

    #[test]
    fn who_is_selected_is_who_has_any_part_of_it(taken in any_recording(), tid in prop::sample::select(vec![41_u32, 42, 51, 99])) {
        let profile = profile(&taken);
        let tasks = Tasks::of(&profile);
        let selection = Selection { tids: vec![tid], ..Selection::default() };
        let who = selection.who(&tasks);
        prop_assert_eq!(selection.check(&profile, &tasks).is_ok(), tasks.get(tid).is_some());
        prop_assert!(observations(&profile, &selection, &who).all(|one| one.tid == tid));
        let everybody = observations(&profile, &Selection::default(), &ThreadSet::All).filter(|one| one.tid == tid).count();
        prop_assert_eq!(whole(&profile, &selection).1, everybody as u64);
    }
}
