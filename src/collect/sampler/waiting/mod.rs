//! Samples blocked threads repeatedly, for a user to whom the kernel provides no stacks of switches. This runs on its
//! own thread at a bounded cost. The samples go to the drain thread, which checks them against the switch records.

mod wait_sample;
mod wait_sampler;

pub use wait_sample::WaitSample;
pub use wait_sampler::WaitSampler;

use super::proc_source::ProcSource;
use crate::model::Note;

/// The note that this user may not read what blocked threads wait for.
pub fn causes_hidden() -> Note {
    Note {
        topic: "wait-causes-hidden".to_string(),
        text: "What blocked threads wait for could not be read from /proc: only how long they were blocked is known."
            .to_string(),
        fix: Some("sudo sysctl kernel.yama.ptrace_scope=0, or start the program with ironlaw".to_string()),
    }
}

/// Stack bytes of a thread that is looked at once: a stack that is not read to its end breaks where code keeps frame
/// pointers, which are not known of a blocked thread.
const WHOLE_STACK: usize = 64 << 10;

/// What a thread waits in right now; `None` if it runs, has ended or may not be read.
pub fn look(tid: u32, stacks: bool, proc: &mut impl ProcSource) -> Option<WaitSample> {
    match wait_sample::look(tid, if stacks { WHOLE_STACK } else { 0 }, &mut wait_sample::Asking(tid, proc)) {
        wait_sample::ThreadState::Blocked(sample) => Some(sample),
        _ => None,
    }
}
