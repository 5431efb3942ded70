#![expect(clippy::unwrap_used, reason = "tests")]

use super::areas::Areas;
use super::pane;
use super::state::State;
use crate::analysis::testing::{Synthetic, ms};
use crate::model::profile::Profile;
use crate::model::{FrameId, InstructionClass, ModuleKind, Scope, TaskState};
use crate::tui::keys::Action;
use crate::tui::keys::KeyTable;
use crate::tui::panel::Panel as _;
use crate::tui::panel::PanelContext;
use crate::tui::panel::PanelRequest;
use crate::tui::testing::{self, text};
use crate::tui::theme::{ColourDepth, Glyphs, Theme, ThemeName};
use crate::tui::time::Time;
use crate::view::Axis;
use crate::view::GroupBy;
use crate::view::functions::{FunctionsView, MixRow};
use crate::view::query::ViewRequest;
use crate::view::query::{Bounds, CompareWith, Query, TaskFilter, TimeSelector};
use crate::view::snapshot::{PanelView, ScreenHeader, snapshot_of_profile};
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::MouseEvent;
use ratatui::crossterm::event::{KeyModifiers, MouseButton, MouseEventKind};
use ratatui::layout::Rect;

const HOSTILE: &str = "/opt/app!\u{1b}[31mévil\u{202e}名前<std::vec::Vec<alloc::string::String>>::drop";
const NARROW: Rect = Rect { x: 0, y: 3, width: 80, height: 19 };
const WIDE: Rect = Rect { x: 0, y: 3, width: 160, height: 45 };

/// A server that parses, looks up with an inlined hash, recurses and writes; later it parses more and no longer writes.
fn server() -> Synthetic {
    let mut synthetic = Synthetic::new();
    synthetic.alive(41, "server").alive(42, "worker").tick(1000, 1000).tick(2000, 1000);
    synthetic.reading("task-clock", Scope::Target, 1000, 0).reading("task-clock", Scope::Target, 2000, ms(900).0);
    let kernel = "/opt/app!main;/opt/app!serve;/lib/libc.so.6!write;[kernel]!vfs_write;[kernel]!tcp_sendmsg";
    for (second, parse, write) in [(0, 40, 20), (1000, 60, 0)] {
        synthetic
            .samples(second, 41, "/opt/app!main;/opt/app!serve;/opt/app!parse", parse)
            .samples(second, 41, "/opt/app!main;/opt/app!serve;/opt/app!hash < find", 12)
            .samples(second, 42, "/opt/app!main;/opt/app!walk;/opt/app!walk;/opt/app!walk;/opt/app!find", 6)
            .samples(second, 42, &format!("/opt/app!main;{HOSTILE}"), 5)
            .samples(second, 42, "/opt/app!main;[jit]!Loop.run;/lib/libz.so!+0x40", 4)
            .samples(second, 41, kernel, write);
    }
    synthetic.off_cpu(100, 41, TaskState::Sleeping, 700, Some(20), "/opt/app!main;[kernel]!schedule");
    synthetic.meta.duration_ns = Some(ms(2000).0);
    synthetic.meta.plan.off_cpu = true;
    synthetic
}

fn profile() -> Profile {
    let mut profile = server().finish();
    for (frame, names) in profile.names.iter_mut().enumerate() {
        for symbol in names.iter_mut().filter(|symbol| symbol.function == "parse") {
            (symbol.file, symbol.line) = (Some("/home/me/src/app/parse.c".to_string()), Some(10 + frame as u32));
        }
    }
    profile
}

/// What stands in for code: parsing locks, programs and libraries else are scalar, and the rest is unreadable.
fn class(profile: &Profile, frame: FrameId) -> Option<InstructionClass> {
    let module = profile.module(profile.frame(frame)?.module?)?;
    let parses = profile.names_at(frame).iter().any(|symbol| symbol.function == "parse");
    let class = if parses { InstructionClass::Locked } else { InstructionClass::Scalar };
    (module.kind == ModuleKind::File).then_some(class)
}

/// The screen and its context.
struct Stage {
    profile: Profile,
    theme: Theme,
    glyphs: Glyphs,
    head: ScreenHeader,
    time: Time,
    axis: Axis,
    selector: TimeSelector,
    compare_with: CompareWith,
    panel: State,
}

