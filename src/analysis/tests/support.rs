//! The synthetic profiles of `tests/support`, shared by unit tests and integration tests. Compiled for tests only.

use crate::{model, units};

#[path = "../../../tests/support/synthetic.rs"]
mod synthetic;
pub(crate) use synthetic::*;
