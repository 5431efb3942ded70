//! Parses `--latency SPEC` as typed into a [`LatencySpec`]. Whether the named source exists shows when it is opened.

use super::output::pattern;
use super::spec::{self, binary_and_symbol, usdt};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{LatencySpec, LoadGenerator, OpsSpec, TimeUnit};
use std::path::PathBuf;

/// All forms, for error messages.
const FORMS: &str = "The forms are: uprobe:BINARY:SYMBOL, usdt:BINARY:[PROVIDER:]BEGIN..END, \
    http://HOST[:PORT]/PATH#HISTOGRAM{LABEL=\"VALUE\"}, output[:GENERATOR], regex[-UNIT]:PATTERN, file[-UNIT]:PATH, page:NAME.";

/// Parses a specification.
///
/// # Errors
/// `Usage`, with the list of forms, or with what is wrong about this one.
pub fn parse_latency(text: &str) -> Result<LatencySpec> {
    if text == "output" {
        return Ok(LatencySpec::Output { generator: None });
    }
    let (form, rest) = text.split_once(':').ok_or_else(|| wrong(text, "has no form").hint(FORMS))?;
    let (form, unit) = match form.split_once('-') {
        Some((form @ ("regex" | "file"), unit)) => (form, Some(named_unit(text, unit)?)),
        _ => (form, None),
    };
    match form {
        "uprobe" => {
            let (binary, symbol) = binary_and_symbol(rest).ok_or_else(|| {
                wrong(text, "names no binary and function").hint("Write e.g. uprobe:/usr/bin/app:handle_request.")
            })?;
            Ok(LatencySpec::Calls { binary: PathBuf::from(binary), symbol: symbol.to_string() })
        }
        "usdt" => probes(rest).ok_or_else(|| {
            wrong(text, "names no binary and two probes")
                .hint("Write e.g. usdt:/usr/lib/postgresql/15/bin/postgres:query__start..query__done.")
        }),
        "http" => http(text, rest),
        "https" => Err(Error::new(ErrorKind::Usage, "latencies are not read over https")
            .hint("Point --latency at the exporter itself on this machine: http://localhost:PORT/metrics#HISTOGRAM.")),
        "output" => match LoadGenerator::named(rest) {
            Some(generator) => Ok(LatencySpec::Output { generator: Some(generator) }),
            None => {
                let names = LoadGenerator::ALL.map(LoadGenerator::name).join(", ");
                Err(wrong(text, "names no load generator that is known").hint(format!("There are: {names}.")))
            }
        },
        "regex" => {
            pattern("--latency", rest)?;
            Ok(LatencySpec::Matches { pattern: rest.to_string(), unit })
        }
        "file" if rest.is_empty() => Err(wrong(text, "names no file").hint("Write e.g. file:pgbench_log.")),
        "file" => Ok(LatencySpec::File { path: PathBuf::from(rest), unit }),
        "page" => match spec::parse(text).map_err(|error| renamed(&error))? {
            OpsSpec::Page { name } => Ok(LatencySpec::Page { name }),
            _ => Err(wrong(text, "names no page")),
        },
        _ => Err(wrong(text, &format!("begins with no known form ('{form}')")).hint(FORMS)),
    }
}

fn wrong(text: &str, what: &str) -> Error {
    Error::new(ErrorKind::Usage, format!("--latency '{text}' {what}"))
}

/// An error about a form that `--ops` has, too.
fn renamed(error: &Error) -> Error {
    let found = Error::new(ErrorKind::Usage, error.to_string().replacen("--ops", "--latency", 1));
    match error.remedy() {
        Some(remedy) => found.hint(remedy),
        None => found,
    }
}

fn named_unit(text: &str, unit: &str) -> Result<TimeUnit> {
    TimeUnit::of_symbol(unit)
        .ok_or_else(|| wrong(text, &format!("names no unit ('{unit}')")).hint("The units are ns, us, ms and s."))
}

fn http(text: &str, rest: &str) -> Result<LatencySpec> {
    let OpsSpec::Http { authority, path, metric, labels } = spec::http(text, rest).map_err(|error| renamed(&error))?
    else {
        return Err(wrong(text, "is not an address"));
    };
    let histogram = metric.strip_suffix("_bucket").map(String::from).unwrap_or(metric);
    Ok(LatencySpec::Http { authority, path, histogram, labels })
}

/// `BINARY:[PROVIDER:]BEGIN..END`.
fn probes(text: &str) -> Option<LatencySpec> {
    let (begin, end) = text.rsplit_once("..").filter(|(_, end)| !end.is_empty() && !end.contains([':', '/']))?;
    let OpsSpec::Usdt { binary, provider, name } = usdt(begin)? else { return None };
    Some(LatencySpec::Probes { binary, provider, begin: name, end: end.to_string() })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn each_form_is_read_and_what_is_wrong_is_named() {
        let calls = |binary: &str, symbol: &str| LatencySpec::Calls { binary: binary.into(), symbol: symbol.into() };
        let probes = |provider: Option<&str>| LatencySpec::Probes {
            binary: "../bin/postgres".into(),
            provider: provider.map(String::from),
            begin: "query__start".into(),
            end: "query__done".into(),
        };
        assert_eq!(parse_latency("uprobe:/bin/a:b::c").unwrap(), calls("/bin/a", "b::c"));
        assert_eq!(parse_latency("usdt:../bin/postgres:query__start..query__done").unwrap(), probes(None));
        assert_eq!(parse_latency("usdt:../bin/postgres:pg:query__start..query__done").unwrap(), probes(Some("pg")));
        let http = |histogram: &str, labels: &[(&str, &str)]| LatencySpec::Http {
            authority: "h:9100".into(),
            path: "/metrics".into(),
            histogram: histogram.into(),
            labels: labels.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
        };
        let output = |generator| LatencySpec::Output { generator };
        let ms = Some(TimeUnit::Milliseconds);
        for (text, expected) in [
            ("http://h:9100#a_seconds", http("a_seconds", &[])),
            ("http://h:9100/metrics#a_bucket{b=\"c\"}", http("a", &[("b", "c")])),
            ("output", output(None)),
            ("output:redis-benchmark", output(Some(LoadGenerator::RedisBenchmark))),
            ("regex:took (.*)", LatencySpec::Matches { pattern: "took (.*)".into(), unit: None }),
            ("regex-ms:([0-9]+)", LatencySpec::Matches { pattern: "([0-9]+)".into(), unit: ms }),
            ("file:a:b", LatencySpec::File { path: "a:b".into(), unit: None }),
            ("file-ms:a.hgrm", LatencySpec::File { path: "a.hgrm".into(), unit: ms }),
            ("page:app", LatencySpec::Page { name: "app".into() }),
        ] {
            assert_eq!(parse_latency(text).unwrap(), expected, "{text}");
        }
        for (text, says) in [
            ("uprobe:/bin/a", "no binary and function"),
            ("usdt:/bin/a:one", "two probes"),
            ("usdt:/bin/a:one..", "two probes"),
            ("http://h/metrics", "--latency 'http://h/metrics' names no metric"),
            ("https://h/metrics#a", "over https"),
            ("output:ab", "no load generator"),
            ("regex:(", "pattern of --latency"),
            ("regex-min:x", "no unit ('min')"),
            ("file:", "names no file"),
            ("page:a/b", "--latency 'page:a/b' names no page"),
            ("rate:5", "no known form"),
            ("x", "no form"),
        ] {
            let error = parse_latency(text).unwrap_err();
            assert!(error.to_string().contains(says) && error.remedy().is_some(), "{error:?}");
        }
    }
}
