//! Key bindings. Lookup, help, palette and the config file's default all come from one flat table.

mod bindings;
mod name;
mod table;

pub use bindings::KeyTable;
pub use name::Key;
pub use table::{Action, Row, TABLE};
