//! Resource limits: descriptors and locked memory.
