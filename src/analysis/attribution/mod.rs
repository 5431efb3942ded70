//! Compares a session with its baseline, window by window: what is unusual, whether that is an alarm, which part of the
//! iron law it is in, and which neighbours moved with it. Neighbours are reported as correlated, not as causes.

mod alarm_criteria;
mod assess;
mod assessor;
mod collapse;
mod cpu_placement;
mod explain;
mod explanation;
mod functions;
mod headline;
mod observe;
mod pooled;
mod reference;
mod score;
mod suspects;
mod types;
mod unusual;
mod window_summary;
mod window_verdict;
mod words;

pub use assess::{assess, assess_until};
pub use assessor::Assessor;
pub use functions::function_shift;
pub use observe::observe;
pub use types::{
    Alarm, Assessment, Cause, CauseLocation, Diagnosis, Evidence, NoAlarm, QuantityDeviation, Settings, Suspect,
    UnusualPeriod, WindowResult, WindowState,
};

#[cfg(test)]
mod tests;
