//! The sentences of a comparison: each claim is as strong as its verdict, and an open one says what would settle it.

use super::words::{self, change, half, headline, interval, own_change, probability, relative, verdict};
use super::{
    AnswerKind, Basis, Better, CodeRow, ComparisonView, CurveBasis, DiffView, Exceeds, ExpectationRow, FactorsView,
    GateRow, GateStatus, Load, LoadAdjustment, LoadMeasure, LoadRange, MetricRow, Mismatch, Outcome, Per, Role, Scale,
    Severity, Verdict,
};
use crate::analysis::diff::testing::side;
use crate::analysis::diff::{PRIMARY, Settings, Side};
use crate::model::{Unit, Why};
use crate::view::{CodeKind, Measured};

fn known(value: f64) -> Measured {
    Measured::Known { value, coverage: 1.0 }
}

fn missing(missing: Why) -> Measured {
    Measured::Missing { missing, reason: missing.text() }
}

/// A cost that grew from 100 to 110 ns, between 8% and 12%.
fn row() -> MetricRow {
    MetricRow {
        name: PRIMARY.name(),
        label: "CPU time per operation",
        unit: Unit::Nanos,
        better: Better::Less,
        role: Role::Cost,
        base: known(100.0),
        new: known(110.0),
        difference: Some(10.0),
        relative: Some(0.1),
        scale: Some(Scale::Relative),
        low: Some(0.08),
        high: Some(0.12),
        within_low: None,
        within_high: None,
        noise_limit: None,
        p: None,
        corrected_p: None,
        one_sided_confidence: None,
        rank_p: None,
        detectable: Some(0.03),
        within_margin: false,
        basis: Some(Basis::Runs { base: 3, new: 4 }),
        verdict: Verdict::More,
    }
}

fn open() -> Load {
    Load { measure: None, base: None, new: None, adjustment: LoadAdjustment::Unknown }
}

fn view(answer: Option<MetricRow>) -> ComparisonView {
    let mut view = super::testing::costlier().comparisons.remove(0);
    (view.answer, view.answer_kind, view.primary) = (answer, AnswerKind::Raw, PRIMARY.name());
    (view.groups, view.load) = (vec![], open());
    view
}

#[test]
fn a_relative_change_has_its_sign_and_becomes_a_factor_when_it_is_large() {
    for (part, expected) in [
        (0.0, "0.00%"),
        (0.101, "+10.1%"),
        (0.0999, "+9.99%"),
        (-0.005, "-0.50%"),
        (-0.5, "-50.0%"),
        (8.99, "+899.0%"),
        (9.0, "x 10.0"),
        (999.0, "x 1,000"),
        (-1.0, "-100.0%"),
    ] {
        assert_eq!(relative(part), expected, "{part}");
    }
}

#[test]
fn a_change_is_shown_on_its_own_scale() {
    let share = MetricRow { unit: Unit::Share, scale: Some(Scale::Absolute), difference: Some(-0.0123), ..row() };
    let plain = MetricRow { unit: Unit::Cores, scale: Some(Scale::Absolute), difference: Some(1.5), ..row() };
    assert_eq!(own_change(&row()).as_deref(), Some("+10.0%"));
    assert_eq!(own_change(&share).as_deref(), Some("-1.23 pt"));
    assert_eq!(own_change(&plain).as_deref(), Some("+1.50"));
    assert_eq!(own_change(&MetricRow { relative: None, ..row() }), None);
    assert_eq!(interval(&row()).as_deref(), Some("+8.00% to +12.0%"));
    assert_eq!(interval(&MetricRow { high: None, ..row() }), None, "half an interval is none");
    assert_eq!(change(&MetricRow { unit: Unit::Nanos, scale: None, ..row() }, -1500.0), "-1.50 us");
    for (low, high, expected) in
        [(0.08, 0.12, "2.00%"), (-0.3, 0.1, "20.0%"), (-1.0, 19.0, "1000.0%"), (0.1, 0.1, "0.00%")]
    {
        let found = half(&MetricRow { low: Some(low), high: Some(high), ..row() });
        assert_eq!(found.as_deref(), Some(expected), "half of {low} to {high} is a width, not a factor");
    }
}

