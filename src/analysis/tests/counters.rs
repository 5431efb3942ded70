//! Counters: what windows counted adds up to what the whole counted, and a counter that was not read is not zero.

use super::recordings::cases;
use crate::analysis::testing::{Synthetic, ms};
use crate::analysis::{Counters, TimeRange, Window};
use crate::model::profile::Profile;
use crate::model::{Measure, Scope};
use proptest::prelude::*;

/// A second per reading; each step is what was counted within it.
fn counted(steps: &[u64]) -> Profile {
    let mut s = Synthetic::new();
    s.alive(41, "server");
    let mut total = 7;
    for name in ["cycles", "instructions", "task-clock"] {
        s.reading(name, Scope::Target, 0, total);
    }
    for (at, step) in steps.iter().enumerate() {
        total += step;
        let at_ms = (at as u64 + 1) * 1000;
        for name in ["cycles", "instructions", "task-clock"] {
            s.reading(name, Scope::Target, at_ms, total);
        }
        s.tick(at_ms, 1000);
    }
    let mut profile = s.finish();
    profile.meta.duration_ns = Some(ms(steps.len() as u64 * 1000).0);
    profile
}

fn window(from_s: usize, to_s: usize) -> Window {
    Window { from: ms(from_s as u64 * 1000), to: ms(to_s as u64 * 1000) }
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn windows_add_up_to_the_whole(steps in prop::collection::vec(0..1_000_000_000_u64, 1..20), cut in any::<prop::sample::Index>()) {
        let profile = counted(&steps);
        let counters = Counters::of(&profile);
        let of = |window| counters.delta("cycles", Scope::Target, window).value().copied();
        let all = of(window(0, steps.len()));
        prop_assert_eq!(all, Some(steps.iter().sum::<u64>() as f64));
        let each: Option<f64> = (0..steps.len()).map(|at| of(window(at, at + 1))).sum();
        prop_assert_eq!(each, all);
        let cut = cut.index(steps.len());
        if cut > 0 {
            let halves = of(window(0, cut)).zip(of(window(cut, steps.len()))).map(|(a, b)| a + b);
            prop_assert_eq!(halves, all);
        }
        let peak = counters.peak("cycles", Scope::Target, window(0, steps.len()));
        prop_assert!(peak.value().is_none_or(|peak| *peak >= 0.0));
    }

    #[test]
    fn a_selected_time_becomes_whole_windows_that_hold_it(
        steps in prop::collection::vec(1..100_u64, 1..20),
        from_ms in 0..20_000_u64,
        length_ms in 1..20_000_u64,
    ) {
        let profile = counted(&steps);
        let end = profile.duration();
        let range = TimeRange { from: ms(from_ms), to: Some(ms(from_ms + length_ms)) };
        let found = range.window(&profile.ticks, end);
        prop_assert!(found.from <= found.to, "{found:?}");
        prop_assert!(found.to <= end.max(found.from), "{found:?}");
        if range.from < end {
            prop_assert!(found.from <= range.from && found.to >= ms(from_ms + length_ms).min(end), "{found:?} of {range:?}");
            let counted = Counters::of(&profile).delta("cycles", Scope::Target, found);
            prop_assert!(matches!(counted, Measure::Known { .. }), "{counted:?} in {found:?}");
        }
        prop_assert_eq!(found.range().overlap(found.from, found.span()), found.span());
    }

    #[test]
    fn a_part_of_a_span_and_the_rest_of_it_are_the_span(
        start in 0..10_000_u64, length in 0..10_000_u64, cut in 0..20_000_u64,
    ) {
        let (start, length, cut) = (ms(start), ms(length), ms(cut));
        let before = TimeRange { from: ms(0), to: Some(cut) };
        let after = TimeRange { from: cut, to: None };
        prop_assert_eq!(before.overlap(start, length) + after.overlap(start, length), length);
        prop_assert!(before.contains(start) != after.contains(start));
    }
}

#[test]
fn what_was_not_counted_is_missing_and_what_stood_still_is_zero() {
    let mut s = Synthetic::new();
    s.reading("cycles", Scope::Target, 0, 10).reading("cycles", Scope::Target, 1000, 10);
    s.define("instructions");
    s.tick(1000, 1000);
    let counters = Counters::of(&s.finish());
    let whole = window(0, 1);
    assert_eq!(counters.delta("cycles", Scope::Target, whole).value(), Some(&0.0), "it was read twice and stood still");
    for (name, scope) in
        [("instructions", Scope::Target), ("no-such-counter", Scope::Target), ("cycles", Scope::Thread(41))]
    {
        assert_eq!(counters.delta(name, scope, whole).value(), None, "{name} of {scope:?} was never counted");
    }
}
