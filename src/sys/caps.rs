//! The capabilities this process holds.
