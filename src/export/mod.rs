//! Renders views as bytes: text, JSON, CSV, Markdown, HTML, SVG. It never writes a file.

mod colours;
mod columns;
pub mod compare;
pub mod csv;
pub mod difference;
pub mod folded;
pub mod html;
pub mod json;
pub mod markdown;
mod markup;
mod shape;
pub mod svg;
pub mod text;
