//! A baseline on disk: one JSON document, written atomically and readable by its owner only.
//! Only an existing baseline is replaced, and everything read from a file is validated before use.

use super::folder::{Folder, create_new};
use super::part::{BASELINE, META};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::limits::{
    BASELINE_BYTES, BASELINE_FRAMES, BASELINE_QUANTITIES, BASELINE_SOURCES, BASELINE_STACKS, BASELINE_WINDOWS,
    TEXT_BYTES,
};
use crate::model::{BASELINE_FORMAT, Baseline};
use serde::Deserialize;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// File name extension of a separate baseline.
pub const EXTENSION: &str = "baseline";

/// The file for a name as typed: adds `.baseline` unless it is there.
#[must_use]
pub fn path(typed: &Path) -> PathBuf {
    match typed.file_name() {
        Some(file) if typed.extension().is_none_or(|extension| extension != EXTENSION) => {
            let mut name = OsString::from(file);
            name.push(".");
            name.push(EXTENSION);
            typed.with_file_name(name)
        }
        _ => typed.to_path_buf(),
    }
}

/// Reads the baseline at `path`, or at `path.baseline` where there is none.
///
/// # Errors
/// `NotFound`; `Unsupported` for a newer format; `Corrupt` for anything that is not a valid baseline.
pub fn read(typed: &Path) -> Result<Baseline> {
    let named = path(typed);
    let path = if typed.is_file() || !named.is_file() { typed } else { &named };
    let bytes = bounded(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => error.hint("Make one with `ironlaw baseline build REC.ironlaw -o NAME.baseline`."),
        _ => error,
    })?;
    parse(&bytes).map_err(|error| error.context(format!("cannot read {}", path.display())))
}

fn bounded(path: &Path) -> Result<Vec<u8>> {
    let context = || format!("cannot read {}", path.display());
    // A pipe or a device would block the reader.
    let metadata = fs::metadata(path).context(context)?;
    if !metadata.is_file() {
        let error =
            Error::new(ErrorKind::Corrupt, format!("{} is not a baseline: it is not a regular file", path.display()));
        let recording = path.join(META).is_file();
        let hint =
            format!("Build one of that recording: `ironlaw baseline build {} -o NAME.baseline`.", path.display());
        return Err(if recording { error.hint(hint) } else { error });
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(BASELINE_BYTES + 1).read_to_end(&mut bytes)).context(context)?;
    if bytes.len() as u64 > BASELINE_BYTES {
        let message = format!("{} is not a baseline: it has more than {BASELINE_BYTES} bytes", path.display());
        return Err(Error::new(ErrorKind::Corrupt, message));
    }
    Ok(bytes)
}

/// The part that every version has.
#[derive(Deserialize)]
struct Version {
    format: (u16, u16),
}

/// # Errors
/// As [`read`].
pub fn parse(bytes: &[u8]) -> Result<Baseline> {
    let corrupt = |what: String| Error::new(ErrorKind::Corrupt, format!("not a baseline: {what}"));
    let Version { format: (major, minor) } =
        serde_json::from_slice(bytes).map_err(|error| corrupt(error.to_string()))?;
    if major > BASELINE_FORMAT.0 {
        let message =
            format!("the baseline has format {major}.{minor}; this version reads up to {}.x", BASELINE_FORMAT.0);
        return Err(Error::new(ErrorKind::Unsupported, message)
            .hint("Use it with a newer ironlaw, or rebuild it from its recordings."));
    }
    let baseline: Baseline = serde_json::from_slice(bytes).map_err(|error| corrupt(error.to_string()))?;
    match flaw(&baseline) {
        Some(flaw) => Err(corrupt(flaw)),
        None => Ok(baseline),
    }
}

