//! Every example of the README and the guide, run as it is printed: shortened, with stand-ins for the reader's own programs.

use crate::program::{Dir, IRONLAW, Ran, Running};
use crate::pty::{End, Pty};
use regex::Regex;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

/// Examples that are not run, by what stands in them, and why; that they parse is tested with the guide's pages.
const NOT_RUN: [(&str, &str); 14] = [
    ("--engine spark", "needs a cluster"),
    ("--latency ", "needs load generators and servers; the tests of latencies run stand-ins of them"),
    ("--with disk=", "a matrix of runs takes longer than all other examples; the tests of colocate run others"),
    ("usdt", "needs PostgreSQL; the tests of its probes run it"),
    ("--host ", "needs another machine; the tests of remote sessions run a stand-in of ssh"),
    ("-G web.service", "needs a unit of systemd"),
    ("-e cycles,instructions", "needs a CPU that counts instructions"),
    ("-e '{cycles,instructions", "needs a CPU that counts instructions"),
    ("--for-each-cgroup web.service", "needs units of systemd"),
    ("MEM_INST_RETIRED.LOCK_LOADS", "an event of Intel's CPUs"),
    ("record --mem", "needs a CPU that samples memory accesses; the tests of them run it where it does"),
    ("--by memory", "needs samples of memory accesses; the tests of them run it"),
    ("usual*.ironlaw", "extends what a unit of systemd recorded"),
    ("--ops ... ", "leaves the operations open"),
];

/// Examples that open a terminal session: they are run in one until their screen is drawn, and quit by a key.
const IN_A_TERMINAL: &str = r"^ironlaw( top .*| view.*| diff --tui .*)?$";

/// What of an example takes too long or names what only its reader has, as a pattern, and what stands in for it.
const SHORTER: [(&str, &str); 20] = [
    (r"\s+# .*$", ""),
    (r"cargo run --release --", "ironlaw"),
    (r"ironlaw demo$", "ironlaw demo -o demo.ironlaw --headless --seconds 0.1"),
    (r"ironlaw demo sweep", "ironlaw demo sweep -o demo.sweep --headless --seconds 0.2 --threads 2"),
    (r" -d \S+", " -d 0.2"),
    (r"record (.*-p 1234)$", "record -d 0.2 $1"),
    (r"record -p 1234 --baseline", "record -d 0.2 --stale-ok -p 1234 --baseline"),
    (r"watch (.*-p 1234)", "watch -d 0.5 -I 100ms --stale-ok $1"),
    (r"-p 1234", "-p PID"),
    (r"--dwell 10s", "--dwell 100ms"),
    (r"fleet simulate fleet --hosts 200 --days 2", "fleet simulate new-fleet --hosts 8 --days 1 --jobs 3"),
    (r"/shared/fleet", "fleet"),
    (r"ironlaw sweep( -r 3)?", "ironlaw sweep -r 1"),
    (r"-r 3 ", ""),
    (r"(-L threads|-L cpus|--cpus) \S+", "$1 1,2"),
    (r"--width 8", "--width 2"),
    (r"1s-10s", "0.1s-10s"),
    (r"--thread worker", "--thread cruncher-0"),
    (r"localhost:9100", "ADDRESS"),
    (r"\$i", "1"),
];

/// Programs that stand in for the reader's.
const STAND_INS: [(&str, &str); 3] = [
    ("bin/sysbench", "for i in 1 2 3; do sleep 0.1; done\necho 'total number of events: 1000'"),
    ("app", "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done"),
    ("bench", "sleep 0.1; echo '1000 ops'"),
];

/// The lines of a text that run ironlaw.
fn examples(text: &str) -> Vec<String> {
    let text = text.replace("\\\n", " ");
    let lines = text.lines().filter_map(|line| line.strip_prefix("    "));
    let runs = Regex::new(r"^(\s*(\$ )?|.*[|&] )(ironlaw|cargo run --release --)( -| [a-z]+( |$)|\s+#|$)").unwrap();
    // Screens and reports are indented as examples are.
    let shown = ["·", " -> ", "own CPU"];
    let own = lines.filter(|line| runs.is_match(line) && !shown.iter().any(|sign| line.contains(sign)));
    own.map(|line| line.trim().trim_start_matches("$ ").to_string()).collect()
}

/// What an example becomes for a test: short, and without what it hands its output to.
fn shortened(example: &str, pid: u32, address: &str) -> String {
    let mut line = example.to_string();
    for (pattern, with) in SHORTER {
        line = Regex::new(pattern).unwrap().replace_all(&line, with).into_owned();
    }
    for end in [" | ", " && "] {
        let own = line.rfind("ironlaw ").unwrap_or(0);
        line.truncate(line[own..].find(end).map_or(line.len(), |at| own + at));
    }
    line.replace("PID", &pid.to_string()).replace("ADDRESS", address)
}

