use super::*;
use crate::analysis::Axis;
use crate::analysis::testing::Synthetic;
use crate::model::profile::Profile;
use crate::model::{NodeMemory, Note, PageKind, Scope};
use crate::tui::testing::PanelFixture;
use crate::units::Nanos;
use crate::view::context::ViewContext;
use crate::view::query::{Bounds, CompareWith, Query, TaskFilter, TimeSelector};

/// A profile with pages on these nodes, whose CPUs 0 and 1 are on nodes 0 and `second`.
fn profile(second: u32, memory: &[(u32, PageKind, u64)]) -> Profile {
    let mut synthetic = Synthetic::new();
    synthetic.alive(41, "main").samples(0, 41, "app!main", 3);
    synthetic.meta.host.cpus[1].node = second;
    let mut profile = synthetic.finish();
    let at = Nanos(5_000_000_000);
    let row = |(node, kind, bytes): &(u32, PageKind, u64)| NodeMemory {
        at,
        pid: 41,
        node: *node,
        kind: *kind,
        bytes: *bytes,
    };
    profile.memory = memory.iter().map(row).collect();
    profile
}

fn state(profile: &Profile) -> State {
    let bounds = Bounds { since: Nanos(0), now: profile.duration() };
    let query = Query {
        time: TimeSelector::All,
        end: None,
        filter: TaskFilter::default(),
        axis: Axis::Event(0),
        compare_with: CompareWith::Nothing,
        point: None,
        per: None,
        request: ViewRequest::Numa,
    };
    let context = ViewContext::of(profile, None, bounds, &query);
    let mut state = State::default();
    state.show(PanelView::Numa(Box::new(NumaView::of(&context))));
    state
}

#[test]
fn memory_of_one_node_is_local_and_of_two_is_shown_by_node() {
    use PageKind::{Anonymous, File, Huge};
    let one = state(&profile(0, &[(0, Anonymous, 3 << 20), (0, File, 1 << 20)]));
    let text = PanelFixture::default().drawn(&one, 80, 12);
    assert!(text.contains("one NUMA node: all memory is local"), "{text}");
    let two = state(&profile(1, &[(0, Anonymous, 1 << 20), (1, Anonymous, 2 << 20), (1, Huge, 1 << 20)]));
    let text = PanelFixture::default().drawn(&two, 110, 14);
    let claim = "2 NUMA nodes: if threads use all pages of their process alike, 75.0% of their accesses leave";
    assert!(text.contains(claim), "{text}");
    assert!(text.contains("Accesses to expect  not measured") && text.contains("memory of node 1"), "{text}");
    let status = PanelFixture::default().with(|cx| two.status(cx));
    assert_eq!(status, two.view.and_then(|view| Some(view.places?.text())));
}

#[test]
fn what_was_not_read_is_said_and_no_size_ends_it() {
    let state = state(&profile(1, &[]));
    for (width, height) in [(1, 1), (20, 4), (100, 30), (300, 100)] {
        let text = PanelFixture::default().drawn(&state, width, height);
        assert!(width < 100 || text.contains("not read") && text.contains("perf mem record"), "{text}");
    }
}

#[test]
fn bandwidth_is_shown_by_socket_or_why_there_is_none() {
    let mut counted = Synthetic::new();
    for (name, bytes) in [("memory-read", 24_000_000_000), ("memory-traffic", 30_000_000_000)] {
        counted.reading(name, Scope::Cpu(0), 2000, bytes);
    }
    let text = PanelFixture::default().drawn(&state(&counted.finish()), 110, 20);
    assert!(
        text.contains("sent to other sockets") && text.contains("2.40 GB/s") && text.contains("3.00 GB/s"),
        "{text}"
    );
    let mut refused = Synthetic::new();
    let text = "memory bandwidth is not counted: uncore_imc_0/cas_count_read/: permission denied".to_string();
    refused.meta.notes.push(Note { topic: "uncore".to_string(), text: text.clone(), fix: None });
    assert!(PanelFixture::default().drawn(&state(&refused.finish()), 110, 20).contains(&text));
    let text = PanelFixture::default().drawn(&state(&Synthetic::new().finish()), 110, 20);
    assert!(text.contains("not counted: "), "{text}");
}
