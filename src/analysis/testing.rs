//! The synthetic profiles of `tests/support`, so that unit tests and integration tests share one builder.
//! It never reaches a released program.

use crate::{model, units};

#[path = "../../tests/support/synthetic.rs"]
mod synthetic;
pub(crate) use synthetic::*;
