//! What must not matter: the order in which samples arrived, the numbers of stacks, the unit of weights.

use super::recordings::{SampleSpec, any_recording, cases, profile};
use crate::analysis::{
    BranchKind, Butterfly, GroupBy, Names, ProfileTree, Ranking, Selection, SortBy, StackCounts, Tasks, rank,
};
use crate::model::profile::Profile;
use proptest::prelude::*;

fn ranking(profile: &Profile, by: GroupBy) -> Ranking {
    let tasks = Tasks::of(profile);
    let counts = StackCounts::of(profile, &tasks, &Selection::default());
    rank(profile, &Names::of(profile), &tasks, &counts, by, SortBy::SelfWeight)
}

/// The stacks by name with their weights and samples.
fn folded(profile: &Profile) -> Vec<(Vec<String>, u64, u64)> {
    let (names, tasks) = (Names::of(profile), Tasks::of(profile));
    let counts = StackCounts::of(profile, &tasks, &Selection::default());
    let tree = ProfileTree::of(profile, &names, &tasks, &counts);
    let text = |path: Vec<&crate::analysis::Label>| path.iter().map(|label| label.text.clone()).collect();
    tree.folded().into_iter().map(|(path, own)| (text(path), own.weight, own.samples)).collect()
}

/// The wings of a function by name: path, weight, samples.
fn wings(profile: &Profile, function: (&str, &str)) -> Vec<(Vec<String>, u64, u64)> {
    let (names, tasks) = (Names::of(profile), Tasks::of(profile));
    let counts = StackCounts::of(profile, &tasks, &Selection::default());
    let around = Butterfly::of(profile, &names, &counts, function);
    let mut rows = Vec::new();
    for (side, wing) in [("callers", &around.callers), ("callees", &around.callees)] {
        for branch in wing {
            let mut path = vec![];
            let mut next = Some(branch);
            while let Some(at) = next {
                path.push(match at.kind {
                    BranchKind::Function(id) => names.functions[id as usize].name.clone(),
                    other => format!("{other:?}"),
                });
                next = at.parent.map(|parent| &wing[parent as usize]);
            }
            path.push(side.to_string());
            rows.push((path, branch.weight, branch.samples));
        }
    }
    rows.sort();
    rows
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn neither_the_order_of_samples_nor_the_numbers_of_stacks_change_a_result(
        (taken, shuffled) in any_recording().prop_flat_map(|taken| (Just(taken.clone()), Just(taken).prop_shuffle())),
    ) {
        let (one, other) = (profile(&taken), profile(&shuffled));
        for by in [GroupBy::Function, GroupBy::Module, GroupBy::Thread, GroupBy::Process] {
            prop_assert_eq!(ranking(&one, by), ranking(&other, by));
        }
        prop_assert_eq!(folded(&one), folded(&other));
        for function in [("main", "/bin/app"), ("outer", "/bin/app"), ("futex_wait", "[kernel]")] {
            prop_assert_eq!(wings(&one, function), wings(&other, function));
        }
    }

    #[test]
    fn heavier_samples_keep_their_shares(taken in any_recording(), factor in 2..9_u64) {
        let heavier: Vec<SampleSpec> = taken
            .iter()
            .map(|one| SampleSpec { weight: if one.wait.is_none() { one.weight * factor } else { one.weight }, ..one.clone() })
            .collect();
        let (light, heavy) = (ranking(&profile(&taken), GroupBy::Function), ranking(&profile(&heavier), GroupBy::Function));
        prop_assert_eq!((heavy.weight, heavy.samples), (light.weight * factor, light.samples));
        for (row, other) in light.rows.iter().zip(&heavy.rows) {
            prop_assert_eq!((&row.name, &row.module), (&other.name, &other.module));
            prop_assert_eq!((row.self_weight * factor, row.total_weight * factor), (other.self_weight, other.total_weight));
            prop_assert!((light.share(row.self_weight) - heavy.share(other.self_weight)).abs() < 1e-12);
            prop_assert_eq!(light.error(light.share(row.self_weight)).is_some(), light.samples > 0);
        }
    }

    #[test]
    fn a_recording_twice_over_has_the_same_shares_and_smaller_errors(taken in any_recording()) {
        let twice: Vec<SampleSpec> = taken.iter().chain(&taken).cloned().collect();
        let (once, twice) = (ranking(&profile(&taken), GroupBy::Function), ranking(&profile(&twice), GroupBy::Function));
        prop_assert_eq!((once.weight * 2, once.samples * 2), (twice.weight, twice.samples));
        for (row, other) in once.rows.iter().zip(&twice.rows) {
            let (share, again) = (once.share(row.self_weight), twice.share(other.self_weight));
            prop_assert!((share - again).abs() < 1e-12);
            if let (Some(error), Some(smaller)) = (once.error(share), twice.error(again)) {
                prop_assert!((error - smaller * std::f64::consts::SQRT_2).abs() < 1e-12, "{error} and {smaller}");
            }
        }
    }

    #[test]
    fn without_inlined_calls_their_time_is_the_outer_functions(taken in any_recording()) {
        let whole = profile(&taken);
        let mut plain = whole.clone();
        plain.drop_inlined();
        let (before, after) = (ranking(&whole, GroupBy::Function), ranking(&plain, GroupBy::Function));
        prop_assert_eq!((before.weight, before.samples), (after.weight, after.samples));
        prop_assert!(after.rows.iter().all(|row| !row.inlined && row.name != "inner"));
        let of = |ranking: &Ranking, name: &str| {
            ranking.rows.iter().filter(|row| row.name == name).map(|row| (row.self_weight, row.total_weight)).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
        };
        let (inner, outer) = (of(&before, "inner"), of(&before, "outer"));
        prop_assert_eq!(of(&after, "outer"), (inner.0 + outer.0, outer.1));
    }
}
