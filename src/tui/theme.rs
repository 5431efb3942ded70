//! Placeholder until the themes land.
use ratatui::style::Style;
/// Styles by meaning.
#[derive(Debug, Clone, Default)]
#[expect(missing_docs, reason = "placeholder")]
pub struct Theme {
    pub text: Style,
    pub dim: Style,
    pub accent: Style,
    pub accent2: Style,
    pub heading: Style,
    pub selected: Style,
    pub good: Style,
    pub warn: Style,
    pub bad: Style,
    pub missing: Style,
}
/// Drawing characters.
#[derive(Debug, Clone, Default)]
#[expect(missing_docs, reason = "placeholder")]
pub struct Glyphs {
    pub spark: [&'static str; 8],
    pub rule: &'static str,
}
