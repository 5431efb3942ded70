//! The latency of operations over time: the distribution and quantiles of each part of the selected time.
//! The cost follows the rows of the selected time; the result is bounded by the number of parts.

use super::bands::{Band, bands};
use super::distribution::{Bin, LatencyCounts};
use crate::analysis::time::Window;
use crate::model::profile::Profile;
use rustc_hash::FxHashMap;

/// The quantiles of each part.
pub const OVER_TIME: [f64; 3] = [0.5, 0.99, 0.999];

/// Operations beyond a quantile of a part that it takes to be shown: a single one makes it a maximum.
const FEWEST_BEYOND: f64 = 2.0;

/// The latency of operations over time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LatencyHistory {
    /// The lowest band with an operation.
    pub first: u16,
    /// The operations of all parts by band, from `first` on.
    pub bands: Vec<f64>,
    /// The parts of the time, oldest first.
    pub parts: Vec<LatencyPart>,
}

/// The operations that ended in one part of the time.
#[derive(Debug, Clone, PartialEq)]
pub struct LatencyPart {
    /// The part.
    pub window: Window,
    /// Its operations.
    pub count: u64,
    /// [`OVER_TIME`] in nanoseconds; `None` with too few operations beyond, and in a bin that is too wide.
    pub quantiles: [Option<f64>; OVER_TIME.len()],
    /// Its operations by band, from [`LatencyHistory::first`] on.
    pub bands: Vec<f64>,
}

impl LatencyHistory {
    /// The history in these parts, which ascend and do not overlap. Operations between parts are left out.
    #[must_use]
    pub fn of(profile: &Profile, parts: &[Window]) -> LatencyHistory {
        let mut counts: Vec<FxHashMap<Bin, u64>> = vec![FxHashMap::default(); parts.len()];
        let mut at = 0;
        let within = |part: &Window, row: crate::units::Nanos| row > part.from && row <= part.to;
        for row in &profile.latencies {
            // Rows come window by window, so the part is most often that of the row before.
            if !parts.get(at).is_some_and(|part| within(part, row.at)) {
                at = parts.partition_point(|part| part.to < row.at);
            }
            if parts.get(at).is_some_and(|part| within(part, row.at)) {
                let sum = counts[at].entry(Bin { low: row.low, high: row.high }).or_default();
                *sum = sum.saturating_add(row.count);
            }
        }
        LatencyHistory::of_counts(parts, &counts)
    }

    fn of_counts(parts: &[Window], counts: &[FxHashMap<Bin, u64>]) -> LatencyHistory {
        let ranges = || counts.iter().flat_map(|counts| counts.keys().map(|bin| bands(*bin)));
        let first = ranges().map(|range| *range.start()).min().unwrap_or(0);
        let last = ranges().map(|range| *range.end()).max().unwrap_or(0);
        let length = if ranges().next().is_some() { usize::from(last - first) + 1 } else { 0 };
        let part = |(window, counts): (&Window, &FxHashMap<Bin, u64>)| {
            let (count, quantiles) = quantiles(counts);
            let mut own = vec![0.0; length];
            for (bin, count) in counts {
                let range = bands(*bin);
                let each = *count as f64 / f64::from(range.end() - range.start() + 1);
                range.for_each(|band| own[usize::from(band - first)] += each);
            }
            LatencyPart { window: *window, count, quantiles, bands: own }
        };
        let parts: Vec<LatencyPart> = parts.iter().zip(counts).map(part).collect();
        let sum = |at| parts.iter().map(|part| part.bands[at]).sum();
        LatencyHistory { first, bands: (0..length).map(sum).collect(), parts }
    }

    /// The bands, ascending, with the operations of each.
    pub fn by_band(&self) -> impl Iterator<Item = (Band, f64)> + '_ {
        self.bands.iter().enumerate().map(|(at, count)| (Band(self.first + at as u16), *count))
    }
}

fn quantiles(counts: &FxHashMap<Bin, u64>) -> (u64, [Option<f64>; OVER_TIME.len()]) {
    let mut sorted = LatencyCounts::default();
    counts.iter().for_each(|(bin, count)| sorted.add(*bin, *count));
    let value = |share: f64| {
        let enough = sorted.count() as f64 * (1.0 - share) >= FEWEST_BEYOND;
        sorted.quantile(share).filter(|_| enough).and_then(|bin| bin.value().value().copied())
    };
    (sorted.count(), OVER_TIME.map(value))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::testing::{Synthetic, ms};
    use crate::model::LatencyCount;
    use crate::units::Nanos;

    fn history(rows: &[(u64, u64, u64, u64)], parts: &[(u64, u64)]) -> LatencyHistory {
        let mut profile = Synthetic::new().finish();
        let row = |&(at, low, high, count): &(u64, u64, u64, u64)| LatencyCount {
            at: ms(at),
            low: Nanos(low),
            high: Some(Nanos(high)),
            count,
        };
        profile.latencies = rows.iter().map(row).collect();
        let parts: Vec<Window> = parts.iter().map(|(from, to)| Window { from: ms(*from), to: ms(*to) }).collect();
        LatencyHistory::of(&profile, &parts)
    }

    #[test]
    fn each_part_has_the_operations_that_ended_in_it_and_all_bands_begin_alike() {
        let rows = [(1000, 1024, 1025, 300), (1000, 4096, 4097, 4), (2000, 2048, 4096, 80), (9000, 1, 2, 5)];
        let found = history(&rows, &[(0, 1000), (1000, 2000), (2000, 3000)]);
        assert_eq!((found.first, found.bands.len(), found.parts.len()), (80, 17, 3));
        let part = |at: usize| &found.parts[at];
        assert_eq!((part(0).count, part(1).count, part(2).count), (304, 80, 0), "the row of 9 s lies in no part");
        assert_eq!(part(0).quantiles, [Some(1024.0), Some(4096.0), None]);
        assert_eq!(part(1).quantiles[0], None, "the source does not say where in a wide bin it lies");
        assert_eq!(part(2).quantiles, [None; 3]);
        assert_eq!(
            (part(0).bands[0], part(0).bands[16], part(1).bands[8], part(1).bands[15]),
            (300.0, 4.0, 10.0, 10.0)
        );
        assert_eq!(found.bands.iter().sum::<f64>(), 384.0, "operations are shared among bands, not multiplied");
        assert_eq!(found.by_band().next().unwrap(), (Band(80), 300.0));
    }

    #[test]
    fn nothing_measured_has_parts_without_operations_and_rows_out_of_order_are_found() {
        let empty = history(&[], &[(0, 1000)]);
        assert_eq!((empty.bands.len(), empty.parts[0].count), (0, 0));
        assert_eq!(history(&[(5, 1, 2, 3)], &[]), LatencyHistory::default());
        let turned = history(&[(2000, 8, 9, 1), (1000, 8, 9, 2), (2000, 8, 9, 3)], &[(0, 1000), (1000, 2000)]);
        assert_eq!((turned.parts[0].count, turned.parts[1].count), (2, 4));
    }
}
