//! The screen Threads: how each thread spent its time, where it waits, and the target's share of every CPU.

mod draw;
mod panel;
mod state;
#[cfg(test)]
mod tests;

pub use state::State;