#[test]
fn a_verdict_is_good_or_bad_only_where_a_direction_is() {
    for (found, better, expected) in [
        (Verdict::More, Better::Less, "worse"),
        (Verdict::More, Better::More, "better"),
        (Verdict::More, Better::Neither, "more"),
        (Verdict::Less, Better::Less, "better"),
        (Verdict::Less, Better::More, "worse"),
        (Verdict::Less, Better::Neither, "less"),
        (Verdict::Same, Better::Less, "same"),
        (Verdict::Undecided, Better::More, "-"),
    ] {
        assert_eq!(verdict(&MetricRow { verdict: found, better, ..row() }), expected, "{found:?} {better:?}");
    }
    assert_eq!([probability(0.5), probability(0.000_999), probability(0.0)], ["0.500", "< 0.001", "< 0.001"]);
}

#[test]
fn the_headline_claims_no_more_than_the_verdict() {
    let lead = |change: fn(&mut MetricRow)| {
        let mut row = row();
        change(&mut row);
        headline(&view(Some(row)), &Settings::default())
    };
    let worse = lead(|_| {});
    assert_eq!(
        worse,
        [
            "Regression, beyond chance: CPU time per operation 100 ns -> 110 ns, +10.0% (95% interval +8.00% to +12.0%).",
            "From 3 and 4 runs. Detectable in four of five such comparisons: 3.00%.",
        ]
    );
    for (case, change, begins) in [
        ("it fell", (|row| row.verdict = Verdict::Less) as fn(&mut MetricRow), "Improvement, beyond chance: "),
        ("it is the same", |row| row.verdict = Verdict::Same, "No change: "),
        ("it is open", |row| row.verdict = Verdict::Undecided, "Undecided: "),
        ("it is not the cost", |row| row.name = "cpi", "Change, beyond chance: "),
        ("a side has no value", |row| row.difference = None, "Nothing can be compared: CPU time per operation has no"),
    ] {
        assert!(lead(change)[0].starts_with(begins), "{case}: {}", lead(change)[0]);
    }
    let within = lead(|row| row.within_margin = true);
    assert!(within[1].contains("real but smaller than the 2%"), "{within:?}");
    assert!(lead(|row| row.verdict = Verdict::Same)[1].contains("differs by less than 2%"));
    assert_eq!(headline(&view(None), &Settings::default()), ["Nothing can be compared: there are no recordings."]);
}

#[test]
fn conditions_that_differ_lead_a_change_of_the_same_build_and_are_not_called_its_cause() {
    let filtered = || Mismatch {
        what: "seccomp".into(),
        base: "off".into(),
        new: "filtered".into(),
        severity: Severity::Warning,
        effect: Some("each system call passes the filters"),
    };
    let says = |verdict, same_build, mismatch: Mismatch| {
        let mut view = view(Some(MetricRow { verdict, ..row() }));
        (view.same_build, view.mismatches) = (same_build, vec![mismatch]);
        headline(&view, &Settings::default())
    };
    for (verdict, word) in [(Verdict::More, "Regression"), (Verdict::Less, "Improvement")] {
        let found = says(verdict, true, filtered());
        let lead =
            format!("Conditions differ, the build does not: seccomp: off -> filtered. {word}, beyond chance: CPU");
        assert!(found[0].starts_with(&lead), "{found:?}");
        assert!(found[1].contains("may explain the change") && found[1].contains("each system call"), "{found:?}");
        assert!(found[1].contains("was not measured"), "{found:?}");
    }
    let open = says(Verdict::Undecided, true, filtered());
    assert!(open[0].starts_with("Undecided") && open[1].contains("seccomp: off -> filtered"), "{open:?}");
    let quiet = [
        says(Verdict::Same, true, filtered()),
        says(Verdict::More, false, filtered()),
        says(Verdict::More, true, Mismatch { effect: None, ..filtered() }),
    ];
    assert!(quiet.iter().flatten().all(|text| !text.contains("seccomp")), "{quiet:?}");
}

