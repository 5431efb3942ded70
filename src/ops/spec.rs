//! Parses `--ops SPEC` as typed into an [`OpsSpec`]. Whether the named source exists shows at the first reading.

use super::output::pattern;
use super::prometheus::quoted;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{NumberKind, OpsSpec};
use std::path::PathBuf;

/// All forms, for error messages.
const FORMS: &str = "The forms are: regex:PATTERN, regex-sum:PATTERN, regex-rate:PATTERN, uprobe:BINARY:SYMBOL, \
    usdt:BINARY:PROBE, tracepoint:CATEGORY:NAME, http://HOST[:PORT]/PATH#METRIC{LABEL=\"VALUE\"}, file:PATH, page:NAME, rate:N.";

/// Parses a specification.
///
/// # Errors
/// `Usage`, with the list of forms, or with what is wrong about this one.
pub fn parse(text: &str) -> Result<OpsSpec> {
    let (form, rest) = text.split_once(':').ok_or_else(|| wrong(text, "has no form").hint(FORMS))?;
    match form {
        "regex" => output(rest, NumberKind::Total),
        "regex-sum" => output(rest, NumberKind::Sum),
        "regex-rate" => output(rest, NumberKind::Rate),
        "uprobe" => {
            let (binary, symbol) = binary_and_symbol(rest).ok_or_else(|| {
                wrong(text, "names no binary and function").hint("Write e.g. uprobe:/usr/bin/app:handle_request.")
            })?;
            Ok(OpsSpec::Uprobe { binary: PathBuf::from(binary), symbol: symbol.to_string() })
        }
        "usdt" => usdt(rest).ok_or_else(|| {
            wrong(text, "names no binary and probe").hint(
                "Write e.g. usdt:/usr/sbin/mariadbd:query__start; `ironlaw list usdt FILE` lists a file's probes.",
            )
        }),
        "tracepoint" => {
            let (category, name) = pair(rest, rest.find(':')).ok_or_else(|| {
                wrong(text, "names no tracepoint").hint("Write e.g. tracepoint:syscalls:sys_enter_sendto.")
            })?;
            Ok(OpsSpec::Tracepoint { category: category.to_string(), name: name.to_string() })
        }
        "http" => http(text, rest),
        "https" => Err(Error::new(ErrorKind::Usage, "operations are not read over https")
            .hint("Point --ops at the exporter itself on this machine: http://localhost:PORT/metrics#METRIC.")),
        "file" if rest.is_empty() => Err(wrong(text, "names no file").hint("Write e.g. file:/run/app/requests.")),
        "file" => Ok(OpsSpec::File { path: PathBuf::from(rest) }),
        "page" => page(text, rest),
        "rate" => match rest.parse::<f64>() {
            Ok(per_second) if per_second.is_finite() && per_second > 0.0 => Ok(OpsSpec::Rate { per_second }),
            _ => Err(wrong(text, "names no rate above 0").hint("Write operations per second, e.g. rate:5000.")),
        },
        _ => Err(wrong(text, &format!("begins with no known form ('{form}')")).hint(FORMS)),
    }
}

fn wrong(text: &str, what: &str) -> Error {
    Error::new(ErrorKind::Usage, format!("--ops '{text}' {what}"))
}

fn pair(text: &str, colon: Option<usize>) -> Option<(&str, &str)> {
    let (first, second) = (text.get(..colon?)?, text.get(colon? + 1..)?);
    (!first.is_empty() && !second.is_empty()).then_some((first, second))
}

/// `BINARY:PROBE` or `BINARY:PROVIDER:PROBE`. A path may contain colons, a provider no slash.
pub(super) fn usdt(text: &str) -> Option<OpsSpec> {
    let (rest, name) = pair(text, text.rfind(':'))?;
    let (binary, provider) = match pair(rest, rest.rfind(':')).filter(|(_, provider)| !provider.contains('/')) {
        Some((binary, provider)) => (binary, Some(provider.to_string())),
        None => (rest, None),
    };
    Some(OpsSpec::Usdt { binary: PathBuf::from(binary), provider, name: name.to_string() })
}

