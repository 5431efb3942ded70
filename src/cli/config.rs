//! `ironlaw config` and the configuration file: the user's settings for the terminal session. The file is only read.

use super::args::ConfigArgs;
use super::out;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::limits::CONFIG_BYTES;
use crate::session::Limit;
use crate::tui::keys::{KeyTable, TABLE};
use crate::tui::settings::{Environment, Settings};
use crate::tui::theme::{ColourDepth, ThemeName};
use crate::units::Nanos;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::Read;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// The settings from the file and the environment.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ResolvedConfig {
    /// Appearance and keys.
    pub settings: Settings,
    /// Limit of the history.
    pub limit: Limit,
    /// Length of a counter window, if the file sets it.
    pub interval: Option<Nanos>,
}

/// The contents of the file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    theme: Option<Spanned<String>>,
    colours: Option<Spanned<String>>,
    drawing: Option<Spanned<String>>,
    mouse: Option<bool>,
    interval_ms: Option<Spanned<u64>>,
    history_mib: Option<Spanned<u64>>,
    history_minutes: Option<Spanned<u64>>,
    #[serde(default)]
    keys: BTreeMap<Spanned<String>, Keys>,
}

/// One key or several.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "a key, or several: \"x\" or [\"Space\", \"f\"]")]
enum Keys {
    One(String),
    Several(Vec<String>),
}

const HEAD: &str = "\
# What the terminal session of ironlaw looks like and listens to. Every line shows the default.

# Colours: auto (by COLORFGBG and NO_COLOR), dark, light, colour-blind (by COLORFGBG), mono
#theme = \"auto\"
# How many: auto (by COLORTERM and TERM), 16, 256, true
#colours = \"auto\"
# Drawn with: auto (by the locale), unicode, ascii
#drawing = \"auto\"
# Whether the mouse clicks and scrolls; with Shift the terminal's own selection works all the same
#mouse = true
# Length of a window of counters, milliseconds
#interval_ms = 1000
# How much history is held: the oldest goes when either is reached
#history_mib = 48
#history_minutes = 30

# Keys, one or several for each action: a character, Ctrl-u, Alt-x, Space, Enter, Tab, Esc, Up, PageDown, F1 ...
#[keys]
";

/// Prints the default, prints the path of the file, or checks it.
pub(super) fn run(args: &ConfigArgs) -> Result<()> {
    let path = path(&|name| std::env::var_os(name).map(PathBuf::from));
    let text = if args.path {
        match &path {
            Some(path) => format!("{}\n", path.display()),
            None => {
                return Err(Error::new(
                    ErrorKind::NotFound,
                    "cannot place the configuration file: this user has no home directory",
                )
                .hint("Set IRONLAW_CONFIG to the path of a file."));
            }
        }
    } else if args.check {
        chosen()?;
        path.filter(|path| path.exists())
            .map_or("no file: defaults apply\n".to_string(), |path| format!("{}: good\n", path.display()))
    } else {
        default_text()
    };
    out::deliver(text.as_bytes(), None)
}

/// The default file, with every setting commented out.
fn default_text() -> String {
    let keys = |row: &crate::tui::keys::Row| {
        let keys: Vec<_> = row.keys.iter().map(|key| format!("\"{}\"", key.replace('\\', "\\\\"))).collect();
        format!("# {}\n#{} = [{}]\n", row.text, row.name, keys.join(", "))
    };
    TABLE.iter().fold(HEAD.to_string(), |text, row| text + &keys(row))
}

/// Path of the file: `IRONLAW_CONFIG`, else below `XDG_CONFIG_HOME`, else below `~/.config`.
fn path(variable: &dyn Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let set = |name| variable(name).filter(|value| !value.as_os_str().is_empty());
    let home = || set("HOME").map(|home| home.join(".config"));
    set("IRONLAW_CONFIG").or_else(|| Some(set("XDG_CONFIG_HOME").or_else(home)?.join("ironlaw/config.toml")))
}

