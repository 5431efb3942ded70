//! Computes the levels of load that a baseline knows, and finds where a load is among them.

use super::bins;
use super::expect::expect;
use super::{Expected, LEAST_WINDOWS, Level, LevelMatch, Levels, LoadAxis, UNUSUAL};
use crate::analysis::diff::{
    LoadMeasure, LoadSeries, PRIMARY, Quantity, RATE, Reading, WITHOUT_OPERATIONS, least_dependent, quantities,
};
use crate::model::{Baseline, BaselineWindow, MetricId};

/// A load within this fraction outside of a level still belongs to it: a few windows decide a level's ends by chance.
const MARGIN: f64 = 0.1;

impl LoadAxis {
    /// The quantity that measures it.
    #[must_use]
    pub fn quantity(self) -> MetricId {
        match self {
            LoadAxis::OpsPerSecond => RATE,
            LoadAxis::BusyCores => WITHOUT_OPERATIONS,
        }
    }
}

/// The load of a window from its readings; `None` if it was not measured or there was none.
#[must_use]
pub fn load_of(axis: LoadAxis, readings: &[Reading]) -> Option<f64> {
    let found = readings.iter().find(|reading| reading.quantity.id == axis.quantity())?;
    found.value.value().copied().filter(|load| load.is_finite() && *load > 0.0)
}

/// A baseline's quantities, with the positions of their cells.
pub(super) struct Columns {
    known: Vec<(usize, Quantity)>,
}

impl Columns {
    /// The baseline's quantities that this version knows.
    pub fn of(baseline: &Baseline) -> Columns {
        let position = |quantity: &Quantity| baseline.quantities.iter().position(|name| name == quantity.name);
        let known = quantities().into_iter().filter_map(|quantity| Some((position(&quantity)?, quantity)));
        Columns { known: known.collect() }
    }

    /// Only the columns with these names; the others are not computed.
    pub fn only(&self, ids: &[MetricId]) -> Columns {
        let known = self.known.iter().filter(|(_, quantity)| ids.contains(&quantity.id));
        Columns { known: known.copied().collect() }
    }

    /// The value of a quantity in a window.
    pub fn value(&self, window: &BaselineWindow, id: MetricId) -> Option<f64> {
        let (at, _) = self.known.iter().find(|(_, quantity)| quantity.id == id)?;
        let [above, below] = cell(window, *at)?;
        Some(above / below).filter(|value| below > 0.0 && value.is_finite())
    }
}

fn cell(window: &BaselineWindow, at: usize) -> Option<[f64; 2]> {
    window.cells.get(at).copied().flatten()
}

impl Levels {
    /// Finds where a load is.
    #[must_use]
    pub fn place(&self, load: f64) -> LevelMatch<'_> {
        place(&self.levels, load)
    }
}

impl Level {
    /// The usual value of a quantity at this level.
    #[must_use]
    pub fn expect(&self, id: MetricId) -> Option<&Expected> {
        self.expected.iter().find(|expected| expected.quantity.id == id)
    }

    /// Whether it has enough windows to represent its load.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.windows >= LEAST_WINDOWS
    }
}

impl Expected {
    /// The distance of a value beyond the run-to-run range, in standard deviations of windows within a run; negative
    /// below.
    #[must_use]
    pub fn beyond(&self, value: f64) -> f64 {
        let away = value - self.centre;
        ((away.abs() - self.run).max(0.0) / self.within.max(f64::MIN_POSITIVE)).copysign(away)
    }

    /// Half the width of the band that a window usually stays in.
    #[must_use]
    pub fn reach(&self, deviations: f64) -> f64 {
        self.run + deviations * self.within
    }

    /// The band it usually stays in.
    #[must_use]
    pub fn band(&self) -> (f64, f64) {
        (self.centre - self.reach(UNUSUAL), self.centre + self.reach(UNUSUAL))
    }
}

/// The axis that the cost depends on less, as comparisons choose it.
pub(super) fn axis(baseline: &Baseline, columns: &Columns) -> LoadAxis {
    let series = |source: usize, id: MetricId| -> Vec<Option<f64>> {
        let windows = baseline.windows.iter().filter(|window| window.source as usize == source);
        windows.map(|window| columns.value(window, id).filter(|value| *value > 0.0)).collect()
    };
    let runs: Vec<LoadSeries> = (0..baseline.sources.len())
        .map(|source| LoadSeries {
            costs: series(source, PRIMARY),
            rates: series(source, RATE),
            cores: series(source, WITHOUT_OPERATIONS),
        })
        .collect();
    let counted = runs.iter().any(|run| run.rates.iter().zip(&run.costs).any(|(a, b)| a.is_some() && b.is_some()));
    match least_dependent(&runs) {
        Some(LoadMeasure::BusyCores) => LoadAxis::BusyCores,
        Some(LoadMeasure::OpsPerS) => LoadAxis::OpsPerSecond,
        None if counted => LoadAxis::OpsPerSecond,
        None => LoadAxis::BusyCores,
    }
}

