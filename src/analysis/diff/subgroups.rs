//! Finds groups whose mixture hides or makes a change: each group may get cheaper while the whole gets costlier,
//! because there is more of an expensive group. Reports what the whole would be with the old mixture, not why the
//! mixture changed.

use super::digest::Digest;
use super::digest::Side;
use super::load::{Load, LoadAdjustment};
use super::quantity::{PRIMARY, RatioCell};
use crate::model::MetricId;
use serde::Serialize;
use std::collections::BTreeMap;

/// The kind of groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupKind {
    /// Windows by load: the lower, middle and upper third.
    Load,
    /// Recordings by host.
    Host,
    /// Threads by name without their number.
    Thread,
}

/// One group on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupRow {
    /// Its name.
    pub name: String,
    /// Its share of the denominator: of the operations, of the instructions.
    pub share: [f64; 2],
    /// The quantity's value in it.
    pub value: [f64; 2],
}

/// The groups of one quantity.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SubgroupCheck {
    /// The kind of groups.
    pub by: GroupKind,
    /// The quantity.
    pub quantity: MetricId,
    /// Groups that both sides have.
    pub groups: Vec<GroupRow>,
    /// The quantity on both sides as they are.
    pub whole: [f64; 2],
    /// The new side's value with the base's mixture.
    pub standardised: f64,
    /// The part of the difference from the groups themselves (Kitagawa).
    pub rate_effect: f64,
    /// The part from their mixture.
    pub mix_effect: f64,
    /// Whether the whole and its groups disagree.
    pub disagrees: bool,
}

/// A change below this has no direction.
const TRIFLE: f64 = 0.005;
/// Tolerated difference between the whole and the standardised whole.
const LEEWAY: f64 = 0.02;

impl SubgroupCheck {
    /// Compares the groups of two sides; `None` with fewer than two that both have. `half` is half the width of the
    /// change's interval, as a fraction.
    #[must_use]
    pub fn of(
        by: GroupKind,
        quantity: MetricId,
        base: &BTreeMap<String, RatioCell>,
        new: &BTreeMap<String, RatioCell>,
        half: Option<f64>,
    ) -> Option<SubgroupCheck> {
        let both = || base.iter().filter_map(|(name, cell)| Some((name, *cell, *new.get(name)?)));
        let sound = |(_, a, b): &(&String, RatioCell, RatioCell)| a.value().is_some() && b.value().is_some();
        let pairs: Vec<_> = both().filter(sound).collect();
        if pairs.len() < 2 {
            return None;
        }
        let all = [|p: &(&String, RatioCell, RatioCell)| p.1, |p: &(&String, RatioCell, RatioCell)| p.2]
            .map(|of| pairs.iter().map(|pair| of(pair).denominator).sum::<f64>());
        let row = |(name, a, b): &(&String, RatioCell, RatioCell)| {
            let value = [a.value()?, b.value()?];
            Some(GroupRow { name: (*name).clone(), share: [a.denominator / all[0], b.denominator / all[1]], value })
        };
        let groups: Vec<GroupRow> = pairs.iter().filter_map(row).collect();
        let sum = |of: &dyn Fn(&GroupRow) -> f64| groups.iter().map(of).sum::<f64>();
        let whole = [sum(&|g| g.share[0] * g.value[0]), sum(&|g| g.share[1] * g.value[1])];
        let standardised = sum(&|g| g.share[0] * g.value[1]);
        let rate_effect = sum(&|g| (g.share[0] + g.share[1]) / 2.0 * (g.value[1] - g.value[0]));
        let mix_effect = sum(&|g| (g.value[0] + g.value[1]) / 2.0 * (g.share[1] - g.share[0]));
        let disagrees = disagrees(&groups, whole, standardised, half);
        let sound = [whole[0], whole[1], standardised].iter().all(|value| *value > 0.0 && value.is_finite());
        sound.then_some(SubgroupCheck { by, quantity, groups, whole, standardised, rate_effect, mix_effect, disagrees })
    }
}

