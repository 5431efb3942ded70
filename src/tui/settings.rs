//! Placeholder until the settings land.
use super::{
    keys::KeyTable,
    theme::{Glyphs, Theme},
};
/// Settings.
#[derive(Debug, Clone, Default)]
#[expect(missing_docs, reason = "placeholder")]
pub struct Settings {
    pub keys: KeyTable,
}
impl Settings {
    /// Placeholder.
    pub fn theme(&self) -> Theme {
        Theme::default()
    }
    /// Placeholder.
    pub fn glyphs(&self) -> Glyphs {
        Glyphs::default()
    }
}
