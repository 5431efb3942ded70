//! Sums, shares and orders of reports and flame graphs.

use super::{Recipe, THREADS, recipe};
use ironlaw::analysis::{Axis, GroupKey, Selection, TimeRange};
use ironlaw::export;
use ironlaw::model::profile::Profile;
use ironlaw::view::flame::{FlameGraph, FlameOptions};
use ironlaw::view::report::{Report, ReportOptions};
use proptest::prelude::*;
use serde_json::Value;

fn on(axis: Axis) -> Selection {
    Selection { axis, ..Selection::default() }
}

fn report(profile: &Profile, change: impl FnOnce(&mut ReportOptions)) -> Report {
    let mut options = ReportOptions { limit: 0, detail_limit: 0, ..ReportOptions::default() };
    change(&mut options);
    Report::build(profile, &options).unwrap()
}

fn json(report: &Report) -> Value {
    serde_json::from_slice(&export::json::report(report).unwrap()).unwrap()
}

fn sum(report: &Value, table: &str, column: &str) -> u64 {
    report[table].as_array().unwrap().iter().map(|row| row[column].as_u64().unwrap()).sum()
}

fn flame(profile: &Profile, selection: Selection) -> FlameGraph {
    FlameGraph::build(profile, &FlameOptions { selection, ..FlameOptions::default() }).unwrap()
}

fn height(flame: &FlameGraph) -> u64 {
    flame.stacks.iter().map(|stack| stack.value).sum()
}

/// Samples within a time range; `None` where nothing of the recording is selected.
fn count(profile: &Profile, selection: Selection) -> u64 {
    let options = ReportOptions { selection, ..ReportOptions::default() };
    Report::build(profile, &options).map_or(0, |report| json(&report)["samples"]["count"].as_u64().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn own_samples_of_all_functions_are_all_samples_and_their_shares_are_one(recipe in recipe()) {
        let whole = json(&report(&recipe.profile(), |_| ()));
        prop_assert_eq!(whole["samples"]["count"].as_u64(), Some(recipe.taken.len() as u64));
        prop_assert_eq!(whole["samples"]["weight"].as_u64(), Some(recipe.weight()));
        prop_assert_eq!(sum(&whole, "functions", "self_samples"), recipe.taken.len() as u64);
        prop_assert_eq!(sum(&whole, "functions", "self_weight"), recipe.weight());
        let rows = whole["functions"].as_array().unwrap();
        let shares: f64 = rows.iter().map(|row| row["self_share"].as_f64().unwrap()).sum();
        prop_assert!(recipe.taken.is_empty() || (shares - 1.0).abs() < 1e-9, "{}", shares);
        for row in rows {
            let part = |key: &str| row[key].as_u64().unwrap();
            prop_assert!(part("self_weight") <= part("total_weight"), "{}", row);
            prop_assert!(part("total_weight") <= recipe.weight(), "a recursive call counts once: {}", row);
        }
    }

    #[test]
    fn every_grouping_adds_up_to_the_same(recipe in recipe()) {
        let profile = recipe.profile();
        for by in [
            &[GroupKey::Function][..],
            &[GroupKey::Module],
            &[GroupKey::Thread],
            &[GroupKey::Process],
            &[GroupKey::Comm, GroupKey::Cpu],
            &[GroupKey::Process, GroupKey::Module, GroupKey::Function],
        ] {
            let grouped = json(&report(&profile, |options| options.by = by.to_vec()));
            let table = if by == [GroupKey::Function] { "functions" } else { "groups" };
            let table = if grouped[table].is_array() { table } else { "functions" };
            prop_assert_eq!(sum(&grouped, table, "self_weight"), recipe.weight(), "{:?}", by);
        }
    }

    #[test]
    fn a_flame_graph_is_as_high_as_what_was_sampled_or_waited_for(recipe in recipe()) {
        let profile = recipe.profile();
        prop_assert_eq!(height(&flame(&profile, on(Axis::Event(0)))), recipe.height());
        if !recipe.waited.is_empty() {
            prop_assert_eq!(height(&flame(&profile, on(Axis::OffCpu))), recipe.waiting());
        }
    }

    #[test]
    fn threads_selected_one_by_one_are_together_the_whole(recipe in recipe()) {
        let profile = recipe.profile();
        let alone = THREADS.map(|tid| count(&profile, Selection { tids: vec![tid], ..Selection::default() }));
        prop_assert_eq!(alone.iter().sum::<u64>(), recipe.taken.len() as u64, "{:?}", alone);
        let all = count(&profile, Selection { tids: THREADS.to_vec(), ..Selection::default() });
        prop_assert_eq!(all, recipe.taken.len() as u64);
    }

    #[test]
    fn time_cut_anywhere_is_together_the_whole(recipe in recipe(), cut in 1u64..9_999) {
        let profile = recipe.profile();
        let part = |range: String| {
            count(&profile, Selection { time: TimeRange::parse(&range).unwrap(), ..Selection::default() })
        };
        let (before, after) = (part(format!("0ms-{cut}ms")), part(format!("{cut}ms-20000ms")));
        prop_assert_eq!(before + after, recipe.taken.len() as u64, "cut at {} ms: {} and {}", cut, before, after);
    }

    #[test]
    fn the_order_in_which_samples_came_changes_nothing(recipe in recipe(), seed in any::<u64>()) {
        let mut shuffled = recipe.clone();
        let len = shuffled.taken.len();
        let mut state = seed;
        for at in (1..len).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            shuffled.taken.swap(at, (state >> 33) as usize % (at + 1));
        }
        let totals = |recipe: &Recipe| {
            let flame = flame(&recipe.profile(), on(Axis::Event(0)));
            let mut stacks: Vec<_> = flame
                .stacks
                .iter()
                .map(|stack| (stack.frames.iter().map(|frame| frame.text.clone()).collect::<Vec<_>>(), stack.value))
                .collect();
            stacks.sort();
            stacks
        };
        prop_assert_eq!(totals(&recipe), totals(&shuffled));
        let rows = |recipe: &Recipe| {
            let whole = json(&report(&recipe.profile(), |_| ()));
            let mut rows: Vec<_> = whole["functions"].as_array().unwrap().iter().map(Value::to_string).collect();
            rows.sort();
            rows
        };
        prop_assert_eq!(rows(&recipe), rows(&shuffled));
    }

    #[test]
    fn twice_the_weight_changes_no_share(recipe in recipe()) {
        let mut heavy = recipe.clone();
        heavy.taken.iter_mut().for_each(|taken| taken.weight *= 2);
        let shares = |recipe: &Recipe| {
            let whole = json(&report(&recipe.profile(), |_| ()));
            let rows = whole["functions"].as_array().unwrap().clone();
            rows.iter().map(|row| (row["self_share"].as_f64(), row["total_share"].as_f64())).collect::<Vec<_>>()
        };
        prop_assert_eq!(shares(&recipe), shares(&heavy));
    }
}
