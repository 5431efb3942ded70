//! How the latency of operations is measured: the validated form of `--latency SPEC`. `collect` does the measuring.

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
}

impl LatencySpec {
    /// A short label for headers: `calls of handle in /opt/server`.
    #[must_use]
    pub fn label(&self) -> String {
        match self {
            LatencySpec::Calls { binary, symbol } => format!("calls of {symbol} in {}", binary.display()),
            LatencySpec::Probes { binary, provider, begin, end } => {
                let provider = provider.as_ref().map(|provider| format!("{provider}:")).unwrap_or_default();
                format!("{provider}{begin} to {end} in {}", binary.display())
            }
        }
    }
}