/// A folder with everything that examples read: recordings, sweeps, a baseline, what other tools wrote.
struct Kit {
    dir: Dir,
    target: Running,
    address: String,
}

impl Kit {
    fn new() -> Kit {
        let dir = Dir::new();
        fs::create_dir_all(dir.join("bin")).unwrap();
        symlink(IRONLAW, dir.join("bin/ironlaw")).unwrap();
        for (name, script) in STAND_INS {
            fs::write(dir.join(name), format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(dir.join(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        for folder in ["home/.config", "home/.local/share/bash-completion/completions", "rootfs"] {
            fs::create_dir_all(dir.join(folder)).unwrap();
        }
        fs::write(dir.join("kallsyms"), "ffffffff81000000 T _text\n").unwrap();
        fs::write(dir.join("out.folded"), "main;work 7\nmain;wait 3\n").unwrap();
        fs::write(dir.join("two.folded"), "main;work 7 9\nmain;wait 3 3\n").unwrap();
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
        fs::copy(fixtures.join("perfdata/perf.data.callgraph-3.8"), dir.join("perf.data")).unwrap();
        // A small program, for most of a short recording's time goes into reading the symbols of what ran, and one that
        // leaves the other tests a CPU.
        let some_work = "while :; do i=0; while [ $i -lt 4000 ]; do i=$((i+1)); done; sleep 0.02; done";
        let target = Running::of(&mut dir.command("sh", &["-c", some_work]));
        let kit = Kit { dir, target, address: answer() };
        kit.record();
        kit
    }

    /// Records what the examples read, under every name they read it by.
    fn record(&self) {
        for (name, names) in [
            ("old", ["old-1", "old-2", "old-3", "monday", "main", "before"].as_slice()),
            ("new", &["new-1", "new-2", "new-3", "tuesday", "friday", "run", "base", "after"]),
        ] {
            // A baseline cannot be learnt where other tests left the program hardly any CPU: once more, then.
            for _ in 0..4 {
                let ops = r"-f --off-cpu -I 50ms --ops regex:ops\s(\d+)";
                self.dir.record(name, ops, "scaling --threads 4 --seconds 0.8");
                if self.shell(&self.dir, &format!("ironlaw baseline build {name}.ironlaw -o web.baseline -f")).code
                    == Some(0)
                {
                    break;
                }
            }
            for copy in names {
                symlink(self.dir.join(&format!("{name}.ironlaw")), self.dir.join(&format!("{copy}.ironlaw"))).unwrap();
            }
        }
        self.runs(&self.dir, "ironlaw fleet simulate fleet --hosts 8 --days 1 --jobs 3 --seed 1");
        self.runs(&self.dir, "ironlaw sweep -r 1 -L threads 1,2 --ops 'regex:(\\d+) ops' -o main -- ./bench {threads}");
        for copy in ["fix", "run"] {
            symlink(self.dir.join("main.sweep"), self.dir.join(&format!("{copy}.sweep"))).unwrap();
        }
        self.runs(&self.dir, "ironlaw baseline build old.ironlaw -o web.baseline -f");
    }

    fn runs(&self, dir: &Dir, line: &str) {
        let ran = self.shell(dir, line);
        // A gate of short runs is undecided.
        let undecided = line.contains("--fail-if") && ran.code == Some(4);
        assert!(ran.code == Some(0) || undecided, "{line}: {:?}\n{}{}", ran.code, ran.out, ran.err);
    }

    fn shell(&self, dir: &Dir, line: &str) -> Ran {
        Ran::of(&mut self.command(dir, line))
    }

    fn command(&self, dir: &Dir, line: &str) -> Command {
        let path = format!("{}:{}", self.dir.join("bin").display(), std::env::var("PATH").unwrap_or_default());
        let mut command: Command = dir.command("sh", &["-c", line]);
        command.env("PATH", path).env("HOME", dir.join("home")).env_remove("XDG_CONFIG_HOME");
        command
    }

    /// Opens a session, waits for its screen, and quits.
    fn shows(&self, dir: &Dir, line: &str) {
        eprintln!("{line} in a terminal");
        let mut pty = Pty::start(&mut self.command(dir, &format!("exec {line}")), (100, 30));
        pty.wait_until("the screen is drawn", |screen| {
            screen.lines().next().is_some_and(|head| head.contains("ironlaw "))
        });
        // Where a target is chosen, letters search.
        pty.press(if line == "ironlaw" { "Esc" } else { "q" });
        assert_eq!(pty.ends(), End::Code(0), "{line}");
        pty.assert_restored();
    }

    /// A folder that has all of this but what an example is to write.
    fn copy_for(&self, line: &str) -> Dir {
        let dir = Dir::new();
        let output = Regex::new(r" -o (\S+)").unwrap().captures(line).map(|found| found[1].to_string());
        let is_output = |name: &str| {
            let stem = name.split('.').next().unwrap_or(name);
            output.as_ref().is_some_and(|output| output == name || output == stem) && !line.ends_with(" -f")
        };
        for entry in fs::read_dir(self.dir.path()).unwrap().flatten() {
            let name = entry.file_name().into_string().unwrap();
            match entry.file_type().unwrap().is_file() {
                _ if is_output(&name) => {}
                true => drop(fs::copy(entry.path(), dir.join(&name)).unwrap()),
                false => symlink(entry.path(), dir.join(&name)).unwrap(),
            }
        }
        dir
    }
}

/// Where a Prometheus counter is answered for as long as this process lives.
fn answer() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for (count, stream) in listener.incoming().enumerate() {
            let Ok(mut stream) = stream else { continue };
            let _ = stream.read(&mut [0; 4096]);
            let page = format!("requests_total {count}\n");
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", page.len());
            let _ = stream.write_all((head + &page).as_bytes());
        }
    });
    address
}

fn pages() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let guide = fs::read_dir(root.join("assets/guide")).unwrap().flatten().map(|entry| entry.path());
    let mut paths: Vec<_> = guide.chain([root.join("README.md")]).collect();
    paths.sort();
    let named = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    paths.iter().map(|path| (named(path), fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn every_example_that_can_run_here_does_what_it_says() {
    require!("perf");
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        crate::support::skip("cpus", "the sweeps of the examples need two CPUs");
        return;
    }
    let kit = Kit::new();
    let is_root = crate::support::missing("root").is_none();
    let has_engine = crate::support::missing("engine").is_none();
    let in_a_terminal = Regex::new(IN_A_TERMINAL).unwrap();
    let (mut run, mut unused) = (0, NOT_RUN.map(|(text, _)| text).to_vec());
    for (page, text) in pages() {
        for example in examples(&text) {
            if let Some((text, _)) = NOT_RUN.iter().find(|(text, _)| example.contains(text)) {
                unused.retain(|unused| unused != text);
                continue;
            }
            if example.contains(" -a ") && !is_root || example.contains("fleet /") && !has_engine {
                continue;
            }
            if let Some(why) = example.starts_with("perf ").then(|| crate::support::missing("perf-tool")).flatten() {
                crate::support::skip("perf-tool", format!("{example}: {why}"));
                continue;
            }
            let line = shortened(&example, kit.target.pid(), &kit.address);
            let (dir, begun) = (kit.copy_for(&line), std::time::Instant::now());
            if in_a_terminal.is_match(&line) {
                kit.shows(&dir, &line)
            } else {
                kit.runs(&dir, &line)
            }
            eprintln!("{page}: {line}: {:.2} s", begun.elapsed().as_secs_f64());
            run += 1;
        }
    }
    assert!(run >= 35, "{run} examples were run");
    assert!(unused.is_empty(), "no example has {unused:?} any more");
}

/// The text of all files of a folder and those below it.
fn sources(folder: &Path) -> String {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let texts = entries.map(|path| match path.is_dir() {
        true => sources(&path),
        false if path.extension().is_some_and(|extension| extension == "rs") => fs::read_to_string(&path).unwrap(),
        false => String::new(),
    });
    texts.collect()
}

#[test]
fn every_fault_names_tests_that_exist_and_every_row_of_the_script_is_a_fault() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("assets/guide/faults.md")).unwrap();
    let tests = sources(&root.join("src")) + &sources(&root.join("tests"));
    let script = fs::read_to_string(root.join("tests/faults.py")).unwrap();
    let row = Regex::new(r"(?m)^@row\([^\n]*\)\ndef ([a-z_]+)\(").unwrap();
    let rows: Vec<String> = row.captures_iter(&script).map(|found| found[1].replace('_', "-")).collect();
    assert_eq!(rows.len(), script.matches("\n@row(").count());
    for row in &rows {
        assert!(page.contains(&format!("`just faults --only {row}")), "{row} is not on the page");
    }
    let named = Regex::new("`(?:just faults --only ([a-z-]+)[^`]*|([a-z0-9]+(?:_[a-z0-9]+){3,}))`").unwrap();
    for fault in page.split("\n- ").skip(1) {
        let mut found = named.captures_iter(fault).peekable();
        assert!(found.peek().is_some(), "no test holds: {fault}");
        for name in found {
            match (name.get(1), name.get(2)) {
                (Some(row), _) => assert!(rows.iter().any(|known| known == row.as_str()), "{}", row.as_str()),
                (_, Some(test)) => assert!(tests.contains(&format!("fn {}()", test.as_str())), "{}", test.as_str()),
                _ => {}
            }
        }
    }
}
