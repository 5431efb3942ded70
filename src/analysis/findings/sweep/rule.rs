//! What a rule over a sweep is.

use super::context::WidthContext;
use super::limits;
use crate::analysis::finding::{Evidence, Finding};
use crate::analysis::findings::code_path::CodeClass;
use crate::model::{Unit, Why};

/// What a rule's share counts towards beyond the code it explains, so that no core is lost twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CostKind {
    /// Waits that no other rule claims.
    Wait,
    /// Workers without work.
    Idle,
    /// CPU time with slower cycles.
    Clock,
    /// Time on a CPU while the virtual machine did not run. Only kernels that know of it leave it out of CPU time.
    Stolen,
    /// More CPU time per operation.
    Cpu,
    /// Slower instructions: several reasons may explain the same cycles.
    Cpi,
    /// The remainder of the CPU time per operation.
    Rest,
}

/// One rule.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    pub id: &'static str,
    pub title: &'static str,
    pub kind: CostKind,
    /// The code whose growth its findings explain, unless an earlier rule does.
    pub explains: &'static [CodeClass],
    /// Returns the finding, nothing, or why the rule cannot decide.
    pub evaluate: fn(&WidthContext<'_>) -> Result<Option<Finding>, Why>,
}

impl Rule {
    /// Whether its findings are only as good as the samples.
    pub fn uses_samples(&self) -> bool {
        match self.kind {
            CostKind::Cpu | CostKind::Cpi | CostKind::Rest => true,
            CostKind::Wait => !self.explains.is_empty(),
            // Threads and their off-CPU time are counted, not sampled.
            CostKind::Idle | CostKind::Clock | CostKind::Stolen => false,
        }
    }
}

/// The share of the lost cores that a finding explains, with the share from which it is reported.
pub(super) fn lost_cores(share: f64) -> Evidence {
    Evidence::of("of the lost cores", share, Unit::Share, limits::FACTOR)
}
