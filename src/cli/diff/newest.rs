//! The sides of a comparison that were not named: the newest recordings or sweeps of this directory.

use crate::cli::args::DiffArgs;
use crate::cli::out::Terminal;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::session;
use crate::store;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The arguments with both sides, repeats joined. Of sides that were not named the older one is the base.
///
/// # Errors
/// `NotFound` if there is nothing to compare with.
pub(in crate::cli) fn completed(args: &DiffArgs, terminal: &Terminal) -> Result<DiffArgs> {
    if !args.new.is_empty() {
        return Ok(super::repeats::joined(args.clone(), terminal));
    }
    if session::holds_both_sides(Path::new(&args.base)) {
        terminal.say(&format!("comparing the two counts of each line of {}", args.base));
        return Ok(DiffArgs { new: vec![args.base.clone()], ..args.clone() });
    }
    let entries = std::fs::read_dir(".").context(|| "cannot list this directory")?;
    let here = entries.filter_map(|entry| {
        let entry = entry.ok()?;
        Some((PathBuf::from(entry.file_name()), entry.metadata().ok()?.modified().ok()?))
    });
    let (base, new) = sides(&args.base, here.collect())?;
    terminal.say(&format!("comparing {new} with {base}, which is older"));
    Ok(DiffArgs { base, new: vec![new], ..args.clone() })
}

/// The older and the newer side, out of what lies here.
fn sides(named: &str, mut here: Vec<(PathBuf, SystemTime)>) -> Result<(String, String)> {
    let ending = if named.trim_end_matches('/').ends_with(".sweep") { "sweep" } else { "ironlaw" };
    here.retain(|(path, _)| path.extension().is_some_and(|other| other == ending));
    here.sort_by(|a, b| (b.1, &b.0).cmp(&(a.1, &a.0)));
    let text = |path: &Path| path.to_string_lossy().into_owned();
    if named.is_empty() {
        return match here.as_slice() {
            [(new, _), (base, _), ..] => Ok((text(base), text(new))),
            _ => Err(nothing("no two recordings (*.ironlaw) to compare in this directory")),
        };
    }
    let own = |path: &Path| path == Path::new(named) || store::path(Path::new(named)) == path;
    let own_time = here.iter().find(|(path, _)| own(path)).map(|(_, time)| *time);
    let other = here.iter().find(|(path, _)| !own(path));
    let (other, time) =
        other.ok_or_else(|| nothing(&format!("no other {ending} in this directory to compare {named} with")))?;
    let is_newer = own_time.is_some_and(|own| own > *time);
    Ok(if is_newer { (text(other), named.to_string()) } else { (named.to_string(), text(other)) })
}

fn nothing(message: &str) -> Error {
    Error::new(ErrorKind::NotFound, message).hint("Name both sides: ironlaw diff BASE NEW.")
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_newest_is_compared_with_the_one_before_or_with_the_one_that_is_named() {
        let at = |name: &str, seconds| (PathBuf::from(name), SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        let here =
            || vec![at("a.ironlaw", 1), at("c.ironlaw", 3), at("b.ironlaw", 2), at("d.sweep", 9), at("e.svg", 9)];
        for (named, sides_expected) in [
            ("", ("b.ironlaw", "c.ironlaw")),
            ("a.ironlaw", ("a.ironlaw", "c.ironlaw")),
            ("a", ("a", "c.ironlaw")),
            ("c.ironlaw", ("b.ironlaw", "c.ironlaw")),
            ("elsewhere/x.ironlaw", ("elsewhere/x.ironlaw", "c.ironlaw")),
        ] {
            let (base, new) = sides(named, here()).unwrap();
            assert_eq!((base.as_str(), new.as_str()), sides_expected, "{named}");
        }
        assert!(sides("d.sweep", here()).unwrap_err().to_string().contains("no other sweep"));
        assert!(sides("", here()[..1].to_vec()).is_err() && sides("a", here()[..1].to_vec()).is_err());
    }
}
