//! Sweeps: in every format, and from the outside.

mod command;
mod formats;
