//! Measures load latency by working-set size; a rise marks the end of a cache. Nothing is interpolated.

use super::latency::LatencyWalks;
use super::{Bounds, MIB};
use crate::model::CurvePoint;
use crate::sys::memory_walks::Pages;

const FIRST: u64 = 16 << 10;

/// Walks working sets from 16 KiB up, each twice as large as the one before.
pub(super) fn measure(walks: &mut LatencyWalks, bounds: &Bounds) -> Vec<CurvePoint> {
    let last = bounds.beyond().min(256 * MIB);
    let sizes = std::iter::successors(Some(FIRST), |bytes| bytes.checked_mul(2)).take_while(|bytes| *bytes <= last);
    let walk = |bytes| {
        let ns = walks.dense(bytes, Pages::Huge).or_else(|| walks.dense(bytes, Pages::Small))?;
        Some(CurvePoint { bytes, ns })
    };
    sizes.filter_map(walk).collect()
}

/// The latency at this size, or at the nearest measured size within a factor of 1.5.
pub(super) fn at(curve: &[CurvePoint], bytes: u64) -> Option<f64> {
    let far = |point: &CurvePoint| (point.bytes as f64 / bytes as f64).ln().abs();
    let nearest = curve.iter().min_by(|a, b| far(a).total_cmp(&far(b)))?;
    (far(nearest) < 1.5f64.ln()).then_some(nearest.ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_read_off_at_the_nearest_point_or_not_at_all() {
        let curve = [16u64, 32, 64].map(|kib| CurvePoint { bytes: kib << 10, ns: kib as f64 });
        let read = [16u64, 24, 48, 80, 128, 1].map(|kib| at(&curve, kib << 10));
        assert_eq!(read, [Some(16.0), Some(32.0), Some(64.0), Some(64.0), None, None]);
        assert_eq!(at(&[], 7), None);
    }
}
