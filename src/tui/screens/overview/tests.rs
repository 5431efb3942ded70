#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::analysis::testing::{Synthetic, ms};
use crate::model::profile::Profile;
use crate::model::{MetricId, Scope, TaskState};
use crate::tui::keys::Action;
use crate::tui::panel::Panel;
use crate::tui::testing::{self, text};
use crate::tui::theme::{ColourDepth, Glyphs, Theme, ThemeName};
use crate::tui::time::Time;
use crate::units::{Nanos, Ops};
use crate::view::Axis;
use crate::view::query::{Bounds, CompareWith, Query, TaskFilter, TimeSelector, ViewRequest};
use crate::view::snapshot::{ScreenHeader, Snapshot, snapshot_of_profile};
use proptest::prelude::*;
use ratatui::buffer::Buffer;

const HOSTILE: &str = "app!\u{1b}[31mévil\u{202e}名前<std::vec::Vec<alloc::string::String>>::drop";

/// Twelve windows of a program on a machine without cycle counters: it computes, waits for a lock, and is preempted.
fn no_pmu() -> Synthetic {
    let mut synthetic = Synthetic::new();
    // The samples of twelve windows must add up to the kernel's counts.
    synthetic.weight = 12_000_000;
    synthetic.alive(41, "worker").alive(42, "worker").alive(43, "worker").alive(44, "worker").define("cycles");
    synthetic.define("instructions");
    for at in 1..=12_u64 {
        let busy = 800 * at + 150 * (at % 3);
        for (counter, value) in [
            ("task-clock", ms(busy).0),
            ("run-delay", ms(at * 300).0),
            ("thread-time", ms(at * 4000).0),
            ("user-time", ms(busy * 9 / 10).0),
            ("system-time", ms(busy / 10).0),
            ("voluntary-switches", at * 70),
            ("involuntary-switches", at * 1350),
            ("migrations", at * 2),
            ("minor-faults", at * 11),
            ("major-faults", 0),
        ] {
            synthetic.reading(counter, Scope::Target, at * 1000, value);
        }
        synthetic
            .reading("host-busy", Scope::Host, at * 1000, ms(at * 1900).0)
            .reading("host-steal", Scope::Host, at * 1000, ms(at * 4).0)
            .reading("host-time", Scope::Host, at * 1000, ms(at * 2000).0)
            .reading("psi-cpu-some", Scope::Host, at * 1000, ms(at * 600).0)
            .reading("tool-cpu", Scope::Tool, at * 1000, ms(at * 8).0)
            .reading("tool-memory", Scope::Tool, at * 1000, 31_000_000)
            .tick(at * 1000, 1000);
        let second = (at - 1) * 1000;
        synthetic.samples(second, 41, "app!main;app!serve;app!parse", 40);
        synthetic.samples(second + 400, 41, &format!("app!main;{HOSTILE}"), if at > 6 { 30 } else { 10 });
        synthetic.samples(second + 700, 41, "app!main;[kernel]!copy_to_user", 5);
        let futex = "app!main;libc!pthread_mutex_lock;[kernel]!futex_wait;[kernel]!schedule";
        synthetic.off_cpu(second + 760, 41, TaskState::Sleeping, 120, Some(20), futex);
    }
    synthetic.meta.duration_ns = Some(ms(12_000).0);
    synthetic.meta.plan.off_cpu = true;
    synthetic.meta.sample_cost_ns = Some(6_000);
    synthetic
}

/// The same with cycles, instructions and operations; its CPI doubles in the second half.
fn counted() -> Profile {
    let mut synthetic = no_pmu();
    let mut ops = vec![(Nanos(0), Ops(0))];
    for at in 1..=12_u64 {
        let slow = at.saturating_sub(6);
        let done = 2 * (at - slow) + slow;
        ops.push((ms(at * 1000), Ops(done * 200_000)));
        synthetic.reading("cycles", Scope::Target, at * 1000, (800 * at + 150 * (at % 3)) * 3_600_000);
        synthetic.reading("instructions", Scope::Target, at * 1000, done * 400_000_000);
    }
    let mut profile = synthetic.finish();
    profile.ops = ops;
    profile
}

