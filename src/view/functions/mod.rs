//! View model: a table of functions, modules, threads or processes, with callers, callees and lines of one function.

mod change;
mod detail;
mod mix;
mod row;
mod table;
#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests;
mod tree;

pub use detail::{Detail, InstructionRow, LineRow};
pub use mix::MixRow;
pub use row::{Row, is_real};
pub use table::{FunctionsView, file_name};
pub use tree::Tree;
