//! Probes that programs have: listed, and counted to the last hit. On a program built here, and on PostgreSQL.

use crate::program::{Dir, Ran, until};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The programs of the newest PostgreSQL, where Debian's packages install them.
fn postgres() -> Option<String> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?.flatten();
    let newest = versions.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()).max()?;
    let programs = format!("/usr/lib/postgresql/{newest}/bin");
    Path::new(&programs).join("pgbench").exists().then_some(programs)
}

/// The program with probes, built here and stripped; `None` without a C compiler.
fn probed(dir: &Dir) -> Option<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/usdt.c");
    let app = dir.join("app").display().to_string();
    if !dir
        .command("cc", &["-O1", "-s", "-o", &app, &source.display().to_string()])
        .status()
        .is_ok_and(|it| it.success())
    {
        crate::support::skip("cc", "no C compiler");
        return None;
    }
    Some(app)
}

fn list(dir: &Dir, place: &str) -> Value {
    serde_json::from_str(&dir.ironlaw(&["list", "-j", "usdt", place]).succeeds().out).unwrap()
}

#[test]
fn the_probes_of_a_stripped_program_are_listed_with_places_and_semaphores() {
    let dir = Dir::new();
    let Some(app) = probed(&dir) else { return };
    let listed = list(&dir, &app);
    let probes = listed["files"][0]["probes"].as_array().unwrap();
    let rows: Vec<_> =
        probes.iter().map(|row| (row["name"].as_str(), row["places"].as_u64(), row["semaphore"].as_bool())).collect();
    assert_eq!(rows, [(Some("tick"), Some(2), Some(true)), (Some("tock"), Some(1), Some(false))], "{listed}");
    assert_eq!(probes[0]["ops"], format!("usdt:{app}:tick"));
    let text = dir.ironlaw(&["list", "usdt", &app]).succeeds().out;
    assert!(text.contains("  app:tick  2 places, semaphore\n  app:tock  1 place\n"), "{text}");
    for (words, code, said) in [
        (&["list", "usdt"][..], 2, "names no program"),
        (&["list", "usdt", "/bin/sh"], 1, "no USDT probes"),
        (&["list", "usdt", "/no/such/file"], 1, "/no/such/file"),
        (&["list", "usdt", "4194304"], 1, "4194304"),
        (&["stat", "--ops", "usdt:./app:tack", "--", "./app"], 1, "Names like it: tick, tock"),
    ] {
        let ran = dir.ironlaw(words);
        assert_eq!(ran.code, Some(code), "{words:?}: {}", ran.err);
        assert!(ran.err.contains(said) || code == 2, "{words:?}: {}", ran.err);
    }
}

#[test]
fn every_hit_at_every_place_is_counted_and_the_program_knows_that_somebody_counts() {
    require!("perf", "probes");
    let dir = Dir::new();
    if probed(&dir).is_none() {
        return;
    }
    for (probe, expected, printed) in
        [("tick", 1100.0, "1100 ticks, 250 tocks\n"), ("app:tock", 250.0, "0 ticks, 250 tocks\n")]
    {
        let ops = format!("usdt:./app:{probe}");
        let ran = dir.ironlaw(&["record", "--force", "-o", "run", "--ops", &ops, "--", "./app"]).succeeds();
        assert_eq!(ran.out, printed, "{probe}: {}", ran.err);
        assert!(ran.err.contains(&format!("Hits of app:{probe} are counted at ")), "{}", ran.err);
        assert_eq!(dir.report("run.ironlaw", "")["metrics"]["operations"]["value"], expected, "{probe}");
    }
}

