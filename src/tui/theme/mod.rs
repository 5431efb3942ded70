//! Styles by meaning, for every theme and colour depth, and the characters to draw with.
//! Nothing differs by colour alone: a letter, a mark or a position always carries the same information.

mod colour;
mod glyphs;
mod palette;
mod styles;
#[cfg(test)]
mod tests;

pub use colour::ColourDepth;
pub use glyphs::{Glyphs, HEAT};
pub use palette::ThemeName;
pub use styles::Theme;
