//! How the shares of a row changed, and whether the difference is beyond chance.
//! Shares are compared, not counts, because the two sides may have run for different times.

use super::row::{Change, Row};
use crate::analysis::{GroupBy, Rank, Ranking, short};
use crate::view::context::ViewContext;
use rustc_hash::FxHashMap;

/// The side that changes are measured against.
pub(super) struct ReferenceRanking {
    ranking: Ranking,
    by_key: FxHashMap<Key, Sums>,
}

/// Matches functions and modules by name and file name: a rebuilt program may lie in another directory. Others by id.
type Key = (String, String, Option<u32>);

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    self_weight: u64,
    total_weight: u64,
    rank: usize,
}

fn key(name: &str, module: &str, id: Option<u32>) -> Key {
    (name.to_string(), short(module).to_string(), id)
}

impl ReferenceRanking {
    /// Returns `None` without samples, and if the rows of the two sides cannot be matched: threads of another run.
    pub(super) fn of(
        context: &ViewContext<'_>,
        against: &ViewContext<'_>,
        ranking: Ranking,
        by: GroupBy,
    ) -> Option<ReferenceRanking> {
        let same_run = std::ptr::eq(context.profile, against.profile);
        let is_code = matches!(by, GroupBy::Function | GroupBy::Module);
        if (!same_run && !is_code) || ranking.samples == 0 {
            return None;
        }
        let mut by_key: FxHashMap<Key, Sums> = FxHashMap::default();
        for (at, rank) in ranking.rows.iter().enumerate() {
            let sums = by_key.entry(key(&rank.name, &rank.module, rank.id)).or_default();
            sums.self_weight = sums.self_weight.saturating_add(rank.self_weight);
            sums.total_weight = sums.total_weight.saturating_add(rank.total_weight);
            sums.rank = at;
        }
        Some(ReferenceRanking { ranking, by_key })
    }

    /// Fills in the rows' changes and adds rows for what is gone.
    pub(super) fn compare(mut self, now: &Ranking, rows: &mut Vec<Row>, off_cpu: bool) {
        for row in rows.iter_mut() {
            let sums = self.by_key.remove(&key(&row.name, &row.module, row.id)).unwrap_or_default();
            row.change = Some(self.change(now, (row.self_share, row.total_share), sums, off_cpu));
        }
        // Without samples now, no share can be gone.
        if now.samples == 0 {
            return;
        }
        let mut gone: Vec<Sums> = self.by_key.values().copied().collect();
        gone.sort_unstable_by_key(|sums| sums.rank);
        for sums in gone {
            let nothing =
                Rank { self_weight: 0, total_weight: 0, self_samples: 0, total_samples: 0, ..self.rank(sums) };
            let mut row = Row::of(now, &nothing, off_cpu);
            row.change = Some(self.change(now, (0.0, 0.0), sums, off_cpu));
            rows.push(row);
        }
    }

    fn rank(&self, sums: Sums) -> Rank {
        self.ranking.rows[sums.rank].clone()
    }

    fn change(&self, now: &Ranking, (self_share, total_share): (f64, f64), sums: Sums, off_cpu: bool) -> Change {
        let self_before = self.ranking.share(sums.self_weight);
        let total_before = self.ranking.share(sums.total_weight);
        let counts = (self.ranking.samples, now.samples);
        let error = |before, now| if off_cpu { None } else { error((before, now), counts) };
        Change {
            self_before,
            self_error: error(self_before, self_share),
            total_before,
            total_error: error(total_before, total_share),
        }
    }
}

/// Standard error of the difference of two proportions, pooled, because none before and few now prove nothing.
fn error((before, now): (f64, f64), (samples_before, samples_now): (u64, u64)) -> Option<f64> {
    if samples_before == 0 || samples_now == 0 {
        return None;
    }
    let (n, m) = (samples_before as f64, samples_now as f64);
    let common = ((before * n + now * m) / (n + m)).clamp(0.0, 1.0);
    Some((common * (1.0 - common) * (1.0 / n + 1.0 / m)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::functions::is_real;

    #[test]
    fn a_difference_is_real_beyond_two_standard_errors() {
        let check = |before: f64, now: f64, samples| is_real(now - before, error((before, now), (samples, samples)));
        assert!(!check(0.10, 0.11, 1000));
        assert!(check(0.10, 0.11, 100_000));
        assert!(!check(0.0, 0.003, 1000), "three samples where there were none");
        assert!(check(0.0, 0.01, 1000));
        assert!(!check(0.2, 0.2, 1000));
        assert_eq!(error((0.1, 0.2), (0, 10)), None);
    }
}
