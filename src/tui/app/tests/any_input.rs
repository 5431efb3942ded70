//! Sessions under any input: random keys, mouse events, resizes and messages on every screen never panic, never draw
//! outside their area and can always be quit; every key in the help does something.

use super::*;
use crate::analysis::baseline::testing::baseline;
use crate::analysis::testing::Synthetic;
use crate::model::profile::Profile;
use crate::model::{Baseline, LatencyCount, Mark, Scope, TaskState};
use crate::tui::keys::TABLE;
use crate::tui::panel::ScreenId;
use crate::tui::screens::SessionKind;
use crate::units::Ops;
use crate::view::baseline::BaselineComparisonView;
use crate::view::diff::testing::{costlier, sides};
use crate::view::diff::{DiffView, Per};
use crate::view::fleet::FleetTables;
use crate::view::picker::{CgroupChoice, MachineChoice, ProcessChoice, RecordingChoice};
use crate::view::query::{Bounds, Query};
use crate::view::snapshot::{
    SessionBaseline, snapshot_of_comparison, snapshot_of_fleet, snapshot_of_profile, snapshot_of_sweep,
};
use crate::view::sweep::fixture::{self, Machine};
use crate::view::sweep::{SweepView, difference};
use proptest::prelude::*;
use ratatui::buffer::{Buffer, Cell};
use ratatui::crossterm::event::{
    KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use ratatui::layout::Rect;
use std::sync::Arc;

/// Ten seconds of three threads with waits, counters, operations, marks and names that must not act.
fn recorded() -> Profile {
    let mut s = Synthetic::new();
    s.meta.plan.off_cpu = true;
    s.alive(41, "server").alive(42, "worker\u{1b}[2J").alive(43, "größe 日本");
    for second in 0..10 {
        let at = second * 1000 + 10;
        s.samples(at, 41, "/usr/bin/app!main;/usr/bin/app!serve;/usr/bin/app!parse<&str>", 9 + second % 3);
        s.samples(at + 5, 42, "/usr/bin/app!main;/usr/bin/app!serve;/usr/lib/libc.so.6!write;[kernel]!ksys_write", 4);
        s.samples(at + 7, 43, "/usr/bin/app!main;/usr/bin/app!\u{202e}evil\u{1b}]0;x\u{7};[jit]!+0x7f00", 2);
        s.off_cpu(
            at + 300,
            42,
            TaskState::Sleeping,
            90,
            Some(2),
            "/usr/bin/app!main;[kernel]!futex_wait;[kernel]!schedule",
        );
        s.off_cpu(at + 500, 43, TaskState::DiskSleep, 30, None, "/usr/bin/app!main;[kernel]!io_schedule");
    }
    for second in 0..=10 {
        let at = second * 1000;
        s.reading("task-clock", Scope::Target, at, second * 800_000_000);
        s.reading("cycles", Scope::Target, at, second * 2_400_000_000);
        s.reading("instructions", Scope::Target, at, second * 3_000_000_000);
        if second > 0 {
            s.tick(at, 1000);
        }
    }
    let mut profile = s.finish();
    profile.ops = (0..=10).map(|second| (seconds(second), Ops(second * 1000))).collect();
    for (second, low) in (1..=10).flat_map(|second| [40_000, 50_000, 70_000, 9_000_000].map(|low| (second, low))) {
        let (low, high) = (Nanos(low), Some(Nanos(low + 500)));
        profile.latencies.push(LatencyCount { at: seconds(second), low, high, count: 60_000_000 / low.0 });
    }
    profile.marks = vec![Mark { at: seconds(4), label: "deploy \u{1b}[1m".into() }];
    profile
}

/// Where snapshots come from.
enum Source {
    Profile(Box<Profile>, Box<(Baseline, BaselineComparisonView)>),
    Sweep(Box<SweepView>),
    Comparison(Arc<DiffView>),
    Fleet(Arc<FleetTables>),
}

impl Source {
    fn all() -> [Source; 4] {
        let mut twice = costlier();
        let other = twice.comparisons[0].clone();
        twice.comparisons.push(other);
        let swept = SweepView::of(&fixture::meta(Machine::Clock), &fixture::analysis(Machine::Clock), None);
        let (profile, baseline) = (recorded(), baseline(&[40]));
        let against = BaselineComparisonView::build(&profile, &baseline);
        [
            Source::Profile(Box::new(profile), Box::new((baseline, against))),
            Source::Sweep(Box::new(swept)),
            Source::Comparison(Arc::new(twice)),
            Source::Fleet(Arc::new(FleetTables::of(crate::view::fleet::fixture::hostile()))),
        ]
    }

    fn snapshot(&self, query: Query) -> Snapshot {
        match self {
            Source::Profile(profile, usual) => {
                let bounds = Bounds { since: Nanos(0), now: profile.duration() };
                let baseline = SessionBaseline { baseline: &usual.0, view: usual.1.clone() };
                snapshot_of_profile(profile, Some(profile), Some(baseline), bounds, true, query)
            }
            Source::Sweep(view) => {
                let points = fixture::analysis(Machine::Clock).points;
                snapshot_of_sweep(view.as_ref().clone(), query, |n, axis| {
                    difference(&points[0], points.iter().find(|point| point.n == n)?, axis)
                })
            }
            Source::Comparison(view) => {
                let (base, new) = sides();
                let others = vec![new; view.comparisons.len()];
                let settings = crate::analysis::diff::Settings::default();
                let divided = |per| Arc::new(view.divided_by(per, &base, &others, &settings));
                let view = query.per.map_or_else(|| view.clone(), divided);
                snapshot_of_comparison(&view, &[Per::Op, Per::Share, Per::None], query)
            }
            Source::Fleet(tables) => snapshot_of_fleet(tables, query),
        }
    }
}

fn choices() -> Choices {
    let process = |pid: u32, parent, comm: &str| ProcessChoice {
        pid,
        parent,
        comm: comm.into(),
        command: format!("/usr/bin/{comm} --flag"),
        threads: 3,
        cpu: crate::model::Measure::exact(0.5),
        memory: crate::model::Measure::exact(4096),
        ours: true,
        above: false,
    };
    Choices {
        machine: MachineChoice { cpus: 4, cpu: crate::model::Measure::exact(1.5) },
        processes: vec![process(1, 0, "init"), process(41, 1, "server"), process(42, 41, "e\u{202e}vil\u{1b}[m")],
        cgroups: vec![CgroupChoice {
            path: "/system.slice".into(),
            processes: 3,
            cpu: crate::model::Measure::exact(0.1),
        }],
        recordings: vec![RecordingChoice {
            path: "old\n.ironlaw".into(),
            target: "make".into(),
            started_unix_ns: 0,
            duration_s: None,
        }],
        unix_ns: 1_700_000_000_000_000_000,
        problem: Some("cgroups are not mounted".into()),
    }
}

/// A session with its host.
struct Running<'a> {
    app: App,
    source: &'a Source,
}

