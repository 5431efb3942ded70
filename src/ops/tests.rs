//! What programs and servers really send: pieces, garbage, numbers beyond all bounds.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::output::{Matcher, Stream};
use super::{number, prometheus, total};
use crate::error::ErrorKind;
use crate::model::NumberKind;
use crate::units::{Nanos, Ops};
use proptest::prelude::*;

fn total_of(pattern: &str, reads: NumberKind, text: &str) -> Option<u64> {
    let mut matcher = Matcher::new(pattern, reads).unwrap();
    matcher.take(Stream::Out, text.as_bytes(), Nanos(1_000_000_000));
    matcher.end(Stream::Out, Nanos(1_000_000_000));
    matcher.latest().map(|(_, Ops(total))| total)
}

#[test]
fn patterns_at_the_edge_of_what_a_pattern_can_be() {
    for (what, pattern, reads, text, expected) in [
        ("one that matches nothing but the empty text", "x*", NumberKind::Sum, "7\n", None),
        ("a group that takes no part", "ops(?: ([0-9]+))?", NumberKind::Sum, "ops\n", None),
        ("a group that takes part once of twice", "ops(?: ([0-9]+))?", NumberKind::Sum, "ops ops 4\n", Some(4)),
        ("no group: the whole match", "[0-9]+", NumberKind::Sum, "1 2 3\n", Some(6)),
        ("the first of several groups", "([0-9]+)/([0-9]+)", NumberKind::Sum, "3/100\n", Some(3)),
        ("a name for the group", "(?P<n>[0-9]+) done", NumberKind::Sum, "5 done\n", Some(5)),
        ("letters of any case", "(?i)OPS ([0-9]+)", NumberKind::Sum, "Ops 8\n", Some(8)),
        ("a line that begins with a blank", "^\\s+([0-9]+)$", NumberKind::Sum, "  9\n", Some(9)),
        ("no line end within a match", "a\\nb([0-9])", NumberKind::Sum, "a\nb1\n", None),
        ("a number beyond 64 bits", "([0-9]+)", NumberKind::Sum, "99999999999999999999999\n", Some(u64::MAX)),
        ("a number beyond every float", "([0-9e]+)", NumberKind::Sum, "9e999\n", None),
        ("fractions that add up", "([0-9.]+)", NumberKind::Sum, "0.25 0.25 0.5\n", Some(1)),
        ("fractions of a rate", "([0-9.]+)/s", NumberKind::Rate, "0.5/s\n", Some(0)),
        ("the same total twice", "n=([0-9]+)", NumberKind::Total, "n=5\nn=5\nn=5\n", Some(5)),
        ("a total that began again", "n=([0-9]+)", NumberKind::Total, "n=5\nn=2\nn=3\n", Some(8)),
        ("several totals in a line: the last", "n=([0-9]+)", NumberKind::Total, "n=1 n=2 n=9\n", Some(9)),
        ("only line ends", "([0-9]+)", NumberKind::Sum, "\n\r\n\r\r\n", None),
        ("text that is no ASCII", "Anfragen: ([0-9]+)", NumberKind::Sum, "größer Anfragen: 6 ✓\n", Some(6)),
    ] {
        assert_eq!(total_of(pattern, reads, text), expected, "{what}");
    }
}

#[test]
fn a_pattern_that_cannot_be_is_refused_with_what_to_do() {
    for (pattern, says) in [
        ("", "is empty"),
        ("(", "cannot be read"),
        ("[0-9", "cannot be read"),
        ("a{99999999}", "cannot be read"),
        ("(?=ahead)", "cannot be read"),
        ("\\1", "cannot be read"),
    ] {
        let error = Matcher::new(pattern, NumberKind::Sum).unwrap_err();
        assert!(error.kind() == ErrorKind::Usage && error.to_string().contains(says), "{pattern}: {error}");
        assert!(error.remedy().is_some(), "{pattern}");
    }
}

fn page(text: &str, metric: &str) -> Result<Vec<(String, f64)>, crate::error::Error> {
    prometheus::counters(text, metric, &[])
}

#[test]
fn lines_of_a_metrics_page_that_are_not_quite_right() {
    for (what, text, expected) in [
        ("a value alone", "hits 7\n", Some(vec![7.0])),
        ("a time after it", "hits 7 1700000000000\n", Some(vec![7.0])),
        ("blanks of all kinds", "  hits \t 7  \n", Some(vec![7.0])),
        ("carriage returns", "hits 7\r\nmisses 2\r\n", Some(vec![7.0])),
        ("no end of the last line", "hits 7", Some(vec![7.0])),
        ("no value", "hits\nhits{}\nhits{a=\"b\"}\n", None),
        ("a value that is none", "hits seven\n", None),
        ("an open brace", "hits{a=\"b\" 7\n", None),
        ("an open quote", "hits{a=\"b} 7\n", None),
        ("a label without a value", "hits{a} 7\n", None),
        ("an empty label set", "hits{} 7\n", Some(vec![7.0])),
        ("a comma at the end", "hits{a=\"b\",} 7\n", Some(vec![7.0])),
        ("quotes within a label", "hits{a=\"x\\\"y\\\\\",b=\"}\"} 7\n", Some(vec![7.0])),
        ("a name that only begins alike", "hits_total 7\n", None),
        ("comments that look like it", "# hits 7\n#hits 8\n", None),
        (
            "not a number and no end",
            "hits NaN\nhits{a=\"1\"} +Inf\nhits{a=\"2\"} -1\nhits{a=\"3\"} 4\n",
            Some(vec![4.0]),
        ),
        ("nothing that counts", "hits NaN\n", None),
        ("nothing at all", "", None),
        ("a page of HTML", "<!DOCTYPE html><html><body>hits 7</body></html>", None),
        ("the exponent of a float", "hits 1.5e3\n", Some(vec![1500.0])),
    ] {
        let found =
            page(text, "hits").ok().map(|series| series.into_iter().map(|(_, value)| value).collect::<Vec<_>>());
        assert_eq!(found, expected, "{what}");
    }
}

