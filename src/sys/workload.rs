//! The built-in C workloads with a known answer, which `demo` and the tests profile.

use crate::error::{Error, ErrorKind, Result};
use std::ffi::{CStr, CString, c_char, c_int, c_uint};
use std::sync::OnceLock;

unsafe extern "C" {
    fn ironlaw_workload_name(index: c_uint) -> *const c_char;
    fn ironlaw_workload_about(index: c_uint) -> *const c_char;
    fn ironlaw_workload(name: *const c_char, threads: c_int, seconds: f64, ops: *mut u64) -> c_int;
}

/// A workload and the cause it plants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Workload {
    /// Its name for [`run`], e.g. `false-sharing`.
    pub name: &'static str,
    /// The planted cause in a few words; the head of the workload's file under native/workloads describes it in full.
    pub about: &'static str,
}

/// All workloads, sorted by name.
pub fn all() -> &'static [Workload] {
    static ALL: OnceLock<Vec<Workload>> = OnceLock::new();
    ALL.get_or_init(|| (0..).map_while(workload).collect())
}

fn workload(index: c_uint) -> Option<Workload> {
    // SAFETY: both functions only read a constant table and return null past its end.
    let (name, about) = unsafe { (ironlaw_workload_name(index), ironlaw_workload_about(index)) };
    if name.is_null() || about.is_null() {
        return None;
    }
    // SAFETY: a non-null result points to a string literal, which lives as long as the program.
    let (name, about) = unsafe { (CStr::from_ptr(name), CStr::from_ptr(about)) };
    Some(Workload { name: name.to_str().ok()?, about: about.to_str().ok()? })
}

fn is_known(name: &str) -> bool {
    all().iter().any(|workload| workload.name == name)
}

/// Runs a workload to its end and returns the operations it completed.
/// Errors: `Usage` for an unknown name, no threads or an invalid time; otherwise the system's error.
pub fn run(name: &str, threads: u32, seconds: f64) -> Result<u64> {
    let unknown = || {
        Error::new(ErrorKind::Usage, format!("unknown workload '{name}'"))
            .hint(format!("Choose one of: {}.", all().iter().map(|known| known.name).collect::<Vec<_>>().join(", ")))
    };
    let c_name = CString::new(name).map_err(|_| unknown())?;
    let c_threads = c_int::try_from(threads).unwrap_or(c_int::MAX);
    let mut ops = 0;
    // SAFETY: the name is a C string and `ops` a valid place, both alive during the call; the function joins every
    // thread it started before it returns.
    match unsafe { ironlaw_workload(c_name.as_ptr(), c_threads, seconds, &raw mut ops) } {
        0 => Ok(ops),
        libc::ENOENT if !is_known(name) => Err(unknown()),
        libc::EINVAL => Err(Error::new(
            ErrorKind::Usage,
            format!("workload {name} cannot run with {threads} threads for {seconds} seconds"),
        )
        .hint("Give at least one thread and a time of 0 seconds or more.")),
        errno => {
            Err(Error::from(std::io::Error::from_raw_os_error(errno)).context(format!("cannot run workload {name}")))
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
    use super::*;

    #[test]
    fn every_workload_runs_and_ends_in_time() {
        assert!(all().is_sorted_by_key(|workload| workload.name) && is_known("hotspot"), "{:?}", all());
        // The children of `execer` execute their own binary, which here is the test binary and knows no workload.
        for Workload { name, .. } in all().iter().filter(|workload| workload.name != "execer") {
            // On a busy machine a short run may end before its first operation.
            assert!([0.02, 1.0, 10.0].iter().any(|seconds| run(name, 3, *seconds).unwrap() > 0), "{name}");
        }
    }

    #[test]
    fn no_time_at_all_is_still_a_clean_run() {
        for workload in all() {
            run(workload.name, 1, 0.0).unwrap();
        }
    }

    #[test]
    fn the_list_says_what_the_workloads_files_expect() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("native/workloads");
        for Workload { name, about } in all() {
            let file = match *name {
                "narrow-vectors" => "wide_vectors.c".to_string(),
                "oversubscribed" => "scaling.c".to_string(),
                chase if chase.starts_with("chase-") => "chase.c".to_string(),
                "io-bulk" | "io-paced" => "io.c".to_string(),
                tail if tail.starts_with("tail-") => "tail.c".to_string(),
                paced if paced.starts_with("paced-") => "paced.c".to_string(),
                _ => format!("{}.c", name.replace('-', "_")),
            };
            let text = std::fs::read_to_string(folder.join(&file)).unwrap();
            let comment = text.strip_prefix("/* Expected diagnosis: ").unwrap().split("*/").next().unwrap();
            let words = |text: &str| text.split_whitespace().filter(|word| *word != "*").collect::<Vec<_>>().join(" ");
            assert!(words(comment).contains(&words(about)), "{file} does not say of {name}: {about}");
        }
    }

    #[test]
    fn what_cannot_run_says_so() {
        for (name, threads, seconds) in
            [("nonesuch", 1, 0.1), ("sp\0in", 1, 0.1), ("spin", 0, 0.1), ("spin", 1, f64::NAN)]
        {
            let error = run(name, threads, seconds).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
            assert!(error.remedy().is_some());
        }
    }
}