/// A snapshot of a profile: all of it, or the time after a mark compared with the time before it.
fn looked(profile: &Profile, mark: Option<u64>) -> Snapshot {
    let (time, compare_with) = match mark {
        Some(mark) => (TimeSelector::Since(ms(mark)), CompareWith::Before(ms(mark))),
        None => (TimeSelector::All, CompareWith::Nothing),
    };
    let (axis, filter) = (Axis::Event(0), TaskFilter::default());
    let query =
        Query { time, end: None, filter, axis, compare_with, point: None, per: None, request: ViewRequest::Overview };
    snapshot_of_profile(profile, None, None, Bounds { since: Nanos(0), now: profile.duration() }, false, query)
}

struct Stage {
    theme: Theme,
    glyphs: Glyphs,
    head: ScreenHeader,
    time: Time,
    panel: State,
}

impl Stage {
    fn of(profile: &Profile, mark: Option<u64>) -> Stage {
        let settings = testing::settings();
        let snapshot = looked(profile, mark);
        let mut time = Time::new(false, false);
        if let Some(mark) = mark {
            time.set_mark(ms(mark));
        }
        let mut panel = State::default();
        panel.show(snapshot.body.unwrap());
        let (theme, glyphs) = (settings.theme(), settings.glyphs());
        Stage { theme, glyphs, head: snapshot.head, time, panel }
    }

