use super::table::keep_largest;
use super::*;
use crate::analysis::testing::{Synthetic, ms};
use crate::model::profile::Profile;
use crate::model::{EventKind, EventSpec, TaskState, Unit};
use crate::view::context::ViewContext;
use crate::view::flame_tree::FlameTree;
use crate::view::query::{Bounds, CompareWith, Grouping, Query, TaskFilter, TimeSelector, ViewRequest};
use crate::view::{Axis, CodeRate, GroupBy};

fn query(compare_with: CompareWith, axis: Axis) -> Query {
    Query {
        time: TimeSelector::All,
        end: None,
        filter: TaskFilter::default(),
        axis,
        compare_with,
        point: None,
        per: None,
        request: ViewRequest::Overview,
    }
}

fn view(profile: &Profile, query: &Query, by: GroupBy, detail: Option<(&str, &str)>) -> FunctionsView {
    let bounds = Bounds { since: ms(0), now: ms(10_000) };
    let context = ViewContext::of(profile, None, bounds, query);
    let detail = detail.map(|(name, module)| (name.to_string(), module.to_string()));
    FunctionsView::of(&context, by, detail.as_ref())
}

fn plain(synthetic: Synthetic, by: GroupBy, detail: Option<(&str, &str)>) -> FunctionsView {
    view(&synthetic.finish(), &query(CompareWith::Nothing, Axis::Event(0)), by, detail)
}

fn server() -> Synthetic {
    let mut synthetic = Synthetic::new();
    synthetic
        .samples(0, 41, "/bin/app!main;/bin/app!serve;/bin/app!get", 6)
        .samples(0, 41, "/bin/app!main;/bin/app!serve;/lib/z.so!+0x40", 3)
        .samples(0, 41, "/bin/app!main;/bin/app!get", 1);
    synthetic
}

fn entries(tree: &Tree) -> Vec<(u32, &str, u32, f64)> {
    tree.entries.iter().map(|entry| (entry.depth, entry.name.as_str(), entry.below, entry.share)).collect()
}

#[test]
fn rows_are_shares_of_the_selection_with_their_error() {
    let view = plain(server(), GroupBy::Function, None);
    let rows: Vec<_> = view.rows.iter().map(|row| (row.name.as_str(), row.self_share, row.total_share)).collect();
    assert_eq!(rows, [("get", 0.7, 0.7), ("[unresolved]", 0.3, 0.3), ("main", 0.0, 1.0), ("serve", 0.0, 0.9)]);
    assert!((view.rows[0].self_error.unwrap() - 0.1449).abs() < 1e-4);
    assert_eq!((view.weight, view.samples, view.unit, view.compared), (10, 10, "ns", false));
}

#[test]
fn the_first_function_is_looked_around_unless_another_is_asked_for() {
    let view = plain(server(), GroupBy::Function, None);
    let detail = view.detail.unwrap();
    assert_eq!((detail.name.as_str(), detail.module.as_str()), ("get", "/bin/app"));
    let callers = [(0, "serve", 1, 6.0 / 7.0), (1, "main", 0, 6.0 / 7.0), (0, "main", 0, 1.0 / 7.0)];
    assert_eq!(entries(&detail.callers), callers);
    assert_eq!(entries(&detail.callees), [(0, "[own code]", 0, 1.0)]);
    let to_get = detail.path_of(detail.callers.entries[1].path);
    assert_eq!(to_get, ["main", "serve", "get"]);

    let main = plain(server(), GroupBy::Function, Some(("main", "/bin/app"))).detail.unwrap();
    let callees = [(0, "serve", 2, 0.9), (1, "get", 0, 0.6), (1, "[unresolved]", 0, 0.3), (0, "get", 0, 0.1)];
    assert_eq!(entries(&main.callees), callees);
    assert_eq!(main.path_of(main.callees.entries[2].path), ["main", "serve", "z.so+0x40"]);
}

#[test]
fn a_function_is_found_by_the_name_of_a_call_trees_cell() {
    for (name, expected) in [("serve", ("serve", "/bin/app")), ("z.so+0x40", ("[unresolved]", "/lib/z.so"))] {
        let detail = plain(server(), GroupBy::Function, Some((name, ""))).detail.unwrap();
        assert_eq!((detail.name.as_str(), detail.module.as_str()), expected);
        assert!(detail.row.is_some());
    }
    let gone = plain(server(), GroupBy::Function, Some(("gone", "/bin/app"))).detail.unwrap();
    assert_eq!((gone.row, gone.callers.entries.len()), (None, 0));
}

#[test]
fn nameless_code_has_its_addresses() {
    let detail = plain(server(), GroupBy::Function, Some(("[unresolved]", "/lib/z.so"))).detail.unwrap();
    let places: Vec<_> = detail.instructions.iter().map(|own| (own.place.as_str(), own.samples)).collect();
    assert_eq!((places, detail.lines.len()), (vec![("z.so+0x40", 3)], 0));
}

