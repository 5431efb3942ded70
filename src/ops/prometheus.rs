//! Parses the text of Prometheus exporters for one metric. Only matching series are kept, so a page of a hundred
//! thousand series costs no more memory than those that match.

use super::total::Raw;
use crate::error::{Error, ErrorKind, Result};
use crate::model::limits::OPS_SERIES;
use std::collections::BTreeSet;

/// Longer names and labels are not shown, and no name is taken for similar to a longer one.
const LONGEST_SHOWN: usize = 1000;

/// The series of one line.
#[derive(Debug, PartialEq)]
pub(super) struct Series<'a> {
    pub(super) name: String,
    pub(super) labels: Vec<(String, String)>,
    /// The labels as written, which distinguish series of one name.
    written: &'a str,
    pub(super) value: f64,
}

/// The counters of that name that have all of `labels`, each named by its labels. Values that are not a count (NaN,
/// infinite, negative) are skipped.
///
/// # Errors
/// `NotFound` if no series matches; the hint lists similar ones.
pub fn counters(text: &str, metric: &str, labels: &[(String, String)]) -> Result<Vec<Raw>> {
    let named = || lines(text).filter(|line| may_be(line, metric)).filter_map(series).filter(|it| it.name == metric);
    let fits = |series: &Series<'_>| labels.iter().all(|label| series.labels.contains(label));
    let fitting: Vec<_> = named().filter(fits).take(OPS_SERIES + 1).collect();
    if fitting.len() > OPS_SERIES {
        return Err(Error::new(ErrorKind::Exhausted, format!("{metric} has more than {OPS_SERIES} series"))
            .hint("Narrow it by labels: METRIC{label=\"value\"}."));
    }
    if fitting.is_empty() {
        let first = named().next();
        return Err(match first {
            Some(_) => no_such_labels(metric, labels, named()),
            None => no_such_metric(text, metric),
        });
    }
    let count = |value: f64| value.is_finite() && value >= 0.0;
    let counts: Vec<_> =
        fitting.into_iter().filter(|it| count(it.value)).map(|it| (it.written.to_string(), it.value)).collect();
    if counts.is_empty() {
        return Err(Error::new(ErrorKind::NotFound, format!("{metric} has no value that is a count")));
    }
    Ok(counts)
}

pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// A cheap check before a line is parsed; names in braces are rare.
pub(super) fn may_be(line: &str, metric: &str) -> bool {
    line.starts_with(metric) || line.starts_with('{')
}

pub(super) fn no_such_metric(text: &str, metric: &str) -> Error {
    let names = || lines(text).filter_map(series).map(|series| series.name).filter(|name| name.len() <= LONGEST_SHOWN);
    let error = Error::new(ErrorKind::NotFound, format!("unknown metric '{metric}'"));
    let similar = near(metric, names());
    if !similar.is_empty() {
        return error.hint(format!("There are: {}.", similar.join(", ")));
    }
    match names().next() {
        Some(first) => error.hint(format!("There are others, from {first} on; none is like it.")),
        None => error.hint("The response contains no metric: check the path."),
    }
}

pub(super) fn no_such_labels<'a>(
    metric: &str,
    labels: &[(String, String)],
    named: impl Iterator<Item = Series<'a>>,
) -> Error {
    let wanted: Vec<_> = labels.iter().map(|(name, value)| format!("{name}={value:?}")).collect();
    let named = named.filter(|series| series.written.len() <= LONGEST_SHOWN);
    let there: Vec<_> = named.take(4).map(|series| format!("{metric}{{{}}}", series.written)).collect();
    Error::new(ErrorKind::NotFound, format!("no series of {metric} bears {}", wanted.join(",")))
        .hint(format!("Its series are: {}.", there.join(", ")))
}

/// `name{label="value",...} value [timestamp]`; `None` for anything else.
pub(super) fn series(line: &str) -> Option<Series<'_>> {
    let end = line.find(|c: char| c == '{' || c.is_whitespace())?;
    let (name, rest) = line.split_at(end);
    let mut series = Series { name: name.to_string(), labels: Vec::new(), written: "", value: 0.0 };
    let mut rest = rest.trim_start();
    if rest.starts_with('{') {
        let length = labels(rest, &mut series)?;
        series.written = &rest[1..length - 1];
        rest = &rest[length..];
    }
    series.value = rest.split_whitespace().next()?.parse().ok()?;
    (!series.name.is_empty()).then_some(series)
}

/// Parses `{label="value",...}` and returns its length; a lone quoted text is the metric's name.
fn labels(text: &str, series: &mut Series<'_>) -> Option<usize> {
    let mut at = 1;
    loop {
        at += text[at..].len() - text[at..].trim_start_matches([' ', '\t', ',']).len();
        match text[at..].chars().next()? {
            '}' => return Some(at + 1),
            '"' => {
                let (name, length) = quoted(&text[at..])?;
                series.name = name;
                at += length;
            }
            _ => {
                let equals = at + text[at..].find('=')?;
                let name = text[at..equals].trim();
                let open = equals + 1 + text[equals + 1..].find('"')?;
                let (value, length) = quoted(&text[open..])?;
                series.labels.push((name.to_string(), value));
                at = open + length;
            }
        }
    }
}

