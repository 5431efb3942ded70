//! Formats the sources as text: one a line, the specification last and uncut, to be copied.

use super::{Listing, Row};
use crate::collect::sampler::OpsClass;
use crate::model::Unit;
use crate::view::escape::visible;
use crate::view::{fit, number};
use std::fmt::Write;

/// The sources. System calls and other probes that were not hit are only counted.
pub(super) fn sources(listing: &Listing, limit: usize, width: Option<usize>) -> Vec<u8> {
    let (pids, more) = listing.pids.split_at(listing.pids.len().min(3));
    let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
    let more = if more.is_empty() { String::new() } else { format!(" and {} more processes", more.len()) };
    let mut out = format!(
        "What could count operations of {}{more}: {} tried for {} in {} of CPU time\n\n",
        pids.join(", "),
        listing.sources.len(),
        number::seconds(listing.duration_s).joined(),
        number::seconds(listing.cpu_s).joined(),
    );
    let is_shown = |row: &&Row| row.hits != Some(0) || row.class < OpsClass::SystemCall;
    let (shown, unhit): (Vec<&Row>, Vec<&Row>) = listing.sources.iter().partition(is_shown);
    let most = if limit == 0 { usize::MAX } else { limit };
    if !shown.is_empty() {
        let _ = writeln!(out, "{:>10}  {:>9}  {:>9}  --ops", "rate", "cost each", "CPU share");
    }
    for row in shown.iter().take(most) {
        let cost = |value: Option<String>| value.unwrap_or_else(|| "-".to_string());
        let rate = row.rate.map(|rate| number::quantity(rate, Unit::PerSecond).joined());
        let each = row.cost_ns.map(|cost| number::seconds(cost * 1e-9).joined());
        let share = row.cpu_share.map(percent);
        let _ = writeln!(
            out,
            "{:>10}  {:>9}  {:>9}  {}{}",
            cost(rate),
            cost(each),
            cost(share),
            quoted(&visible(&row.ops)),
            row.counts.map(|counts| format!("  # {counts}")).unwrap_or_default()
        );
    }
    let mut notes: Vec<String> = Vec::new();
    let hidden = shown.len().saturating_sub(most);
    notes.extend((hidden > 0).then(|| format!("{hidden} more sources are shown with --limit 0.")));
    notes.extend((!unhit.is_empty()).then(|| format!("{} other sources were not hit.", unhit.len())));
    let refused = listing.sources.iter().find_map(|row| row.why.as_ref().map(|why| (row, why)));
    notes.extend(refused.map(|(row, why)| format!("{} could not be counted: {why}", row.ops)));
    notes.extend(listing.notes.iter().cloned());
    for note in notes {
        let _ = write!(out, "\n{}", fit::wrap(&visible(&note), width.unwrap_or(100)).join("\n"));
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out.into_bytes()
}

fn percent(share: f64) -> String {
    const LEAST: f64 = 1e-4;
    if share > 0.0 && share < LEAST { "<0.01%".to_string() } else { number::percent(share).joined() }
}

/// For a shell.
fn quoted(spec: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/:._-+@%,=".contains(c);
    if spec.chars().all(plain) { spec.to_string() } else { format!("'{}'", spec.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(ops: &str, class: OpsClass, hits: Option<u64>) -> Row {
        Row {
            ops: ops.to_string(),
            class,
            counts: (class == OpsClass::KnownProbe).then_some("queries"),
            hits,
            counted_s: hits.map(|_| 0.5),
            rate: hits.map(|hits| hits as f64 / 0.5),
            cost_ns: hits.map(|_| 839.0),
            cpu_share: hits.map(|hits| hits as f64 * 839e-9 / 0.5),
            why: hits.is_none().then(|| "it is gone".to_string()),
        }
    }

    #[test]
    fn each_source_is_a_line_that_ends_with_what_to_paste() {
        let sources = vec![
            row("usdt:/bin/db:query__start", OpsClass::KnownProbe, Some(1000)),
            row("usdt:/bin/a b:x", OpsClass::OtherProbe, Some(3)),
            row("tracepoint:syscalls:sys_enter_read", OpsClass::SystemCall, None),
            row("usdt:/bin/db:x\u{1b}", OpsClass::OtherProbe, Some(0)),
            row("usdt:/bin/db:y", OpsClass::OtherProbe, Some(0)),
        ];
        let notes = vec!["A note.".to_string()];
        let listing =
            Listing { schema_version: 1, pids: vec![7, 8, 9, 10], duration_s: 0.5, cpu_s: 0.25, sources, notes };
        let shown = String::from_utf8(super::sources(&listing, 0, Some(80))).unwrap_or_default();
        let expected = "\
What could count operations of 7, 8, 9 and 1 more processes: 5 tried for 500 ms in 250 ms of CPU time

      rate  cost each  CPU share  --ops
   2,000/s     839 ns     0.168%  usdt:/bin/db:query__start  # queries
    6.00/s     839 ns     <0.01%  'usdt:/bin/a b:x'
         -          -          -  tracepoint:syscalls:sys_enter_read

2 other sources were not hit.
tracepoint:syscalls:sys_enter_read could not be counted: it is gone
A note.
";
        assert_eq!(shown, expected);
        let cut = String::from_utf8(super::sources(&listing, 1, None)).unwrap_or_default();
        assert!(cut.contains("2 more sources are shown with --limit 0."), "{cut}");
    }
}
