//! Parses `--latency SPEC` as typed into a [`LatencySpec`]. Whether the named source exists shows when it is opened.

use super::spec::{binary_and_symbol, usdt};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{LatencySpec, OpsSpec};
use std::path::PathBuf;

/// All forms, for error messages.
const FORMS: &str = "The forms are: uprobe:BINARY:SYMBOL, usdt:BINARY:[PROVIDER:]BEGIN..END.";

/// Parses a specification.
///
/// # Errors
/// `Usage`, with the list of forms, or with what is wrong about this one.
pub fn parse_latency(text: &str) -> Result<LatencySpec> {
    let (form, rest) = text.split_once(':').ok_or_else(|| wrong(text, "has no form").hint(FORMS))?;
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
        _ => Err(wrong(text, &format!("begins with no known form ('{form}')")).hint(FORMS)),
    }
}

fn wrong(text: &str, what: &str) -> Error {
    Error::new(ErrorKind::Usage, format!("--latency '{text}' {what}"))
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
        for (text, says) in [
            ("uprobe:/bin/a", "no binary and function"),
            ("usdt:/bin/a:one", "two probes"),
            ("usdt:/bin/a:one..", "two probes"),
            ("http://h#a", "no known form"),
            ("rate:5", "no known form"),
            ("x", "no form"),
        ] {
            let error = parse_latency(text).unwrap_err();
            assert!(error.to_string().contains(says) && error.remedy().is_some(), "{error:?}");
        }
    }
}
