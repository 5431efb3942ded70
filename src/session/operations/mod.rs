//! Counts operations on a separate thread, so that neither an unresponsive server nor a slow reader delays the session.
//! Kernel-counted operations are read by the sampler instead.

mod added;
mod counted;
mod latency;
mod listening;
mod outlet;
mod polling;

pub(super) use added::AddedOperations;
pub(super) use counted::{CountedOperations, LastOrder, Operations, check};