/// Returns the flaw of a document that has the form of a baseline.
fn flaw(baseline: &Baseline) -> Option<String> {
    let Baseline { sources, quantities, windows, stacks, cpu_ns, ops, key, .. } = baseline;
    for (count, most, what) in [
        (quantities.len(), BASELINE_QUANTITIES, "quantities"),
        (windows.len(), BASELINE_WINDOWS, "windows"),
        (sources.len(), BASELINE_SOURCES, "sources"),
        (stacks.len(), BASELINE_STACKS, "stacks"),
    ] {
        if count > most {
            return Some(format!("it has {count} {what}, and at most {most} are allowed"));
        }
    }
    let long = |text: &String| text.len() > TEXT_BYTES;
    let key_texts = [Some(&key.target), key.program.as_ref(), key.called.as_ref(), key.build_id.as_ref()];
    let mut texts = sources.iter().map(|source| &source.name).chain(quantities).chain(key_texts.into_iter().flatten());
    if texts.any(long) || stacks.iter().flat_map(|stack| &stack.frames).any(long) {
        return Some(format!("a name has more than {TEXT_BYTES} bytes"));
    }
    if has_twice(quantities) {
        return Some("a quantity is listed twice".to_string());
    }
    let number = |value: f64| value.is_finite() && value >= 0.0;
    if !number(*cpu_ns) || ops.is_some_and(|ops| !number(ops)) || sources.iter().any(|from| !number(from.seconds)) {
        return Some("a total is negative or not finite".to_string());
    }
    if stacks
        .iter()
        .any(|stack| !number(stack.cpu_ns) || stack.frames.is_empty() || stack.frames.len() > BASELINE_FRAMES)
    {
        return Some("a call path has no frames, too many, or no time".to_string());
    }
    windows.iter().enumerate().find_map(|(at, window)| {
        let cell = |[above, below]: &[f64; 2]| number(*above) && number(*below);
        let width = window.cells.len();
        if width != quantities.len() {
            Some(format!("window {at} has {width} cells for {} quantities", quantities.len()))
        } else if window.source as usize >= sources.len() {
            Some(format!("window {at} refers to source {}, and there are {}", window.source, sources.len()))
        } else if !window.cells.iter().flatten().all(cell) {
            Some(format!("window {at} contains an invalid value"))
        } else {
            None
        }
    })
}

fn has_twice(names: &[String]) -> bool {
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort_unstable();
    sorted.windows(2).any(|pair| pair[0] == pair[1])
}

/// Writes a baseline atomically.
///
/// # Errors
/// `Usage` where something other than a baseline has that name, or an older baseline does and `force` is off; otherwise
/// as the file system reports.
pub fn write(path: &Path, baseline: &Baseline, force: bool) -> Result<()> {
    check_free(path, force)?;
    let cannot = |error: std::io::Error| {
        let error = Error::from(error);
        let full = error.kind() == ErrorKind::Exhausted;
        let error = error.context(format!("cannot write {}", path.display()));
        if full { error.hint("Free some space, or write to another file system with -o.") } else { error }
    };
    let name = path.file_name().ok_or_else(|| {
        Error::new(ErrorKind::Usage, format!("invalid file name: {}", path.display())).hint("Name a file with -o.")
    })?;
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(".tmp");
    let temp = path.with_file_name(hidden);
    let bytes = document(baseline)?;
    let written = create_new(&temp)
        .and_then(|mut file| file.write_all(&bytes).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&temp, path));
    if let Err(error) = written {
        // The first failure is the one to report.
        let _ = fs::remove_file(&temp);
        return Err(cannot(error));
    }
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(cannot)
}

/// Checks whether a baseline may be written there, so that callers can report it before long work.
///
/// # Errors
/// As [`write()`].
pub fn check_free(path: &Path, force: bool) -> Result<()> {
    let usage = |what: &str, hint: &str| {
        Err(Error::new(ErrorKind::Usage, format!("{} {what}", path.display())).hint(hint.to_string()))
    };
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Error::from(error).context(format!("cannot write {}", path.display()))),
        // Anything there belongs to somebody: only a file that was read as a baseline, in any version, is replaced.
        Ok(metadata) if !metadata.is_file() || !is_one(path) => {
            usage("exists and is not a baseline", "Choose another name with -o.")
        }
        Ok(_) if !force => usage("exists already", "Choose another name with -o, or replace it with --force."),
        Ok(_) => Ok(()),
    }
}

