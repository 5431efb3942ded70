//! A session by its keys: requests, times, search, files, the end, and what every key and size does.

use super::*;
use crate::tui::panel::PanelRequest;
use crate::tui::screens::SessionKind;
use crate::view::GroupBy;

#[test]
fn one_look_is_under_way_at_a_time_and_what_is_asked_meanwhile_is_asked_once() {
    let mut app = app();
    let first = app.update(Msg::Fresh);
    assert!(matches!(first.as_slice(), [Effect::Snapshot(_)]));
    assert!(app.update(Msg::Fresh).is_empty() && app.update(Msg::Input(key("2"))).is_empty());
    let next = answer(&mut app, &first[0]);
    let [Effect::Snapshot(query)] = next.as_slice() else { panic!("{next:?}") };
    assert!(matches!(query.request, ViewRequest::Flame { .. }), "what is asked is what is shown by then");
    assert!(answer(&mut app, &next[0]).is_empty());
}

#[test]
fn the_session_stays_behind_the_picker_until_another_target_is_open() {
    let mut app = app();
    for _ in 0..2 {
        assert_eq!(press(&mut app, "P"), [Effect::Choose]);
        assert_eq!(app.phase, SessionPhase::Picking);
        // First leaves the search, then the picker.
        assert!(press(&mut app, "x Esc").is_empty());
        assert_eq!(press(&mut app, "Esc"), [Effect::Return]);
        assert_eq!(app.phase, SessionPhase::Open { live: true });
    }
    press(&mut app, "P");
    app.phase = SessionPhase::Opening;
    let failed = app.update(Msg::Failed(Error::new(ErrorKind::NotFound, "it has ended")));
    assert_eq!((failed.as_slice(), app.phase), ([Effect::Choose].as_slice(), SessionPhase::Picking));
    assert_eq!(press(&mut app, "Esc"), [Effect::Return]);
    press(&mut app, "P");
    app.phase = SessionPhase::Opening;
    app.update(Msg::Opened { kind: SessionKind::Profile, live: false, baseline: false });
    assert_eq!((app.phase, app.behind), (SessionPhase::Open { live: false }, None));
}

#[test]
fn pausing_holds_the_end_of_what_is_shown_and_following_lets_it_go() {
    for pause in ["Space", "f"] {
        let mut app = app();
        press(&mut app, pause);
        assert_eq!(app.query().end, Some(seconds(20)));
        press(&mut app, "[ [ ]");
        assert_eq!(app.query().end, Some(seconds(19)));
        press(&mut app, pause);
        assert_eq!(app.query().end, None);
    }
}

#[test]
fn a_selected_range_is_what_every_screen_shows_until_it_is_left() {
    let mut app = app();
    press(&mut app, "Space v [ [ [ v 4");
    assert_eq!(
        (app.query().time, app.query().request),
        (
            TimeSelector::Between(seconds(17), seconds(20)),
            ViewRequest::Threads { by: Default::default(), detail: None }
        )
    );
    press(&mut app, "Esc");
    assert_eq!(app.query().time, TimeSelector::Last(seconds(30)));
}

#[test]
fn a_mark_compares_what_comes_after_it_with_what_came_before() {
    let mut app = app();
    assert_eq!(press(&mut app, "m"), [Effect::Mark("mark 2".into())]);
    assert_eq!(
        (app.query().time, app.query().compare_with),
        (TimeSelector::Since(seconds(20)), CompareWith::Before(seconds(20)))
    );
    press(&mut app, "M");
    assert_eq!(app.query().compare_with, CompareWith::Nothing);
}

#[test]
fn waits_take_turns_with_the_event() {
    let mut app = app();
    press(&mut app, "o");
    assert_eq!(app.query().axis, Axis::OffCpu);
    press(&mut app, "o");
    assert_eq!(app.query().axis, Axis::Event(0));
}

