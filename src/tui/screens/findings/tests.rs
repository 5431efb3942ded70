#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::model::{MetricId, Unit, Why};
use crate::tui::finding;
use crate::tui::keys::Action;
use crate::tui::panel::{Panel, PanelContext, PanelRequest, ScreenId};
use crate::tui::testing::PanelFixture;
use crate::view::Axis;
use crate::view::findings::{Confidence, EvidenceView, PlaceView, SLOWER_THAN_BASELINE, ShareOf, UndecidedView};
use crate::view::snapshot::PanelView;
use proptest::prelude::*;
use ratatui::layout::Rect;

fn row(label: &'static str, value: f64, unit: Unit, threshold: Option<f64>) -> EvidenceView {
    EvidenceView { label, value, unit, threshold, metric: None }
}

fn lock() -> FindingView {
    FindingView {
        rule: "lock_wait",
        title: "threads wait for a lock",
        share: Some(0.471),
        share_of: ShareOf::Time,
        claim: "47.1% of the threads' time is spent waiting for locks, 91.0% of it below std::sync::Mutex::lock in \
                worker::run: more threads would not make it faster."
            .to_string(),
        evidence: vec![
            row("blocked on futexes", 0.471, Unit::Share, Some(0.2)),
            row("longest wait", 2.34, Unit::Seconds, None),
            row("switches, blocked", 1350.0, Unit::PerSecond, Some(100.0)),
        ],
        confidence: Confidence::High,
        place: Some(PlaceView {
            frames: ["main", "worker::run", "std::sync::Mutex::lock\u{1b}[2J", "futex_wait"].map(String::from).to_vec(),
            off_cpu: true,
            threads: vec!["worker-1 42".to_string(), "名前 43".to_string()],
            first_thread: Some(42),
        }),
        culprits: Vec::new(),
        refuted_by: "the share stays when the number of threads is halved",
        next_step: "look at what is done while the lock is held in worker::run".to_string(),
    }
}

fn cores() -> FindingView {
    FindingView {
        rule: "one_core",
        title: "one core is the limit",
        share: None,
        share_of: ShareOf::Time,
        claim: "one thread uses 99.2% of a core while the others wait".to_string(),
        evidence: vec![row("busiest thread", 0.992, Unit::Share, Some(0.9))],
        confidence: Confidence::Low,
        place: None,
        culprits: Vec::new(),
        refuted_by: "a second thread with as much CPU time",
        next_step: "split its work".to_string(),
    }
}

fn view() -> View {
    View {
        found: vec![lock(), cores()],
        undecided: vec![
            UndecidedView { rule: "sharing", title: "cache-line sharing", why: Why::NotSupported },
            UndecidedView { rule: "quota", title: "CPU quota", why: Why::NotRecorded },
        ],
        clear: vec!["run queue", "page faults", "block I/O"],
    }
}

