//! What a comparison comes to, in sentences that are the same in every format.
//! It never claims more than a verdict does, and names what would make an open one certain.

use super::{
    Adjustment, Basis, CodeRow, ComparisonView, Driver, ExpectationRow, GateRow, Gravity, GroupKind, Guard, Lead, Load,
    MetricRow, Outcome, Per, QuantityUnit, Scale, SettingsView, SideView, Spread, Standing, Unlike, Verdict,
};
use crate::analysis::LawFactor;
use crate::analysis::compare::{PRIMARY, Settings, Side};
use crate::view::Measured;
use crate::view::MetricUnit;
use crate::view::number::{percent, quantity, seconds, three_digits};

/// A value in its unit.
#[must_use]
pub fn shown(value: f64, unit: QuantityUnit) -> String {
    match unit {
        QuantityUnit::Nanos => seconds(value * 1e-9).joined(),
        QuantityUnit::Of(unit) => quantity(value, unit).joined(),
    }
}

/// A change as a part: `+10.1%`, `-0.500%`; above a factor of ten `x 12.0`.
#[must_use]
pub fn relative(part: f64) -> String {
    if part >= 9.0 {
        return format!("x {}", three_digits(part + 1.0));
    }
    let sign = if part > 0.0 { "+" } else { "" };
    // More digits than one after the point are no one's measurement.
    let percent = part * 100.0;
    if percent.abs() < 10.0 { format!("{sign}{percent:.2}%") } else { format!("{sign}{percent:.1}%") }
}

/// A percentage that somebody typed: as few digits as it takes.
#[must_use]
fn typed(part: f64) -> String {
    format!("{}%", (part * 1e6).round() / 1e4)
}

/// A change of a row on its scale: relative, or a difference in its unit.
#[must_use]
pub fn change(row: &MetricRow, value: f64) -> String {
    match (row.scale, row.unit) {
        (Some(Scale::Relative), _) => relative(value),
        (_, QuantityUnit::Of(MetricUnit::Share)) => format!("{:+.2} pt", value * 100.0),
        (_, unit) => format!("{}{}", if value > 0.0 { "+" } else { "" }, shown(value, unit)),
    }
}

/// The change of a row itself.
#[must_use]
pub fn own_change(row: &MetricRow) -> Option<String> {
    let value = if row.scale == Some(Scale::Relative) { row.relative? } else { row.difference? };
    Some(change(row, value))
}

/// `+9.2% to +11.0%`.
#[must_use]
pub fn interval(row: &MetricRow) -> Option<String> {
    Some(format!("{} to {}", change(row, row.low?), change(row, row.high?)))
}

/// Half of the interval's width, for narrow tables.
#[must_use]
pub fn half(row: &MetricRow) -> Option<String> {
    let half = (row.high? - row.low?) / 2.0;
    Some(change(row, half).trim_start_matches(['+', 'x', ' ']).to_string())
}

/// What a side is called where there is little room: its first recording, and how many more.
#[must_use]
pub fn label(side: &SideView) -> String {
    match &side.recordings[..] {
        [first, rest @ ..] if !rest.is_empty() => format!("{} and {} more", first.name, rest.len()),
        _ => side.label.clone(),
    }
}

/// `worse`, `better`, `same`, `-`: what a verdict means for a row.
#[must_use]
pub fn verdict(row: &MetricRow) -> &'static str {
    use super::Better::{Less, More, Neither};
    match (row.verdict, row.better) {
        (Verdict::More, Less) | (Verdict::Less, More) => "worse",
        (Verdict::Less, Less) | (Verdict::More, More) => "better",
        (Verdict::More, Neither) => "more",
        (Verdict::Less, Neither) => "less",
        (Verdict::Same, _) => "same",
        (Verdict::Undecided, _) => "-",
    }
}

