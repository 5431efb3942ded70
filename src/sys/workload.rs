//! The built-in C workloads with a known answer: what `demo` and the tests profile.
//! It never measures them; it only runs one in this process.

use crate::error::{Error, ErrorKind, Result};
use std::ffi::{CStr, CString, c_char, c_int, c_uint};
use std::sync::OnceLock;

unsafe extern "C" {
    fn ironlaw_workload_name(index: c_uint) -> *const c_char;
    fn ironlaw_workload(name: *const c_char, threads: c_int, seconds: f64, ops: *mut u64) -> c_int;
}

/// The names of all workloads, sorted; each is described at the top of its file under native/workloads.
pub fn names() -> &'static [&'static str] {
    static NAMES: OnceLock<Vec<&'static str>> = OnceLock::new();
    NAMES.get_or_init(|| (0..).map_while(name).collect())
}

fn name(index: c_uint) -> Option<&'static str> {
    // SAFETY: the function only reads a constant table and returns null past its end.
    let name = unsafe { ironlaw_workload_name(index) };
    if name.is_null() {
        return None;
    }
    // SAFETY: a non-null result points to a string literal, which lives as long as the program.
    unsafe { CStr::from_ptr(name) }.to_str().ok()
}

/// Runs a workload to its end and returns the operations it completed.
/// Errors: `Usage` for an unknown name, no threads or a senseless time; else what the system refused.
pub fn run(name: &str, threads: u32, seconds: f64) -> Result<u64> {
    let unknown = || {
        Error::new(ErrorKind::Usage, format!("there is no workload '{name}'"))
            .hint(format!("Choose one of: {}.", names().join(", ")))
    };
    let c_name = CString::new(name).map_err(|_| unknown())?;
    let c_threads = c_int::try_from(threads).unwrap_or(c_int::MAX);
    let mut ops = 0;
    // SAFETY: the name is a C string and `ops` a valid place, both alive during the call; the function joins every
    // thread it started before it returns.
    match unsafe { ironlaw_workload(c_name.as_ptr(), c_threads, seconds, &raw mut ops) } {
        0 => Ok(ops),
        libc::ENOENT if !names().contains(&name) => Err(unknown()),
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
        assert!(names().is_sorted() && names().contains(&"hotspot"), "{:?}", names());
        // The children of `execer` execute the program they are part of, which here is the test and knows no workload.
        for name in names().iter().filter(|name| **name != "execer") {
            // On a busy machine a short run may end before its first operation.
            assert!([0.02, 1.0, 10.0].iter().any(|seconds| run(name, 3, *seconds).unwrap() > 0), "{name}");
        }
    }

    #[test]
    fn no_time_at_all_is_still_a_clean_run() {
        for name in names() {
            run(name, 1, 0.0).unwrap();
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