/// Whether the file is a baseline, possibly of a newer version.
fn is_one(path: &Path) -> bool {
    bounded(path).is_ok_and(|bytes| {
        let parsed = parse(&bytes);
        parsed.is_ok() || parsed.is_err_and(|error| error.kind() == ErrorKind::Unsupported)
    })
}

fn document(baseline: &Baseline) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(baseline)
        .map_err(|error| Error::new(ErrorKind::Io, format!("cannot encode the baseline: {error}")))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Reads the baseline inside a recording; `None` if there is none.
///
/// # Errors
/// As [`read`], for one that exists.
pub fn read_within(recording: &Path) -> Result<Option<Baseline>> {
    let path = super::path(recording);
    let folder = if recording.join(META).is_file() { recording } else { &path };
    let file = folder.join(BASELINE);
    if fs::symlink_metadata(&file).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
        return Ok(None);
    }
    read(&file).map(Some)
}

/// Writes a baseline into a recording and replaces the one it may contain.
///
/// # Errors
/// `NotFound` where there is no recording; otherwise as the file system reports.
pub fn write_within(recording: &Path, baseline: &Baseline) -> Result<()> {
    if !recording.join(META).is_file() {
        return Err(Error::new(ErrorKind::NotFound, format!("{} is not a recording", recording.display())));
    }
    let folder = Folder::open(recording);
    folder.place(BASELINE, &document(baseline)?)?;
    folder.sync()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use crate::model::{BaselineKey, BaselineSource, BaselineStack, BaselineWindow, HostFacts};
    use serde_json::{Value, json};
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn baseline() -> Baseline {
        let window = |at_ns| BaselineWindow { source: 0, at_ns, span_ns: 7, cells: vec![Some([1.5, 3.0]), None] };
        let source = BaselineSource { name: "a".into(), started_unix_ns: 9, seconds: 2.0, windows: 2 };
        let key = BaselineKey {
            host: HostFacts::default(),
            target: "pid 1".into(),
            program: None,
            called: None,
            build_id: None,
            cpus: vec![],
            allowed: None,
            ops: None,
            latency: None,
        };
        Baseline {
            format: BASELINE_FORMAT,
            tool: "t".into(),
            key,
            sources: vec![source],
            quantities: vec!["cpi".into(), "busy_cores".into()],
            windows: vec![window(7), window(14)],
            stacks: vec![BaselineStack {
                frames: vec!["main".into(), "\u{1b}[31mevil".into()],
                cpu_ns: 0.1 + 0.2,
                samples: Some(3),
            }],
            cpu_ns: 1e300,
            ops: Some(5.0),
        }
    }

    fn refused(change: impl FnOnce(&mut Value)) -> Error {
        let mut value = serde_json::to_value(baseline()).unwrap();
        change(&mut value);
        parse(&serde_json::to_vec(&value).unwrap()).unwrap_err()
    }

    #[test]
    fn a_baseline_reads_back_as_it_was_written_for_its_owner_only() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.baseline");
        write(&path, &baseline(), false).unwrap();
        assert_eq!(read(&path).unwrap(), baseline());
        assert_eq!(read(&dir.path().join("a")).unwrap(), baseline(), "the ending need not be typed");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left behind");
    }

    #[test]
    fn a_baseline_of_before_samples_were_kept_is_still_read_and_knows_none() {
        let mut value = serde_json::to_value(baseline()).unwrap();
        value["format"] = json!([1, 0]);
        value["stacks"][0].as_object_mut().unwrap().remove("samples").unwrap();
        let old = serde_json::to_vec(&value).unwrap();
        let read = parse(&old).unwrap();
        assert_eq!((read.format, read.stacks[0].samples), ((1, 0), None));
        assert_eq!(serde_json::to_value(&read).unwrap(), value, "nothing is made up when it is written again");
    }

    #[test]
    fn only_an_older_baseline_makes_room_and_only_when_told() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        write(&at("a"), &baseline(), true).unwrap();
        assert!(write(&at("a"), &baseline(), false).unwrap_err().to_string().contains("exists already"));
        write(&at("a"), &baseline(), true).unwrap();
        fs::write(at("notes"), "{\"format\":[1,0]}").unwrap();
        fs::write(at("newer"), "{\"format\":[2,0]}").unwrap();
        symlink(at("a"), at("link")).unwrap();
        fs::create_dir(at("dir")).unwrap();
        for name in ["notes", "link", "dir"] {
            let error = write(&at(name), &baseline(), true).unwrap_err();
            assert!(error.to_string().contains("is not a baseline"), "{name}: {error}");
        }
        write(&at("newer"), &baseline(), true).unwrap();
        // A link planted at the temporary name is not followed.
        symlink(at("notes"), at(".b.tmp")).unwrap();
        write(&at("b"), &baseline(), false).unwrap();
        assert_eq!(fs::read_to_string(at("notes")).unwrap(), "{\"format\":[1,0]}");
        let error = write(&at("none/b"), &baseline(), false).unwrap_err();
        assert!(error.kind() == ErrorKind::NotFound && error.to_string().contains("none/b"), "{error}");
    }

    #[test]
    fn what_a_file_says_is_not_believed() {
        let corrupt = |change: fn(&mut Value), expected: &str| {
            let error = refused(change);
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
            assert!(error.to_string().contains(expected), "{error}");
        };
        corrupt(|v| v["windows"][1]["cells"] = json!([null]), "window 1 has 1 cells for 2 quantities");
        corrupt(|v| v["windows"][0]["source"] = json!(1), "to source 1, and there are 1");
        corrupt(|v| v["windows"][0]["cells"][0] = json!([-1.0, 2.0]), "window 0 contains an invalid value");
        corrupt(|v| v["windows"][0]["cells"][0] = json!([null, 2.0]), "invalid type");
        corrupt(|v| v["stacks"][0]["frames"] = json!([]), "has no frames");
        corrupt(|v| v["stacks"][0]["cpu_ns"] = json!(-0.5), "no time");
        corrupt(|v| v["stacks"][0]["samples"] = json!(-1), "invalid value");
        corrupt(|v| v["quantities"][1] = json!("cpi"), "twice");
        corrupt(|v| v["cpu_ns"] = json!(-1.0), "total");
        corrupt(|v| v["sources"][0]["name"] = json!("x".repeat(5000)), "more than 4096 bytes");
        corrupt(|v| v["quantities"] = json!(vec!["q"; 1001]), "1001 quantities");
        corrupt(|v| v["key"] = json!(null), "invalid type");
        let newer = refused(|v| v["format"] = json!([2, 7]));
        assert_eq!((newer.kind(), newer.remedy().is_some()), (ErrorKind::Unsupported, true), "{newer}");
    }

    #[test]
    fn no_truncation_and_no_changed_byte_makes_a_reader_panic() {
        let whole = document(&baseline()).unwrap();
        for end in 0..whole.len() - 2 {
            assert!(parse(&whole[..end]).is_err(), "{end}");
        }
        for at in 0..whole.len() {
            for byte in [0, b'"', b'9', b'e', b'-', 0xff] {
                let mut bytes = whole.clone();
                bytes[at] = byte;
                let _ = parse(&bytes);
            }
        }
        let deep = format!("{{\"format\":[1,0],\"key\":{}", "[".repeat(1 << 20));
        assert!(parse(deep.as_bytes()).is_err());
        let huge = String::from_utf8(whole).unwrap().replace("3.0", "1e999");
        assert!(parse(huge.as_bytes()).is_err());
    }

    #[test]
    fn what_is_no_file_is_not_waited_for() {
        let error = read(Path::new("/dev/zero")).unwrap_err();
        assert!(error.to_string().contains("not a regular file"), "{error}");
        let missing = read(Path::new("/nonexistent/x")).unwrap_err();
        assert!(missing.kind() == ErrorKind::NotFound && missing.remedy().is_some(), "{missing}");
    }
}