/// The sentences that say what a comparison comes to.
pub(super) fn headline(view: &ComparisonView, settings: &Settings) -> Vec<String> {
    let mut out = Vec::new();
    match &view.answer {
        Some(row) if row.difference.is_some() => answer(&mut out, view, row, settings),
        Some(row) => out.push(format!("Nothing can be compared: {} has no value on one side.", row.label)),
        None => out.push("Nothing can be compared: there are no recordings.".to_string()),
    }
    if view.primary != PRIMARY {
        out.push(
            "Nothing counted operations on both sides: more load and dearer operations cannot be told apart. Give a source \
             with --ops when recording."
                .to_string(),
        );
    }
    if view.load.adjustment == Adjustment::Apart {
        out.push(
            "Both never had the same load, so the change may come of the load or of the program: record both at loads that \
             overlap."
                .to_string(),
        );
    }
    for guard in view.groups.iter().filter(|guard| guard.disagrees) {
        out.push(guard_text(guard));
    }
    out
}

fn answer(out: &mut Vec<String>, view: &ComparisonView, row: &MetricRow, settings: &Settings) {
    let values = [row.base.value(), row.new.value()].map(|value| value.map_or("-".to_string(), |v| shown(v, row.unit)));
    let sure = typed(settings.confidence);
    let interval = interval(row).map_or(String::new(), |ends| format!(" ({sure} interval {ends})"));
    let change = own_change(row).unwrap_or_default();
    let at = match view.lead {
        Lead::Raw => "",
        Lead::LoadAdjusted => " at the same load",
        Lead::Standardised => " with the base's mixture of hosts",
    };
    let numbers = format!("{}{at} {} -> {}, {change}{interval}", row.label, values[0], values[1]);
    let lead = match (row.verdict, row.name == PRIMARY) {
        (Verdict::More, true) => "Dearer, beyond chance",
        (Verdict::Less, true) => "Cheaper, beyond chance",
        (Verdict::More | Verdict::Less, false) => "Different, beyond chance",
        (Verdict::Same, _) => "The same",
        (Verdict::Undecided, _) => "Not decided",
    };
    out.push(format!("{lead}: {numbers}."));
    let margin = typed(settings.margin);
    match (row.verdict, row.within_margin) {
        (Verdict::Same, _) => out.push(format!("That it differs by less than {margin} was shown, not assumed.")),
        (Verdict::More | Verdict::Less, true) => {
            out.push(format!(
                "Little as it is, it is there; it is less than the {margin} that --same-within calls the same."
            ));
        }
        _ => {}
    }
    out.push(basis(row, settings));
    if let (Lead::LoadAdjusted, Some(raw)) = (view.lead, view.metrics.iter().find(|raw| raw.name == row.name))
        && let Some(change) = own_change(raw)
    {
        out.push(format!("As recorded, load and all, it is {change}."));
    }
}

/// Where the uncertainty comes from, and what could have been seen.
fn basis(row: &MetricRow, settings: &Settings) -> String {
    let seen = row.detectable.map_or(String::new(), |least| {
        format!(" Four of five such comparisons would find a change of {}.", change(row, least).trim_start_matches('+'))
    });
    match row.basis {
        Some(Basis::Runs { base, new }) => format!("From {base} and {new} runs.{seen}"),
        Some(Basis::Windows { base, new }) => {
            let noise = settings.noise.unwrap_or(if row.name == "path_length" { 0.005 } else { 0.02 });
            format!(
                "From {base} and {new} windows of one run each, and {} that runs of one program were taken to differ by: repeats \
                 would measure that.{seen}",
                typed(noise)
            )
        }
        Some(Basis::Nothing) | None => {
            "One run a side, with too few windows that have a value, leaves no telling change from chance: give repeats, \
             BASE1,BASE2,BASE3 NEW1,NEW2,NEW3."
                .to_string()
        }
    }
}

