//! How strict an assessment is. The defaults are CPI2's where it has them.
//! It never depends on the target: what is usual of that is the baseline's to say.

/// How strict an assessment is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// An alarm needs so many unusual windows ...
    pub k: usize,
    /// ... among so many judged ones.
    pub n: usize,
    /// A window in which the target wanted less CPU than this says nothing.
    pub least_cores: f64,
    /// Half the width of the usual band, in usual deviations.
    pub sigmas: f64,
    /// Least growth of an operation's CPU time that matters, whatever its significance.
    pub least_cost: f64,
    /// Least growth of an operation's time through waits that matters.
    pub least_wait: f64,
    /// How probable an alarm may be in a window in which nothing happens. It is asked in every window: ten minutes of seconds
    /// ask six hundred times.
    pub false_alarm: f64,
    /// The share of wrong ones allowed among the quantities said to have moved.
    pub false_discovery: f64,
    /// CPI2's score from which on a neighbour is above the threshold.
    pub threshold: f64,
    /// The windows a neighbour's use is correlated over; ten minutes of seconds.
    pub correlation_windows: usize,
    /// A neighbour that used fewer CPUs than this while the target was slow is no suspect.
    pub least_neighbour: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            k: 3,
            n: 5,
            least_cores: 0.25,
            sigmas: 3.0,
            least_cost: 0.05,
            least_wait: 0.10,
            false_alarm: 1e-6,
            false_discovery: 0.05,
            threshold: 0.35,
            correlation_windows: 600,
            least_neighbour: 0.05,
        }
    }
}