#[test]
fn the_same_build_is_known_by_its_id_alone() {
    let (base, new) = super::testing::sides();
    let same = |new: Side| DiffView::of(&base, &[new], &Settings::default(), &[], true).comparisons[0].same_build;
    let with = |id: Option<&str>| {
        let mut new = new.clone();
        let programs = new.runs.iter_mut().filter_map(|run| run.conditions.program.as_mut());
        programs.for_each(|program| program.build_id = id.map(str::to_string));
        new
    };
    assert!(same(new.clone()));
    assert!(!same(with(Some("ff"))) && !same(with(None)));
}

#[test]
fn an_answer_says_what_it_rests_on_and_single_runs_what_they_cannot_show() {
    let last = |basis, noise, noise_limit| {
        let row = MetricRow { basis, noise_limit, detectable: None, ..row() };
        headline(&view(Some(row)), &Settings { noise, ..Settings::default() }).pop().unwrap_or_default()
    };
    let windows = Some(Basis::Windows { base: 40, new: 30 });
    for (found, parts) in [
        (last(windows, Some(0.01), None), &["40 and 30 windows", "1% between runs (--run-noise)"][..]),
        (last(windows, None, Some(0.025)), &["only if their standard deviation is below 2.50%", "Repeat the runs"]),
        (last(windows, None, None), &["do not decide it even for these two recordings", "Repeat the runs"]),
        (last(Some(Basis::Nothing), None, None), &["too few windows", "BASE1,BASE2,BASE3"]),
        (last(None, None, None), &["too few windows"]),
    ] {
        assert!(parts.iter().all(|part| found.contains(part)), "{found}");
    }
}

#[test]
fn a_load_that_leaves_the_answer_open_is_named_with_the_way_out() {
    let says = |adjustment, verdict| {
        let mut view = view(Some(MetricRow { verdict, ..row() }));
        view.load = Load { adjustment, ..open() };
        headline(&view, &Settings::default()).join(" ")
    };
    let apart = says(LoadAdjustment::Apart, Verdict::More);
    assert!(apart.contains("no load in common") && apart.contains("record both at overlapping"), "{apart}");
    let few = says(LoadAdjustment::TooFewRuns { runs: 2, needed: 6 }, Verdict::More);
    assert!(few.contains("record 6 runs in all"), "{few}");
    assert!(says(LoadAdjustment::Near, Verdict::Undecided).contains("record both at the same load"));
    for (adjustment, verdict) in [(LoadAdjustment::Near, Verdict::More), (LoadAdjustment::Same, Verdict::Undecided)] {
        assert!(!says(adjustment, verdict).contains("record both"), "{adjustment:?}");
    }
    let mut other = view(Some(row()));
    other.primary = "busy_cores";
    assert!(headline(&other, &Settings::default()).iter().any(|text| text.contains("Give a source with --ops")));
}

