//! How a program's operations are counted: the checked form of `--ops SPEC`.
//! It never counts; `ops` and `collect` do.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// A source of operations. Whatever it is, it yields a total that only grows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OpsSpec {
    /// Numbers in what the started command prints, which is passed through.
    Output {
        /// A regular expression; its first capture group (or all of it) is the number.
        pattern: String,
        /// What the number is.
        reads: Reads,
    },
    /// Calls of a function, counted by the kernel.
    Uprobe {
        /// The program or library.
        binary: PathBuf,
        /// The function's symbol, as in the symbol table.
        symbol: String,
    },
    /// A kernel tracepoint's hits by the target.
    Tracepoint {
        /// Category, e.g. `syscalls`.
        category: String,
        /// Name, e.g. `sys_enter_sendto`.
        name: String,
    },
    /// A counter that a server offers as Prometheus text.
    Http {
        /// `host:port`.
        authority: String,
        /// Path and query, beginning with a slash.
        path: String,
        /// The metric's name; series of the same name and fitting labels are added up.
        metric: String,
        /// Labels that a series must bear.
        labels: Vec<(String, String)>,
    },
    /// A file that holds a total, read again and again.
    File {
        /// Its path.
        path: PathBuf,
    },
    /// A shared page that the program counts in with `native/ironlaw.h`.
    Page {
        /// Its name.
        name: String,
    },
    /// A rate the user knows: so many operations per second as long as the target runs.
    Rate {
        /// Operations per second.
        per_second: f64,
    },
}

/// What a number in a command's output is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reads {
    /// A total so far.
    Total,
    /// Operations since the number before.
    Sum,
    /// Operations per second since the number before.
    Rate,
}

/// As it is typed.
impl fmt::Display for OpsSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpsSpec::Output { pattern, reads: Reads::Total } => write!(f, "regex:{pattern}"),
            OpsSpec::Output { pattern, reads: Reads::Sum } => write!(f, "regex-sum:{pattern}"),
            OpsSpec::Output { pattern, reads: Reads::Rate } => write!(f, "regex-rate:{pattern}"),
            OpsSpec::Uprobe { binary, symbol } => write!(f, "uprobe:{}:{symbol}", binary.display()),
            OpsSpec::Tracepoint { category, name } => write!(f, "tracepoint:{category}:{name}"),
            OpsSpec::Http { authority, path, metric, labels } => {
                write!(f, "http://{authority}{path}#{metric}")?;
                for (at, (name, value)) in labels.iter().enumerate() {
                    let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
                    write!(f, "{}{name}=\"{value}\"", if at == 0 { "{" } else { "," })?;
                }
                f.write_str(if labels.is_empty() { "" } else { "}" })
            }
            OpsSpec::File { path } => write!(f, "file:{}", path.display()),
            OpsSpec::Page { name } => write!(f, "page:{name}"),
            OpsSpec::Rate { per_second } => write!(f, "rate:{per_second}"),
        }
    }
}
