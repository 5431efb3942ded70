#![expect(clippy::unwrap_used, reason = "tests")]
use super::*;
use crate::model::{Measure, Why};
use crate::tui::keys::KeyTable;
use crate::tui::testing::{key, text};
use crate::tui::theme::{ColourDepth, Glyphs, Theme, ThemeName};
use crate::view::picker::{CgroupChoice, Choice, MachineChoice, ProcessChoice, RecordingChoice};
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Rect;

const SMALL: Rect = Rect { x: 0, y: 1, width: 80, height: 22 };
const LARGE: Rect = Rect { x: 0, y: 1, width: 160, height: 30 };

fn process(pid: u32, parent: u32, comm: &str, command: &str, cpu: f64) -> ProcessChoice {
    ProcessChoice {
        pid,
        parent,
        comm: comm.into(),
        command: command.into(),
        threads: pid % 7 + 1,
        cpu: Measure::exact(cpu),
        memory: Measure::exact(u64::from(pid) * 12_345),
        ours: true,
        above: matches!(pid, 1 | 800),
    }
}

fn choices() -> Choices {
    let cgroup = |path: &str, processes, cpu| CgroupChoice { path: path.into(), processes, cpu };
    let recording = |name: &str, target: &str, started, duration_s| RecordingChoice {
        path: name.into(),
        target: target.into(),
        started_unix_ns: started,
        duration_s,
    };
    let mut processes = vec![
        process(1, 0, "systemd", "/sbin/init splash", 0.0),
        process(800, 1, "bash", "-bash", 2.9),
        process(4123, 1, "redis-server", "/usr/bin/redis-server *:7777", 0.87),
        process(4200, 1, "java", "/usr/lib/jvm/java-17-openjdk-amd64/bin/java -Xmx4g -jar app.jar", 2.31),
        process(4201, 4200, "sh", "sh -c 'evil \x1b[2J\x1b]0;owned\x07'", 0.003),
        process(4202, 4201, "日本語プロセス", "e\u{301}a\u{202e}txt.exe", 0.12),
        process(4203, 4201, "postgres", "postgres: writer", 0.12),
    ];
    processes[2].memory = Measure::Missing(Why::NotPermitted);
    Choices {
        machine: MachineChoice { cpus: 8, cpu: Measure::exact(5.2) },
        processes,
        cgroups: vec![
            cgroup("/system.slice", 3, Measure::exact(3.1)),
            cgroup("/system.slice/redis.service", 1, Measure::exact(0.87)),
            cgroup("/system.slice/web.service", 2, Measure::Missing(Why::NotSupported)),
            cgroup("/user.slice", 4, Measure::exact(1.9)),
        ],
        recordings: vec![
            recording("redis.ironlaw", "pid 4123", 3_600_000_000_000 - 180_000_000_000, Some(12.34)),
            recording("old\nname.ironlaw", "make -j8", 0, None),
        ],
        unix_ns: 3_600_000_000_000,
        problem: None,
    }
}

/// The same choices with other CPU usage.
fn with_uses(uses: &[(u32, f64)]) -> Choices {
    let mut choices = choices();
    for process in &mut choices.processes {
        let new = uses.iter().find(|(pid, _)| *pid == process.pid);
        process.cpu = Measure::exact(new.map_or(0.0, |(_, cpu)| *cpu));
    }
    choices
}

fn picker() -> Picker {
    let mut picker = Picker::default();
    picker.show(choices());
    picker
}

fn press(picker: &mut Picker, keys: &str) -> Option<Choice> {
    let table = KeyTable::default();
    let mut chosen = None;
    for name in keys.split(' ') {
        let event = match name {
            "PageDown" => KeyEvent::from(KeyCode::PageDown),
            "Home" => KeyEvent::from(KeyCode::Home),
            name => match key(name) {
                Event::Key(event) => event,
                other => panic!("{other:?}"),
            },
        };
        chosen = picker.key(event, table.action(event), SMALL);
    }
    chosen
}

fn drawn(picker: &Picker, area: Rect, theme: &Theme, glyphs: &Glyphs) -> String {
    let mut buf = Buffer::empty(Rect { y: 0, height: area.height + 1, ..area });
    picker.draw(theme, glyphs, area, &mut buf);
    text(&buf)
}

fn plain(picker: &Picker, area: Rect) -> String {
    drawn(picker, area, &Theme::new(ThemeName::Dark, ColourDepth::True), &Glyphs::UNICODE)
}

