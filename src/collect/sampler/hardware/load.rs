//! A moment of work that no counter of everyday events can miss: instructions, branches, loads, stores, cache misses.
//! It never measures anything itself.

use std::hint::black_box;

/// More than any first-level data cache holds: its loads miss there.
const BYTES: usize = 1 << 20;
const LINE: usize = 64;
/// Some 100 us together.
const LOADS: u64 = 8_000;
const STEPS: u64 = 50_000;

/// Memory to walk over.
#[derive(Debug)]
pub(super) struct Load {
    memory: Vec<u8>,
}

impl Load {
    pub fn new() -> Load {
        Load { memory: vec![1; BYTES] }
    }

    /// Runs: a scattered walk, each step of which depends on the one before, so that nothing is fetched ahead; then a loop.
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
