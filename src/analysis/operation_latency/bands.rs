//! Bands of latency on a logarithmic scale. Their edges never move, so that a picture of a live session does not flicker.

use super::distribution::Bin;

/// Bands per doubling: an edge is 9% above the one before.
pub const PER_DOUBLING: u16 = 8;
/// The last band; it begins at 2^63 ns.
const LAST: u16 = 63 * PER_DOUBLING;

/// A band of latencies, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct Band(pub u16);

impl Band {
    /// The band of a latency in nanoseconds.
    #[must_use]
    pub fn of(ns: f64) -> Band {
        // A latency at an edge belongs to the band that begins there.
        let number = (ns.max(1.0).log2() * f64::from(PER_DOUBLING) + 1e-9).floor();
        Band((number as u16).min(LAST))
    }

    /// Its shortest latency in nanoseconds.
    #[must_use]
    pub fn low(self) -> f64 {
        (f64::from(self.0) / f64::from(PER_DOUBLING)).exp2()
    }

    /// The latency that is longer than all in it, in nanoseconds.
    #[must_use]
    pub fn high(self) -> f64 {
        Band(self.0.saturating_add(1)).low()
    }
}

/// The bands of a bin. The operations of a bin that covers several are shared among them evenly, because nothing says
/// where in it they lie; those above a last bound count at the bound.
#[must_use]
pub fn bands(bin: Bin) -> std::ops::RangeInclusive<u16> {
    let first = Band::of(bin.low.as_f64());
    let last = bin.high.map_or(first, |high| Band::of((high.as_f64() - 1.0).max(bin.low.as_f64())));
    first.0..=last.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Nanos;

    #[test]
    fn a_latency_lies_in_its_band_and_bands_follow_each_other() {
        for ns in [1.0, 1.9, 2.0, 1023.0, 1024.0, 1e6, 3.3e9, 9e18] {
            let band = Band::of(ns);
            assert!(band.low() <= ns * (1.0 + 1e-9) && ns < band.high(), "{ns}: {band:?}");
            assert_eq!(Band::of(band.low()), band);
        }
        assert_eq!((Band::of(0.0), Band::of(-1.0), Band::of(f64::NAN)), (Band(0), Band(0), Band(0)));
        assert_eq!((Band::of(f64::INFINITY), Band::of(f64::MAX)), (Band(LAST), Band(LAST)));
    }

    #[test]
    fn a_wide_bin_is_shared_and_an_open_or_hostile_one_counts_where_it_begins() {
        let bin = |low, high: Option<u64>| Bin { low: Nanos(low), high: high.map(Nanos) };
        assert_eq!(bands(bin(1024, Some(2048))), 80..=87);
        assert_eq!(bands(bin(1024, Some(1025))), 80..=80);
        assert_eq!(bands(bin(1024, None)), 80..=80);
        assert_eq!(bands(bin(1024, Some(3))), 80..=80);
        assert_eq!(bands(bin(0, Some(u64::MAX))), 0..=LAST);
    }
}
