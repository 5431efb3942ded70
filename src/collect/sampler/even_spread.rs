//! Numbers from 0 to 1 that spread evenly, with no period that a program could share: multiples of the golden ratio.

/// The golden ratio as a fraction of 2^64.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A sequence of such numbers; its last one as a fraction of 2^64.
#[derive(Debug, Clone, Copy, Default)]
pub struct EvenSpread(u64);

impl EvenSpread {
    /// One that begins elsewhere for each seed.
    pub fn of(seed: u64) -> EvenSpread {
        EvenSpread(STEP.wrapping_mul(seed))
    }

    /// The next number.
    pub fn draw(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(STEP);
        self.0 as f64 / 2_f64.powi(64)
    }
}
