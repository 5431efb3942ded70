use super::*;
use crate::analysis::testing::Synthetic;
use crate::analysis::{Selection, Tasks};
use crate::model::profile::Profile;
use crate::model::{NodeMemory, PageKind};
use crate::tui::testing::PanelFixture;
use crate::units::Nanos;
use crate::view::places::PlacesView;

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
    let places = PlacesView::of(profile, &Tasks::of(profile), &Selection::default());
    let mut state = State::default();
    state.show(PanelView::Numa(Box::new(NumaView { places, accesses: None })));
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
