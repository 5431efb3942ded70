//! Renders views as bytes: text, JSON, CSV, Markdown, HTML, SVG, and the formats of other profilers.

pub(crate) mod baseline;
mod colours;
mod column_format;
mod columns;
pub mod csv;
pub(crate) mod diff;
pub mod diff_flamegraph;
pub mod firefox;
pub mod folded;
pub(crate) mod format;
mod gzip;
pub(crate) mod heat_map;
pub mod html;
mod inert;
pub mod json;
pub mod markdown;
mod markup;
pub(crate) mod openmetrics;
pub(crate) mod otlp;
pub mod perfscript;
pub mod pprof;
mod protobuf;
mod quote;
pub(crate) mod result_table;
pub mod rows;
pub mod speedscope;
pub(crate) mod stat;
pub mod svg;
pub mod text;
pub mod watch;

#[cfg(test)]
mod tests;

pub use gzip::gzip;
