//! Addresses to names, over bytes it is given. It never opens a file itself.

pub mod fde;