#[test]
fn sections_look_as_they_should() {
    let mut picker = picker();
    insta::assert_snapshot!("processes_small", plain(&picker, SMALL));
    insta::assert_snapshot!("processes_large", plain(&picker, LARGE));
    press(&mut picker, "F5");
    let ascii = drawn(&picker, SMALL, &Theme::new(ThemeName::Mono, ColourDepth::Sixteen), &Glyphs::ASCII);
    insta::assert_snapshot!("processes_tree_ascii", ascii);
    press(&mut picker, "/ r e");
    insta::assert_snapshot!("processes_searched_narrow", plain(&picker, Rect { width: 44, height: 9, ..SMALL }));
    press(&mut picker, "Esc Tab");
    insta::assert_snapshot!("cgroups", plain(&picker, SMALL));
    press(&mut picker, "Tab m a k e");
    insta::assert_snapshot!("command", plain(&picker, SMALL));
    press(&mut picker, "Tab Down");
    insta::assert_snapshot!("recordings", plain(&picker, SMALL));
}

#[test]
fn enter_opens_the_busiest_process_that_did_not_start_this_program() {
    assert_eq!(press(&mut picker(), "Enter"), Some(Choice::Process(4200)), "bash 800 is the shell it was started from");
    let mut others = choices();
    others.processes[3].ours = false;
    let mut picker = Picker::default();
    picker.show(others);
    assert_eq!(press(&mut picker, "Enter"), Some(Choice::Process(4123)));
}

#[test]
fn nothing_is_opened_before_it_is_known_who_is_busy() {
    let mut picker = Picker::default();
    assert_eq!(press(&mut picker, "Enter"), None);
    assert!(plain(&picker, SMALL).contains("listing"));
    let mut first = choices();
    first.processes.iter_mut().for_each(|process| process.cpu = Measure::Missing(Why::NotRecorded));
    picker.show(first);
    assert_eq!(press(&mut picker, "Enter"), None);
    assert!(plain(&picker, SMALL).contains("being measured"));
    picker.show(choices());
    assert_eq!(press(&mut picker, "Enter"), Some(Choice::Process(4200)));
}

#[test]
fn what_is_likely_changes_only_when_another_is_far_busier() {
    let mut picker = picker();
    picker.show(with_uses(&[(4123, 2.5), (4200, 1.3)]));
    assert_eq!(press(&mut picker, "Enter"), Some(Choice::Process(4200)));
    picker.show(with_uses(&[(4123, 2.7), (4200, 1.3)]));
    assert_eq!(press(&mut picker, "Enter"), Some(Choice::Process(4123)));
}

#[test]
fn a_selection_stays_with_its_process_and_falls_to_the_next_when_that_ends() {
    let mut picker = picker();
    press(&mut picker, "Down");
    assert_eq!(press(&mut picker, "Enter"), Some(Choice::Process(4123)), "the row below the likely one");
    picker.show(with_uses(&[(4123, 0.0), (4200, 7.0), (800, 0.0)]));
    assert_eq!(press(&mut picker, "Enter"), Some(Choice::Process(4123)));
    let mut gone = with_uses(&[(4123, 0.0)]);
    gone.processes.retain(|process| process.pid != 4123);
    picker.show(gone);
    assert!(matches!(press(&mut picker, "Enter"), Some(Choice::Process(_))));
    picker.show(Choices::default());
    assert_eq!(press(&mut picker, "Enter"), None, "nothing is left");
    picker.show(choices());
    assert_eq!(press(&mut picker, "Enter"), Some(Choice::Process(4200)));
}

#[test]
fn characters_search_at_once_and_escape_ends_the_search() {
    let mut picker = picker();
    assert!(!picker.is_typing());
    assert_eq!(press(&mut picker, "r e d Enter"), Some(Choice::Process(4123)));
    assert!(picker.is_typing());
    press(&mut picker, "z z");
    assert_eq!(press(&mut picker, "Enter"), None);
    assert!(plain(&picker, SMALL).contains("nothing matches redzz"));
    assert_eq!(press(&mut picker, "Esc Enter"), Some(Choice::Process(4200)));
    press(&mut picker, "/");
    assert!(picker.is_typing(), "a slash begins a search for what begins with one");
    assert_eq!(press(&mut picker, "t x t Enter"), Some(Choice::Process(4202)));
    assert_eq!(press(&mut picker, "Esc t x t Enter"), Some(Choice::Process(4202)), "letters are text without it too");
    press(&mut picker, "Ctrl-u");
    assert!(picker.filter.text().is_empty());
    picker.paste("4123\n");
    assert_eq!(press(&mut picker, "Enter"), Some(Choice::Process(4123)), "an id can be pasted");
}

