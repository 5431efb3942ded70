//! How a program's operations are counted: the checked form of `--ops SPEC`.
//! It never counts; `ops` and `collect` do.

use serde::{Deserialize, Serialize};
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