#[test]
fn calls_of_a_stripped_programs_function_are_counted_by_its_address_and_by_its_offset() {
    require!("perf", "probes");
    let dir = Dir::new();
    if probed(&dir).is_none() {
        return;
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/usdt.c").display().to_string();
    // Laid out in the same way, but with its symbols.
    dir.command("cc", &["-O1", "-o", "full", &source]).status().unwrap();
    let text = Ran::of(&mut dir.command("nm", &["full"])).succeeds().out;
    let line = text.lines().find(|line| line.ends_with(" t work")).unwrap();
    let address = u64::from_str_radix(line.split(' ').next().unwrap(), 16).unwrap();
    for (place, expected) in [(format!("{address:#x}"), 200.0), (format!("+{address:#x}"), 200.0)] {
        let ops = format!("uprobe:./app:{place}");
        let ran = dir.ironlaw(&["record", "--force", "-o", "run", "--ops", &ops, "--", "./app"]).succeeds();
        assert_eq!(dir.report("run.ironlaw", "")["metrics"]["operations"]["value"], expected, "{ops}: {}", ran.err);
    }
    let inside = format!("uprobe:./app:{:#x}", address + 1);
    let ran = dir.ironlaw(&["record", "--force", "-o", "run", "--ops", &inside, "--", "./app"]);
    assert!(ran.code == Some(1) && ran.err.contains("no function begins at"), "{}", ran.err);
}

/// A server of its own, stopped and removed with the test.
struct Postgres {
    programs: String,
    dir: Dir,
    data: PathBuf,
}

impl Postgres {
    fn start() -> Option<Postgres> {
        let Some(programs) = postgres() else {
            crate::support::skip("postgres", "PostgreSQL is not installed below /usr/lib/postgresql");
            return None;
        };
        let dir = Dir::new();
        let data = dir.join("data");
        let server = Postgres { programs, dir, data };
        Ran::of(&mut server.dir.command("chown", &["postgres", &server.dir.path().display().to_string()])).succeeds();
        server.run("initdb -D data -A trust -N").succeeds();
        let options = "-o \"-k $PWD -c listen_addresses= -c fsync=off -c autovacuum=off -c jit=off\"";
        server.run(&format!("pg_ctl -D data {options} -l log -w start > /dev/null")).succeeds();
        server.run("createdb -h $PWD bench").succeeds();
        server.run("pgbench -q -i -h $PWD bench").succeeds();
        Some(server)
    }

    fn run(&self, line: &str) -> Ran {
        let line = format!("PATH={}:$PATH; {line}", self.programs);
        Ran::of(&mut self.dir.command("su", &["postgres", "-s", "/bin/sh", "-c", &line]))
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let _ = self.run("pg_ctl -D data -m immediate stop > /dev/null");
    }
}

#[test]
fn transactions_and_queries_of_postgres_are_those_that_its_benchmark_ran() {
    require!("perf", "probes");
    let Some(server) = Postgres::start() else { return };
    let dir = &server.dir;
    let pid = std::fs::read_to_string(server.data.join("postmaster.pid")).unwrap();
    let pid = pid.lines().next().unwrap();
    let (clients, each) = (3, 100);
    let programs = &server.programs;
    let bench = format!("{programs}/pgbench -n -h $PWD -c {clients} -t {each} bench");
    for (probe, expected) in [
        // Two queries of its own; and a transaction when a connection opens, of which one is its own as well.
        ("transaction__commit", clients * each + 2 + clients + 1),
        ("query-start", clients * each * 7 + 2),
    ] {
        let ops = format!("usdt:{programs}/postgres:{probe}");
        let clock = ["--", "su", "postgres", "-s", "/bin/sh", "-c", &bench];
        let record = ["record", "--force", "-o", "run", "--children", "-p", pid, "--ops", &ops];
        let ran = dir.ironlaw(&[&record[..], &clock].concat()).succeeds();
        assert!(ran.out.contains(&format!("processed: {0}/{0}", clients * each)), "{}", ran.out);
        assert_eq!(dir.report("run.ironlaw", "")["metrics"]["operations"]["value"], f64::from(expected), "{probe}");
    }
    let listed = list(dir, pid);
    let file =
        listed["files"].as_array().unwrap().iter().find(|file| file["path"].as_str().unwrap().ends_with("/postgres"));
    assert!(file.unwrap()["probes"].as_array().unwrap().len() > 50, "{listed}");
    until("the definition is gone", || !defined());
}

#[test]
fn what_could_count_the_operations_of_postgres_is_tried_and_its_transactions_come_first() {
    require!("perf", "probes");
    let Some(server) = Postgres::start() else { return };
    let dir = &server.dir;
    let pid = std::fs::read_to_string(server.data.join("postmaster.pid")).unwrap();
    let pid = pid.lines().next().unwrap();
    let bench = format!("{}/pgbench -n -h $PWD -T 60 bench", server.programs);
    let mut bench = dir.command("su", &["postgres", "-s", "/bin/sh", "-c", &bench]);
    let bench = crate::program::Running::of(&mut bench);
    let tried = || -> Value {
        serde_json::from_str(&dir.ironlaw(&["ops", "-j", "-d", "300ms", "--children", "-p", pid]).succeeds().out)
            .unwrap()
    };
    let mut listed = Value::Null;
    until("transactions are counted", || {
        listed = tried();
        listed["sources"][0]["hits"].as_u64() > Some(0) && listed["sources"][0]["class"] == "known_probe"
    });
    drop(bench);
    let rows = listed["sources"].as_array().unwrap();
    let ops = |at: usize| rows[at]["ops"].as_str().unwrap();
    assert!(
        ops(0).ends_with("/postgres:transaction__commit") && ops(1).ends_with("/postgres:query__execute__start"),
        "{listed}"
    );
    let number = |row: &Value, name: &str| row[name].as_f64().unwrap_or_else(|| panic!("{name}: {row}"));
    assert!((number(&rows[0], "hits") / number(&rows[0], "counted_s") / number(&rows[0], "rate") - 1.0).abs() < 1e-9);
    assert!(number(&rows[1], "rate") > 2.0 * number(&rows[0], "rate"), "seven statements make a transaction: {listed}");
    let received = rows.iter().find(|row| row["ops"] == "tracepoint:syscalls:sys_enter_recvfrom").unwrap();
    assert!(number(received, "rate") > 0.0 && number(received, "cost_ns") >= 0.0, "{listed}");
    assert!(number(&rows[0], "cost_ns") > 0.0 && number(&rows[0], "cpu_share") > 0.0, "{listed}");
    assert!(listed["notes"].to_string().contains("--all"), "{listed}");
    let text = dir.ironlaw(&["ops", "-d", "50ms", "-p", pid]).succeeds().out;
    assert!(text.contains("--children includes them") && text.contains("  # transactions committed\n"), "{text}");
    let wrong = dir.ironlaw(&["ops", "-p", "4194304"]);
    assert!(wrong.code == Some(1) && wrong.err.contains("4194304"), "{}", wrong.err);
}

#[test]
fn a_page_that_a_program_counts_in_is_the_best_source() {
    require!("perf", "python3");
    let dir = Dir::new();
    // What a program maps is what it counts in; that nobody counts shows as no hit.
    let name = format!("ironlaw-test-ops-{}", std::process::id());
    let code = format!(
        "import mmap,time\nf=open('/dev/shm/{name}','w+b')\nf.truncate(4096)\nm=mmap.mmap(f.fileno(),4096)\nprint(flush=True)\ntime.sleep(60)"
    );
    let mut program = crate::program::Running::of(&mut dir.command("python3", &["-c", &code]));
    std::io::Read::read_exact(program.0.stdout.as_mut().unwrap(), &mut [0]).unwrap();
    let pid = program.pid().to_string();
    let listed: Value =
        serde_json::from_str(&dir.ironlaw(&["ops", "-j", "-d", "50ms", "-p", &pid]).succeeds().out).unwrap();
    let row = listed["sources"].as_array().unwrap().iter().find(|row| row["class"] == "page").cloned();
    std::fs::remove_file(format!("/dev/shm/{name}")).unwrap();
    let row = row.unwrap_or_else(|| panic!("{listed}"));
    assert_eq!(row["ops"], format!("page:{}", &name["ironlaw-".len()..]));
    assert!(row["why"].as_str().unwrap().contains("not a page made by ironlaw_open"), "{row}");
}

/// Whether a probe of a process that has ended is still defined, where tracefs can be read.
fn defined() -> bool {
    let text = std::fs::read_to_string("/sys/kernel/tracing/uprobe_events").unwrap_or_default();
    text.split("ironlaw/p")
        .skip(1)
        .filter_map(|rest| rest.split('_').next())
        .any(|pid| !Path::new("/proc").join(pid).exists())
}
