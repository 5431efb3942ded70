//! The metrics that hardware counters give: name, formula by roles, bounds and what they mean, in one table.
//! It never knows which CPU has which event: the first formula all of whose roles are counted is the one that holds.

/// What one of a metric's numbers is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    /// Part of a whole, 0 to 1.
    Share,
    /// A plain ratio.
    Ratio,
    /// Events per thousand instructions.
    PerKilo,
    /// Nanoseconds.
    Nanos,
    /// Bytes per second of the window.
    BytesPerSecond,
}

/// A metric formed from hardware counters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HardwareMetric {
    /// Its stable name, e.g. `llc_mpki`.
    pub name: &'static str,
    /// A few words for people.
    pub label: &'static str,
    /// What its numbers are.
    pub kind: MetricKind,
    /// Formulas over roles, best first ([`super::Formula`]); `task-clock` (nanoseconds) and `wall` (nanoseconds) may stand
    /// in them too.
    pub formulas: &'static [&'static str],
    /// No sound value lies outside.
    pub bounds: (f64, f64),
    /// Above this it is worth a look; from the vendor where it publishes one.
    pub threshold: Option<f64>,
    /// One sentence: what it says, and what it does not.
    pub about: &'static str,
}

/// Every metric, most telling first.
pub const HARDWARE_METRICS: &[HardwareMetric] = &[
    HardwareMetric {
        name: "llc_mpki",
        label: "LLC misses per 1000 instr",
        kind: MetricKind::PerKilo,
        formulas: &["1000 * llc-miss / instructions"],
        bounds: (0.0, 1000.0),
        threshold: None,
        about: "Misses of the last-level cache, prefetches by it left out.",
    },
    HardwareMetric {
        name: "page_walk_share",
        label: "page walks",
        kind: MetricKind::Share,
        formulas: &["(dtlb-load-walk-active + dtlb-store-walk-active + itlb-walk-active) / cycles"],
        bounds: (0.0, 3.0),
        threshold: Some(0.1),
        about: "Cycles in which a page walk was under way: an upper bound of what walks cost, as they overlap with work.",
    },
];