/// The levels of a subset of the windows.
pub(super) fn levels(columns: &Columns, axis: LoadAxis, windows: &[&BaselineWindow]) -> Vec<Level> {
    let load = |window: &&BaselineWindow| columns.value(window, axis.quantity()).filter(|load| *load > 0.0);
    let mut sorted: Vec<(f64, &BaselineWindow)> =
        windows.iter().filter_map(|window| Some((load(window)?, *window))).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let loads: Vec<f64> = sorted.iter().map(|(load, _)| *load).collect();
    let level = |range: std::ops::Range<usize>| {
        let inside = &sorted[range];
        let mut ordered: Vec<&BaselineWindow> = inside.iter().map(|(_, window)| *window).collect();
        ordered.sort_by_key(|window| (window.source, window.at_ns));
        let expected = |(at, quantity): &(usize, Quantity)| expect(*quantity, &recordings(&ordered, *at), inside.len());
        Level {
            from: inside.first().map_or(0.0, |first| first.0),
            to: inside.last().map_or(0.0, |last| last.0),
            windows: inside.len(),
            expected: columns.known.iter().filter_map(expected).collect(),
        }
    };
    bins::levels(&loads).into_iter().map(level).collect()
}

/// A quantity's cells in sorted windows, recording by recording.
pub(super) fn recordings(windows: &[&BaselineWindow], at: usize) -> Vec<Vec<[f64; 2]>> {
    let runs = windows.chunk_by(|a, b| a.source == b.source);
    runs.map(|run| run.iter().filter_map(|window| cell(window, at)).collect()).collect()
}

/// How far outside of a level a load is, as a fraction; 0 within.
fn distance(level: &Level, load: f64) -> f64 {
    let outside = if load < level.from { level.from / load } else { load / level.to };
    if (level.from..=level.to).contains(&load) { 0.0 } else { (outside - 1.0).max(0.0) }
}

pub(super) fn place(levels: &[Level], load: f64) -> LevelMatch<'_> {
    if !(load.is_finite() && load > 0.0) {
        return LevelMatch::Outside(levels.first().filter(|_| load == 0.0));
    }
    // Of levels equally near, prefer one that has enough windows.
    let key = |level: &&Level| {
        let away = distance(level, load);
        (away > MARGIN, !level.is_known() && away > 0.0 && away <= MARGIN, away)
    };
    let nearer = |a: &&Level, b: &&Level| {
        let (a, b) = (key(a), key(b));
        (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2))
    };
    match levels.iter().min_by(nearer) {
        Some(level) if distance(level, load) > MARGIN => LevelMatch::Outside(Some(level)),
        Some(level) if level.is_known() => LevelMatch::Known(level),
        Some(level) => LevelMatch::Thin(level),
        None => LevelMatch::Outside(None),
    }
}

/// Quantities that can show that a window is unusual, the best first.
pub(super) const JUDGED_QUANTITIES: [MetricId; 2] = [PRIMARY, MetricId::Cpi];

/// The quantity by which windows are called unusual: cycles per instruction if operations were not counted, because
/// busy CPUs are the load itself then.
pub(super) fn judged_quantity(levels: &[Level]) -> Option<MetricId> {
    JUDGED_QUANTITIES.into_iter().find(|id| levels.iter().any(|level| level.expect(*id).is_some()))
}

/// Whether a window at a known level is unusual; `None` at others.
pub(super) fn is_unusual(columns: &Columns, axis: LoadAxis, levels: &[Level], window: &BaselineWindow) -> Option<bool> {
    let id = judged_quantity(levels)?;
    let LevelMatch::Known(level) = place(levels, columns.value(window, axis.quantity())?) else { return None };
    let (expected, value) = (level.expect(id)?, columns.value(window, id)?);
    Some(expected.beyond(value).abs() > UNUSUAL)
}

