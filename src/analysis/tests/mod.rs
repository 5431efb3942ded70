//! What must hold of every recording, checked on recordings that nobody wrote by hand.

mod comparisons;
mod counted;
mod counters;
mod identities;
mod invariance;
mod recordings;
mod tasks;
mod waits;
mod windows;