#[test]
fn too_many_series_are_a_mistake_in_the_labels() {
    let series = |count: usize| (0..count).map(|n| format!("hits{{n=\"{n}\"}} 1\n")).collect::<String>();
    assert_eq!(page(&series(10_000), "hits").unwrap().len(), 10_000);
    let error = page(&series(10_001), "hits").unwrap_err();
    assert!(error.kind() == ErrorKind::Exhausted && error.remedy().unwrap().contains("labels"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Pipes hand over what they have: the same bytes count the same however they are cut.
    #[test]
    fn where_output_is_cut_changes_no_total(
        lines in prop::collection::vec("(ops [0-9]{1,4}|[a-z ]{0,8}|ops x)", 0..12),
        ends in prop::collection::vec(prop::sample::select(vec!["\n", "\r", "\r\n"]), 12),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..10),
        reads in prop::sample::select(vec![NumberKind::Sum, NumberKind::Total]),
    ) {
        let text: String = lines.iter().zip(&ends).map(|(line, end)| format!("{line}{end}")).collect();
        let whole = total_of("ops ([0-9]+)", reads, &text);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let mut matcher = Matcher::new("ops ([0-9]+)", reads).unwrap();
        for pair in cuts.windows(2) {
            matcher.take(Stream::Out, &text.as_bytes()[pair[0]..pair[1]], Nanos(7));
        }
        matcher.end(Stream::Out, Nanos(7));
        prop_assert_eq!(matcher.latest().map(|(_, Ops(total))| total), whole);
    }

    #[test]
    fn no_output_panics_and_no_total_falls(
        pieces in prop::collection::vec((any::<bool>(), prop::collection::vec(any::<u8>(), 0..40)), 0..20),
        reads in prop::sample::select(vec![NumberKind::Sum, NumberKind::Total, NumberKind::Rate]),
    ) {
        let mut matcher = Matcher::new("([0-9.eE+-]+)", reads).unwrap();
        let mut last = 0;
        for (at, (out, bytes)) in pieces.iter().enumerate() {
            matcher.take(if *out { Stream::Out } else { Stream::Err }, bytes, Nanos(at as u64 * 1_000_000));
            let total = matcher.latest().map_or(0, |(_, Ops(total))| total);
            prop_assert!(total >= last, "{} after {}", total, last);
            last = total;
        }
    }

    #[test]
    fn every_number_that_is_found_is_a_count(text in "\\PC{0,40}") {
        if let Some(value) = number::first_number(&text) {
            prop_assert!(value.is_finite() && value >= 0.0, "{} in {:?}", value, text);
        }
    }

    #[test]
    fn a_number_is_read_back_as_it_was_written(value in 0.0f64..1e15, before in "[a-z =:]{0,8}", after in "( [a-z]{0,5})?") {
        let text = format!("{before}{value}{after}");
        prop_assert_eq!(number::first_number(&text), Some(value), "{:?}", text);
    }

    #[test]
    fn no_page_panics_and_every_value_is_a_count(text in "(hits|x|#|\\{|\\}|\"|\\\\|=|,| |\n|[0-9]|NaN|a){0,60}") {
        for (_, value) in page(&text, "hits").unwrap_or_default() {
            prop_assert!(value.is_finite() && value >= 0.0);
        }
    }

    /// Counters come, restart and go; the total is what they grew by, and never falls.
    #[test]
    fn a_total_grows_by_what_its_counters_grow_by(
        rounds in prop::collection::vec(prop::collection::vec((0usize..4, 0u32..1000, prop::bool::weighted(0.1)), 0..5), 1..10)
    ) {
        let mut total = total::Total::from_nothing();
        let (mut counters, mut expected, mut last) = ([0u64; 4], 0u64, 0);
        for round in &rounds {
            for &(which, grown, restarts) in round {
                let before = counters[which];
                counters[which] = if restarts { u64::from(grown) } else { before + u64::from(grown) };
                // A restart that already passed its old value cannot be told from growth.
                expected += if counters[which] < before { counters[which] } else { counters[which] - before };
                total.read([(format!("c{which}"), counters[which] as f64)]);
            }
            prop_assert_eq!(total.ops(), Ops(expected));
            prop_assert!(expected >= last);
            last = expected;
        }
    }
}