#[test]
fn the_first_event_with_samples_is_shown_until_another_is_chosen() {
    let mut app = App::opening(&settings(), (80, 24));
    let mut effects = app.update(Msg::Opened { kind: SessionKind::Profile, live: false, baseline: false });
    // As of a file of a hybrid CPU: the program ran on cores of the second type alone.
    let see = |app: &mut App, effect: &Effect| {
        let Effect::Snapshot(query) = effect else { panic!("{effect:?}") };
        let events = ["cpu_core/cycles/", "cpu_atom/cycles/"].map(String::from).to_vec();
        let head = ScreenHeader { events, has_off_cpu: false, first_sampled: Axis::Event(1), ..head(20) };
        let body = Err(Error::new(ErrorKind::NotFound, "no view in this test"));
        app.update(Msg::Seen(Box::new(Snapshot { query: query.clone(), head, body })))
    };
    effects = see(&mut app, &effects[0]);
    assert!(matches!(&effects[..], [Effect::Snapshot(query)] if query.axis == Axis::Event(1)), "{effects:?}");
    assert!(see(&mut app, &effects[0]).is_empty(), "it is asked for once");
    let asked = app.update(Msg::Input(key("o")));
    assert!(matches!(&asked[..], [Effect::Snapshot(query)] if query.axis == Axis::Event(0)), "{asked:?}");
    assert!(see(&mut app, &asked[0]).is_empty(), "a choice stays");
    app.update(Msg::Opened { kind: SessionKind::Profile, live: false, baseline: false });
    assert!(!app.chosen_axis, "another recording has other events");
}

#[test]
fn a_typed_search_stays_until_esc_and_keys_are_text_while_it_is_typed() {
    let mut app = app();
    assert!(press(&mut app, "/ q u i t").is_empty());
    assert_eq!(app.search, "quit");
    press(&mut app, "Enter");
    assert_eq!((app.search.as_str(), &app.overlay), ("quit", &Overlay::None));
    press(&mut app, "Esc");
    assert_eq!(app.search, "");
}

#[test]
fn files_are_written_under_the_typed_name_or_a_made_up_one() {
    let mut app = app();
    assert_eq!(press(&mut app, "w Enter"), [Effect::Record(None)]);
    assert_eq!(press(&mut app, "w a b Enter"), [Effect::Record(Some("ab".into()))]);
    assert!(
        matches!(press(&mut app, "e x Enter").as_slice(), [Effect::Export { path: Some(path), .. }] if path.to_str() == Some("x"))
    );
    assert!(press(&mut app, "e Esc").is_empty());
}

#[test]
fn the_palette_carries_out_what_its_key_would() {
    let mut app = app();
    press(&mut app, ": p a u s e Enter");
    assert_eq!(app.query().end, Some(seconds(20)));
    assert_eq!(press(&mut app, ": q u i t Enter"), [Effect::Quit]);
}

#[test]
fn classes_of_instructions_are_a_key_and_a_command_away_from_every_screen() {
    for keys in ["4 x", "6 : m i x Enter", "3 u x", "2 x"] {
        let mut app = app();
        press(&mut app, keys);
        assert!(
            matches!(app.query().request, ViewRequest::Functions { by: GroupBy::Function, .. }),
            "{keys}: {:?}",
            app.query()
        );
    }
}

#[test]
fn the_end_of_the_target_is_said_and_leaves_everything_open() {
    let mut app = app();
    app.update(Msg::Ended("the command ended with status 3".into()));
    let text = screen(&app, 100, 24);
    assert!(text.contains("the command ended with status 3") && text.contains("w writes a recording"), "{text}");
    assert!(text.contains("ENDED"), "{text}");
    assert!(press(&mut app, "2 3 4 [ o").is_empty());
    assert_eq!(press(&mut app, "q"), [Effect::Quit]);
}

#[test]
fn what_cannot_be_opened_leads_back_to_the_picker_or_ends_the_session() {
    let refusal = || Msg::Failed(Error::new(ErrorKind::NotPermitted, "no permission for pid 1").hint("Run as root."));
    let mut app = App::new(&settings(), (80, 24));
    app.update(Msg::Choices(Choices::default()));
    app.phase = SessionPhase::Opening;
    assert_eq!(app.update(refusal()), [Effect::Choose]);
    let text = screen(&app, 80, 24);
    assert!(text.contains("no permission for pid 1") && text.contains("Run as root."), "{text}");

    let mut app = App::opening(&settings(), (80, 24));
    assert_eq!(app.update(refusal()), [Effect::Quit]);
    assert_eq!(app.take_refusal().unwrap().kind(), ErrorKind::NotPermitted);
}

