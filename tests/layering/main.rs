//! Keeps the walls of the house standing: which module may use which, and who may do what.
//! It reads source text, so a path that is built by a macro escapes it; everything written plainly does not.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod circles;
mod source;

use source::Token;
use std::path::Path;

/// Module, and what it may use besides `error`. An entry `a::b` opens that part of `a` only.
const EDGES: &[(&str, &[&str])] = &[
    ("main", &["cli"]),
    // A program of its own, in a package that depends on none of ours.
    ("fleet", &[]),
    ("tui", &["view", "model", "units"]),
    // Of `sys` the command line needs what makes a plan out of names (events, CPUs, groups, processes), the clock and the
    // terminal for what it prints, signals kept from a thread, its own directory among temporary files, the page it answers with, a user's own command, and the built-in workloads.
    (
        "cli",
        &[
            "session",
            "abi",
            "sweep",
            "colocate",
            "watch",
            "tui",
            "export",
            "store",
            "view",
            "analysis",
            "collect",
            "pmu",
            "ops",
            "model",
            "units",
            "sys::affinity",
            "sys::http_server",
            "sys::caps",
            "sys::private_dir",
            "sys::shell_command",
            "sys::workload",
            "sys::event_sources",
            "sys::clock",
            "sys::procfs",
            "sys::sysfs",
            "sys::cgroupfs",
            "sys::terminal",
            "sys::signals::Signals",
            "sys::perf::tracefs",
        ],
    ),
    ("watch", &["analysis", "model", "units"]),
    // Of every room, what reads data that others wrote.
    (
        "fuzz",
        &[
            "abi",
            "collect",
            "session",
            "symbols",
            "sys",
            "unwind",
            "ops",
            "pmu",
            "model",
            "store",
            "tables",
            "sweep",
            "analysis",
            "view",
            "export",
            "cli::parse_config",
            "tui::settings",
        ],
    ),
    ("colocate", &["session", "sweep", "analysis", "store", "sys", "model", "units"]),
    ("sweep", &["abi", "session", "analysis", "store", "sys", "model", "units"]),
    (
        "session",
        &[
            "abi",
            "analysis",
            "collect",
            "disassembly",
            "ops",
            "pmu",
            "store",
            "symbols",
            "tables",
            "unwind",
            "sys",
            "model",
            "units",
        ],
    ),
    ("ops", &["sys", "model", "units"]),
    ("collect", &["abi", "sys", "pmu", "unwind", "model", "units"]),
    ("export", &["view", "tables", "model", "units"]),
    ("view", &["analysis", "model", "units"]),
    ("analysis", &["model", "units"]),
    ("store", &["abi", "tables", "model", "units"]),
    ("tables", &["model", "units"]),
    ("symbols", &["abi", "model", "units"]),
    ("unwind", &["abi", "model", "units"]),
    ("disassembly", &["model"]),
    ("pmu", &["abi", "model", "units"]),
    // The trait belongs to the pure side; sys only fills it.
    ("sys", &["abi", "model", "units", "pmu::EventSources"]),
    ("abi", &[]),
    ("model", &["units"]),
    ("units", &[]),
    ("error", &[]),
];

/// Crates and the one module that may name them; an underscore at the end stands for any rest.
const CRATES: &[(&str, &str)] = &[
    ("ratatui", "tui"),
    ("ratatui_", "tui"),
    ("crossterm", "tui"),
    ("flate2", "export"),
    ("polars", "fleet"),
    ("sqlparser", "fleet"),
    ("polars_", "tables"),
    ("zstd_safe", "store"),
    ("libc", "sys"),
    ("rustix", "sys"),
    ("perf_event_open", "sys"),
    ("perf_event_open_", "sys"),
    ("iced_x86", "disassembly"),
    ("yaxpeax_", "disassembly"),
    ("clap", "cli"),
    ("clap_", "cli"),
];

/// The engine's answers are what it prints.
const ENGINE: &str = "fleet/main.rs";

/// Longer files hold more than one idea.
const MAX_CODE_LINES: usize = 500;