/// Whether the whole moves one way and all groups the other, or the mixture moves the whole by more than chance may.
fn disagrees(groups: &[GroupRow], whole: [f64; 2], standardised: f64, half: Option<f64>) -> bool {
    let way = |change: f64| if change.abs() < TRIFLE { 0.0 } else { change.signum() };
    let all = way(whole[1] / whole[0] - 1.0);
    let against = groups.iter().all(|group| way(group.value[1] / group.value[0] - 1.0) == -all);
    let moved = (whole[1] - standardised).abs() / whole[0];
    (all != 0.0 && against) || moved > half.unwrap_or(LEEWAY).max(LEEWAY)
}

/// Checks every grouping that both sides allow.
pub(super) fn subgroup_checks(base: &Side, new: &Side, load: &Load, half: Option<f64>) -> Vec<SubgroupCheck> {
    let mut all = Vec::new();
    if let (LoadAdjustment::Done { .. }, Some(measure)) = (load.adjustment, load.measure) {
        let name = match measure {
            super::load::LoadMeasure::OpsPerS => super::quantity::RATE,
            super::load::LoadMeasure::BusyCores => super::quantity::WITHOUT_OPERATIONS,
        };
        let edges = edges(base, new, name);
        let levels = |side| by_load(side, name, edges);
        all.extend(SubgroupCheck::of(GroupKind::Load, PRIMARY, &levels(base), &levels(new), half));
    }
    all.extend(SubgroupCheck::of(GroupKind::Host, PRIMARY, &by_host(base), &by_host(new), half));
    all.extend(SubgroupCheck::of(GroupKind::Thread, MetricId::Cpi, &by_thread(base), &by_thread(new), None));
    all
}

fn by_host(side: &Side) -> BTreeMap<String, RatioCell> {
    let cell = |run: &Digest| run.whole.get(run.position(PRIMARY)?)?.cell;
    gather(side.runs.iter().filter_map(|run| Some((run.conditions.host.hostname.clone(), cell(run)?))))
}

fn by_thread(side: &Side) -> BTreeMap<String, RatioCell> {
    gather(side.runs.iter().flat_map(|run| run.threads.iter().map(|(name, cell)| (name.clone(), *cell))))
}

fn gather(cells: impl Iterator<Item = (String, RatioCell)>) -> BTreeMap<String, RatioCell> {
    let mut groups: BTreeMap<String, RatioCell> = BTreeMap::new();
    for (name, cell) in cells {
        let group = groups.entry(name).or_insert(RatioCell { numerator: 0.0, denominator: 0.0 });
        *group = RatioCell {
            numerator: group.numerator + cell.numerator,
            denominator: group.denominator + cell.denominator,
        };
    }
    groups
}

/// Each window's load and cost.
fn windows<'a>(side: &'a Side, measure: MetricId) -> impl Iterator<Item = (f64, RatioCell)> + 'a {
    side.runs.iter().flat_map(move |run| {
        let positions = run.position(measure).zip(run.position(PRIMARY));
        run.windows.iter().filter_map(move |slot| {
            let (x, y) = positions?;
            Some((slot.cells.get(x).copied().flatten()?.value()?, slot.cells.get(y).copied().flatten()?))
        })
    })
}

/// The loads that split all windows of both sides into thirds.
fn edges(base: &Side, new: &Side, measure: MetricId) -> [f64; 2] {
    let mut all: Vec<f64> = windows(base, measure).chain(windows(new, measure)).map(|(x, _)| x).collect();
    all.sort_by(f64::total_cmp);
    [1, 2].map(|third| all.get(all.len() * third / 3).copied().unwrap_or(f64::INFINITY))
}

