//! The list of metrics as text: what it says of a machine with little, and that a user's table cannot act.

use super::listing::{Event, Group, Listing, Missing, Row};
use super::text::print;
use crate::model::Unit;

fn listing() -> Listing {
    Listing {
        uarch: "example".into(),
        name: "Example".into(),
        pmu: None,
        cpus: vec![],
        counters: 0,
        remarks: vec![],
        metrics: vec![],
        missing: vec![],
        groups: vec![],
        other_events: vec![],
    }
}

fn event(role: &str, name: &str, note: Option<&str>) -> Event {
    Event { role: role.into(), name: name.into(), perf: "cpu/event=0x3c/".into(), note: note.map(String::from) }
}

fn row(name: &'static str, unit: Unit, threshold: Option<f64>) -> Row {
    Row {
        name,
        label: "cycles per instruction",
        unit,
        formula: "cycles / instructions".into(),
        events: vec![],
        group: 2,
        bounds: (0.0, 1.0),
        threshold,
        about: "",
        note: None,
    }
}

fn shown(listings: &[Listing]) -> String {
    String::from_utf8_lossy(&print(listings)).into_owned()
}

#[test]
fn a_core_without_anything_is_its_name_and_no_empty_section() {
    assert_eq!(shown(&[listing()]), "Example (example)\n");
    assert_eq!(shown(&[]), "");
    let two = [listing(), Listing { name: "Other".into(), pmu: Some("cpu_atom".into()), counters: 6, ..listing() }];
    assert_eq!(shown(&two), "Example (example)\n\nOther (example), cpu_atom: 6 general counters free\n");
}

#[test]
fn what_there_is_has_a_section_of_its_own_in_order() {
    let core = Listing {
        cpus: vec![4, 5, 6],
        remarks: vec!["there is no core PMU".into()],
        metrics: vec![
            row("cpi", Unit::Ratio, Some(1.5)),
            Row { note: Some("halved with siblings".into()), ..row("llc_share", Unit::Share, Some(0.25)) },
            row("plain", Unit::Ratio, None),
        ],
        groups: vec![Group { events: vec![event("cycles", "CPU_CLK", Some("fixed"))], perf: "{a,b}".into() }],
        missing: vec![Missing { name: "smt".into(), why: "the kernel shows none".into() }],
        other_events: vec![event("stalls", "STALLS.ALL", None)],
        ..listing()
    };
    let text = shown(&[core]);
    let parts = [
        "  on 3 CPUs, the first 4\n",
        "  there is no core PMU\n",
        "\nMetrics\n",
        "cycles per instruction (ratio), flagged above 1.5\n",
        "= cycles / instructions  [group 2]\n",
        "flagged above 25%\n",
        "halved with siblings\n",
        "\nGroups, each counted at once",
        "    cycles  CPU_CLK  cpu/event=0x3c/  (fixed)\n",
        "    perf stat -e '{a,b}'\n",
        "\nNot available\n  smt\n    the kernel shows none\n",
        "\nOther events\n    stalls  STALLS.ALL  cpu/event=0x3c/\n",
    ];
    let mut rest = text.as_str();
    for part in parts {
        let (_, after) = rest.split_once(part).unwrap_or_else(|| panic!("no {part:?} in what is left of\n{text}"));
        rest = after;
    }
    assert_eq!(text.matches("flagged").count(), 2, "a metric without a limit is not flagged");
}

#[test]
fn metrics_that_lack_the_same_share_one_line_and_one_reason_and_lines_are_not_long() {
    let missing = |at: usize| Missing {
        name: format!("a_metric_with_a_long_name_{at}"),
        why: if at == 3 { "no such counter".into() } else { "no PMU".into() },
    };
    let text = shown(&[Listing { missing: (0..9).map(missing).collect(), ..listing() }]);
    assert_eq!((text.matches("no PMU").count(), text.matches("no such counter").count()), (1, 1), "{text}");
    for at in 0..9 {
        assert_eq!(text.matches(&format!("long_name_{at}")).count(), 1, "{text}");
    }
    assert!(text.lines().all(|line| line.len() <= 82 && !line.ends_with(' ')), "{text}");
    let (of_pmu, others) = text.split_once("no PMU").unwrap_or_default();
    assert!(
        of_pmu.contains("long_name_8") && !of_pmu.contains("long_name_3") && others.contains("long_name_3"),
        "{text}"
    );
}

#[test]
fn names_of_a_users_table_do_not_act_on_the_terminal() {
    let hostile = "x\u{1b}[2J\u{202e}";
    let core = Listing {
        name: hostile.into(),
        remarks: vec![hostile.into()],
        groups: vec![Group { events: vec![event(hostile, hostile, Some(hostile))], perf: hostile.into() }],
        missing: vec![Missing { name: hostile.into(), why: hostile.into() }],
        ..listing()
    };
    let text = shown(&[core]);
    assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text:?}");
    assert!(text.matches("x\u{241b}[2J\\u{202e}").count() >= 7, "{text}");
}