impl Stage {
    fn new() -> Stage {
        let settings = testing::settings();
        let mut stage = Stage {
            profile: profile(),
            theme: settings.theme(),
            glyphs: settings.glyphs(),
            head: testing::head(20),
            time: Time::new(false, false),
            axis: Axis::Event(0),
            selector: TimeSelector::All,
            compare_with: CompareWith::Nothing,
            panel: State::default(),
        };
        stage.look();
        stage
    }

    fn compared() -> Stage {
        let mut stage = Stage::new();
        (stage.selector, stage.compare_with) = (TimeSelector::Since(ms(1000)), CompareWith::Before(ms(1000)));
        stage.look();
        stage
    }

    fn look(&mut self) {
        let query = Query {
            time: self.selector,
            end: None,
            filter: TaskFilter::default(),
            axis: self.axis,
            compare_with: self.compare_with,
            point: None,
            per: None,
            request: self.panel.request(),
        };
        let bounds = Bounds { since: ms(0), now: ms(2000) };
        let mut body = snapshot_of_profile(&self.profile, None, None, bounds, false, query).body.unwrap();
        if let PanelView::Functions(FunctionsView { detail: Some(detail), .. }) = &mut body {
            detail.add_mix(|frame| class(&self.profile, frame));
        }
        self.panel.show(body);
    }

    fn with<T>(&mut self, f: impl FnOnce(&mut State, &PanelContext<'_>) -> T) -> T {
        let (theme, glyphs, head, time) = (&self.theme, &self.glyphs, &self.head, &self.time);
        let keys = &KeyTable::default();
        let cx = PanelContext { theme, glyphs, keys, head, time, axis: self.axis, compared: false };
        f(&mut self.panel, &cx)
    }

    /// Carries out an action and serves snapshot requests at once; returns the other requests.
    fn act(&mut self, action: Action, area: Rect) -> Option<Vec<PanelRequest>> {
        let wishes = self.with(|panel, cx| panel.act(action, cx, area))?;
        if wishes.contains(&PanelRequest::Refresh) {
            self.look();
        }
        Some(wishes.into_iter().filter(|wish| *wish != PanelRequest::Refresh).collect())
    }

    fn press(&mut self, actions: &[Action], area: Rect) -> Vec<PanelRequest> {
        actions.iter().filter_map(|action| self.act(*action, area)).flatten().collect()
    }

    fn search(&mut self, text: &str) {
        self.panel.search(text);
        self.look();
    }

    fn status(&mut self) -> String {
        self.with(|panel, cx| panel.status(cx)).unwrap()
    }

    fn selected(&self) -> String {
        self.panel.selected_name().unwrap()
    }

    fn drawn(&mut self, area: Rect) -> String {
        self.with(|panel, cx| {
            let mut buf = Buffer::empty(area);
            panel.draw(cx, area, &mut buf);
            format!("{}\n[{}]", text(&buf), panel.status(cx).unwrap_or_default())
        })
    }

    /// The names in the table's rows, from the top.
    fn names(&self) -> Vec<&str> {
        let view = self.panel.view.as_ref().unwrap();
        (0..self.panel.rows.len()).map(|at| self.panel.rows.get(view, at).unwrap().name.as_str()).collect()
    }

    fn click(&mut self, column: u16, row: u16, area: Rect) -> Vec<PanelRequest> {
        let kind = MouseEventKind::Down(MouseButton::Left);
        let event = MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE };
        let wishes = self.with(|panel, cx| panel.mouse(event, cx, area));
        if wishes.contains(&PanelRequest::Refresh) {
            self.look();
        }
        wishes
    }
}

#[test]
fn the_table_shows_where_the_time_goes_whatever_the_names_are() {
    insta::assert_snapshot!("table_80x19", Stage::new().drawn(NARROW));
    insta::assert_snapshot!("table_40x8", Stage::new().drawn(Rect { width: 40, height: 8, ..NARROW }));
}

#[test]
fn beside_the_table_stand_the_callers_of_what_is_selected() {
    let mut stage = Stage::new();
    stage.press(&[Action::Sort, Action::Down], WIDE);
    insta::assert_snapshot!("wide_160x45", stage.drawn(WIDE));
    stage.press(&[Action::Enter, Action::Detail], WIDE);
    insta::assert_snapshot!("callees_160x45", stage.drawn(WIDE));
}