    fn with<T>(&mut self, f: impl FnOnce(&mut State, &PanelContext<'_>) -> T) -> T {
        let (theme, glyphs, head, time) = (&self.theme, &self.glyphs, &self.head, &self.time);
        let keys = &crate::tui::keys::KeyTable::default();
        let cx = PanelContext { theme, glyphs, keys, head, time, axis: Axis::Event(0), compared: self.time.compare };
        f(&mut self.panel, &cx)
    }

    fn act(&mut self, action: Action, area: Rect) -> Option<Vec<PanelRequest>> {
        self.with(|panel, cx| panel.act(action, cx, area))
    }

    /// Draws the screen and the status line below it.
    fn drawn(&mut self, width: u16, height: u16) -> String {
        let area = Rect::new(0, 0, width, height);
        let mut buf = Buffer::empty(area);
        let status = self.with(|panel, cx| {
            panel.draw(cx, area, &mut buf);
            panel.status(cx)
        });
        format!("{}\n[{}]", text(&buf), status.unwrap_or_default())
    }
}

#[test]
fn a_machine_that_counts_no_cycles_shows_what_is_known() {
    let profile = no_pmu().finish();
    insta::assert_snapshot!("blind_80x19", Stage::of(&profile, None).drawn(80, 19));
    insta::assert_snapshot!("blind_160x45", Stage::of(&profile, None).drawn(160, 45));
}

#[test]
fn the_law_is_one_line_and_its_change_is_shared_out() {
    let profile = counted();
    insta::assert_snapshot!("law_100x25", Stage::of(&profile, None).drawn(100, 25));
    insta::assert_snapshot!("law_changed_80x19", Stage::of(&profile, Some(6000)).drawn(80, 19));
    insta::assert_snapshot!("law_changed_160x45", Stage::of(&profile, Some(6000)).drawn(160, 45));
}

#[test]
fn latency_has_a_line_of_quantiles_that_opens_its_screen() {
    let mut stage = Stage::of(&crate::view::latency_history::testing::profile(40, true), None);
    let shown = stage.drawn(80, 19);
    assert!(shown.contains("latency p50 161 us   p99 260 us   p99.9 16.3 ms   max 80.4 ms"), "{shown}");
    stage.panel.selected = Some(Item::Latency);
    assert_eq!(stage.act(Action::Enter, Rect::new(0, 0, 80, 19)), Some(vec![PanelRequest::Go(ScreenId::Latency)]));
    assert!(stage.drawn(40, 19).contains("[calls of serve in /opt/server: 45,042 operations, 1,130/s]"));
    let mut none = Stage::of(&crate::view::latency_history::testing::profile(4, false), None);
    assert!(none.drawn(80, 19).contains("latency no operation ended in this time"));
}

#[test]
fn ascii_without_colours_tells_as_much() {
    let mut stage = Stage::of(&counted(), Some(6000));
    (stage.theme, stage.glyphs) = (Theme::new(ThemeName::Mono, ColourDepth::Sixteen), Glyphs::ASCII);
    insta::assert_snapshot!("law_changed_ascii_120x34", stage.drawn(120, 34));
}

#[test]
fn an_idle_target_says_so() {
    let mut synthetic = Synthetic::new();
    synthetic.reading("task-clock", Scope::Target, 1000, 0).tick(1000, 1000);
    synthetic.meta.duration_ns = Some(ms(1000).0);
    let shown = Stage::of(&synthetic.finish(), None).drawn(80, 19);
    assert!(shown.contains("no samples in this time") && shown.contains("for 0 s of CPU time"), "{shown}");
    let mut empty = Stage::of(&no_pmu().finish(), None);
    empty.panel = State::default();
    assert!(empty.drawn(80, 19).contains("waiting for the first window"));
}

#[test]
fn the_selection_walks_over_factors_rates_and_functions_and_says_all_about_each() {
    let area = Rect::new(0, 0, 100, 25);
    let mut stage = Stage::of(&counted(), Some(6000));
    assert_eq!(stage.act(Action::Back, area), None);
    let mut seen = Vec::new();
    for action in [Action::Down, Action::Right, Action::Right, Action::Down, Action::Down, Action::Right] {
        assert_eq!(stage.act(action, area), Some(vec![]));
        seen.push(stage.with(|panel, cx| panel.status(cx)).unwrap());
    }
    insta::assert_snapshot!(seen.join("\n"));
    stage.act(Action::Bottom, area);
    assert_eq!(stage.act(Action::Back, area), Some(vec![]), "the selection is let go first");
    assert_eq!(stage.with(|panel, cx| panel.status(cx)), None);
}

#[test]
fn a_function_stays_selected_when_others_overtake_it_and_enter_opens_it() {
    let area = Rect::new(0, 0, 80, 19);
    let profile = no_pmu().finish();
    let mut stage = Stage::of(&profile, None);
    stage.panel.selected = Some(Item::Function("parse".into(), "app".into()));
    stage.panel.show(looked(&profile, Some(6000)).body.unwrap());
    assert_eq!(stage.panel.selected_name().as_deref(), Some("parse"));
    assert_eq!(stage.act(Action::Enter, area), Some(vec![PanelRequest::Detail("parse".into(), "app".into())]));
    stage.panel.selected = Some(Item::Part(MetricId::RunShare));
    assert_eq!(stage.act(Action::Enter, area), Some(vec![PanelRequest::Go(ScreenId::Threads)]));
}

#[test]
fn names_that_would_act_on_the_terminal_are_shown_instead() {
    let mut stage = Stage::of(&no_pmu().finish(), None);
    stage.panel.selected = Some(Item::Function(HOSTILE[4..].to_string(), "app".into()));
    let shown = stage.drawn(120, 30);
    assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown}");
    assert!(shown.contains("␛[31m"), "{shown}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_size_and_no_step_panics(width in 0_u16..170, height in 0_u16..60, steps in 0_usize..12, changed: bool) {
        let mut stage = Stage::of(&counted(), changed.then_some(6000));
        let area = Rect::new(0, 0, width, height);
        let all = [Action::Down, Action::Right, Action::Down, Action::Left, Action::Bottom, Action::Up, Action::Top];
        for step in 0..steps {
            stage.act(all[step % all.len()], area);
        }
        stage.drawn(width, height);
    }
}
