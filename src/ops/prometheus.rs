//! Prometheus' text format: the sum of the series that fit. Pure.

use std::iter::Peekable;
use std::str::Chars;

/// Labels by name.
type Labels = Vec<(String, String)>;

/// The name and labels of `name{label="value",...}`; `None` for what is none.
#[must_use]
pub fn series(text: &str) -> Option<(String, Labels)> {
    let mut chars = text.chars().peekable();
    let found = head(&mut chars)?;
    chars.next().is_none().then_some(found)
}

/// The sum of all series of that name which bear these labels; `None` if there is none.
#[must_use]
pub fn sum(text: &str, metric: &str, labels: &[(String, String)]) -> Option<f64> {
    let lines = text.lines().map(str::trim_start).filter(|line| line.starts_with(metric));
    let fitting = lines.filter_map(|line| {
        let mut chars = line.chars().peekable();
        let (name, found) = head(&mut chars)?;
        let fits = name == metric && labels.iter().all(|label| found.contains(label));
        let rest: String = chars.collect();
        // A time stamp may follow the value.
        let value: f64 = rest.split_whitespace().next()?.parse().ok()?;
        (fits && value.is_finite()).then_some(value)
    });
    fitting.fold(None, |sum, value| Some(sum.unwrap_or(0.0) + value))
}

/// Names that look like the one that was not found, at most five.
#[must_use]
pub fn near(text: &str, metric: &str) -> Vec<String> {
    let part = metric.split('_').max_by_key(|part| part.len()).unwrap_or(metric);
    let mut names: Vec<String> = text
        .lines()
        .filter(|line| !line.starts_with('#') && line.contains(part))
        .filter_map(|line| Some(line.split(['{', ' ']).next()?.to_string()))
        .collect();
    names.dedup();
    names.truncate(5);
    names
}

fn head(chars: &mut Peekable<Chars<'_>>) -> Option<(String, Labels)> {
    let name = word(chars);
    let mut labels = Vec::new();
    if chars.next_if_eq(&'{').is_some() {
        loop {
            blanks(chars);
            if chars.next_if_eq(&'}').is_some() {
                break;
            }
            let label = word(chars);
            blanks(chars);
            chars.next_if_eq(&'=').filter(|_| !label.is_empty())?;
            blanks(chars);
            labels.push((label, quoted(chars)?));
            blanks(chars);
            if chars.next_if_eq(&',').is_none() && chars.peek() != Some(&'}') {
                return None;
            }
        }
    }
    (!name.is_empty()).then_some((name, labels))
}

fn word(chars: &mut Peekable<Chars<'_>>) -> String {
    std::iter::from_fn(|| chars.next_if(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ':'))).collect()
}

fn blanks(chars: &mut Peekable<Chars<'_>>) {
    while chars.next_if(char::is_ascii_whitespace).is_some() {}
}

fn quoted(chars: &mut Peekable<Chars<'_>>) -> Option<String> {
    chars.next_if_eq(&'"')?;
    let mut text = String::new();
    loop {
        match chars.next()? {
            '"' => return Some(text),
            '\\' => match chars.next()? {
                'n' => text.push('\n'),
                other => text.push(other),
            },
            other => text.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# HELP http_requests_total The total.\n# TYPE http_requests_total counter\n\
        http_requests_total{method=\"post\",code=\"200\"} 1027 1395066363000\n\
        http_requests_total{method=\"post\",code=\"400\"}    3 1395066363000\n\
        http_requests_total_seconds 9\n\
        odd{path=\"C:\\\\DIR\\\\\",error=\"a \\\"b\\\"\\n}\"} 1.5e1\nnothing NaN\nbroken{a=b} 4\nplain 7\n";

    fn check(metric: &str, labels: &[(&str, &str)], expected: Option<f64>) {
        let labels: Vec<_> = labels.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
        assert_eq!(sum(PAGE, metric, &labels), expected, "{metric} {labels:?}");
    }

    #[test]
    fn series_that_fit_are_added_up() {
        check("http_requests_total", &[], Some(1030.0));
        check("http_requests_total", &[("code", "400")], Some(3.0));
        check("http_requests_total", &[("code", "500")], None);
        check("odd", &[("path", "C:\\DIR\\"), ("error", "a \"b\"\n}")], Some(15.0));
        check("plain", &[], Some(7.0));
        for none in ["nothing", "broken", "http", "absent"] {
            check(none, &[], None);
        }
    }

    #[test]
    fn names_that_look_alike_are_offered() {
        assert_eq!(near(PAGE, "http_requests"), ["http_requests_total", "http_requests_total_seconds"]);
    }
}