/// Every breach in one file. `path` is relative to `src`.
fn scan(path: &str, text: &str) -> Vec<String> {
    let module = path.split('/').next().unwrap_or(path).trim_end_matches(".rs");
    let code = source::without_tests(&source::tokens(text));
    let mut found = Vec::new();
    if module != "lib" {
        edges(module, &code, &mut found);
        climbs(path, &code, &mut found);
    }
    habits(path, module, &code, &mut found);
    let mut lines: Vec<_> = code.iter().map(|token| token.line).collect();
    lines.dedup();
    if lines.len() > MAX_CODE_LINES {
        found.push((1, format!("{} lines of code; {MAX_CODE_LINES} is where to split", lines.len())));
    }
    found.sort();
    found.into_iter().map(|(line, what)| format!("src/{path}:{line}: {what}")).collect()
}

fn edges(module: &str, code: &[Token], found: &mut Vec<(usize, String)>) {
    let Some((_, allowed)) = EDGES.iter().find(|(name, _)| *name == module) else {
        return found.push((1, format!("module '{module}' stands in no row of the table of edges")));
    };
    // The crate of a package is its own.
    let crates: &[&str] = if module == "fleet" { &["ironlaw"] } else { &["crate", "ironlaw"] };
    for (line, used) in source::paths_below(code, crates) {
        let top = used.split("::").next().unwrap_or_default();
        let open = |edge: &&str| used == **edge || used.starts_with(&format!("{edge}::"));
        if top != module && top != "error" && !allowed.iter().any(open) {
            found.push((line, format!("{module} may not use {used}")));
        }
    }
}

/// `super` that reaches the crate's root hides an edge.
fn climbs(path: &str, code: &[Token], found: &mut Vec<(usize, String)>) {
    let depth = path.trim_end_matches("/mod.rs").split('/').count();
    for (at, token) in code.iter().enumerate().filter(|(_, token)| token.text == "super") {
        let chain = code[at..].chunks(2).take_while(|step| step[0].text == "super").count();
        if chain >= depth {
            found.push((token.line, "super leaves the module; write crate::".to_string()));
        }
    }
}

fn habits(path: &str, module: &str, code: &[Token], found: &mut Vec<(usize, String)>) {
    let text = |at: usize| code.get(at).map_or("", |token| token.text.as_str());
    for (at, token) in code.iter().enumerate() {
        let before = if at == 0 { "" } else { text(at - 1) };
        let after = text(at + 1);
        let called = (after == "!" || after == "(") && before != "." && before != "fn";
        let method = |name: &str| after == "::" && text(at + 2) == name;
        let breach = match token.text.as_str() {
            "print" | "println" | "eprint" | "eprintln" | "dbg" if after == "!" && module != "cli" => {
                "prints outside cli"
            }
            // Who may write on the terminal is decided in one place; it only exchanges descriptors.
            "stdout" | "stderr" if called && module != "cli" && path != "sys/terminal.rs" && path != ENGINE => {
                "writes to the terminal outside cli"
            }
            "Instant" | "SystemTime" if method("now") && path != "sys/clock.rs" => "reads a clock outside sys/clock.rs",
            "clock_gettime" if path != "sys/clock.rs" => "reads a clock outside sys/clock.rs",
            "process" if method("exit") => "exits; return an error, main decides the exit code",
            "unsafe" if module != "sys" => "is unsafe outside sys",
            name => {
                match CRATES.iter().find(|(krate, _)| names_crate(name, krate) && before != "::" && before != ".") {
                    // The kernel's own configuration is packed.
                    Some(("flate2", _)) if path == "collect/kernel_config.rs" => continue,
                    Some((krate, home)) if *home != module && (after == "::" || before == "use") => {
                        found.push((token.line, format!("names {krate} outside {home}")));
                        continue;
                    }
                    _ => continue,
                }
            }
        };
        found.push((token.line, format!("'{}' {breach}", token.text)));
    }
}

fn names_crate(name: &str, krate: &str) -> bool {
    name == krate || krate.ends_with('_') && name.starts_with(krate)
}

