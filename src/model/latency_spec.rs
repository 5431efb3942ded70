//! How the latency of operations is measured: the validated form of `--latency SPEC`. `collect` and `ops` do the measuring.

use super::LoadGenerator;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A source of latencies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LatencySpec {
    /// Calls of a function, from its entry to its return in the same thread, measured in the kernel.
    Calls {
        /// The program or library.
        binary: PathBuf,
        /// The function's symbol, as in the symbol table.
        symbol: String,
    },
    /// From one probe that the program's author placed in it to another in the same thread, measured in the kernel.
    Probes {
        /// The program or library.
        binary: PathBuf,
        /// Who defined the probes, where several have probes of these names.
        provider: Option<String>,
        /// The probe at the beginning of an operation.
        begin: String,
        /// The one at its end.
        end: String,
    },
    /// A histogram that a server exports as Prometheus text.
    Http {
        /// `host:port`.
        authority: String,
        /// Path and query, beginning with a slash.
        path: String,
        /// The histogram's name without `_bucket`. Its series with matching labels are added up.
        histogram: String,
        /// Labels that a series must have.
        labels: Vec<(String, String)>,
    },
    /// What a load generator prints. The output is passed through.
    Output {
        /// Which one; `None`: by the name of the program.
        generator: Option<LoadGenerator>,
    },
    /// Latencies in the output of a command, one for each operation. The output is passed through.
    Matches {
        /// A regular expression; its first capture group (or all of it) is the latency.
        pattern: String,
        /// The unit of a number that is printed without one; `None`: such numbers do not count.
        unit: Option<TimeUnit>,
    },
    /// A file of latencies that a load generator writes.
    File {
        /// Its path, or the path before `.NUMBER` of several.
        path: PathBuf,
        /// The unit of numbers without one, in formats that do not state it.
        unit: Option<TimeUnit>,
    },
    /// A shared page in which the program counts latencies with `native/ironlaw.h`.
    Page {
        /// Its name.
        name: String,
    },
}

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TimeUnit {
    /// Nanoseconds.
    #[serde(rename = "ns")]
    Nanoseconds,
    /// Microseconds.
    #[serde(rename = "us")]
    Microseconds,
    /// Milliseconds.
    #[serde(rename = "ms")]
    Milliseconds,
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
}

impl TimeUnit {
    /// Nanoseconds in it.
    #[must_use]
    pub fn ns(self) -> f64 {
        match self {
            TimeUnit::Nanoseconds => 1.0,
            TimeUnit::Microseconds => 1e3,
            TimeUnit::Milliseconds => 1e6,
            TimeUnit::Seconds => 1e9,
        }
    }

    /// The unit of that symbol: `ns`, `us`, `ms` or `s`.
    #[must_use]
    pub fn of_symbol(symbol: &str) -> Option<TimeUnit> {
        match symbol {
            "ns" => Some(TimeUnit::Nanoseconds),
            "us" => Some(TimeUnit::Microseconds),
            "ms" => Some(TimeUnit::Milliseconds),
            "s" => Some(TimeUnit::Seconds),
            _ => None,
        }
    }
}

impl LatencySpec {
    /// Whether the kernel measures each operation, so that the waits and neighbours behind slow ones can be told.
    #[must_use]
    pub fn is_in_kernel(&self) -> bool {
        matches!(self, LatencySpec::Calls { .. } | LatencySpec::Probes { .. })
    }

    /// Whether the output of a started command is read.
    #[must_use]
    pub fn reads_output(&self) -> bool {
        matches!(self, LatencySpec::Output { .. } | LatencySpec::Matches { .. })
    }

    /// A short label for headers: `calls of handle in /opt/server`.
    #[must_use]
    pub fn label(&self) -> String {
        match self {
            LatencySpec::Calls { binary, symbol } => format!("calls of {symbol} in {}", binary.display()),
            LatencySpec::Probes { binary, provider, begin, end } => {
                let provider = provider.as_ref().map(|provider| format!("{provider}:")).unwrap_or_default();
                format!("{provider}{begin} to {end} in {}", binary.display())
            }
            LatencySpec::Http { authority, path, histogram, labels } => {
                let labels: Vec<_> = labels.iter().map(|(key, value)| format!("{key}=\"{value}\"")).collect();
                let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
                format!("histogram {histogram}{labels} at http://{authority}{path}")
            }
            LatencySpec::Output { generator: Some(generator) } => format!("output of {}", generator.name()),
            LatencySpec::Output { generator: None } => "output of the load generator".to_string(),
            LatencySpec::Matches { pattern, .. } => format!("latencies in the output by /{pattern}/"),
            LatencySpec::File { path, .. } => format!("latencies in {}", path.display()),
            LatencySpec::Page { name } => format!("shared page {name}"),
        }
    }
}
