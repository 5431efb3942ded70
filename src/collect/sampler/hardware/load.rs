//! A short workload that common events must count: instructions, branches, loads, stores, cache misses.

use std::hint::black_box;

/// Larger than any first-level data cache, so its loads miss there.
const BYTES: usize = 1 << 20;
const LINE: usize = 64;
/// Some 100 us in total.
const LOADS: u64 = 8_000;
const STEPS: u64 = 50_000;

/// The memory to walk.
#[derive(Debug)]
pub(super) struct Load {
    memory: Vec<u8>,
}

impl Load {
    pub fn new() -> Load {
        Load { memory: vec![1; BYTES] }
    }

    /// Runs a scattered walk, then a loop. Each step of the walk depends on the previous one: nothing is prefetched.
    pub fn run(&mut self) {
        let lines = (self.memory.len() / LINE) as u64;
        let mut place = 1_u64;
        for step in 0..LOADS {
            place = place.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(step | 1);
            let at = ((place >> 33) % lines) as usize * LINE;
            place = place.wrapping_add(u64::from(self.memory[at]));
            self.memory[at] = self.memory[at].wrapping_add(2);
        }
        black_box((0..STEPS).fold(place, |sum, step| black_box(sum ^ step)));
    }
}