/// `BINARY:SYMBOL`.
pub(super) fn binary_and_symbol(text: &str) -> Option<(&str, &str)> {
    pair(text, last_single_colon(text))
}

/// Names of C++ and Rust contain colons in pairs, and a path may contain one.
fn last_single_colon(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let colon = |at: usize| bytes.get(at) == Some(&b':');
    (0..bytes.len()).rev().find(|at| colon(*at) && !colon(at + 1) && !(*at > 0 && colon(at - 1)))
}

fn output(text: &str, reads: NumberKind) -> Result<OpsSpec> {
    pattern("--ops", text)?;
    Ok(OpsSpec::Output { pattern: text.to_string(), reads })
}

fn page(text: &str, name: &str) -> Result<OpsSpec> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
        return Err(wrong(text, "names no page")
            .hint("Write the name the program gave to ironlaw_open: letters, digits, '.', '_' and '-', at most 64."));
    }
    Ok(OpsSpec::Page { name: name.to_string() })
}

pub(super) fn http(text: &str, rest: &str) -> Result<OpsSpec> {
    let example = "Write e.g. 'http://localhost:9100/metrics#requests_total{method=\"GET\"}'; quote it for the shell.";
    let wrong = |what: &str| wrong(text, what).hint(example);
    let address = rest.strip_prefix("//").ok_or_else(|| wrong("is not an address"))?;
    let (address, metric) = address.split_once('#').ok_or_else(|| wrong("names no metric after '#'"))?;
    let (host, path) = address.find('/').map_or((address, "/metrics"), |slash| address.split_at(slash));
    let printable = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
    if host.contains('@') || !printable(host) || !printable(path) {
        return Err(wrong("has an invalid host or path"));
    }
    let authority = with_port(host).ok_or_else(|| wrong("has no host, or no port from 1 to 65535"))?;
    let (metric, labels) = selector(metric).ok_or_else(|| wrong("names no valid metric"))?;
    Ok(OpsSpec::Http { authority, path: path.to_string(), metric, labels })
}

/// `host`, `host:port`, `[::1]:port`; HTTP's default port if none is given.
fn with_port(host: &str) -> Option<String> {
    let end_of_name = host.rfind(']').map_or(0, |bracket| bracket + 1);
    let (name, port) = match host[end_of_name..].find(':') {
        Some(colon) => (&host[..end_of_name + colon], host[end_of_name + colon + 1..].parse().ok()?),
        None => (host, 80_u16),
    };
    (!name.is_empty() && port > 0).then(|| format!("{name}:{port}"))
}