#[test]
fn a_command_is_typed_or_pasted_and_given_on_as_it_is() {
    let mut picker = picker();
    assert_eq!(press(&mut picker, "Tab Tab Enter"), None, "nothing was typed");
    assert!(picker.is_typing());
    picker.paste("sh -c 'a |\n b'");
    assert_eq!(press(&mut picker, "q ? Enter"), Some(Choice::Command("sh -c 'a |  b'q?".into())));
    press(&mut picker, "Esc Esc");
    assert!(!picker.is_typing(), "an empty line is left");
}

#[test]
fn everything_in_the_sections_can_be_chosen() {
    for (keys, expected) in [
        ("Up Enter", Choice::Process(800)),
        ("Up Up Enter", Choice::Machine),
        ("Ctrl-n Ctrl-p Enter", Choice::Process(4200)),
        ("End Enter", Choice::Process(1)),
        ("Tab Enter", Choice::Cgroup("/system.slice".into())),
        ("Tab Up Up Enter", Choice::Machine),
        ("Tab Down Enter", Choice::Cgroup("/system.slice/redis.service".into())),
        ("Tab Tab Tab Enter", Choice::File("redis.ironlaw".into())),
    ] {
        assert_eq!(press(&mut picker(), keys), Some(expected), "{keys}");
    }
}

#[test]
fn a_click_selects_and_a_second_one_opens() {
    let mut picker = picker();
    let click = |column, row| MouseEvent {
        kind: MouseEventKind::Down(MouseButton::Left),
        column,
        row,
        modifiers: KeyModifiers::NONE,
    };
    let first_row = 4;
    assert_eq!(picker.mouse(click(20, first_row), SMALL), None);
    assert_eq!(picker.mouse(click(20, first_row), SMALL), Some(Choice::Machine));
    assert_eq!(picker.mouse(click(20, 20), SMALL), None, "below the last row");
    let screen = plain(&picker, SMALL);
    let tabs = screen.lines().nth(1).unwrap();
    let column = tabs.find("Recordings").unwrap() as u16;
    picker.mouse(click(column, 1), SMALL);
    assert!(plain(&picker, SMALL).contains("redis.ironlaw"));
    let wheel = MouseEvent { kind: MouseEventKind::ScrollDown, ..click(0, 10) };
    picker.mouse(wheel, SMALL);
    assert_eq!(press(&mut picker, "Enter"), Some(Choice::File("old\nname.ironlaw".into())));
}

#[test]
fn the_selection_is_in_sight_in_a_long_list() {
    let mut many = choices();
    many.processes = (10..500).map(|pid| process(pid, 1, &format!("p{pid}"), "", f64::from(pid))).collect();
    let mut picker = Picker::default();
    picker.show(many.clone());
    let steps = ["Down"; 100].join(" ");
    for (keys, pid) in [(steps.as_str(), 399), ("Up Up", 401), ("PageDown", 384), ("End", 10), ("Home Down", 499)] {
        press(&mut picker, keys);
        assert_eq!(press(&mut picker, "Enter"), Some(Choice::Process(pid)), "{keys}");
        assert!(plain(&picker, SMALL).contains(&format!("p{pid} ")), "{keys}");
    }
    picker.show(many);
    assert!(plain(&picker, SMALL).contains("whole machine"), "the top stays in sight");
}

proptest! {
    #[test]
    fn nothing_panics_at_any_size_with_any_keys(
        width in 0u16..200,
        height in 0u16..60,
        keys in prop::collection::vec(prop::sample::select(
            &["Tab", "Down", "Up", "Esc", "/", "t", "日", "Enter", "Left", "End", "Ctrl-w", "Ctrl-n", "Space"][..]), 0..12),
        column in 0u16..220,
        row in 0u16..70,
    ) {
        let area = Rect { x: 0, y: 1.min(height), width, height: height.saturating_sub(2) };
        let mut picker = picker();
        for name in keys {
            let Event::Key(event) = key(name) else { continue };
            picker.key(event, None, area);
            let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
            picker.draw(&Theme::new(ThemeName::Dark, ColourDepth::True), &Glyphs::UNICODE, area, &mut buf);
        }
        for kind in [MouseEventKind::Down(MouseButton::Left), MouseEventKind::ScrollDown] {
            picker.mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }, area);
        }
        picker.show(Choices::default());
    }
}
