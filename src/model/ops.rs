//! How a program's operations are counted: the validated form of `--ops SPEC`. `ops` and `collect` do the counting.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A source of operations. Every source yields a total that only grows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OpsSpec {
    /// Numbers in the output of the started command. The output is passed through.
    Output {
        /// A regular expression; its first capture group (or all of it) is the number.
        pattern: String,
        /// The meaning of the number.
        reads: NumberKind,
    },
    /// Calls of a function, counted by the kernel.
    Uprobe {
        /// The program or library.
        binary: PathBuf,
        /// The function's symbol, as in the symbol table.
        symbol: String,
    },
    /// Hits of a probe that the program's author placed in it, counted by the kernel.
    Usdt {
        /// The program or library.
        binary: PathBuf,
        /// Who defined the probe, where several have one of this name.
        provider: Option<String>,
        /// Its name; a hyphen stands for two underscores, as in DTrace.
        name: String,
    },
    /// Hits of a kernel tracepoint by the target.
    Tracepoint {
        /// Category, e.g. `syscalls`.
        category: String,
        /// Name, e.g. `sys_enter_sendto`.
        name: String,
    },
    /// A counter that a server exports as Prometheus text.
    Http {
        /// `host:port`.
        authority: String,
        /// Path and query, beginning with a slash.
        path: String,
        /// The metric's name. Series of this name with matching labels are summed.
        metric: String,
        /// Labels that a series must have.
        labels: Vec<(String, String)>,
    },
    /// A file that contains a total, polled.
    File {
        /// Its path.
        path: PathBuf,
    },
    /// A shared page in which the program counts with `native/ironlaw.h`.
    Page {
        /// Its name.
        name: String,
    },
    /// A constant rate given by the user, for as long as the target runs.
    Rate {
        /// Operations per second.
        per_second: f64,
    },
}

/// The meaning of a number in a command's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NumberKind {
    /// The total so far.
    Total,
    /// Operations since the previous number.
    Sum,
    /// Operations per second since the previous number.
    Rate,
}

impl OpsSpec {
    /// As `--ops` takes it.
    #[must_use]
    pub fn written(&self) -> String {
        match self {
            OpsSpec::Output { pattern, reads: NumberKind::Total } => format!("regex:{pattern}"),
            OpsSpec::Output { pattern, reads: NumberKind::Sum } => format!("regex-sum:{pattern}"),
            OpsSpec::Output { pattern, reads: NumberKind::Rate } => format!("regex-rate:{pattern}"),
            OpsSpec::Uprobe { binary, symbol } => format!("uprobe:{}:{symbol}", binary.display()),
            OpsSpec::Usdt { binary, provider: None, name } => format!("usdt:{}:{name}", binary.display()),
            OpsSpec::Usdt { binary, provider: Some(by), name } => format!("usdt:{}:{by}:{name}", binary.display()),
            OpsSpec::Tracepoint { category, name } => format!("tracepoint:{category}:{name}"),
            OpsSpec::Http { authority, path, metric, labels } => {
                let escaped = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
                let labels: Vec<_> =
                    labels.iter().map(|(key, value)| format!("{key}=\"{}\"", escaped(value))).collect();
                let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
                format!("http://{authority}{path}#{metric}{labels}")
            }
            OpsSpec::File { path } => format!("file:{}", path.display()),
            OpsSpec::Page { name } => format!("page:{name}"),
            OpsSpec::Rate { per_second } => format!("rate:{per_second}"),
        }
    }

    /// A short label for headers: `calls of do_work in /opt/server`, `requests_total at http://host:9090/metrics`.
    #[must_use]
    pub fn label(&self) -> String {
        match self {
            OpsSpec::Output { pattern, reads } => format!("{} in the output by /{pattern}/", reads.word()),
            OpsSpec::Uprobe { binary, symbol } => format!("calls of {symbol} in {}", binary.display()),
            OpsSpec::Usdt { binary, provider, name } => {
                let provider = provider.as_ref().map(|provider| format!("{provider}:")).unwrap_or_default();
                format!("probe {provider}{name} in {}", binary.display())
            }
            OpsSpec::Tracepoint { category, name } => format!("tracepoint {category}:{name}"),
            OpsSpec::Http { authority, path, metric, labels } => {
                let labels: Vec<_> = labels.iter().map(|(key, value)| format!("{key}=\"{value}\"")).collect();
                let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
                format!("{metric}{labels} at http://{authority}{path}")
            }
            OpsSpec::File { path } => format!("the total in {}", path.display()),
            OpsSpec::Page { name } => format!("shared page {name}"),
            OpsSpec::Rate { per_second } => format!("{per_second} per second, as given"),
        }
    }
}

impl NumberKind {
    fn word(self) -> &'static str {
        match self {
            NumberKind::Total => "totals",
            NumberKind::Sum => "counts",
            NumberKind::Rate => "rates",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_says_in_a_few_words_what_it_counts() {
        let http = |labels| OpsSpec::Http {
            authority: "db:9090".to_string(),
            path: "/metrics".to_string(),
            metric: "ops".to_string(),
            labels,
        };
        for (spec, expected) in [
            (http(vec![]), "ops at http://db:9090/metrics"),
            (
                http(vec![("op".into(), "get".into()), ("x".into(), "1".into())]),
                "ops{op=\"get\",x=\"1\"} at http://db:9090/metrics",
            ),
            (
                OpsSpec::Output { pattern: "ops=(\\d+)".into(), reads: NumberKind::Rate },
                "rates in the output by /ops=(\\d+)/",
            ),
            (OpsSpec::Uprobe { binary: "/opt/s".into(), symbol: "work".into() }, "calls of work in /opt/s"),
            (
                OpsSpec::Usdt { binary: "/opt/s".into(), provider: Some("db".into()), name: "query__start".into() },
                "probe db:query__start in /opt/s",
            ),
            (OpsSpec::Rate { per_second: 250.0 }, "250 per second, as given"),
        ] {
            assert_eq!(spec.label(), expected);
        }
    }
}