#[test]
fn lines_and_addresses_stand_below_a_narrow_table() {
    let mut stage = Stage::new();
    stage.press(&[Action::Enter, Action::Detail, Action::Detail], NARROW);
    insta::assert_snapshot!("lines_80x19", stage.drawn(NARROW));
    stage.press(&[Action::Right], NARROW);
    insta::assert_snapshot!("addresses_80x12", stage.drawn(Rect { height: 12, ..NARROW }));
    assert_eq!(stage.selected(), "app+0x20");
}

#[test]
fn classes_of_instructions_are_those_of_the_function_beside_those_of_the_selection() {
    let mut stage = Stage::new();
    stage.press(&[Action::Who], WIDE);
    stage.panel.show_mix();
    stage.look();
    insta::assert_snapshot!("mix_160x12", stage.drawn(Rect { height: 12, ..WIDE }));
    let rows = |stage: &Stage| {
        let mix = &stage.panel.around().unwrap().mix;
        let sum = |f: fn(&MixRow) -> f64| mix.iter().map(f).sum::<f64>();
        assert!((sum(|row| row.all_share) - 1.0).abs() < 1e-9, "{mix:?}");
        mix.iter().map(|row| (row.label(), row.self_samples, row.all_samples)).collect::<Vec<_>>()
    };
    let all = [("locked", 100, 100), ("scalar", 0, 54), ("unreadable", 0, 20)];
    assert_eq!(rows(&stage), all, "first the function with most samples");
    assert_eq!(stage.selected(), "locked");
    stage.panel.detail("tcp_sendmsg".to_string(), String::new());
    stage.look();
    assert_eq!(rows(&stage)[0], ("unreadable", 20, 20), "nobody guesses the kernel's code");
    stage.selector = TimeSelector::Since(ms(1000));
    stage.look();
    assert_eq!(rows(&stage), [("locked", 0, 60), ("scalar", 0, 27)], "of what is selected");
    (stage.axis, stage.selector, stage.panel) = (Axis::OffCpu, TimeSelector::All, State::default());
    stage.panel.show_mix();
    stage.look();
    assert!(stage.drawn(NARROW).contains("time off the CPU is spent in none"), "{}", stage.drawn(NARROW));
}

#[test]
fn changes_are_shown_with_what_may_be_chance_in_ascii_without_colours() {
    let mut stage = Stage::compared();
    (stage.theme, stage.glyphs) = (Theme::new(ThemeName::Mono, ColourDepth::Sixteen), Glyphs::ASCII);
    stage.press(&[Action::Sort, Action::Sort], NARROW);
    insta::assert_snapshot!("changed_ascii_100x19", stage.drawn(Rect { width: 100, ..NARROW }));
    stage.press(&[Action::SortReverse], NARROW);
    assert_eq!(stage.names()[0], "tcp_sendmsg", "what is gone fell most");
    assert!(stage.drawn(NARROW).contains("self was 22.99%: -22.99"), "{}", stage.drawn(NARROW));
}

#[test]
fn time_blocked_stands_in_place_of_samples_off_the_cpu() {
    let mut stage = Stage::new();
    stage.axis = Axis::OffCpu;
    stage.look();
    insta::assert_snapshot!("off_cpu_80x19", stage.drawn(NARROW));
}

#[test]
fn what_has_no_samples_says_why() {
    let mut stage = Stage { panel: State::default(), ..Stage::new() };
    assert!(stage.drawn(NARROW).starts_with(" waiting for the first window"));
    for (time, expected) in [
        (TimeSelector::Between(ms(1990), ms(2000)), "no samples in this time, though the target ran: CPU time 0.90 s"),
        (TimeSelector::Between(ms(900), ms(1000)), "no samples in this time"),
    ] {
        (stage.selector, stage.panel) = (time, State::default());
        stage.look();
        assert!(stage.drawn(NARROW).contains(expected), "{}", stage.drawn(NARROW));
    }
}

#[test]
fn the_selection_stays_with_its_name_and_line_when_the_data_is_renewed() {
    let mut stage = Stage::new();
    assert_eq!((stage.selected().as_str(), stage.panel.rows.selected()), ("parse", Some(0)));
    stage.press(&[Action::Down, Action::Down], NARROW);
    assert_eq!(stage.selected(), "tcp_sendmsg");
    stage.selector = TimeSelector::Since(ms(1000));
    stage.look();
    assert!(stage.status().starts_with("tcp_sendmsg  no samples in this time"), "{}", stage.status());
    stage.selector = TimeSelector::All;
    stage.look();
    assert_eq!((stage.selected().as_str(), stage.panel.rows.selected()), ("tcp_sendmsg", Some(2)));
}

