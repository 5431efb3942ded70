//! The user's settings for the session and the terminal's capabilities.

use super::keys::KeyTable;
use super::theme::{ColourDepth, Glyphs, Theme, ThemeName};

/// Appearance and input settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// The colour theme.
    pub theme: ThemeName,
    /// The number of colours of the terminal.
    pub depth: ColourDepth,
    /// Draw with ASCII only.
    pub ascii: bool,
    /// Leave the mouse to the terminal.
    pub no_mouse: bool,
    /// The key bindings.
    pub keys: KeyTable,
}

/// The environment variables that describe the terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// `TERM`.
    pub term: Option<String>,
    /// `COLORTERM`.
    pub colorterm: Option<String>,
    /// `COLORFGBG`: `15;0` is light text on a dark background.
    pub colorfgbg: Option<String>,
    /// `NO_COLOR`.
    pub no_color: Option<String>,
    /// The first of `LC_ALL`, `LC_CTYPE` and `LANG` that is set.
    pub locale: Option<String>,
}

impl Environment {
    /// The default theme: `Mono` for `NO_COLOR` or no colours, `Light` for a light background, else `Dark`.
    #[must_use]
    pub fn theme(&self) -> ThemeName {
        match () {
            () if self.no_color.as_deref().is_some_and(|value| !value.is_empty()) => ThemeName::Mono,
            () if self.is_plain() => ThemeName::Mono,
            () if self.on_light() => ThemeName::Light,
            () => ThemeName::Dark,
        }
    }

    /// Whether the terminal reports a light background: `0;15` is black on white.
    #[must_use]
    pub fn on_light(&self) -> bool {
        let ground = self.colorfgbg.as_deref().and_then(|value| value.rsplit(';').next());
        matches!(ground.and_then(|ground| ground.parse().ok()), Some(7 | 9..=15_u8))
    }

    /// The number of colours.
    #[must_use]
    pub fn depth(&self) -> ColourDepth {
        let term = self.term.as_deref().unwrap_or_default();
        match self.colorterm.as_deref() {
            Some("truecolor" | "24bit") => ColourDepth::True,
            _ if TRUE_COLOUR.iter().any(|name| term.contains(name)) => ColourDepth::True,
            _ if term.contains("256") => ColourDepth::TwoFiftySix,
            _ => ColourDepth::Sixteen,
        }
    }

    /// Whether to draw with ASCII only: on the kernel's console, whose font has neither eighths nor Braille, on old
    /// terminals, and in locales without UTF-8.
    #[must_use]
    pub fn ascii(&self) -> bool {
        let utf8 = |locale: &str| locale.to_lowercase().replace('-', "").contains("utf8");
        let other = self.locale.as_deref().is_some_and(|locale| !locale.is_empty() && !utf8(locale));
        other || self.is_plain() || self.term.as_deref() == Some("linux")
    }

    /// Whether the terminal has no colours.
    fn is_plain(&self) -> bool {
        let term = self.term.as_deref().unwrap_or_default();
        matches!(term, "" | "dumb") || term.starts_with("vt") || term.ends_with("-mono") || term.ends_with("-m")
    }
}

/// Terminals with true colour, by their `TERM` names: ssh does not forward `COLORTERM`.
const TRUE_COLOUR: [&str; 7] = ["alacritty", "contour", "foot", "ghostty", "kitty", "wezterm", "-direct"];

impl Settings {
    /// The styles for theme and colour depth.
    #[must_use]
    pub fn theme(&self) -> Theme {
        Theme::new(self.theme, self.depth)
    }

    /// The characters to draw with.
    #[must_use]
    pub fn glyphs(&self) -> Glyphs {
        if self.ascii { Glyphs::ASCII } else { Glyphs::UNICODE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Environment {
        let get = |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_string());
        Environment {
            term: get("TERM"),
            colorterm: get("COLORTERM"),
            colorfgbg: get("COLORFGBG"),
            no_color: get("NO_COLOR"),
            locale: get("LANG"),
        }
    }

    #[test]
    fn a_terminal_is_known_by_its_environment() {
        for (pairs, theme, depth, ascii) in [
            (
                &[("TERM", "xterm-256color"), ("LANG", "en_US.UTF-8")][..],
                ThemeName::Dark,
                ColourDepth::TwoFiftySix,
                false,
            ),
            (&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")], ThemeName::Dark, ColourDepth::True, false),
            (&[("TERM", "xterm"), ("NO_COLOR", "1"), ("LANG", "C")], ThemeName::Mono, ColourDepth::Sixteen, true),
            (&[("TERM", "xterm"), ("NO_COLOR", "")], ThemeName::Dark, ColourDepth::Sixteen, false),
            (&[("TERM", "linux"), ("LANG", "de_DE.utf8")], ThemeName::Dark, ColourDepth::Sixteen, true),
            (&[("TERM", "xterm-direct"), ("COLORFGBG", "0;15")], ThemeName::Light, ColourDepth::True, false),
            (&[("TERM", "xterm-kitty"), ("LANG", "C.UTF-8")], ThemeName::Dark, ColourDepth::True, false),
            (&[("TERM", "xterm"), ("COLORFGBG", "15;default;0")], ThemeName::Dark, ColourDepth::Sixteen, false),
            (&[("TERM", "dumb"), ("COLORTERM", "truecolor")], ThemeName::Mono, ColourDepth::True, true),
            (&[("TERM", "vt100")], ThemeName::Mono, ColourDepth::Sixteen, true),
            (&[], ThemeName::Mono, ColourDepth::Sixteen, true),
        ] {
            let environment = environment(pairs);
            assert_eq!(
                (environment.theme(), environment.depth(), environment.ascii()),
                (theme, depth, ascii),
                "{pairs:?}"
            );
        }
    }
}
