#![expect(clippy::unwrap_used, reason = "tests")]
use super::state::State;
use crate::model::Measure;
use crate::model::{Quality, Why};
use crate::tui::keys::Action as A;
use crate::tui::panel::Panel as _;
use crate::tui::panel::PanelRequest;
use crate::tui::panel::ScreenId;
use crate::tui::settings::Settings;
use crate::tui::testing::{PanelFixture, settings};
use crate::view::query::{LineKey, TaskFilter, ViewRequest};
use crate::view::snapshot::PanelView;
use crate::view::threads::ThreadLine;
use crate::view::threads::ThreadsView as View;
use crate::view::threads::{CpuLine, PathLine, WaitLine};
use proptest::prelude::*;
use ratatui::layout::Rect;

fn line(tid: u32, name: &str, running: f64, queued: f64) -> ThreadLine {
    let known = |value| Measure::Known { value, quality: Quality::EXACT };
    ThreadLine {
        tid,
        pid: 100,
        parent: None,
        threads: 1,
        name: name.into(),
        process: "server".into(),
        alive: true,
        running: known(running),
        queued: known(queued),
        blocked: known(1.0 - running - queued),
        ipc: Measure::Missing(Why::NotSupported),
        waits: vec![WaitLine { cause: "lock (futex, mutex)", share: 0.3 }],
        held_up: Vec::new(),
        voluntary: known(1234.5),
        involuntary: known(3.0),
        migrations: known(0.5),
        cpu: Some(1),
        node: Some(0),
        samples: 1000,
        history: (0..24).map(|at| (at % 5 != 2).then_some(f64::from(at) / 24.0)).collect(),
        change: Some(0.125),
    }
}

fn view() -> View {
    let gone = ThreadLine {
        alive: false,
        running: Measure::Missing(Why::TargetGone),
        queued: Measure::Missing(Why::TargetGone),
        blocked: Measure::Missing(Why::TargetGone),
        cpu: None,
        ..line(104, "\x1b[2Jevil\u{202e}", 0.0, 0.0)
    };
    let cpu = |cpu, share| CpuLine { cpu, core: cpu, package: 0, node: 0, share };
    View {
        by: LineKey::Thread,
        threads: vec![
            line(101, "worker-0", 0.9, 0.06),
            line(102, "worker-1", 0.4, 0.2),
            line(103, "日本語", 0.00001, 0.0),
            gone,
        ],
        cpus: vec![cpu(0, 0.5), cpu(1, 0.8)],
        cpu_share_of: "of its time",
        has_waits: true,
        paths: vec![PathLine {
            cause: "lock (futex, mutex)",
            frames: vec!["pthread_mutex_lock".into(), "Queue::push".into(), "main".into()],
            count: 1500,
            total_s: 2.5,
        }],
    }
}

fn state() -> State {
    let mut state = State::default();
    state.show(PanelView::Threads(view()));
    state
}

fn drawn(state: &State, ascii: bool, compared: bool, width: u16, height: u16) -> String {
    let settings = Settings { ascii, ..settings() };
    PanelFixture { settings, compared, ..PanelFixture::live() }.drawn(state, width, height)
}

fn act(state: &mut State, actions: &[A]) -> Vec<PanelRequest> {
    let area = Rect::new(0, 0, 160, 20);
    let each = |action: &A| PanelFixture::live().with(|cx| state.act(*action, cx, area)).unwrap_or_default();
    actions.iter().flat_map(each).collect()
}

#[test]
fn it_shows_what_each_thread_did_at_any_width() {
    let mut state = state();
    insta::assert_snapshot!("narrow", drawn(&state, false, false, 80, 10));
    insta::assert_snapshot!("ascii", drawn(&state, true, false, 80, 10));
    act(&mut state, &[A::Detail]);
    insta::assert_snapshot!("wide", drawn(&state, false, true, 160, 20));
}

#[test]
fn rows_are_sorted_searched_and_filtered_and_the_selection_stays() {
    let mut state = state();
    let order = |state: &State| state.list_rows().iter().map(|row| row.key).collect::<Vec<_>>();
    assert_eq!(order(&state), [101, 102, 103, 104], "what was not measured comes last");
    act(&mut state, &[A::Down, A::Sort]);
    assert_eq!((order(&state)[0], state.chosen().unwrap().tid), (102, 102), "by time in the queue");
    act(&mut state, &[A::SortReverse]);
    assert_eq!(order(&state)[3], 102);
    state.search("WORKER-0");
    assert_eq!(state.chosen().unwrap().tid, 101);
    act(&mut state, &[A::Filter]);
    assert_eq!(order(&state), [101]);
    state.search("");
    assert_eq!(order(&state).len(), 4);
}