#[test]
fn nothing_selected_stays_at_the_top_and_the_detail_with_it() {
    let mut stage = Stage::new();
    stage.press(&[Action::Sort], WIDE);
    stage.look();
    assert_eq!(stage.names()[0], "main");
    assert_eq!(stage.panel.around().unwrap().name, "main");
}

#[test]
fn sorting_goes_through_the_columns_and_can_be_turned_around() {
    let mut stage = Stage::new();
    let mut firsts = vec![stage.names()[0].to_string()];
    for _ in 0..4 {
        stage.press(&[Action::Sort], NARROW);
        firsts.push(stage.names()[0].to_string());
    }
    assert_eq!(firsts[..3], ["parse", "main", "parse"]);
    assert_eq!((firsts[3].starts_with('\u{1b}'), firsts[4].as_str()), (true, "parse"));
    stage.press(&[Action::SortReverse], NARROW);
    assert_eq!(stage.panel.rows.get(stage.panel.view.as_ref().unwrap(), 0).unwrap().self_samples, 0);
}

#[test]
fn a_search_goes_to_what_it_finds_and_filters_on_request() {
    let mut stage = Stage::new();
    assert!(matches!(stage.press(&[Action::Filter], NARROW).as_slice(), [PanelRequest::Say(_)]));
    stage.search("S");
    assert_eq!(stage.selected(), "parse");
    stage.press(&[Action::SearchNext], NARROW);
    assert_eq!(stage.selected(), "hash");
    stage.press(&[Action::SearchPrevious, Action::SearchPrevious], NARROW);
    assert_eq!(stage.selected(), "write", "libc.so.6 fits");
    stage.search("vfs");
    stage.press(&[Action::Filter], NARROW);
    assert_eq!((stage.names(), stage.selected()), (vec!["vfs_write"], "vfs_write".to_string()));
    assert!(stage.drawn(NARROW).contains("1 of 12 functions with 'vfs'"), "{}", stage.drawn(NARROW));
    stage.search("no such");
    assert!(stage.drawn(NARROW).contains("no name holds 'no such'") && stage.names().is_empty());
    assert_eq!(stage.act(Action::Back, NARROW), Some(vec![]));
    assert_eq!((stage.names().len(), stage.act(Action::Back, NARROW)), (12, None));
}

#[test]
fn a_caller_becomes_the_function_in_question_and_back_leads_home() {
    let mut stage = Stage::new();
    stage.press(&[Action::Enter], NARROW);
    assert_eq!(stage.selected(), "serve");
    stage.press(&[Action::Enter], NARROW);
    assert_eq!((stage.panel.around().unwrap().name.as_str(), stage.selected().as_str()), ("serve", "main"));
    stage.press(&[Action::Back], NARROW);
    assert_eq!(stage.panel.around().unwrap().name, "parse");
    assert!(stage.panel.pane.focus);
    stage.press(&[Action::Back], NARROW);
    assert_eq!((stage.panel.pane.focus, stage.selected().as_str()), (false, "parse"));
    assert_eq!(stage.act(Action::Back, NARROW), None);
}

#[test]
fn branches_fold_and_unfold_and_stay_so_when_the_data_is_renewed() {
    let mut stage = Stage::new();
    stage.panel.detail("main".to_string(), String::new());
    stage.look();
    stage.press(&[Action::Detail], NARROW);
    let shown = |stage: &Stage| stage.panel.pane.items(stage.panel.around().unwrap()).len();
    let folded = shown(&stage);
    stage.press(&[Action::Right], NARROW);
    assert!(shown(&stage) > folded, "serve's callees are shown");
    stage.press(&[Action::Right, Action::Down], NARROW);
    let selected = stage.selected();
    stage.look();
    assert_eq!(stage.selected(), selected);
    stage.press(&[Action::Left, Action::Left], NARROW);
    assert_eq!((stage.selected().as_str(), shown(&stage)), ("serve", folded));
    stage.press(&[Action::More], NARROW);
    let all = shown(&stage);
    stage.press(&[Action::Less], NARROW);
    assert_eq!((shown(&stage), all > folded + 3), (folded, true), "{all}");
    stage.press(&[Action::Left, Action::Left], NARROW);
    assert!(!stage.panel.pane.focus, "left of the callers is the table");
}

