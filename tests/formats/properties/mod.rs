//! What holds of every recording, whatever is in it: sums, shares, orders, and that every format keeps what it was given.

mod analysis;
mod formats;
mod recipe;

use recipe::{NAMES, Recipe, THREADS, recipe};