/// Parses a quoted text with the escapes `\\`, `\"` and `\n`; returns it with the length it had in quotes.
pub(super) fn quoted(text: &str) -> Option<(String, usize)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    chars.next().filter(|(_, quote)| *quote == '"')?;
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, at + 1)),
            '\\' => match chars.next()?.1 {
                'n' => value.push('\n'),
                other => value.push(other),
            },
            _ => value.push(c),
        }
    }
    None
}

/// Maximum number of similar names shown.
const SHOWN: usize = 4;

/// The names most similar to `wanted`, best first: those that contain it or are part of it, then by edit distance.
fn near(wanted: &str, names: impl IntoIterator<Item = String>) -> Vec<String> {
    let farthest = wanted.len() / 3 + 1;
    let mut found = BTreeSet::new();
    for name in names {
        let within = !name.is_empty() && (name.contains(wanted) || wanted.contains(name.as_str()));
        let apart =
            if within { name.len().abs_diff(wanted.len()).min(farthest) } else { strsim::levenshtein(wanted, &name) };
        if apart <= farthest {
            found.insert((apart, name));
        }
        if found.len() > SHOWN {
            found.pop_last();
        }
    }
    found.into_iter().map(|(_, name)| name).collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    const PAGE: &str = r#"
# HELP http_requests_total Requests. http_requests_total 77
# TYPE http_requests_total counter
http_requests_total{method="GET",path="/a b"} 1027 1395066363000
http_requests_total{method="POST", path="C:\\dir\"x\"\n",} 3
http_requests_total_other 5
  requests 1.5e3   # {trace="x"} 1
broken{method="GET
broken
nan NaN
inf{a="b"} +Inf
negative -4
{"quoted.name", method="GET"} 9
"#;

    fn label(name: &str, value: &str) -> (String, String) {
        (name.to_string(), value.to_string())
    }

    fn check(metric: &str, labels: &[(String, String)], expected: f64) {
        let counters = counters(PAGE, metric, labels).unwrap();
        assert_eq!(counters.iter().map(|(_, value)| value).sum::<f64>(), expected, "{metric} {labels:?}");
    }

    #[test]
    fn the_series_that_bear_the_labels_are_counted() {
        check("http_requests_total", &[], 1030.0);
        check("http_requests_total", &[label("method", "GET")], 1027.0);
        check("http_requests_total", &[label("method", "POST"), label("path", "C:\\dir\"x\"\n")], 3.0);
        check("requests", &[], 1500.0);
        check("http_requests_total_other", &[], 5.0);
        check("quoted.name", &[label("method", "GET")], 9.0);
    }

    #[test]
    fn what_is_not_there_is_named_with_what_is() {
        for (metric, labels, message, hint) in [
            ("http_request_total", vec![], "unknown metric 'http_request_total'", "http_requests_total"),
            ("http_requests_total", vec![label("method", "PUT")], "bears method=\"PUT\"", "{method=\"GET\",path="),
            ("xyzzy", vec![], "unknown metric 'xyzzy'", "none is like it"),
            ("nan", vec![], "no value that is a count", ""),
            ("inf", vec![], "no value that is a count", ""),
            ("negative", vec![], "no value that is a count", ""),
            ("broken", vec![], "unknown metric 'broken'", ""),
        ] {
            let error = counters(PAGE, metric, &labels).unwrap_err();
            assert!(error.to_string().contains(message), "{metric}: {error}");
            assert!(error.remedy().unwrap_or_default().contains(hint), "{metric}: {:?}", error.remedy());
        }
        let error = counters("<html>\n", "x", &[]).unwrap_err();
        assert!(error.remedy().unwrap().contains("contains no metric"), "{error}");
    }

    #[test]
    fn no_text_makes_it_stumble() {
        for text in [
            "{",
            "a{",
            "a{b",
            "a{b=",
            "a{b=\"",
            "a{b=\"\\",
            "a{\"",
            "{} 1",
            "a{,,,} ",
            "é{é=\"é\"} 1",
            "a{b=x\"y\"} 2",
            "a{=\"\"}3",
        ] {
            let _ = counters(text, "a", &[]);
            for end in (0..PAGE.len()).filter(|end| PAGE.is_char_boundary(*end)) {
                let _ = series(&PAGE[..end]);
            }
        }
    }

    #[test]
    fn of_a_large_page_only_the_nearest_names_are_kept() {
        let mut page: String = (0..50_000).map(|nth| format!("request_{nth}_total 1\n")).collect();
        page += &format!("{} 1\nrequests_tota{{a=\"1\"}} 2\n", "requests_total".repeat(100_000));
        let error = counters(&page, "requests_total", &[]).unwrap_err();
        let hint = error.remedy().unwrap().to_string();
        assert!(hint.starts_with("There are: requests_tota, ") && hint.len() < 200, "{hint}");
        let long = format!("x{{a=\"{}\"}} 1\n", "b".repeat(1 << 20));
        let error = counters(&long, "x", &[label("a", "c")]).unwrap_err();
        assert!(error.remedy().unwrap().len() < 200, "labels are not shown whatever their length");
    }

    #[test]
    fn near_names_are_found_nearest_first() {
        let names = ["http_requests_total", "http_request_seconds", "go_gc", "http_requests", "process_cpu"];
        for (wanted, expected) in [
            ("http_requests_totl", &["http_requests_total", "http_requests", "http_request_seconds"][..]),
            ("requests", &["http_requests", "http_requests_total"]),
            ("nothing_like_it", &[]),
        ] {
            assert_eq!(near(wanted, names.map(String::from)), expected, "{wanted}");
        }
    }
}
