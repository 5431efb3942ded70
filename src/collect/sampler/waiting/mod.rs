//! Samples blocked threads repeatedly, for a user to whom the kernel provides no stacks of switches. This runs on its
//! own thread at a bounded cost. The samples go to the drain thread, which checks them against the switch records.

mod wait_sample;
mod wait_sampler;

pub use wait_sample::WaitSample;
pub use wait_sampler::WaitSampler;

/// What a thread waits in right now; `None` if it runs, has ended or may not be read.
pub fn look(tid: u32, stacks: bool) -> Option<WaitSample> {
    match wait_sample::WaitFiles::new(tid, false).look(stacks) {
        wait_sample::ThreadState::Blocked(sample) => Some(sample),
        _ => None,
    }
}
