//! Programs that repeat themselves at the sampling frequency, or at a multiple of it: their shares are right all the same.

use crate::program::{Dir, Ran};
use std::path::Path;

/// Records the program with this cycle; the share of one of its two functions among both, with its error, and the truth.
fn recorded(dir: &Dir, words: &str, hertz: u64, cycle_ns: u64) -> [f64; 3] {
    let ran = dir.line(&format!("-q record --force -o run -F {hertz} {words} -- ./app 2 {cycle_ns}")).succeeds();
    let truth = ran.out.trim().parse().unwrap_or_else(|_| panic!("no share: {}", ran.out));
    let report = dir.report("run.ironlaw", "");
    let rows = report["functions"].as_array().cloned().unwrap_or_default();
    let of = |name: &str, field: &str| {
        let row = rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("no {name}: {rows:?}"));
        row[field].as_f64().unwrap_or_default()
    };
    let both = of("decode_frame", "self_share") + of("paint_frame", "self_share");
    [of("decode_frame", "self_share") / both, of("decode_frame", "self_error") / both, truth]
}

#[test]
fn a_program_that_repeats_itself_at_the_sampling_frequency_has_its_shares() {
    require!("perf", "cc");
    let dir = Dir::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/lockstep.c");
    Ran::of(&mut dir.command("cc", &["-O2", "-o", "app", &source.display().to_string()])).succeeds();
    for (hertz, periods) in [(997, 1), (997, 2), (4999, 1)] {
        let [share, error, truth] = recorded(&dir, "", hertz, periods * 1_000_000_000 / hertz);
        // One in 20,000 is further off by chance.
        assert!(
            (share - truth).abs() < 4.0 * error,
            "{hertz} Hz, {periods} periods: {share} for {truth}, error {error}"
        );
        assert!(error < 0.06, "{hertz} Hz, {periods} periods: error {error}");
    }
}