#[test]
fn the_load_is_one_sentence_with_both_sides_where_it_is_known() {
    let range = |mean: f64| Some(LoadRange { low: mean * 0.9, mean, high: mean * 1.1 });
    let of = |measure, adjustment| words::load(&Load { measure, base: range(1000.0), new: range(2000.0), adjustment });
    let ops = Some(LoadMeasure::OpsPerS);
    let (windows, bent) = ([40, 30], false);
    for (adjustment, parts) in [
        (LoadAdjustment::Same, &["operations per second were the same", "nothing to adjust"][..]),
        (LoadAdjustment::Near, &["differed (", "too steady"]),
        (
            LoadAdjustment::Done { from: 900.0, to: 1100.0, windows, curve_basis: CurveBasis::Windows, bent },
            &["over 900/s to 1,100/s", "(40 and 30)"],
        ),
        (
            LoadAdjustment::Done { from: 900.0, to: 1100.0, windows, curve_basis: CurveBasis::Runs, bent },
            &["from run to run", "a curve through the runs"],
        ),
        (LoadAdjustment::TooFewRuns { runs: 2, needed: 6 }, &["2 runs cannot", "6 can"]),
        (LoadAdjustment::Apart, &["no range in common"]),
        (LoadAdjustment::Opposed, &["more was done with less CPU time"]),
        (LoadAdjustment::Unknown, &["not known"]),
    ] {
        let text = of(ops, adjustment);
        assert!(parts.iter().all(|part| text.contains(part)), "{adjustment:?}: {text}");
        assert_eq!(of(None, adjustment), "not considered", "{adjustment:?}");
    }
    assert!(of(Some(LoadMeasure::BusyCores), LoadAdjustment::Same).starts_with("busy CPUs were the same"));
}

#[test]
fn a_gate_says_what_it_was_judged_by() {
    let gate = |status, value: Option<f64>, exceeds, passes, missing| GateRow {
        text: "cpi > +1%".into(),
        name: "cpi".into(),
        value,
        low: value.map(|value| value - 0.01),
        high: value.map(|value| value + 0.01),
        relative: true,
        status,
        exceeds,
        passes,
        missing,
    };
    let (zero, five) = (Some(Exceeds::Zero), Some(0.05));
    for (row, expected) in [
        (gate(GateStatus::Holds, None, None, true, None), "holds"),
        (gate(GateStatus::Broken, None, None, false, None), "broken: not as expected"),
        (gate(GateStatus::Holds, five, None, true, None), "holds: +5.00% (+4.00% to +6.00%)"),
        (
            gate(GateStatus::Holds, five, zero, true, None),
            "holds: +5.00% (+4.00% to +6.00%): beyond chance, within the limit",
        ),
        (
            gate(GateStatus::WithinChance, five, None, true, None),
            "not broken: +5.00% (+4.00% to +6.00%): it may be chance; more repeats can decide it",
        ),
        (
            gate(GateStatus::Broken, five, None, false, None),
            "broken: +5.00% (+4.00% to +6.00%): the whole interval is beyond the limit",
        ),
        (gate(GateStatus::Undecided, None, None, false, Some("no value")), "undecided: no value"),
        (gate(GateStatus::Undecided, None, None, true, Some("no value")), "passed over: no value"),
        (gate(GateStatus::Undecided, None, None, false, None), "undecided: missing"),
    ] {
        assert_eq!(words::gate(&row), expected);
    }
    let plain = GateRow { relative: false, low: None, ..gate(GateStatus::Holds, Some(1.5), None, true, None) };
    assert_eq!(words::gate(&plain), "holds: 1.50 (no interval)");
}

#[test]
fn an_expectation_says_its_outcome_and_the_numbers_if_there_are_any() {
    let of = |outcome, reason, change, same_load| {
        let (text, name) = ("cpi down".to_string(), "cpi".to_string());
        words::expectation(&ExpectationRow { text, name, outcome, reason, change, same_load, p: None })
    };
    let numbers = "100 ns -> 110 ns, +10.0% (+8.00% to +12.0%)";
    assert_eq!(of(Outcome::Confirmed, None, Some(row()), true), format!("confirmed: {numbers} at the same load"));
    assert_eq!(of(Outcome::Contradicted, None, Some(row()), false), format!("contradicted: {numbers}"));
    assert_eq!(
        of(Outcome::NotConfirmed, None, Some(row()), false),
        format!("not confirmed, it may be chance: {numbers}")
    );
    assert_eq!(
        of(Outcome::Undecided, Some("one run"), Some(row()), false),
        format!("undecided: one run; as recorded {numbers}")
    );
    assert_eq!(of(Outcome::Undecided, Some("no such quantity"), None, false), "undecided: no such quantity");
    let lost = MetricRow { new: missing(Why::NotSupported), ..row() };
    assert_eq!(
        of(Outcome::NotConfirmed, None, Some(lost), false),
        "not confirmed",
        "without a value there are no numbers"
    );
}

