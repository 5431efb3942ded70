//! Names of recordings, and a flame graph's format and destination.

use super::usage;
use crate::cli::args::{ColorArg, FlameFormat, FlamegraphArgs, GlobalArgs};
use crate::error::{Error, ErrorKind, Result};
use crate::model::Target;
use crate::store;
use crate::units::Utc;
use std::path::{Path, PathBuf};

/// File extension of a recording's directory.
pub const RECORDING_EXTENSION: &str = "ironlaw";

/// Maximum length of a target's name in a file name.
const LONGEST_NAME: usize = 40;

/// The default directory of a recording: target and time (UTC), e.g. `redis-server-20260301-142530.ironlaw`.
#[must_use]
pub fn recording_name(target: &Target, unix_seconds: u64) -> PathBuf {
    let label = target_name(target);
    let Utc { year, month, day, hour, minute, second } = Utc::from_unix(unix_seconds);
    let stamp = format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}");
    PathBuf::from(format!("{label}-{stamp}.{RECORDING_EXTENSION}"))
}

/// A target as part of a file name, e.g. `redis-server` or `pid-41`.
#[must_use]
pub fn target_name(target: &Target) -> String {
    let label = match target {
        Target::Command { argv } => {
            let program = argv.first().map(Path::new).and_then(Path::file_name);
            program.map_or_else(|| "command".to_string(), |name| name.to_string_lossy().into_owned())
        }
        other => other.label(),
    };
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_') { c } else { '-' };
    // No leading dot, because `ls` would hide it.
    let name: String = label.trim_start_matches('.').chars().map(plain).collect();
    match name.char_indices().nth(LONGEST_NAME) {
        // Two cgroups with the same beginning must not share their recordings.
        Some((end, _)) => format!("{}-{:08x}", &name[..end], fnv(label.as_bytes())),
        None => name,
    }
}

/// FNV-1a: stable across versions, as file names must be.
pub(super) fn fnv(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

/// The default recording for readers: the newest of `found`, directories with their modification time in any unit.
/// Errors: `NotFound` if none of them is a recording.
pub fn newest_recording<T: Ord>(found: impl IntoIterator<Item = (PathBuf, T)>) -> Result<PathBuf> {
    let is_recording = |path: &Path| path.extension().is_some_and(|extension| extension == RECORDING_EXTENSION);
    let newest =
        found.into_iter().filter(|(path, _)| is_recording(path)).max_by(|a, b| (&a.1, &a.0).cmp(&(&b.1, &b.0)));
    newest.map(|(path, _)| path).ok_or_else(|| {
        Error::new(ErrorKind::NotFound, "no recording (*.ironlaw) in this directory")
            .hint("Make one with `ironlaw record -p PID -d 10`, or name the directory of one.")
    })
}

/// The directory of a recording that the user names.
/// Errors: `Usage` for the standard output.
pub fn recording_path(name: &Path) -> Result<PathBuf> {
    if name.as_os_str() == "-" {
        return Err(usage("cannot write a recording to the standard output: it is a directory").hint(
            "`ironlaw record -o run ...`, then `ironlaw export run.ironlaw --format perfscript` or another format.",
        ));
    }
    Ok(store::path(name))
}

/// The destination of a flame graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// Standard output.
    Stdout,
    /// A file.
    File(PathBuf),
}

/// Format and destination of a flame graph of `recording`. The file's extension selects the format if none is given.
/// Without a file it goes to the standard output if that is one or a pipe (`redirected`), else beside the recording.
/// Errors: `Usage` for an unsupported image format.
pub fn flame_output(args: &FlamegraphArgs, recording: &Path, redirected: bool) -> Result<(FlameFormat, Destination)> {
    let ending = args.output.as_deref().and_then(Path::extension).and_then(|ending| ending.to_str());
    let format = match (args.format, ending) {
        (Some(format), _) => format,
        (None, Some("folded" | "txt")) => FlameFormat::Folded,
        (None, Some(other @ ("png" | "pdf" | "html" | "jpg"))) => {
            return Err(usage(format!("flame graphs are not drawn as .{other}"))
                .hint("Give a name that ends in .svg; every browser shows it, with search and zoom."));
        }
        (None, _) => FlameFormat::Svg,
    };
    let default = || recording.with_extension(if format == FlameFormat::Svg { "svg" } else { "folded" });
    let destination = match &args.output {
        Some(path) if path.as_os_str() == "-" => Destination::Stdout,
        Some(path) => Destination::File(path.clone()),
        None if redirected => Destination::Stdout,
        None => Destination::File(default()),
    };
    Ok((format, destination))
}

/// Whether to use colour. `terminal`: the output is one; `no_color`: the value of `NO_COLOR`, which disables colour
/// unless it is empty.
#[must_use]
pub fn use_color(args: &GlobalArgs, terminal: bool, no_color: Option<&str>) -> bool {
    match args.color {
        ColorArg::Always => true,
        ColorArg::Never => false,
        ColorArg::Auto => terminal && no_color.is_none_or(str::is_empty),
    }
}
