//! Fits text into columns as terminals count them, for screens and text exports: one rule for names, wherever they are cut.

mod name;
mod text;

pub(crate) use crate::analysis::name_forms;
pub use name::function_name;
pub use text::{end, front, left, middle, right, width, wrap};
