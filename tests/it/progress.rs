//! Long work on a terminal says how far it has come, and nowhere else.

use crate::program::{Dir, IRONLAW, Ran, WORKLOADS};
use crate::pty::{End, Pty};

/// A perf.data of samples with address, thread, time and CPU.
fn perf_data(samples: u64) -> Vec<u8> {
    const DATA: u64 = 104 + 112 + 8;
    let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
    let size = samples * 40;
    let header = words(&[104, 112, 104, 112, DATA, size, 0, 0, 0, 0, 0, 0]);
    let kind = [0u32.to_le_bytes(), 96u32.to_le_bytes()].concat();
    let attr =
        [kind, words(&[0, 1000, 1 | 1 << 1 | 1 << 2 | 1 << 7, 0, 1 << 18]), vec![0; 48], words(&[216, 8])].concat();
    let mut bytes = [b"PERFILE2".to_vec(), header, attr, words(&[1])].concat();
    bytes.truncate(DATA as usize);
    for nth in 0..samples {
        let head = 9 | 2 << 32 | 40 << 48;
        bytes.extend(words(&[head, 0x1000 + nth % 64, 5 | 5 << 32, 1_000_000 + nth * 1000, nth % 4]));
    }
    bytes
}

#[test]
fn an_import_says_how_much_is_read_and_leaves_nothing_of_it() {
    let dir = Dir::new();
    std::fs::write(dir.join("perf.data"), perf_data(500_000)).unwrap();
    let mut pty = Pty::start(&mut dir.command(IRONLAW, &["import", "perf.data", "-o", "shown"]), (100, 30));
    pty.wait_for("reading perf.data: ");
    let screen = pty.wait_for(" left");
    assert!(screen.contains(" of 20.0 MB (") && screen.contains("%), "), "{screen}");
    assert_eq!(pty.ends(), End::Code(0));
    let screen = pty.text();
    assert!(screen.contains("imported") && !screen.contains("reading"), "{screen}");

    let mut pty = Pty::start(&mut dir.command(IRONLAW, &["report", "perf.data", "-o", "report.txt"]), (100, 30));
    assert_eq!(pty.ends(), End::Code(0));
    assert_eq!(pty.text().trim(), "");

    let mut quiet = Pty::start(&mut dir.command(IRONLAW, &["-q", "report", "perf.data", "-o", "r.txt"]), (100, 30));
    assert_eq!(quiet.ends(), End::Code(0));
    assert_eq!(quiet.text().trim(), "");
    let piped = Ran::of(&mut dir.command(IRONLAW, &["report", "shown.ironlaw", "-o", "r.txt"])).succeeds();
    assert_eq!(piped.err, "");
}

#[test]
fn a_sweep_says_how_many_runs_are_done_and_how_long_the_rest_takes() {
    require!("perf");
    let dir = Dir::new();
    let program = format!("{WORKLOADS} workload hotspot --threads 1 --seconds 1");
    let words: Vec<&str> = ["sweep", "--headless", "--cpus", "1", "-r", "3", "-o", "s", "--"]
        .into_iter()
        .chain(program.split(' '))
        .collect();
    let mut pty = Pty::start(&mut dir.command(IRONLAW, &words), (100, 60));
    pty.wait_for("sweep: 0 of 3 runs (0%)");
    pty.wait_for("sweep: 2 of 3 runs (66%), ");
    assert_eq!(pty.ends(), End::Code(0));
    let screen = pty.text();
    assert!(screen.contains("run 3 of 3") && !screen.contains("sweep: "), "{screen}");
}