/// The number of a baseline's own windows that are unusual: they stay in it and move neither centre nor spread.
#[must_use]
pub fn outliers(baseline: &Baseline, levels: &Levels) -> usize {
    let columns = Columns::of(baseline);
    let unusual = |window: &&BaselineWindow| is_unusual(&columns, levels.axis, &levels.levels, window) == Some(true);
    baseline.windows.iter().filter(unusual).count()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::testing::{baseline, loaded, noise};
    use super::*;
    use crate::model::Measure;

    /// The usual cost at a load, if its level is known.
    fn cost(levels: &Levels, load: f64) -> Option<&Expected> {
        match levels.place(load) {
            LevelMatch::Known(level) => level.expect(PRIMARY),
            LevelMatch::Thin(_) | LevelMatch::Outside(_) => None,
        }
    }

    #[test]
    fn a_steady_load_is_one_level_with_what_is_usual_there() {
        let levels = Levels::of(&baseline(&[30, 30]));
        assert_eq!((levels.axis, levels.levels.len()), (LoadAxis::OpsPerSecond, 1));
        let cost = cost(&levels, 1000.0).unwrap();
        assert!((cost.centre / 5e5 - 1.0).abs() < 0.002 && cost.run >= 0.05 * cost.centre, "{cost:?}");
        assert_eq!(levels.levels[0].expected.len(), 3, "nothing that was not measured is expected");
        assert_eq!(cost.windows, 60);
        assert!(
            (cost.beyond(cost.band().1) - UNUSUAL).abs() < 1e-9
                && cost.beyond(cost.centre + 0.9 * cost.run).abs() < 1e-9
        );
    }

    #[test]
    fn where_the_program_takes_all_it_can_busy_cpus_are_the_load() {
        let closed = |at| {
            let cost = 1e6 * (1.0 + 0.2 * noise(at));
            (2e9 * (1.0 + 0.001 * noise(at * 3)) / cost, cost)
        };
        let levels = Levels::of(&loaded(&[40], &closed));
        assert_eq!(levels.axis, LoadAxis::BusyCores);
        assert!(cost(&levels, 2.0).is_some());
        let mut silent = baseline(&[30]);
        silent.windows.iter_mut().for_each(|window| window.cells[..2].fill(None));
        assert_eq!(Levels::of(&silent).axis, LoadAxis::BusyCores);
    }

    #[test]
    fn a_load_lies_in_a_known_level_a_thin_one_or_outside_of_all() {
        let two = |at| (if at < 30 { 1000.0 } else { 3000.0 + at as f64 }, 5e5);
        let levels = Levels::of(&loaded(&[35], &two));
        let told = |load: f64| match levels.place(load) {
            LevelMatch::Known(level) => ("known", level.windows),
            LevelMatch::Thin(level) => ("thin", level.windows),
            LevelMatch::Outside(level) => ("outside", level.map_or(0, |level| level.windows)),
        };
        for (load, expected) in [
            (1000.0, ("known", 30)),
            (1099.0, ("known", 30)),
            (920.0, ("known", 30)),
            (700.0, ("outside", 30)),
            (1200.0, ("outside", 30)),
            (3031.0, ("thin", 5)),
            (9000.0, ("outside", 5)),
            (0.0, ("outside", 30)),
            (f64::NAN, ("outside", 0)),
            (-5.0, ("outside", 0)),
        ] {
            assert_eq!(told(load), expected, "{load}");
        }
        assert!(cost(&levels, 1000.0).is_some() && cost(&levels, 3031.0).is_none());
    }

    #[test]
    fn odd_windows_are_counted_and_hardly_move_what_is_usual() {
        let clean = cost(&Levels::of(&baseline(&[60])), 1000.0).unwrap().centre;
        let unusual = loaded(&[60], &|at| (1000.0, if at % 20 == 0 { 9e5 } else { 5e5 * (1.0 + 0.01 * noise(at)) }));
        let levels = Levels::of(&unusual);
        assert_eq!(outliers(&unusual, &levels), 3);
        assert!((cost(&levels, 1000.0).unwrap().centre / clean - 1.0).abs() < 0.005);
    }

    #[test]
    fn a_hostile_or_empty_baseline_gives_levels_without_numbers_that_are_none() {
        let mut strange = baseline(&[30]);
        strange.windows[0].cells.clear();
        strange.windows[1].cells = vec![Some([1.0, 0.0]); 3];
        strange.windows[2].cells = vec![Some([f64::MAX, f64::MIN_POSITIVE]); 3];
        strange.windows[3].source = 77;
        strange.quantities.push("unheard_of".into());
        let mut empty = baseline(&[0]);
        empty.sources.clear();
        for baseline in [strange, empty] {
            let levels = Levels::of(&baseline);
            let numbers = levels.levels.iter().flat_map(|level| &level.expected);
            assert!(numbers.clone().all(|expected| expected.centre.is_finite() && expected.spread > 0.0));
            let _ = outliers(&baseline, &levels);
        }
    }

    #[test]
    fn the_load_of_a_window_is_what_its_axis_reads() {
        let mut readings: Vec<Reading> =
            quantities().into_iter().map(|quantity| quantity.missing(crate::model::Why::Idle)).collect();
        assert_eq!(load_of(LoadAxis::OpsPerSecond, &readings), None);
        for reading in &mut readings {
            reading.value = Measure::exact(if reading.quantity.id == RATE { 70.0 } else { 0.0 });
        }
        assert_eq!(load_of(LoadAxis::OpsPerSecond, &readings), Some(70.0));
        assert_eq!(load_of(LoadAxis::BusyCores, &readings), None, "nothing ran");
    }
}
