//! Computes speed-up, efficiency and serial fraction of throughput at two widths. Each number comes from one width and
//! the base, without a fit.

use super::types::Estimate;

/// Throughput at a width in units of one thread of the base; the base's own speed-up is its width.
#[must_use]
pub fn speedup(base_n: f64, base: Estimate, here: Estimate) -> Option<Estimate> {
    let mean = base_n * here.mean / base.mean;
    let relative = |of: Estimate| Some(of.half? / of.mean);
    // Relative errors of a ratio add in quadrature; zero has no relative error, so the interval is computed from
    // absolute ones.
    let half = match (here.half, relative(base)) {
        (Some(half), Some(base_part)) => Some((base_n * half / base.mean).hypot(mean * base_part)),
        _ => None,
    };
    sound(Estimate { mean, half, runs: here.runs.min(base.runs) })
}

/// Speed-up over width: 1 is perfect.
#[must_use]
pub fn efficiency(n: f64, speedup: Estimate) -> Option<Estimate> {
    sound(Estimate { mean: speedup.mean / n, half: speedup.half.map(|half| half / n), runs: speedup.runs })
}

/// The serial fraction that alone would explain the speed-up, with the base's time taken as one (Karp-Flatt); `None` at
/// the base.
#[must_use]
pub fn karp_flatt(base_n: f64, n: f64, speedup: Estimate) -> Option<Estimate> {
    let (times, lost) = (n / base_n, n / speedup.mean);
    if times <= 1.0 {
        return None;
    }
    let half = speedup.half.map(|half| lost / speedup.mean * half / (times - 1.0));
    sound(Estimate { mean: (lost - 1.0) / (times - 1.0), half, runs: speedup.runs })
}

pub(super) fn sound(estimate: Estimate) -> Option<Estimate> {
    (estimate.mean.is_finite() && estimate.half.is_none_or(f64::is_finite)).then_some(estimate)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn single(mean: f64) -> Estimate {
        Estimate { mean, half: None, runs: 1 }
    }

    #[test]
    fn amdahls_law_gives_the_published_speedups() {
        let amdahl = |serial: f64, n: f64| 1.0 / (serial + (1.0 - serial) / n);
        for (serial, expected) in [
            (0.01, [1.9802, 7.4766, 13.913, 39.2638, 61.7761]),
            (0.05, [1.9048, 5.9259, 9.1429, 15.4217, 17.8771]),
            (0.10, [1.8182, 4.7059, 6.4, 8.7671, 9.4675]),
        ] {
            for (n, expected) in [2.0, 8.0, 16.0, 64.0, 160.0].into_iter().zip(expected) {
                let found = amdahl(serial, n);
                assert!((found - expected).abs() < 5.1e-5, "{serial} {n}: {found}");
                let back = karp_flatt(1.0, n, single(found)).unwrap();
                assert!((back.mean - serial).abs() < 1e-12, "Karp-Flatt is its inverse");
            }
        }
    }

    #[test]
    fn the_published_rocksdb_runs_have_their_published_speedups() {
        for (base, here, speedup_of, efficiency_of, serial) in [
            (5_033_342.0, 37_083_372.0, 7.367_54, 0.046_047, 0.130_295),
            (5_293_853.0, 323_795_384.0, 61.164_41, 0.382_277, 0.010_163),
        ] {
            let found = speedup(1.0, single(base), single(here)).unwrap();
            assert!((found.mean - speedup_of).abs() < 1e-5, "{found:?}");
            assert!((efficiency(160.0, found).unwrap().mean - efficiency_of).abs() < 1e-6);
            assert!((karp_flatt(1.0, 160.0, found).unwrap().mean - serial).abs() < 1e-6);
        }
    }

    #[test]
    fn a_wider_base_counts_as_its_width_and_has_no_serial_fraction() {
        let base = speedup(4.0, single(100.0), single(100.0)).unwrap();
        assert_eq!((base.mean, efficiency(4.0, base).unwrap().mean), (4.0, 1.0));
        assert_eq!(karp_flatt(4.0, 4.0, base), None);
        let double = speedup(4.0, single(100.0), single(200.0)).unwrap();
        assert_eq!((double.mean, karp_flatt(4.0, 8.0, double).unwrap().mean), (8.0, 0.0));
    }

    #[test]
    fn intervals_add_in_quadrature_and_one_run_has_none() {
        let of = |mean, half| Estimate { mean, half: Some(half), runs: 3 };
        let found = speedup(1.0, of(100.0, 3.0), of(200.0, 8.0)).unwrap();
        assert!((found.half.unwrap() - 2.0 * 0.05).abs() < 1e-12, "{found:?}");
        assert_eq!(speedup(1.0, single(100.0), of(200.0, 8.0)).unwrap().half, None);
    }

    #[test]
    fn nothing_comes_of_a_base_without_throughput_or_of_standing_still() {
        assert_eq!(speedup(1.0, single(0.0), single(5.0)), None);
        assert_eq!(karp_flatt(1.0, 4.0, single(0.0)), None);
        assert_eq!(speedup(1.0, single(5.0), single(0.0)).unwrap().mean, 0.0);
    }
}