fn on<T>(axis: Axis, f: impl FnOnce(&PanelContext<'_>) -> T) -> T {
    PanelFixture { axis, ..PanelFixture::live() }.with(f)
}

fn drawn(state: &State, width: u16, height: u16) -> String {
    PanelFixture::live().described(state, width, height)
}

fn state(view: View) -> State {
    let mut state = State::default();
    state.show(PanelView::Findings(view));
    state
}

fn act(state: &mut State, action: Action) -> Option<Vec<PanelRequest>> {
    on(Axis::Event(0), |cx| state.act(action, cx, Rect::new(0, 0, 80, 19)))
}

#[test]
fn the_first_finding_is_told_in_full() {
    insta::assert_snapshot!("found_80x19", drawn(&state(view()), 80, 19));
    insta::assert_snapshot!("found_160x45", drawn(&state(view()), 160, 45));
}

#[test]
fn what_cannot_be_decided_says_what_is_missing() {
    let mut state = state(view());
    act(&mut state, Action::Bottom);
    act(&mut state, Action::Up);
    assert_eq!(act(&mut state, Action::Enter), Some(vec![]));
    insta::assert_snapshot!(drawn(&state, 80, 19));
}

#[test]
fn nothing_found_says_what_was_checked() {
    insta::assert_snapshot!(drawn(&state(View { found: vec![], ..view() }), 80, 19));
    assert!(drawn(&State::default(), 80, 19).contains("waiting"));
}

#[test]
fn enter_counts_what_the_finding_counted_and_zooms_to_its_place() {
    let mut found = state(view());
    let path: Vec<_> = lock().place.unwrap().frames;
    assert_eq!(
        act(&mut found, Action::Enter),
        Some(vec![PanelRequest::Count(Axis::OffCpu), PanelRequest::Zoom(path.clone())])
    );
    let there = on(Axis::OffCpu, |cx| finding::evidence(&lock(), cx));
    assert_eq!(there, [PanelRequest::Zoom(path.clone())]);
    let running = FindingView { place: Some(PlaceView { off_cpu: false, ..lock().place.unwrap() }), ..lock() };
    assert_eq!(
        on(Axis::OffCpu, |cx| finding::evidence(&running, cx)),
        [PanelRequest::Count(Axis::Event(0)), PanelRequest::Zoom(path.clone())]
    );
    assert_eq!(on(Axis::Event(1), |cx| finding::evidence(&running, cx)), [PanelRequest::Zoom(path)]);
    act(&mut found, Action::Down);
    assert_eq!(
        act(&mut found, Action::Enter),
        Some(vec![PanelRequest::Say("the numbers of this finding are here only".into())])
    );
}

#[test]
fn enter_on_what_is_no_code_leads_to_its_thread_its_metric_or_its_comparison() {
    let leads = |finding: FindingView| on(Axis::Event(0), |cx| finding::evidence(&finding, cx));
    let threads = PlaceView { frames: vec![], ..lock().place.unwrap() };
    assert_eq!(leads(FindingView { place: Some(threads), ..lock() }), [PanelRequest::Thread(42)]);
    let mut read = cores();
    read.evidence.push(EvidenceView { metric: Some(MetricId::HostBusy), ..read.evidence[0] });
    assert_eq!(leads(read), [PanelRequest::Metric(MetricId::HostBusy)]);
    let slower = FindingView { rule: SLOWER_THAN_BASELINE, ..cores() };
    assert_eq!(leads(slower), [PanelRequest::Go(ScreenId::Baseline)]);
}

#[test]
fn the_selection_stays_with_its_rule_when_the_order_changes_and_goes_to_the_first_once_it_is_gone() {
    let mut state = state(view());
    act(&mut state, Action::Down);
    state.show(PanelView::Findings(View { found: vec![cores(), lock()], ..view() }));
    assert_eq!(state.chosen(), Some(Key::Found("one_core")));
    state.show(PanelView::Findings(View { found: vec![lock()], ..view() }));
    assert_eq!((state.chosen(), state.count()), (Some(Key::Found("lock_wait")), Some(1)));
    state.show(PanelView::Findings(View::default()));
    assert_eq!((state.chosen(), state.selected_name(), act(&mut state, Action::Enter)), (None, None, Some(vec![])));
}

#[test]
fn a_search_selects_what_holds_the_text_and_goes_around() {
    let (lock, core) = (Key::Found("lock_wait"), Key::Found("one_core"));
    let (hardware, quota) = (Key::Undecided(Why::NotSupported), Key::Undecided(Why::NotRecorded));
    let mut state = state(view());
    for (text, key) in [("Sharing", hardware), ("core", core), ("mutex", lock), ("nowhere", lock)] {
        state.search(text);
        assert_eq!(state.chosen(), Some(key), "{text}");
    }
    state.search("c");
    let mut seen = Vec::new();
    for action in
        [Action::SearchNext, Action::SearchNext, Action::SearchNext, Action::SearchNext, Action::SearchPrevious]
    {
        act(&mut state, action);
        seen.extend(state.chosen());
    }
    assert_eq!(seen, [core, hardware, quota, lock, quota]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_size_and_no_step_panics(width in 0_u16..170, height in 0_u16..60, found in 0_usize..3, steps in 0_usize..12) {
        let found = [lock(), cores()].into_iter().take(found).collect();
        let mut state = state(View { found, ..view() });
        let area = Rect::new(0, 0, width, height);
        let all = [Action::Down, Action::HalfPageDown, Action::Bottom, Action::PageUp, Action::Up, Action::Enter];
        for step in 0..steps {
            on(Axis::Event(0), |cx| state.act(all[step % all.len()], cx, area));
        }
        drawn(&state, width, height);
    }
}