/// What is known of the load, in a sentence.
pub(super) fn load(load: &Load) -> String {
    let Some((driver, base, new)) = load.driver.zip(load.base).zip(load.new).map(|((d, b), n)| (d, b, n)) else {
        return "load was not looked at".to_string();
    };
    let (what, unit) = match driver {
        Driver::OpsPerS => ("operations per second", MetricUnit::PerSecond),
        Driver::BusyCores => ("busy CPUs", MetricUnit::Cores),
    };
    let value = |value: f64| quantity(value, unit).joined();
    let both = format!("{} -> {}", value(base.mean), value(new.mean));
    let range = |spread: Spread| format!("{} to {}", value(spread.low), value(spread.high));
    match load.adjustment {
        Adjustment::Same => format!("{what} were the same ({both}): nothing to adjust"),
        Adjustment::Near => format!("{what} were about the same ({both}), and too steady to tell what the rest does"),
        Adjustment::Done { from, to, windows, .. } => format!(
            "by {what}, {both}; costs are compared over {} to {}, where both have windows ({} and {})",
            value(from),
            value(to),
            windows[0],
            windows[1]
        ),
        Adjustment::Apart => format!("{what} never met: {} against {}", range(base), range(new)),
        Adjustment::Opposed => format!("{what} {both}: more was done with less CPU time, or less with more"),
        Adjustment::Unknown => "load is not known".to_string(),
    }
}

/// Why the whole and its groups tell different things.
#[must_use]
pub fn guard_text(guard: &Guard) -> String {
    let what = match guard.by {
        GroupKind::Load => "levels of load",
        GroupKind::Host => "hosts",
        GroupKind::Thread => "kinds of threads",
    };
    let [base, new] = guard.whole;
    format!(
        "The whole deceives: {} is {} as it stands, but {} with the base's mixture of {what}; the mixture moved.",
        guard.quantity,
        relative(new / base - 1.0),
        relative(guard.standardised / base - 1.0)
    )
}

/// A difference between the conditions, in a sentence fragment.
#[must_use]
pub fn unlike(unlike: &Unlike) -> String {
    format!("{}: {} -> {}", unlike.what, unlike.base, unlike.new)
}

/// How much a difference of conditions weighs, in a word.
#[must_use]
pub fn gravity(gravity: Gravity) -> &'static str {
    match gravity {
        Gravity::Refuse => "not comparable",
        Gravity::Warn => "may be the reason",
        Gravity::Tell => "for your information",
    }
}

/// A factor's stable name.
#[must_use]
pub(super) fn factor_name(factor: LawFactor) -> &'static str {
    match factor {
        LawFactor::PathLength => "path_length",
        LawFactor::Cpi => "cpi",
        LawFactor::Frequency => "frequency",
        LawFactor::CpuTime => "cpu_time",
        LawFactor::Utilisation => "utilisation",
    }
}

/// A factor for people.
#[must_use]
pub(super) fn factor_label(factor: LawFactor) -> &'static str {
    match factor {
        LawFactor::PathLength => "path length (instructions/op)",
        LawFactor::Cpi => "CPI (cycles/instruction)",
        LawFactor::Frequency => "1 / frequency",
        LawFactor::CpuTime => "CPU time/op",
        LawFactor::Utilisation => "1 / utilisation (not running)",
    }
}

/// A factor's value in its unit.
#[must_use]
pub fn factor_value(factor: &str, value: f64) -> String {
    match factor {
        "frequency" => quantity(value, MetricUnit::Hertz).joined(),
        "utilisation" => percent(value).joined(),
        "cpu_time" => seconds(value * 1e-9).joined(),
        _ => three_digits(value),
    }
}

/// What costs of code are per: ` per operation`.
#[must_use]
pub fn per(per: Per) -> &'static str {
    match per {
        Per::Op => "per operation",
        Per::Cpu => "per CPU second",
        Per::Share => "of all samples",
        Per::None => "in all",
    }
}

/// A value of a row in its unit; a dash where there is none.
#[must_use]
pub fn value(row: &MetricRow, measured: &Measured) -> String {
    measured.value().map_or("-".to_string(), |value| shown(value, row.unit))
}