/// `metric` or `metric{label="value",...}`.
fn selector(text: &str) -> Option<(String, Vec<(String, String)>)> {
    let (metric, braces) = text.split_at(text.find('{').unwrap_or(text.len()));
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ':' | '.');
    if metric.is_empty() || !metric.chars().all(plain) {
        return None;
    }
    let mut labels = Vec::new();
    if !braces.is_empty() {
        let mut rest = braces.strip_prefix('{')?.strip_suffix('}')?.trim();
        while !rest.is_empty() {
            let (name, after) = rest.split_once('=')?;
            let (value, length) = quoted(after)?;
            labels.push((name.trim().to_string(), value));
            rest = after[length..].trim_start();
            rest = if rest.is_empty() { rest } else { rest.strip_prefix(',')?.trim_start() };
        }
    }
    Some((metric.to_string(), labels))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn http_spec(authority: &str, path: &str, metric: &str, labels: &[(&str, &str)]) -> OpsSpec {
        let labels = labels.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string())).collect();
        OpsSpec::Http { authority: authority.into(), path: path.into(), metric: metric.into(), labels }
    }

    #[test]
    fn every_form_is_read() {
        let usdt = |binary: &str, provider: Option<&str>, name: &str| OpsSpec::Usdt {
            binary: binary.into(),
            provider: provider.map(Into::into),
            name: name.into(),
        };
        let output = |pattern: &str, reads| OpsSpec::Output { pattern: pattern.into(), reads };
        for (text, expected) in [
            ("regex:ops ([0-9]+)", output("ops ([0-9]+)", NumberKind::Total)),
            ("regex-sum:done: (\\d+)", output("done: (\\d+)", NumberKind::Sum)),
            ("regex-rate:.", output(".", NumberKind::Rate)),
            ("uprobe:/opt/a:b/app:f", OpsSpec::Uprobe { binary: "/opt/a:b/app".into(), symbol: "f".into() }),
            ("uprobe:db:ns::A::get", OpsSpec::Uprobe { binary: "db".into(), symbol: "ns::A::get".into() }),
            ("usdt:db:query-start", usdt("db", None, "query-start")),
            ("usdt:/opt/a:b/db:query__start", usdt("/opt/a:b/db", None, "query__start")),
            ("usdt:/opt/db:sql:query__start", usdt("/opt/db", Some("sql"), "query__start")),
            (
                "tracepoint:syscalls:sys_enter_read",
                OpsSpec::Tracepoint { category: "syscalls".into(), name: "sys_enter_read".into() },
            ),
            ("file:/run/x", OpsSpec::File { path: "/run/x".into() }),
            ("page:app-1", OpsSpec::Page { name: "app-1".into() }),
            ("rate:2.5", OpsSpec::Rate { per_second: 2.5 }),
            ("http://a:9/m?x=1#n", http_spec("a:9", "/m?x=1", "n", &[])),
            ("http://[::1]:9/#n{a=\"b\",c=\"d\\\"e\"}", http_spec("[::1]:9", "/", "n", &[("a", "b"), ("c", "d\"e")])),
        ] {
            assert_eq!(parse(text).unwrap(), expected, "{text}");
            assert_eq!(parse(&expected.written()).unwrap(), expected, "{text} is written as {}", expected.written());
        }
        assert_eq!(parse("http://host#n{}").unwrap(), http_spec("host:80", "/metrics", "n", &[]));
        assert_eq!(parse("http://[::1]/x#n{ a=\"b\" , }").unwrap(), http_spec("[::1]:80", "/x", "n", &[("a", "b")]));
    }

    #[test]
    fn what_cannot_be_read_says_what_could() {
        for (text, message, hint) in [
            ("", "has no form", "regex:PATTERN"),
            ("requests", "has no form", "page:NAME"),
            ("kafka:x", "no known form ('kafka')", "rate:N"),
            ("regex:ops (", "unclosed group", "parenthes"),
            ("regex:", "empty", "regex:"),
            ("regex-sum:[", "unclosed", ""),
            ("uprobe:app", "binary and function", "handle_request"),
            ("uprobe:app:", "binary and function", "handle_request"),
            ("usdt:app", "binary and probe", "list usdt"),
            ("usdt::x", "binary and probe", "list usdt"),
            ("usdt:app:", "binary and probe", "list usdt"),
            ("tracepoint:x", "no tracepoint", "sys_enter_sendto"),
            ("https://x/metrics#n", "https", "http://localhost"),
            ("http:/x#n", "not an address", "quote it"),
            ("http://x/metrics", "no metric after '#'", "quote it"),
            ("http:///metrics#n", "no host", ""),
            ("http://x:99999/#n", "no port", ""),
            ("http://me@x/#n", "host or path", ""),
            ("http://x/a b#n", "host or path", ""),
            ("http://x/#n{a=b}", "no valid metric", ""),
            ("http://x/#n{a=\"b\"", "no valid metric", ""),
            ("http://x/#", "no valid metric", ""),
            ("file:", "no file", ""),
            ("page:../x", "no page", "letters"),
            ("page:", "no page", "letters"),
            ("rate:0", "no rate", "rate:5000"),
            ("rate:-1", "no rate", ""),
            ("rate:inf", "no rate", ""),
            ("rate:x", "no rate", ""),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage, "{text}");
            assert!(error.to_string().contains(message), "{text}: {error}");
            assert!(error.remedy().unwrap_or_default().contains(hint), "{text}: {:?}", error.remedy());
        }
    }
}