#[test]
fn what_went_wrong_is_still_to_be_read_where_something_is_done_at_the_same_moment() {
    let mut app = app();
    app.update(Msg::Done("wrote a.ironlaw".into()));
    app.update(Msg::Failed(Error::new(ErrorKind::NotFound, "no finished run")));
    app.update(Msg::Done("wrote b.sweep".into()));
    let text = screen(&app, 100, 24);
    assert!(text.contains("no finished run · wrote b.sweep") && !text.contains("a.ironlaw"), "{text}");
    press(&mut app, "2");
    assert!(!screen(&app, 100, 24).contains("no finished run"));
}

#[test]
fn help_lists_every_key_and_ends_with_any_other() {
    let mut app = app();
    press(&mut app, "?");
    let narrow = screen(&app, 80, 80);
    app.update(Msg::Input(Event::Resize(160, 50)));
    let wide = screen(&app, 160, 50);
    // Only a sweep has that screen, and only a comparison has other divisors.
    for row in crate::tui::keys::TABLE.iter().filter(|row| !["scaling", "per"].contains(&row.name)) {
        assert!(narrow.contains(row.text) && wide.contains(row.text), "{} in {narrow}\n{wide}", row.name);
    }
    assert!(press(&mut app, "q").is_empty(), "q closes the help, not the session");
    assert_eq!(app.overlay, Overlay::None);
}

#[test]
fn a_tiny_terminal_gets_one_line_and_no_size_panics() {
    let app = app();
    assert_eq!(screen(&app, 39, 9).trim(), "ironlaw needs 40x10; this is 39x9");
    for (width, height) in [(1, 1), (40, 10), (41, 11), (79, 24), (300, 100)] {
        screen(&app, width, height);
    }
}

#[test]
fn control_keys_reach_the_host_whatever_is_open() {
    let mut app = app();
    for before in ["?", ":", "/"] {
        press(&mut app, before);
        assert_eq!(app.update(Msg::Input(key("Ctrl-z"))), [Effect::Suspend], "{before}");
        press(&mut app, "Esc");
    }
    assert!(!app.was_forced());
    assert_eq!(app.update(Msg::Stop), [Effect::Quit]);
    assert!(app.was_forced(), "what is held must not be lost");
    assert_eq!(app.update(Msg::InputLost), [Effect::Quit]);
}

#[test]
fn a_key_without_an_action_says_where_the_keys_are() {
    let mut app = app();
    for key in ["F5", "a", "r", "E", "Backspace"] {
        press(&mut app, key);
        let text = screen(&app, 80, 24);
        assert!(text.contains("? shows the keys"), "{key}: {text}");
    }
    press(&mut app, "2 &");
    assert!(screen(&app, 80, 24).contains("& does nothing on this screen: ? shows the keys"));
    press(&mut app, ": n o n s e n s e Enter");
    assert!(screen(&app, 80, 24).contains("no command is named 'nonsense'"));
}

#[test]
fn letters_are_text_in_the_picker() {
    let mut app = App::new(&settings(), (80, 24));
    app.update(Msg::Choices(Choices::default()));
    assert!(press(&mut app, "q t ?").is_empty());
    assert!(screen(&app, 80, 24).contains("qt?"), "{}", screen(&app, 80, 24));
    assert_eq!(press(&mut app, "Esc Esc"), [Effect::Quit]);
}

#[test]
fn a_panel_can_pause_the_session_at_a_moment() {
    let mut app = app();
    let effects = app.grant(vec![PanelRequest::At(seconds(7))]);
    let [Effect::Snapshot(query)] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!((query.end, query.moment()), (Some(seconds(7)), Some(seconds(7))));
    answer(&mut app, &effects[0]);
    assert!(screen(&app, 100, 24).contains("PAUSED"), "{}", screen(&app, 100, 24));
    let far = app.grant(vec![PanelRequest::At(seconds(9999))]);
    let [Effect::Snapshot(query)] = far.as_slice() else { panic!("{far:?}") };
    assert_eq!(query.end, Some(seconds(20)), "no further than what is held");
}