/// A cost of code in its unit: `ns`, `cycles`; `share` for a part of all.
#[must_use]
pub fn cost(unit: &str, value: f64) -> String {
    match unit {
        "share" => percent(value).joined(),
        "ns" => seconds(value * 1e-9).joined(),
        _ => format!("{} {unit}", three_digits(value)),
    }
}

/// A change of such a cost, with its sign.
#[must_use]
pub fn growth(unit: &str, row: &CodeRow) -> String {
    let sign = if row.difference > 0.0 { "+" } else { "" };
    format!("{sign}{}", cost(unit, row.difference))
}

/// A probability; a very small one is no more than that.
#[must_use]
pub fn probability(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_string() } else { three_digits(p) }
}

/// Why there is no code to compare.
pub(super) fn no_code(base: &Side, new: &Side, per: Per) -> &'static str {
    let sampled = |side: &Side| side.runs.iter().all(|run| run.run.cpu.samples > 0);
    let alike = |side: &Side| side.runs.first().map(|run| run.run.cpu.unit);
    match (sampled(base) && sampled(new), alike(base) == alike(new), per) {
        (false, ..) => "no samples on one side",
        (_, false, _) => "cycles were sampled on one side and time on the other",
        (_, _, Per::Op) => "no operations on one side: try --normalize cpu",
        _ => "no CPU time on one side",
    }
}

/// How a gate stands, in a sentence fragment.
#[must_use]
pub fn gate(row: &GateRow) -> String {
    let number = |value: f64| if row.relative { relative(value) } else { three_digits(value) };
    let ends = row
        .low
        .zip(row.high)
        .map_or("no interval".to_string(), |(low, high)| format!("{} to {}", number(low), number(high)));
    let seen = row.seen.map_or("-".to_string(), |seen| format!("{} ({ends})", number(seen)));
    match row.standing {
        Standing::Held if row.seen.is_none() => "holds".to_string(),
        Standing::Broken if row.seen.is_none() => "broken: not as expected".to_string(),
        Standing::Held => format!("holds: {seen}"),
        Standing::HeldByChance => format!("beyond the limit, but chance may have done it: {seen}; repeats would tell"),
        Standing::Broken => format!("broken: {seen}"),
        Standing::Missing => {
            let why = row.missing.unwrap_or("missing");
            if row.passes { format!("passed over: {why}") } else { format!("broken: the number is missing: {why}") }
        }
    }
}

/// What became of an expectation, in a word or two.
#[must_use]
pub fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Confirmed => "confirmed",
        Outcome::NotConfirmed => "not confirmed",
        Outcome::Contradicted => "contradicted",
        Outcome::CannotTell => "cannot be told",
    }
}

/// The same with the numbers it rests on: `confirmed: 5.0 -> 3.1, -38.0% (-41.0% to -35.0%) at the same load`.
#[must_use]
pub fn expectation(row: &ExpectationRow) -> String {
    let told = outcome(row.outcome);
    let numbers = row.change.as_ref().and_then(|change| {
        let (base, new) = change.base.value().zip(change.new.value())?;
        let ends = interval(change).map_or(String::new(), |ends| format!(" ({ends})"));
        let at = if row.same_load { " at the same load" } else { "" };
        let values = format!("{} -> {}", shown(base, change.unit), shown(new, change.unit));
        Some(format!("{values}, {}{ends}{at}", own_change(change)?))
    });
    match (row.outcome, row.reason, numbers) {
        (Outcome::CannotTell, Some(why), Some(numbers)) => format!("{told}: {why}; as it stands {numbers}"),
        (Outcome::CannotTell, Some(why), None) => format!("{told}: {why}"),
        (Outcome::NotConfirmed, _, Some(numbers)) => format!("{told}, chance may have done it: {numbers}"),
        (_, _, Some(numbers)) => format!("{told}: {numbers}"),
        (.., None) => told.to_string(),
    }
}

/// How it was compared, in a line.
#[must_use]
pub fn settings(settings: &SettingsView) -> String {
    format!(
        "{} intervals, the same within {}, seed {}",
        typed(settings.confidence),
        typed(settings.margin),
        settings.seed
    )
}