#[test]
fn no_file_breaks_a_wall() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = source::rust_files(&root);
    assert!(files.len() > 20, "the scan found only {} files", files.len());
    let breaches: Vec<String> = files
        .iter()
        .flat_map(|file| {
            let path = file.strip_prefix(&root).unwrap().to_str().unwrap();
            scan(path, &std::fs::read_to_string(file).unwrap())
        })
        .collect();
    assert!(breaches.is_empty(), "{} breaches:\n{}", breaches.len(), breaches.join("\n"));
}

/// What runs on the thread that drains the rings, below `collect/sampler`.
const DRAINING: &[&str] = &[
    "address_map",
    "assemble",
    "assemble/group_counts",
    "coverage",
    "earlier_waits",
    "event_queue",
    "follow",
    "intern",
    "jit_tables",
    "maps",
    "measured_calls",
    "memberships",
    "modules",
    "off_cpu",
    "open_files",
    "origin",
    "overhead",
    "rings",
    "run",
    "sample_periods",
    "sampling_rate",
    "sampling_turns",
    "sorter",
    "stack_spacing",
    "stacks",
    "steering",
    "summed_waits",
    "tasks",
    "trampolines",
    "wait_cost",
    "waiting/mod",
];

/// Whatever it reads of other processes, these may hold up: only `proc_source` asks for it, and a helper reads it.
#[test]
fn the_thread_that_drains_opens_nothing_below_proc() {
    const READS: &[&str] = &["ProcFs", "read_link", "process_memory", "threads_of", "read_to_string", "read_dir"];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/collect/sampler");
    let mut found = Vec::new();
    for file in DRAINING {
        let text = std::fs::read_to_string(root.join(file).with_extension("rs")).unwrap();
        let code = source::without_tests(&source::tokens(&text));
        for (at, token) in code.iter().enumerate() {
            let opens = || token.text == "File" && code.get(at + 2).is_some_and(|token| token.text == "open");
            if READS.contains(&token.text.as_str()) || opens() {
                found.push(format!("{file}.rs:{}: {}", token.line, token.text));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The longest `mod.rs`: it holds the map of its folder, the work lies in files with a name.
const MAX_MAP_LINES: usize = 150;

#[test]
fn no_map_of_a_folder_holds_the_work() {
    fn maps(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                maps(&path, found);
            } else if path.ends_with("mod.rs") {
                found.push(path);
            }
        }
    }
    let (root, mut found) = (Path::new(env!("CARGO_MANIFEST_DIR")), Vec::new());
    ["src", "tests"].iter().for_each(|folder| maps(&root.join(folder), &mut found));
    assert!(found.len() > 50, "only {} were found", found.len());
    let lines = |path: &std::path::PathBuf| std::fs::read_to_string(path).unwrap().lines().count();
    let long: Vec<_> = found.iter().filter(|path| lines(path) > MAX_MAP_LINES).collect();
    assert!(long.is_empty(), "over {MAX_MAP_LINES} lines: {long:?}");
}

/// In every folder, files and folders that lie side by side depend on each other in one direction.
#[test]
fn no_files_of_a_room_form_a_circle() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let read = |file: std::path::PathBuf| {
        let path = file.strip_prefix(&root).unwrap().to_str().unwrap().to_string();
        (path, std::fs::read_to_string(&file).unwrap())
    };
    let files: Vec<_> = source::rust_files(&root).into_iter().map(read).collect();
    let lines = circles::Modules::of(&files).circles().into_iter().map(|circle| {
        format!("src/{}: {}\n    {}", circle.folder, circle.entries.join(", "), circle.edges.join("\n    "))
    });
    let lines: Vec<_> = lines.collect();
    assert!(lines.is_empty(), "{} circles:\n{}", lines.len(), lines.join("\n"));
}

#[test]
fn a_planted_circle_is_found_and_a_parent_is_none() {
    let circles = |files: &[(&str, &str)]| {
        let files: Vec<_> = files.iter().map(|(path, text)| (path.to_string(), text.to_string())).collect();
        let found = circles::Modules::of(&files).circles();
        found.into_iter().map(|circle| format!("{}: {}", circle.folder, circle.entries.join(" "))).collect::<Vec<_>>()
    };
    let parent = ("v/mod.rs", "pub mod a; pub mod b; pub use a::A; pub use b::B as Other; pub struct P;");
    let a = |text| ("v/a.rs", text);
    let b = |text| ("v/b.rs", text);
    for (what, files, expected) in [
        (
            "direct",
            vec![parent, a("use super::b::B; struct A;"), b("use crate::v::a; struct B; fn f() { a::A }")],
            "v: a b",
        ),
        (
            "through what the parent hands on",
            vec![parent, a("use super::Other; struct A;"), b("use super::A;")],
            "v: a b",
        ),
        (
            "through a glob",
            vec![("v/mod.rs", "pub use b::*;"), a("use super::B; struct A;"), b("use super::a::A; pub struct B;")],
            "v: a b",
        ),
        (
            "of folders",
            vec![
                ("v/mod.rs", ""),
                ("v/a/x.rs", "use crate::v::b::y::Y; struct X;"),
                ("v/b/y.rs", "struct Y;"),
                ("v/b/z.rs", "use super::super::a::x::X;"),
            ],
            "v: a b",
        ),
        ("a child and its parent", vec![parent, a("use super::P; struct A;"), b("use super::a::A; struct B;")], ""),
        (
            "in tests only",
            vec![
                parent,
                a("use super::b::B; struct A;"),
                b("struct B; #[cfg(test)] mod tests { use crate::v::a::A; }"),
            ],
            "",
        ),
        ("walls of the top level", vec![("a.rs", "use crate::b::B;"), ("b.rs", "use crate::a::A; struct B;")], ""),
    ] {
        assert_eq!(circles(&files).join("; "), expected, "{what}");
    }
}

#[test]
fn the_table_points_down_only() {
    for (from, allowed) in EDGES {
        for to in allowed.iter().filter(|to| !to.contains("::")) {
            let back = EDGES.iter().find(|(name, _)| name == to).map_or(&[][..], |(_, edges)| edges);
            assert!(!back.contains(from), "{from} and {to} use each other");
        }
    }
}

#[test]
fn a_planted_breach_is_found_with_its_place() {
    for (path, text, expected) in [
        ("analysis/mod.rs", "use crate::sys::clock;", "src/analysis/mod.rs:1: analysis may not use sys::clock"),
        ("view/flame.rs", "\n\nuse crate::{model::Event,\n  store};", "src/view/flame.rs:4: view may not use store"),
        ("view/flame.rs", "fn f() { crate::cli::run() }", "src/view/flame.rs:1: view may not use cli::run"),
        ("sys/x.rs", "use crate::pmu::parse;", "src/sys/x.rs:1: sys may not use pmu::parse"),
        ("sys/perf/mod.rs", "use super::super::pmu;", "src/sys/perf/mod.rs:1: super leaves the module; write crate::"),
        ("units.rs", "use super::sys;", "src/units.rs:1: super leaves the module; write crate::"),
        ("session/fleet/engine.rs", "use polars::x;", "src/session/fleet/engine.rs:1: names polars outside fleet"),
        ("fleet/scan.rs", "use ironlaw::model::Meta;", "src/fleet/scan.rs:1: fleet may not use model::Meta"),
        ("gpu/mod.rs", "", "src/gpu/mod.rs:1: module 'gpu' stands in no row of the table of edges"),
        ("main.rs", "fn main() { ironlaw::session::run() }", "src/main.rs:1: main may not use session::run"),
        ("store/mod.rs", "use polars_io::x;", "src/store/mod.rs:1: names polars_ outside tables"),
        ("view/mod.rs", "type A = ratatui::Frame;", "src/view/mod.rs:1: names ratatui outside tui"),
        ("collect/mod.rs", "use libc;", "src/collect/mod.rs:1: names libc outside sys"),
        ("session/mod.rs", "fn f() {\n  eprintln!(\"x\");\n}", "src/session/mod.rs:2: 'eprintln' prints outside cli"),
        (
            "export/mod.rs",
            "let o = std::io::stdout();",
            "src/export/mod.rs:1: 'stdout' writes to the terminal outside cli",
        ),
        ("sys/perf/mod.rs", "Instant::now()", "src/sys/perf/mod.rs:1: 'Instant' reads a clock outside sys/clock.rs"),
        (
            "cli/run.rs",
            "std::process::exit(1)",
            "src/cli/run.rs:1: 'process' exits; return an error, main decides the exit code",
        ),
        ("pmu/mod.rs", "unsafe { x() }", "src/pmu/mod.rs:1: 'unsafe' is unsafe outside sys"),
    ] {
        assert_eq!(scan(path, text), [expected], "{path}");
    }
}

#[test]
fn what_is_allowed_is_not_a_breach() {
    for (path, text) in [
        ("analysis/mod.rs", "// use crate::sys;\n/* crate::cli /* nested */ println! */ use crate::model::Event;"),
        ("analysis/mod.rs", "const A: &str = \"crate::sys println! \\\" unsafe\"; const B: &str = r#\"\"unsafe\"#;"),
        ("analysis/mod.rs", "fn f<'a>(c: char) -> bool { c == '\"' && c != '\\'' } // unsafe"),
        ("analysis/mod.rs", "#[cfg(test)]\nmod tests {\n  use crate::sys::clock; fn f() { if true { println!() } }\n}"),
        ("analysis/mod.rs", "#[cfg(test)]\nmod tests;\nuse crate::units::Nanos;"),
        ("sys/x.rs", "use crate::pmu::EventSources; unsafe { libc::getpid() }"),
        ("sys/perf/ring.rs", "use super::super::perf::mmap; use crate::error::Result;"),
        ("sys/clock.rs", "Instant::now()"),
        ("sys/spawn.rs", "command.stdout(Stdio::null()).stderr(Stdio::null())"),
        ("cli/run.rs", "println!(\"x\"); use clap::Parser;"),
        ("view/x.rs", "use crate::{analysis as a, model::{Event as E, Sample}};"),
        ("main.rs", "use ironlaw::cli; use ironlaw::error::Error;"),
        ("collect/x.rs", "libc_errno::EPERM"),
        ("fleet/scan.rs", "use polars::prelude::*; use crate::protocol::Table;"),
        ("fleet/main.rs", "write(stdout())"),
    ] {
        assert!(scan(path, text).is_empty(), "{path}: {:?}", scan(path, text));
    }
    assert!(scan("units.rs", &"fn f() {}\n".repeat(501))[0].contains("501 lines of code"));
}

/// What tests say that they need: the words in their `require!` and `skip`.
fn needs(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (call, end) in [("require!(", ')'), ("skip(\"", '"')] {
        for (at, _) in text.match_indices(call) {
            let said = &text[at + call.len()..];
            let said = &said[..said.find(end).unwrap_or(0)];
            found.extend(said.split(',').map(|word| word.trim().trim_matches('"')));
        }
    }
    found.retain(|word| !word.is_empty() && !word.contains('$'));
    found
}

#[test]
fn ci_looks_for_what_tests_need() {
    assert_eq!(needs("require!(\"a\", \"b\"); skip(\"c\", why)"), ["a", "b", "c"]);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let ci = std::fs::read_to_string(root.join(".ci/run")).unwrap();
    let looks = ci.lines().filter(|line| ["has ", "absent+=", "mounted_words"].iter().any(|it| line.contains(it)));
    let known: Vec<&str> = looks.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '-')).collect();
    for file in ["src", "tests"].iter().flat_map(|folder| source::files_but(&root.join(folder), "layering")) {
        let text = std::fs::read_to_string(&file).unwrap();
        let unknown: Vec<_> = needs(&text).into_iter().filter(|need| !known.contains(need)).collect();
        assert!(unknown.is_empty(), "{}: {unknown:?}", file.display());
    }
}