impl<'a> Running<'a> {
    fn on(source: &'a Source, size: (u16, u16)) -> Running<'a> {
        let settings = settings();
        let mut running = Running { app: App::opening(&settings, size), source };
        running.send(running.opened());
        running
    }

    fn opened(&self) -> Msg {
        let kind = match self.source {
            Source::Profile(..) => SessionKind::Profile,
            Source::Sweep(_) => SessionKind::Sweep,
            Source::Comparison(_) => SessionKind::Comparison,
            Source::Fleet(_) => SessionKind::Fleet,
        };
        Msg::Opened { kind, live: kind == SessionKind::Profile, baseline: true }
    }

    /// Sends a message and answers what the host has to answer; returns the effects.
    fn send(&mut self, msg: Msg) -> Vec<Effect> {
        let mut waiting = self.app.update(msg);
        let mut all = Vec::new();
        while let Some(effect) = waiting.pop() {
            match &effect {
                Effect::Snapshot(query) => {
                    let seen = self.source.snapshot(query.clone());
                    waiting.extend(self.app.update(Msg::Seen(Box::new(seen))));
                }
                Effect::Choose => waiting.extend(self.app.update(Msg::Choices(choices()))),
                Effect::Open(_) => waiting.extend(self.app.update(self.opened())),
                _ => {}
            }
            all.push(effect);
        }
        all
    }

    fn press(&mut self, keys: &str) {
        for name in keys.split_whitespace() {
            self.send(Msg::Input(event(name)));
        }
    }

    /// Whether the key leads to an effect, another query or another picture.
    fn responds_to(&mut self, name: &str) -> bool {
        let (width, height) = self.app.size;
        let before = (self.app.query(), picture(&self.app, width, height));
        let effects = self.send(Msg::Input(event(name)));
        let plain = |effect: &Effect| matches!(effect, Effect::Snapshot(_));
        !effects.iter().all(plain) || before != (self.app.query(), picture(&self.app, width, height))
    }

    /// Draws the session, and the open screen within a larger buffer that must stay as it is around it.
    fn draw(&mut self) {
        let (width, height) = self.app.size;
        screen(&self.app, width, height);
        let inner = Rect::new(3, 2, width, height);
        let drawn = self.app.with_panel(|panel, cx| {
            let mut buf = Buffer::filled(Rect::new(0, 0, width + 7, height + 5), Cell::new("░"));
            panel.draw(cx, inner, &mut buf);
            buf
        });
        let Some(buf) = drawn else { return };
        for position in buf.area.positions().filter(|position| !inner.contains(*position)) {
            assert_eq!(buf[position].symbol(), "░", "drawn at {position} outside {inner} on {:?}", self.app.screen);
        }
    }

    /// Ctrl-c closes what is open, then quits.
    fn can_be_quit(&mut self) -> bool {
        (0..3).any(|_| self.send(Msg::Input(event("Ctrl-c"))).contains(&Effect::Quit))
    }
}

/// The picture with its styles, so that a moved selection shows.
fn picture(app: &App, width: u16, height: u16) -> Buffer {
    let backend = ratatui::backend::TestBackend::new(width, height);
    let mut terminal = ratatui::Terminal::new(backend).unwrap();
    terminal.draw(|frame| app.draw(frame)).unwrap();
    terminal.backend().buffer().clone()
}

/// A key by the name that the table gives it.
fn event(name: &str) -> Event {
    let code = match name {
        "Shift-Tab" => KeyCode::BackTab,
        "Home" => KeyCode::Home,
        "PageUp" => KeyCode::PageUp,
        "PageDown" => KeyCode::PageDown,
        "F1" => KeyCode::F(1),
        name => return key(name),
    };
    Event::Key(KeyEvent::new(code, KeyModifiers::NONE))
}

/// Something that happens to a session.
#[derive(Debug, Clone)]
enum Step {
    Input(Event),
    Fresh,
    Ended,
    Failed,
    Done,
}

fn any_key() -> impl Strategy<Value = Event> {
    let named = prop::sample::select(TABLE.iter().flat_map(|row| row.keys.iter().copied()).collect::<Vec<_>>());
    let code = prop_oneof![
        any::<char>().prop_map(KeyCode::Char),
        prop::sample::select(vec![
            KeyCode::Enter,
            KeyCode::Esc,
            KeyCode::Backspace,
            KeyCode::Delete,
            KeyCode::Insert,
            KeyCode::Tab,
            KeyCode::F(5),
            KeyCode::Null,
            KeyCode::CapsLock,
        ]),
    ];
    let odd = (code, 0..8_u8, prop::bool::ANY).prop_map(|(code, modifiers, released)| {
        let kind = if released { KeyEventKind::Release } else { KeyEventKind::Press };
        Event::Key(KeyEvent::new_with_kind(code, KeyModifiers::from_bits_truncate(modifiers), kind))
    });
    prop_oneof![8 => named.prop_map(event), 2 => odd]
}

fn any_mouse() -> impl Strategy<Value = Event> {
    let kind = prop::sample::select(vec![
        MouseEventKind::Down(MouseButton::Left),
        MouseEventKind::Down(MouseButton::Right),
        MouseEventKind::Up(MouseButton::Left),
        MouseEventKind::Drag(MouseButton::Left),
        MouseEventKind::Moved,
        MouseEventKind::ScrollDown,
        MouseEventKind::ScrollUp,
        MouseEventKind::ScrollLeft,
    ]);
    let place = prop_oneof![4 => (0..130_u16, 0..40_u16), 1 => (any::<u16>(), any::<u16>())];
    (kind, place)
        .prop_map(|(kind, (column, row))| Event::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }))
}

