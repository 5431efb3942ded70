//! `--ops SPEC` as typed, read into what it means. Pure.

use super::output::Output;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{OpsSpec, Reads};
use crate::units::Nanos;
use std::path::PathBuf;

const FORMS: &str = "The forms are: regex:PATTERN, regex-sum:PATTERN, regex-rate:PATTERN, uprobe:BINARY:SYMBOL, \
                     tracepoint:CATEGORY:NAME, http://HOST:PORT/PATH#METRIC{label=\"value\"}, file:PATH, page:NAME, rate:N.";

/// Reads a source of operations.
///
/// # Errors
/// `Usage`, with all forms there are.
pub fn parse(text: &str) -> Result<OpsSpec> {
    let wrong = |why: &str| Error::new(ErrorKind::Usage, format!("--ops '{text}' {why}")).hint(FORMS);
    if text.starts_with("https:") {
        return Err(wrong(
            "asks for an encrypted connection, which is not spoken here: name a local exporter's http address",
        ));
    }
    if let Some(address) = text.strip_prefix("http://") {
        return http(address).ok_or_else(|| wrong("names no metric: write http://HOST:PORT/PATH#METRIC"));
    }
    let (form, rest) =
        text.split_once(':').filter(|(_, rest)| !rest.is_empty()).ok_or_else(|| wrong("is no source"))?;
    let output = |reads| {
        Output::new(rest, reads, Nanos(0))?;
        Ok(OpsSpec::Output { pattern: rest.to_string(), reads })
    };
    let pair = |split: Option<(&str, &str)>, why| {
        let both = split.filter(|(a, b)| !a.is_empty() && !b.is_empty());
        both.map(|(a, b)| (a.to_string(), b.to_string())).ok_or_else(|| wrong(why))
    };
    match form {
        "regex" => output(Reads::Total),
        "regex-sum" => output(Reads::Sum),
        "regex-rate" => output(Reads::Rate),
        "uprobe" => {
            // A C++ symbol holds colons in pairs, a path none at its end.
            let at = rest
                .char_indices()
                .find(|(at, c)| *c == ':' && !rest[at + 1..].starts_with(':') && !rest[..*at].ends_with(':'));
            let split = at.map(|(at, _)| (&rest[..at], &rest[at + 1..]));
            let (binary, symbol) = pair(split, "names no function: write uprobe:BINARY:SYMBOL")?;
            Ok(OpsSpec::Uprobe { binary: PathBuf::from(binary), symbol })
        }
        "tracepoint" => {
            let (category, name) = pair(rest.split_once(':'), "names no event: write tracepoint:CATEGORY:NAME")?;
            Ok(OpsSpec::Tracepoint { category, name })
        }
        "file" => Ok(OpsSpec::File { path: PathBuf::from(rest) }),
        "page" if rest.contains('/') => Err(wrong("names a page with a slash in it")),
        "page" => Ok(OpsSpec::Page { name: rest.to_string() }),
        "rate" => match rest.parse::<f64>() {
            Ok(per_second) if per_second.is_finite() && per_second > 0.0 => Ok(OpsSpec::Rate { per_second }),
            _ => Err(wrong("is no rate: write operations per second, e.g. rate:1500")),
        },
        _ => Err(wrong("is no source")),
    }
}

fn http(address: &str) -> Option<OpsSpec> {
    let (place, series) = address.split_once('#')?;
    let (authority, path) = place.split_at(place.find('/').unwrap_or(place.len()));
    let (metric, labels) = super::prometheus::series(series)?;
    let path = if path.is_empty() { "/metrics" } else { path };
    (!authority.is_empty()).then(|| OpsSpec::Http {
        authority: if authority.contains(':') { authority.to_string() } else { format!("{authority}:80") },
        path: path.to_string(),
        metric,
        labels,
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn text(value: &str) -> String {
        value.to_string()
    }

    #[test]
    fn every_form_is_understood() {
        for (typed, expected) in [
            ("regex:ops: ([0-9]+)", OpsSpec::Output { pattern: text("ops: ([0-9]+)"), reads: Reads::Total }),
            ("regex-rate:x", OpsSpec::Output { pattern: text("x"), reads: Reads::Rate }),
            ("uprobe:/bin/db:run", OpsSpec::Uprobe { binary: "/bin/db".into(), symbol: text("run") }),
            ("uprobe:db:ns::A::get", OpsSpec::Uprobe { binary: "db".into(), symbol: text("ns::A::get") }),
            ("tracepoint:net:net_dev_xmit", OpsSpec::Tracepoint { category: text("net"), name: text("net_dev_xmit") }),
            ("file:/tmp/n", OpsSpec::File { path: "/tmp/n".into() }),
            ("page:db", OpsSpec::Page { name: text("db") }),
            ("rate:1e3", OpsSpec::Rate { per_second: 1000.0 }),
            (
                "http://localhost:9121/metrics#redis_commands_total{cmd=\"get\",db=\"0\"}",
                OpsSpec::Http {
                    authority: text("localhost:9121"),
                    path: text("/metrics"),
                    metric: text("redis_commands_total"),
                    labels: vec![(text("cmd"), text("get")), (text("db"), text("0"))],
                },
            ),
            (
                "http://h#m",
                OpsSpec::Http { authority: text("h:80"), path: text("/metrics"), metric: text("m"), labels: vec![] },
            ),
        ] {
            assert_eq!(parse(typed).unwrap(), expected, "{typed}");
        }
    }

    #[test]
    fn what_is_not_understood_is_answered_with_the_forms() {
        for typed in [
            "",
            "regex:",
            "regex:(",
            "uprobe:x",
            "tracepoint:a:",
            "http://h/p",
            "https://h#m",
            "rate:-1",
            "rate:x",
            "page:a/b",
            "odd:1",
        ] {
            let error = parse(typed).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage, "{typed}");
            assert!(error.remedy().is_some(), "{typed}");
        }
    }
}