#[test]
fn factors_and_costs_are_shown_in_their_units_or_with_the_reason() {
    let factors = |ns_per_op, ratio, missing| {
        words::factors(&FactorsView { ns_per_op, asleep: None, ratio, parts: vec![], missing })
    };
    assert_eq!(factors(None, None, Some("no operations")), "unknown: no operations");
    assert_eq!(factors(Some([2e6, 3e6]), Some(1.5), None), "a thread's time per op: 2.00 ms -> 3.00 ms, +50.0%");
    assert_eq!(factors(None, Some(1.5), None), "");
    let code = |difference: f64| CodeRow {
        name: "f".into(),
        module: "m".into(),
        kind: CodeKind::User,
        callers: vec![],
        base: 1.0,
        new: 1.0 + difference,
        difference,
        error: 0.0,
        q: 0.0,
        share: None,
        real: true,
        state: "changed",
        inlined: vec![],
    };
    for (unit, difference, expected) in [
        ("ns", 1500.0, "+1.50 us"),
        ("ns", -1500.0, "-1.50 us"),
        ("cycles", 12.0, "+12.0 cycles"),
        ("share", -0.05, "-5.00%"),
    ] {
        assert_eq!(words::growth(unit, &code(difference)), expected, "{unit}");
    }
}

#[test]
fn code_that_cannot_be_compared_is_missing_for_the_first_reason_that_applies() {
    let sampled = || side(&[5000.0]);
    let with = |change: fn(&mut Side)| {
        let mut side = sampled();
        change(&mut side);
        side
    };
    let none = with(|side| side.runs[0].run.cpu.samples = 0);
    let cycles = with(|side| side.runs[0].run.cpu.unit = Unit::Cycles);
    for (base, new, per, expected) in [
        (&none, &sampled(), Per::Op, "no samples on one side"),
        (&sampled(), &none, Per::Cpu, "no samples on one side"),
        (&sampled(), &cycles, Per::Op, "cycles were sampled on one side and time on the other"),
        (&sampled(), &sampled(), Per::Op, "no operations on one side: try --normalize cpu"),
        (&sampled(), &sampled(), Per::Cpu, "no CPU time on one side"),
    ] {
        assert_eq!(words::no_code(base, new, per), expected);
    }
}

#[test]
fn people_see_costs_with_a_value_and_whatever_else_moved_and_the_rest_by_reason() {
    let mut view = view(Some(row()));
    let context = |name, better, verdict| MetricRow { name, role: Role::Context, better, verdict, ..row() };
    let lost = |name, why| MetricRow { name, new: missing(why), ..row() };
    view.metrics = vec![
        row(),
        MetricRow { base: missing(Why::NotSupported), ..lost("nowhere", Why::NotSupported) },
        lost("one side", Why::NotSupported),
        lost("another", Why::NoOpsSource),
        context("moved", Better::Neither, Verdict::Less),
        context("still", Better::Neither, Verdict::Same),
        context("directed", Better::Less, Verdict::More),
        MetricRow { new: missing(Why::NotRecorded), ..context("unknown", Better::Neither, Verdict::Undecided) },
    ];
    let names: Vec<_> = view.notable_rows().iter().map(|row| row.name).collect();
    assert_eq!(names, [PRIMARY.name(), "one side", "another", "moved"]);
    let expected =
        [(Why::NotSupported.text(), vec!["nowhere", "one side"]), (Why::NoOpsSource.text(), vec!["another"])];
    assert_eq!(view.missing(), expected, "only costs, each reason once");
}
