//! What the user may choose about the session, and what the terminal can do. It never reads a file or the environment.

use super::keys::KeyTable;
use super::theme::{Depth, Glyphs, Name, Theme};

/// How the session looks and listens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// The colours.
    pub theme: Name,
    /// How many of them the terminal has.
    pub depth: Depth,
    /// Draws with ASCII alone.
    pub ascii: bool,
    /// Leaves the mouse to the terminal.
    pub no_mouse: bool,
    /// The keys.
    pub keys: KeyTable,
}

/// The environment that tells what a terminal can do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// `TERM`.
    pub term: Option<String>,
    /// `COLORTERM`.
    pub colorterm: Option<String>,
    /// `COLORFGBG`: `15;0` is light on dark.
    pub colorfgbg: Option<String>,
    /// `NO_COLOR`.
    pub no_color: Option<String>,
    /// The first that is set of `LC_ALL`, `LC_CTYPE`, `LANG`.
    pub locale: Option<String>,
}

impl Environment {
    /// The theme that suits it: none where colours are not wanted, light where the terminal says so.
    #[must_use]
    pub fn theme(&self) -> Name {
        let light = self
            .colorfgbg
            .as_deref()
            .and_then(|value| value.rsplit(';').next())
            .is_some_and(|ground| matches!(ground, "7" | "15"));
        match () {
            () if self.no_color.as_deref().is_some_and(|value| !value.is_empty()) => Name::Mono,
            () if matches!(self.term.as_deref(), Some("dumb") | Some("vt100") | Some("vt220")) => Name::Mono,
            () if light => Name::Light,
            () => Name::Dark,
        }
    }

    /// How many colours there are.
    #[must_use]
    pub fn depth(&self) -> Depth {
        let term = self.term.as_deref().unwrap_or_default();
        match self.colorterm.as_deref() {
            Some("truecolor" | "24bit") => Depth::True,
            _ if term.ends_with("-direct") => Depth::True,
            _ if term.contains("256") => Depth::TwoFiftySix,
            _ => Depth::Sixteen,
        }
    }

    /// Whether there is nothing but ASCII: the kernel's console and locales without UTF-8.
    #[must_use]
    pub fn ascii(&self) -> bool {
        let utf8 = |locale: &str| locale.to_lowercase().replace('-', "").contains("utf8");
        self.term.as_deref() == Some("linux")
            || !self.locale.as_deref().is_none_or(|locale| locale.is_empty() || utf8(locale))
    }
}

impl Settings {
    /// The styles.
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
            (&[("TERM", "xterm-256color"), ("LANG", "en_US.UTF-8")][..], Name::Dark, Depth::TwoFiftySix, false),
            (&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")], Name::Dark, Depth::True, false),
            (&[("TERM", "xterm"), ("NO_COLOR", "1"), ("LANG", "C")], Name::Mono, Depth::Sixteen, true),
            (&[("TERM", "xterm"), ("NO_COLOR", "")], Name::Dark, Depth::Sixteen, false),
            (&[("TERM", "linux"), ("LANG", "de_DE.utf8")], Name::Dark, Depth::Sixteen, true),
            (&[("TERM", "xterm-direct"), ("COLORFGBG", "0;15")], Name::Light, Depth::True, false),
            (&[("TERM", "vt100")], Name::Mono, Depth::Sixteen, false),
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
