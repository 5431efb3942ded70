//! Builds the known-answer C workloads, the functions for measuring probes and the memory canaries into the program, so
//! that `demo` and the tests need no compiler at run time.
//! It never looks outside native/ and runs again only when something there changes.

use std::path::{Path, PathBuf};

fn main() {
    println!("cargo:rerun-if-changed=native");
    cc::Build::new()
        .files(sources(Path::new("native/workloads")))
        .file("native/probe_target.c")
        .std("c11")
        .define("_GNU_SOURCE", None)
        .opt_level(2)
        .debug(false)
        .warnings(true)
        .extra_warnings(true)
        // Line tables only: names and lines for the planted functions, little else.
        .flag("-g1")
        // Like a distribution's binaries: stacks must come from unwind tables.
        .force_frame_pointer(false)
        .flag("-fomit-frame-pointer")
        .flag("-fasynchronous-unwind-tables")
        // Every planted call stays a call: no tail jumps, no vector code that changes the proportions.
        .flag("-fno-optimize-sibling-calls")
        .flag("-fno-tree-vectorize")
        .compile("ironlaw_workloads");
    probes();
    if std::env::var("PROFILE").is_ok_and(|profile| profile == "debug") {
        program();
    }
}

/// The workloads alone, for the tests of a debug build; `IRONLAW_WORKLOADS` is its path. Named as the whole program is,
/// which it stands for.
fn program() {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    let program = out.join("ironlaw");
    let mut link = cc::Build::new().get_compiler().to_command();
    link.arg("native/workload_program.c").arg("-O2").arg("-o").arg(&program);
    link.arg("-L").arg(&out).args(["-lironlaw_workloads", "-lpthread", "-lm"]);
    let linked = link.status();
    assert!(linked.as_ref().is_ok_and(|status| status.success()), "cannot link {}: {linked:?}", program.display());
    println!("cargo:rustc-env=IRONLAW_WORKLOADS={}", program.display());
}

/// The canaries: here the compiler may use all it knows, for streams that shall go as fast as the machine.
fn probes() {
    cc::Build::new()
        .file("native/probes.c")
        .std("c11")
        .define("_GNU_SOURCE", None)
        .opt_level(3)
        .debug(false)
        .warnings(true)
        .extra_warnings(true)
        .compile("ironlaw_probes");
}

/// The C files of `folder` in a fixed order, so that equal sources give equal archives.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("cannot list {}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
    files.sort();
    files
}
