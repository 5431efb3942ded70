//! Signals as a readable descriptor.
