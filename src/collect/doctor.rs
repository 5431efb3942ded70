//! What works on this machine, what does not, why, and the setting that mends it.