fn any_size() -> impl Strategy<Value = (u16, u16)> {
    prop_oneof![
        2 => (1..=45_u16, 1..=14_u16),
        4 => (40..=130_u16, 10..=40_u16),
        1 => Just((1, 1)),
        1 => Just((300, 100)),
    ]
}

fn any_step() -> impl Strategy<Value = Step> {
    let paste = prop::sample::select(vec!["main", "", "a\nb\u{1b}[31m", "\u{202e}größe日本", "../../etc/passwd"]);
    prop_oneof![
        12 => any_key().prop_map(Step::Input),
        4 => any_mouse().prop_map(Step::Input),
        2 => any_size().prop_map(|(width, height)| Step::Input(Event::Resize(width, height))),
        1 => paste.prop_map(|text| Step::Input(Event::Paste(text.to_string()))),
        1 => Just(Step::Input(Event::FocusLost)),
        1 => prop::sample::select(vec![Step::Fresh, Step::Ended, Step::Failed, Step::Done]),
    ]
}

fn msg(step: Step) -> Msg {
    match step {
        Step::Input(event) => Msg::Input(event),
        Step::Fresh => Msg::Fresh,
        Step::Ended => Msg::Ended("killed \u{1b}[31m".into()),
        Step::Failed => Msg::Failed(Error::new(ErrorKind::Io, "no \u{202e}space").hint("Make some.")),
        Step::Done => Msg::Done("wrote \u{1b}]0;x\u{7}".into()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, max_shrink_iters: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_input_leaves_every_session_drawable_and_quittable(
        size in any_size(),
        steps in prop::collection::vec(any_step(), 1..36),
    ) {
        for source in &Source::all() {
            let mut running = Running::on(source, size);
            for step in steps.clone() {
                running.send(msg(step));
                running.draw();
            }
            prop_assert!(running.can_be_quit(), "{:?} {:?}", running.app.phase, running.app.overlay);
        }
    }
}

/// What leads to a state in which a key has something to do.
const PREPARATIONS: [&str; 15] = [
    "",
    "j",
    "G",
    "2 j j",
    "2 j j Enter",
    "3 j",
    "3 / m a Enter",
    "3 Enter",
    "3 d",
    "3 d -",
    "3 d d -",
    "4 j",
    "5 j",
    "6 j",
    "Space [ [",
];

/// The state in which an action surely has something to do, where that is not the first one.
fn prepared(action: &str) -> &'static str {
    match action {
        "up" | "top" | "half-page-up" | "page-up" => "3 G",
        "down" | "bottom" | "half-page-down" | "page-down" | "detail" | "zoom" | "sort" | "sort-reverse" | "group" => {
            "3"
        }
        "left" | "right" | "invert" | "colours" | "against-baseline" => "2 j j",
        "less" => "3 Enter",
        "more" => "3 Enter -",
        "search-next" | "search-previous" | "filter" | "back" => "3 / m a Enter",
        "step-forward" | "step-forward-much" | "live" => "Space [ [",
        _ => "",
    }
}

#[test]
fn every_key_in_the_help_does_something_in_some_session() {
    let sources = Source::all();
    for row in TABLE {
        assert!(!row.keys.is_empty(), "{} has no key", row.name);
        for name in row.keys {
            let responds = [prepared(row.name)].iter().chain(&PREPARATIONS).any(|preparation| {
                sources.iter().any(|source| {
                    let mut running = Running::on(source, (120, 40));
                    running.press(preparation);
                    running.responds_to(name)
                })
            });
            assert!(responds, "{name} ({}) does nothing anywhere", row.text);
        }
    }
}

#[test]
fn every_key_of_a_screen_is_in_its_help_and_does_something_there() {
    for source in &Source::all() {
        let screens: Vec<(u8, ScreenId, &str)> = Running::on(source, (160, 100)).app.kind.screens().collect();
        for (number, screen_id, title) in screens {
            let open = |preparation: &str| {
                let mut running = Running::on(source, (160, 100));
                running.press(&format!("{number} {preparation}"));
                running
            };
            let mut running = open("");
            assert_eq!(running.app.screen, screen_id, "{title}");
            let keys = running.app.panel().keys();
            running.press("?");
            let help = screen(&running.app, 160, 100);
            for (action, text) in keys {
                assert!(help.contains(text), "{title}: '{text}' is not in the help:\n{help}");
                let names = running.app.keys.keys_for(*action);
                assert!(!names.is_empty(), "{title}: '{text}' has no key");
                // Of three quantities none is left out.
                let whole = screen_id == ScreenId::Baseline && *action == crate::tui::keys::Action::Filter;
                for name in names.into_iter().filter(|_| !whole) {
                    let responds = ["", "j", "l", "G", "j j l l", "Enter", "/ a Enter", "]", "["]
                        .iter()
                        .any(|preparation| open(preparation).responds_to(&name));
                    assert!(responds, "{title}: {name} ('{text}') does nothing");
                }
            }
        }
    }
}

#[test]
fn every_screen_draws_at_the_sizes_where_layouts_change() {
    for source in &Source::all() {
        for (number, ..) in Running::on(source, (80, 24)).app.kind.screens().collect::<Vec<_>>() {
            let mut running = Running::on(source, (80, 24));
            running.press(&number.to_string());
            for (width, height) in
                [(1, 1), (39, 10), (40, 9), (40, 10), (41, 11), (79, 24), (80, 23), (120, 15), (300, 100)]
            {
                running.send(Msg::Input(Event::Resize(width, height)));
                running.draw();
            }
        }
    }
}

#[test]
fn a_snapshot_that_arrives_behind_the_picker_changes_nothing_on_it() {
    let sources = Source::all();
    let mut running = Running::on(&sources[0], (100, 30));
    let asked = running.app.update(Msg::Fresh);
    let [Effect::Snapshot(query)] = asked.as_slice() else { panic!("{asked:?}") };
    running.press("P");
    let before = screen(&running.app, 100, 30);
    running.send(Msg::Seen(Box::new(sources[0].snapshot(query.clone()))));
    assert_eq!(screen(&running.app, 100, 30), before);
    assert_eq!(running.app.phase, SessionPhase::Picking);
    assert!(running.can_be_quit());
}
