//! The factors of the law, every quantity with its interval, and the groups whose mixture may mislead.
//! Missing values are not shown as numbers.

use crate::export::html::chart::interval;
use crate::export::html::tables::Html;
use crate::export::markup::escaped;
use crate::view::diff::words::value;
use crate::view::diff::{ComparisonView, MetricRow, PartRow, SubgroupCheck, most, words};
use crate::view::number::percent;

pub(super) fn factors(found: &ComparisonView) -> String {
    let view = &found.factors;
    let heading = "<section><h2>What made the difference</h2>";
    let (Some(_), None) = (view.ns_per_op, view.missing) else {
        let why = view.missing.unwrap_or("nothing ran");
        return format!("{heading}<p class=\"about\">Unknown: {}.</p></section>", escaped(why));
    };
    let mut table = Html::table(&words::factors(view));
    table.head(["factor", "base", "new", "time", "share", "per op", ""].map(str::to_string).into_iter(), 1);
    let scale = most(view.parts.iter().map(|part| (part.ns, None)));
    view.parts.iter().for_each(|part| table.row(part.label, factor(part, scale).into_iter()));
    format!("{heading}{}</section>", table.finish())
}

fn factor(part: &PartRow, scale: f64) -> [String; 6] {
    let value = |at: usize| part.values[at].map_or("-".to_string(), |value| words::factor_value(part.factor, value));
    [
        value(0),
        value(1),
        words::relative(part.ratio - 1.0),
        part.share.map_or("-".to_string(), |share| percent(share).joined()),
        words::amount(part),
        interval(part.ns, Some((part.ns.min(0.0), part.ns.max(0.0))), scale),
    ]
}

pub(super) fn quantities(found: &ComparisonView) -> String {
    let gap = |(reason, names): (&str, Vec<&str>)| {
        format!("<p class=\"about\">Not compared: {}: {}</p>", escaped(&names.join(", ")), escaped(reason))
    };
    let gaps: String = found.missing().into_iter().map(gap).collect();
    let load = if found.adjusted.is_empty() {
        String::new()
    } else {
        let rows: Vec<&MetricRow> = found.adjusted.iter().collect();
        table("Costs at the same load", &rows)
    };
    let recorded = table("As recorded, load and all; the pictures of a table share one scale", &found.notable_rows());
    format!("<section><h2>Quantities</h2>{load}{recorded}{gaps}</section>")
}

fn table(caption: &str, rows: &[&MetricRow]) -> String {
    let mut table = Html::table(caption);
    let heads = ["quantity", "base", "new", "change", "interval", "", "verdict", ""];
    table.head(heads.map(str::to_string).into_iter(), 1);
    let scale = most(rows.iter().filter_map(|row| row.on_scale()));
    rows.iter().for_each(|row| table.row(row.label, cells(row, scale).into_iter()));
    table.finish()
}

fn cells(row: &MetricRow, scale: f64) -> [String; 7] {
    [
        value(row, &row.base),
        value(row, &row.new),
        change(row),
        words::interval(row).unwrap_or("-".to_string()),
        row.on_scale().map_or(String::new(), |(value, ends)| interval(value, ends, scale)),
        verdict(row),
        format!("<code class=\"key\">{}</code>", escaped(row.name)),
    ]
}

fn change(row: &MetricRow) -> String {
    words::own_change(row).unwrap_or("-".to_string())
}

fn verdict(row: &MetricRow) -> String {
    let word = words::verdict(row);
    format!("<span class=\"{}\">{word}</span>", if word == "-" { "" } else { word })
}

pub(super) fn groups(found: &ComparisonView) -> String {
    if found.groups.is_empty() {
        return String::new();
    }
    let all: String = found.groups.iter().map(group).collect();
    format!(
        "<section><h2>Groups</h2><p class=\"about\">A mixture that moved may hide a change or make one: each group by itself, \
         and the whole with the base's mixture.</p>{all}</section>"
    )
}

fn group(check: &SubgroupCheck) -> String {
    let by = words::group_kind(check.by);
    let mut table = Html::table(&format!("{} by {by}", check.quantity));
    table.head([by, "of base", "of new", "change"].map(str::to_string).into_iter(), 1);
    for row in &check.groups {
        let change = words::relative(row.value[1] / row.value[0] - 1.0);
        table.row(&row.name, [percent(row.share[0]).joined(), percent(row.share[1]).joined(), change].into_iter());
    }
    let verdict = if check.disagrees {
        format!("<ul class=\"notes\"><li>{}</li></ul>", escaped(&words::subgroup_text(check)))
    } else {
        "<p class=\"about\">The whole and its groups agree.</p>".to_string()
    };
    table.finish() + &verdict
}