#[test]
fn what_was_before_the_mark_is_compared_and_what_is_gone_stays() {
    let mut synthetic = Synthetic::new();
    synthetic.samples(0, 41, "app!main;app!old", 100).samples(0, 41, "app!main;app!same", 100);
    synthetic.samples(5000, 41, "app!main;app!new", 100).samples(5000, 41, "app!main;app!same", 110);
    let profile = synthetic.finish();
    let query = Query { time: TimeSelector::Since(ms(5000)), ..query(CompareWith::Before(ms(5000)), Axis::Event(0)) };
    let view = view(&profile, &query, GroupBy::Function, None);
    let moved = |name: &str| {
        let row = view.rows.iter().find(|row| row.name == name).unwrap();
        let change = row.change.unwrap();
        (change.self_before, is_real(row.self_share - change.self_before, change.self_error))
    };
    assert_eq!(moved("new"), (0.0, true));
    assert_eq!(moved("same"), (0.5, false));
    assert_eq!(moved("old"), (0.5, true));
    assert!(view.compared);
}

#[test]
fn time_off_the_cpu_has_no_sampling_error() {
    let mut synthetic = Synthetic::new();
    synthetic.off_cpu(0, 41, TaskState::Sleeping, 30, Some(2), "app!main;[kernel]!schedule");
    let profile = synthetic.finish();
    let view = view(&profile, &query(CompareWith::Nothing, Axis::OffCpu), GroupBy::Function, None);
    assert_eq!((view.rows[0].name.as_str(), view.rows[0].self_error, view.unit), ("schedule", None, "ns"));
    assert_eq!((view.rows[0].self_weight, view.off_cpu), (ms(30).0, true));
}

#[test]
fn threads_have_ids_and_no_detail() {
    let view = plain(server(), GroupBy::Thread, None);
    assert_eq!((view.rows[0].name.as_str(), view.rows[0].id, view.detail), ("41", Some(41), None));
}

#[test]
fn the_largest_rows_are_kept_and_the_rest_is_counted() {
    let row =
        |name: &str, total_share| Row { total_share, ..plain(server(), GroupBy::Function, None).rows[0].named(name) };
    let mut rows = vec![row("a", 0.1), row("b", 0.5), row("c", 0.2), row("d", 0.3)];
    assert_eq!(keep_largest(&mut rows, 2), (2, 0.2));
    assert_eq!(rows.iter().map(|row| row.name.as_str()).collect::<Vec<_>>(), ["b", "d"]);
}

impl Row {
    fn named(&self, name: &str) -> Row {
        Row { name: name.to_string(), ..self.clone() }
    }
}

#[test]
fn rows_have_rates_where_cycles_and_instructions_were_sampled() {
    let spec = |name, config| EventSpec::new(name, EventKind::Hardware(config), Unit::Count);
    let sampled = || {
        let mut synthetic = Synthetic::new();
        synthetic.meta.events = vec![spec("cycles", 0), spec("instructions", 1)];
        for (event, weight) in [(0, 100), (1, 50)] {
            (synthetic.event, synthetic.weight) = (event, weight);
            synthetic.samples(0, 41, "/bin/app!main;/bin/app!get", 40).samples(0, 41, "/bin/app!main", 5);
        }
        synthetic
    };
    let functions = plain(sampled(), GroupBy::Function, None);
    let ipc: Vec<_> = functions.rows.iter().map(|row| (row.name.as_str(), row.rates.unwrap().ipc.value())).collect();
    assert_eq!(ipc, [("get", Some(0.5)), ("main", None)], "five samples are too few");
    assert_eq!(functions.code_ipc.unwrap().all.ipc.value(), Some(0.5));
    let detail = functions.detail.unwrap();
    assert_eq!(detail.instructions[0].rates.unwrap().ipc.value(), Some(0.5));
    for by in [GroupBy::Thread, GroupBy::Process, GroupBy::Module] {
        let rows = plain(sampled(), by, None).rows;
        assert_eq!(rows[0].rates.unwrap().ipc.value(), Some(0.5), "{by:?}");
    }
    let none = plain(server(), GroupBy::Function, None);
    assert!(none.code_ipc.is_none() && none.rows.iter().all(|row| row.rates.is_none()));
    let profile = sampled().finish();
    let bounds = Bounds { since: ms(0), now: ms(10_000) };
    let context = ViewContext::of(&profile, None, bounds, &query(CompareWith::Nothing, Axis::Event(0)));
    let flame_tree = FlameTree::of(&context, Grouping::Plain);
    let get = flame_tree.find(&["main".to_string(), "get".to_string()]).unwrap();
    let step = |node| flame_tree.rate_step(node, CodeRate::Cpi);
    assert_eq!((step(get), step(0)), (Some(0), None), "as the whole, and not known");
    let ipc = |node| flame_tree.path_rates(node).and_then(|rates| rates.ipc.value());
    assert_eq!((ipc(get), ipc(0)), (Some(0.5), Some(0.5)), "of all that runs there");
}