#[test]
fn a_path_is_shown_in_the_flame_graph() {
    let path = |names: &[&str]| vec![PanelRequest::Zoom(names.iter().map(ToString::to_string).collect())];
    let mut stage = Stage::new();
    assert_eq!(stage.press(&[Action::Zoom], NARROW), path(&["main", "serve", "parse"]));
    stage.panel.detail("find".to_string(), String::new());
    stage.look();
    let zoomed: Vec<_> = [Action::Zoom, Action::Down, Action::Down, Action::Zoom]
        .into_iter()
        .flat_map(|action| stage.press(&[action], NARROW))
        .collect();
    assert_eq!(zoomed[..1], path(&["main", "serve", "find"])[..]);
    assert_eq!(zoomed[1..], path(&["main", "walk", "walk", "walk", "find"])[..]);
}

#[test]
fn another_screen_opens_a_function_by_its_name_alone() {
    let mut stage = Stage::new();
    stage.panel.detail("libz.so+0x40".to_string(), String::new());
    stage.look();
    let detail = stage.panel.around().unwrap();
    assert_eq!((detail.name.as_str(), detail.module.as_str()), ("[unresolved]", "/lib/libz.so"));
    assert_eq!(stage.panel.row().unwrap().name, "[unresolved]");
    stage.panel.detail("gone".to_string(), String::new());
    stage.look();
    let text = stage.drawn(NARROW);
    assert!(text.contains("no samples in this time"), "{text}");
    assert_eq!(stage.press(&[Action::Enter, Action::Zoom, Action::More, Action::Down], NARROW), []);
}

#[test]
fn modules_and_threads_lead_to_their_functions() {
    let mut stage = Stage::new();
    stage.press(&[Action::Who], WIDE);
    assert_eq!(stage.names()[..2], ["app", "[kernel]"]);
    insta::assert_snapshot!("modules_160x12", stage.drawn(Rect { height: 12, ..WIDE }));
    stage.press(&[Action::Down, Action::Enter], WIDE);
    assert_eq!(stage.names(), ["tcp_sendmsg", "vfs_write"]);
    stage.press(&[Action::Back], WIDE);
    assert_eq!((stage.panel.by, stage.selected().as_str()), (GroupBy::Module, "[kernel]"));
    stage.press(&[Action::Who], WIDE);
    assert_eq!(stage.names(), ["server 41", "worker 42"]);
    let only = PanelRequest::Only(TaskFilter { tids: vec![42], ..TaskFilter::default() }, "worker 42".to_string());
    assert_eq!(stage.press(&[Action::Down, Action::Enter], WIDE), [only]);
    assert_eq!(stage.panel.request(), ViewRequest::Functions { by: GroupBy::Function, detail: None });
}

#[test]
fn the_mouse_sorts_selects_and_opens() {
    let mut stage = Stage::new();
    stage.click(18, 3, NARROW);
    assert_eq!(stage.names()[0], "main");
    stage.click(40, 6, NARROW);
    let third = stage.names()[2].to_string();
    assert_eq!(stage.selected(), third);
    stage.click(40, 6, NARROW);
    assert!(stage.panel.pane.focus, "{}", stage.drawn(NARROW));
    let areas = Areas::of(NARROW, &stage.panel);
    stage.click(13, areas.head.y + 2, NARROW);
    assert_eq!(stage.panel.pane.section, pane::Section::Callees);
    let last = stage.panel.pane.items(stage.panel.around().unwrap()).len() as u16;
    stage.click(30, areas.lines.y + last, NARROW);
    let rows = stage.panel.pane.list_rows(stage.panel.around().unwrap());
    assert_eq!(stage.panel.pane.list.at(&rows), Some(usize::from(last) - 1));
}

proptest! {
    #[test]
    fn it_can_be_drawn_and_used_at_any_size(
        width in 0_u16..300,
        height in 0_u16..95,
        keys in prop::collection::vec(0_usize..crate::tui::keys::TABLE.len(), 0..25),
        (column, row) in (0_u16..300, 0_u16..95),
    ) {
        let mut stage = Stage::compared();
        let area = Rect::new(0, 3, width, height);
        stage.search("s");
        for key in keys {
            stage.act(crate::tui::keys::TABLE[key].action, area);
            stage.drawn(area);
        }
        stage.click(column, row, area);
        stage.drawn(area);
    }
}