fn by_load(side: &Side, measure: MetricId, edges: [f64; 2]) -> BTreeMap<String, RatioCell> {
    let level = |x: f64| match x {
        x if x < edges[0] => "1 lower third",
        x if x < edges[1] => "2 middle third",
        _ => "3 upper third",
    };
    gather(windows(side, measure).map(|(x, cell)| (level(x).to_string(), cell)))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// Shares in percent and operations per core-second of three groups in two configurations.
    type Row = (&'static str, f64, f64, f64, f64);
    const TABLE: [Row; 3] =
        [("1", 50.10, 1289.0, 0.30, 1484.0), ("2", 31.50, 428.0, 0.40, 434.0), ("3", 17.40, 550.0, 0.30, 655.0)];

    fn groups(of: fn(&Row) -> (f64, f64)) -> BTreeMap<String, RatioCell> {
        let cell = |(share, value): (f64, f64)| RatioCell { numerator: share * value, denominator: share };
        TABLE.iter().map(|row| (row.0.to_string(), cell(of(row)))).collect()
    }

    fn close(found: f64, expected: f64, digit: f64) {
        assert!((found - expected).abs() < digit, "{found} is not {expected}");
    }

    #[test]
    fn the_published_paradox_is_seen_and_resolved() {
        let (one, two) = (groups(|row| (row.1, row.2)), groups(|row| (row.3, row.4)));
        let check = SubgroupCheck::of(GroupKind::Host, PRIMARY, &one, &two, None).unwrap();
        close(check.whole[0], 885.161, 1e-3);
        close(check.whole[1], 815.300, 1e-3);
        close(check.whole[0] / check.whole[1], 1.0857, 1e-4);
        close(check.standardised, 1004.206, 1e-3);
        close(check.whole[0] / check.standardised, 0.8814, 1e-4);
        close(check.rate_effect, 105.723, 1e-3);
        close(check.mix_effect, -175.583, 1e-3);
        close(check.rate_effect + check.mix_effect, check.whole[1] - check.whole[0], 1e-9);
        for (group, speedup) in check.groups.iter().zip([0.8686, 0.9862, 0.8397]) {
            close(group.value[0] / group.value[1], speedup, 1e-4);
        }
        assert!(check.disagrees);
        let back = SubgroupCheck::of(GroupKind::Host, PRIMARY, &two, &one, None).unwrap();
        close(back.standardised, 722.900, 1e-3);
        close(back.standardised / back.whole[0], 0.8867, 1e-4);
    }

    #[test]
    fn groups_that_all_move_like_the_whole_agree_with_it() {
        let one = groups(|row| (row.1, row.2));
        let slower = groups(|row| (row.1, row.2 * 0.9));
        assert!(!SubgroupCheck::of(GroupKind::Host, PRIMARY, &one, &slower, None).unwrap().disagrees);
        assert!(!SubgroupCheck::of(GroupKind::Host, PRIMARY, &one, &one, None).unwrap().disagrees);
    }

    #[test]
    fn a_moved_mixture_is_told_only_beyond_the_interval() {
        let one = groups(|row| (row.1, row.2));
        let moved = groups(|row| (if row.0 == "1" { row.1 * 1.3 } else { row.1 }, row.2));
        for (half, expected) in [(None, true), (Some(0.5), false)] {
            assert_eq!(SubgroupCheck::of(GroupKind::Host, PRIMARY, &one, &moved, half).unwrap().disagrees, expected);
        }
    }

    #[test]
    fn fewer_than_two_common_groups_are_no_groups() {
        let one = groups(|row| (row.1, row.2));
        let other: BTreeMap<_, _> = one.iter().map(|(name, cell)| (format!("x{name}"), *cell)).collect();
        assert_eq!(SubgroupCheck::of(GroupKind::Host, PRIMARY, &one, &other, None), None);
        let empty: BTreeMap<_, _> =
            one.keys().map(|name| (name.clone(), RatioCell { numerator: 1.0, denominator: 0.0 })).collect();
        assert_eq!(SubgroupCheck::of(GroupKind::Host, PRIMARY, &one, &empty, None), None);
    }
}