/// The effective settings: from the file, else from the terminal's environment.
///
/// # Errors
/// The file cannot be read or contains an unknown setting. A missing file is not an error.
pub(super) fn chosen() -> Result<ResolvedConfig> {
    let variable = |name: &str| std::env::var(name).ok();
    let environment = Environment {
        term: variable("TERM"),
        colorterm: variable("COLORTERM"),
        colorfgbg: variable("COLORFGBG"),
        no_color: variable("NO_COLOR"),
        // An empty variable counts as unset.
        locale: ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(variable).find(|locale| !locale.is_empty()),
    };
    let path = path(&|name| std::env::var_os(name).map(PathBuf::from));
    let text = match path.as_deref().map(read) {
        None => String::new(),
        Some(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Some(text) => text.context(|| format!("cannot read {}", shown(path.as_deref())))?,
    };
    parse(&text, &environment).map_err(|error| error.context(shown(path.as_deref())))
}

fn read(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    std::fs::File::open(path)?.take(CONFIG_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > CONFIG_BYTES {
        return Err(std::io::Error::other(format!("it has more than {CONFIG_BYTES} bytes")));
    }
    Ok(text)
}

fn shown(path: Option<&Path>) -> String {
    path.map_or_else(String::new, |path| path.display().to_string())
}

/// Parses the file's text.
pub(crate) fn parse(text: &str, environment: &Environment) -> Result<ResolvedConfig> {
    let file: File = toml::from_str(text).map_err(|error| {
        let wrong = Error::new(ErrorKind::Usage, error.message())
            .hint("`ironlaw config` prints every setting with its default.");
        on_line(text, error.span().map_or(0, |span| span.start), wrong)
    })?;
    let number = |name, word: Option<&Spanned<u64>>, default, range| within(text, name, word, default, range);
    let settings = Settings {
        theme: one_of(text, "theme", file.theme.as_ref(), environment.theme(), &themes(environment))?,
        depth: one_of(text, "colours", file.colours.as_ref(), environment.depth(), &DEPTHS)?,
        ascii: one_of(text, "drawing", file.drawing.as_ref(), environment.ascii(), &DRAWINGS)?,
        no_mouse: !file.mouse.unwrap_or(true),
        keys: keys(text, &file.keys)?,
    };
    let Limit { bytes, span } = Limit::default();
    let mib = number("history_mib", file.history_mib.as_ref(), bytes >> 20, 1..=1 << 20)?;
    let minutes = number("history_minutes", file.history_minutes.as_ref(), span.0 / MINUTE, 1..=1 << 20)?;
    let interval = number("interval_ms", file.interval_ms.as_ref(), 0, 10..=3_600_000)?;
    Ok(ResolvedConfig {
        settings,
        limit: Limit { bytes: mib << 20, span: Nanos(minutes * MINUTE) },
        interval: (interval > 0).then_some(Nanos(interval * 1_000_000)),
    })
}

const MINUTE: u64 = 60_000_000_000;
const DEPTHS: [(&str, ColourDepth); 3] =
    [("16", ColourDepth::Sixteen), ("256", ColourDepth::TwoFiftySix), ("true", ColourDepth::True)];
const DRAWINGS: [(&str, bool); 2] = [("unicode", false), ("ascii", true)];

fn themes(environment: &Environment) -> [(&'static str, ThemeName); 4] {
    let colour_blind = if environment.on_light() { ThemeName::ColourBlindLight } else { ThemeName::ColourBlind };
    [("dark", ThemeName::Dark), ("light", ThemeName::Light), ("colour-blind", colour_blind), ("mono", ThemeName::Mono)]
}

/// Parses a keyword. `auto` or an empty text selects the value from the environment.
fn one_of<T: Copy>(
    text: &str,
    setting: &str,
    word: Option<&Spanned<String>>,
    auto: T,
    known: &[(&str, T)],
) -> Result<T> {
    let Some(word) = word.filter(|word| word.get_ref() != "auto") else { return Ok(auto) };
    known.iter().find(|(name, _)| name == word.get_ref()).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
        let wrong = Error::new(ErrorKind::Usage, format!("{setting} = \"{}\" is unknown", word.get_ref()))
            .hint(format!("Choose auto, {}.", names.join(", ")));
        on_line(text, word.span().start, wrong)
    })
}

/// Parses a number, or returns its default.
fn within(
    text: &str,
    setting: &str,
    word: Option<&Spanned<u64>>,
    default: u64,
    range: RangeInclusive<u64>,
) -> Result<u64> {
    let Some(word) = word else { return Ok(default) };
    if range.contains(word.get_ref()) {
        return Ok(*word.get_ref());
    }
    let wrong = Error::new(ErrorKind::Usage, format!("{setting} = {} is out of range", word.get_ref())).hint(format!(
        "Choose {} to {}.",
        range.start(),
        range.end()
    ));
    Err(on_line(text, word.span().start, wrong))
}

/// The key table with the file's changes, applied line by line: an error names the first line that causes a conflict.
fn keys(text: &str, changes: &BTreeMap<Spanned<String>, Keys>) -> Result<KeyTable> {
    let mut changes: Vec<(usize, &str, &[String])> = changes
        .iter()
        .map(|(name, keys)| match keys {
            Keys::One(key) => (name.span().start, name.get_ref().as_str(), std::slice::from_ref(key)),
            Keys::Several(keys) => (name.span().start, name.get_ref().as_str(), keys.as_slice()),
        })
        .collect();
    changes.sort_unstable();
    let upto = |count: usize| KeyTable::remapped(changes[..count].iter().map(|(_, name, keys)| (*name, *keys)));
    upto(changes.len()).map_err(|whole| {
        let first = changes.iter().enumerate().find_map(|(at, change)| Some((change.0, upto(at + 1).err()?)));
        first.map_or(whole, |(start, wrong)| on_line(text, start, wrong))
    })
}

/// Adds the line number to the error.
fn on_line(text: &str, start: usize, wrong: Error) -> Error {
    let line = 1 + text.bytes().take(start).filter(|byte| *byte == b'\n').count();
    wrong.context(format!("line {line}"))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn the_default_file_says_what_is_the_default_anyway() {
        let text = default_text();
        assert!(text.lines().all(|line| line.is_empty() || line.starts_with('#')));
        // A comment has a space after its `#`, a setting does not.
        let uncommented: String = text
            .lines()
            .filter(|line| !line.starts_with("# "))
            .map(|line| format!("{}\n", line.trim_start_matches('#')))
            .collect();
        let environment = Environment::default();
        assert_eq!(
            parse(&uncommented, &environment).unwrap(),
            ResolvedConfig { interval: Some(Nanos(1_000_000_000)), ..parse("", &environment).unwrap() }
        );
    }

    #[test]
    fn what_the_file_says_goes_before_the_environment() {
        let dumb = Environment { no_color: Some("1".into()), ..Environment::default() };
        assert_eq!(parse("", &dumb).unwrap().settings.theme, ThemeName::Mono);
        let chosen = parse("theme = 'light'\ndrawing = 'ascii'\nhistory_mib = 64\nmouse = false", &dumb).unwrap();
        assert_eq!(
            (chosen.settings.theme, chosen.settings.ascii, chosen.settings.no_mouse),
            (ThemeName::Light, true, true)
        );
        assert_eq!(chosen.limit.bytes, 64 << 20);
    }

    #[test]
    fn mistakes_are_told_with_what_is_known() {
        for (text, what, remedy) in [
            ("\ntheme = 'pink'", "line 2: theme = \"pink\" is unknown", "Choose auto, dark"),
            ("colour = 'x'", "line 1: unknown field `colour`, expected one of `theme`", "ironlaw config"),
            ("theme =", "line 1: ", "ironlaw config"),
            ("mouse = true\nhistory_mib = 0", "line 2: history_mib = 0 is out of range", "1 to"),
            ("mouse = true\ninterval_ms = -5", "line 2: ", "ironlaw config"),
            ("[keys]\nmark = 'x'\npuase = 'x'", "line 3: unknown action 'puase'", "pause"),
            ("[keys]\npause = 'm'\n\nmark = ['m']", "line 4: the key m is given to both", "another key"),
            ("[keys]\npause = 5", "line 2: a key, or several", "ironlaw config"),
            ("[keys]\nquit = []", "line 2: no key is left to quit with", "quit ="),
        ] {
            let error = parse(text, &Environment::default()).unwrap_err();
            assert!(error.to_string().starts_with(what) && !error.to_string().contains('\n'), "{error}");
            assert!(error.remedy().unwrap().contains(remedy), "{:?}", error.remedy());
        }
    }

    #[test]
    fn the_file_is_where_the_environment_says() {
        for (set, expected) in [
            (&[("HOME", "/home/x")][..], Some("/home/x/.config/ironlaw/config.toml")),
            (&[("HOME", "/home/x"), ("XDG_CONFIG_HOME", "/c")], Some("/c/ironlaw/config.toml")),
            (&[("IRONLAW_CONFIG", "/f.toml"), ("XDG_CONFIG_HOME", "/c")], Some("/f.toml")),
            (&[("XDG_CONFIG_HOME", "")], None),
        ] {
            let variable = |name: &str| set.iter().find(|(key, _)| *key == name).map(|(_, value)| PathBuf::from(value));
            assert_eq!(path(&variable), expected.map(PathBuf::from));
        }
    }
}
