//! Facts of this machine for the recording.
use crate::model::HostFacts;
/// x
pub fn facts() -> HostFacts {
    HostFacts::default()
}
/// x
pub fn online_cpus() -> Vec<u32> {
    vec![0, 1]
}
/// x
pub fn max_sample_rate() -> Option<u64> {
    None
}