#[test]
fn enter_shows_the_thread_alone_and_detail_asks_for_its_waits() {
    let mut state = state();
    let wishes = act(&mut state, &[A::Down, A::Enter]);
    let filter = TaskFilter { tids: vec![102], ..TaskFilter::default() };
    assert_eq!(wishes, [PanelRequest::Only(filter, "thread worker-1 102".into()), PanelRequest::Go(ScreenId::Flame)]);
    assert_eq!(act(&mut state, &[A::Detail]), [PanelRequest::Refresh]);
    assert_eq!(state.request(), ViewRequest::Threads { by: LineKey::Thread, detail: Some(102) });
    assert_eq!(act(&mut state, &[A::Up]), [PanelRequest::Refresh], "another thread, other waits");
}

#[test]
fn control_groups_stand_below_those_that_they_lie_in_whatever_the_order_is() {
    let group = |tid, parent, name: &str, run| ThreadLine { parent, ..line(tid, name, run, 0.0) };
    let threads = vec![
        group(7, None, "/web", 0.5),
        group(1, Some(7), "/web/api", 0.1),
        group(2, Some(7), "/web/jobs", 0.4),
        group(3, None, "/batch", 0.6),
    ];
    let mut state = State { by: LineKey::Cgroup, ..State::default() };
    state.show(PanelView::Threads(View { by: LineKey::Cgroup, threads, ..view() }));
    let order = |state: &State| state.list_rows().iter().map(|row| row.key).collect::<Vec<_>>();
    assert_eq!(order(&state), [3, 7, 2, 1]);
    let text = drawn(&state, false, false, 100, 10);
    assert!(text.contains(" /web  ") && text.contains("   api ") && !text.contains("/web/api"), "{text}");
    act(&mut state, &[A::SortReverse]);
    assert_eq!(order(&state), [7, 1, 2, 3]);
    state.search("api");
    act(&mut state, &[A::Filter]);
    assert_eq!(order(&state), [1], "alone, as its group is not shown");
}

#[test]
fn the_key_of_groups_goes_around_and_enter_narrows_to_what_a_row_stands_for() {
    let mut state = state();
    let all = TaskFilter::default;
    for (by, name, filter) in [
        (LineKey::Process, "redis-server", TaskFilter { pids: vec![7], ..all() }),
        (LineKey::Cgroup, "/web", TaskFilter { cgroups: vec!["/web".into(), "/web/*".into()], ..all() }),
        (LineKey::Cpu, "CPU 7", TaskFilter { cpus: vec![7], ..all() }),
    ] {
        assert_eq!(act(&mut state, &[A::Who]), [PanelRequest::Refresh], "{by:?}");
        assert_eq!(state.request(), ViewRequest::Threads { by, detail: None });
        state.show(PanelView::Threads(view()));
        assert!(state.view.is_none(), "an answer of threads comes too late");
        let row = ThreadLine { process: name.into(), threads: 3, ..line(7, name, 1.75, 0.25) };
        state.show(PanelView::Threads(View { by, threads: vec![row], ..view() }));
        assert!(matches!(&act(&mut state, &[A::Enter])[..], [PanelRequest::Only(only, _), _] if *only == filter));
        insta::assert_snapshot!(format!("{by:?}").to_lowercase(), drawn(&state, false, false, 120, 6));
        let status = PanelFixture::live().with(|cx| state.status(cx)).unwrap();
        assert!(status.starts_with(name) && status.contains("running 175%"), "{status}");
    }
    act(&mut state, &[A::Who]);
    assert_eq!(state.request(), ViewRequest::Threads { by: LineKey::Thread, detail: None });
}

#[test]
fn the_status_line_says_why_a_value_is_missing() {
    let mut state = state();
    act(&mut state, &[A::Bottom]);
    let status = PanelFixture::live().with(|cx| state.status(cx)).unwrap();
    assert!(status.contains("(ended)") && status.contains("running -: the target was gone"), "{status}");
    assert!(!status.contains('\x1b') && !status.contains('\u{202e}'));
}

#[test]
fn many_cpus_take_a_column_each() {
    let mut view = view();
    view.cpus = (0..256)
        .map(|cpu| CpuLine { cpu, core: cpu / 2, package: 0, node: cpu / 64, share: f64::from(cpu) / 256.0 })
        .collect();
    let mut state = State::default();
    state.show(PanelView::Threads(view));
    let text = drawn(&state, false, false, 120, 20);
    assert!(text.contains("256 CPUs"), "{text}");
}

proptest! {
    #[test]
    fn no_size_and_no_key_panics(width in 0_u16..200, height in 0_u16..40, keys in proptest::collection::vec(0_usize..10, 0..10)) {
        let mut state = state();
        let actions = [A::Up, A::Down, A::PageDown, A::Bottom, A::Detail, A::Sort, A::SortReverse, A::Filter, A::SearchNext, A::Back];
        state.search("work");
        let area = Rect::new(0, 0, width, height);
        for key in keys {
            PanelFixture { compared: true, ..PanelFixture::live() }.with(|cx| state.act(actions[key], cx, area));
            drawn(&state, false, true, width, height);
        }
    }
}
