//! Merges two baselines of the same program in the same place. A recording in both counts once, and beyond the maximum
//! size windows are thinned evenly.

use super::key::differences;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{BASELINE_FORMAT, Baseline, BaselineStack, BaselineWindow};
use std::collections::BTreeMap;

/// Maximum windows of a baseline, five and a half hours of seconds: more of them add nothing about the usual.
pub const MOST_WINDOWS: usize = 20_000;
/// Maximum call paths; the rarest are dropped first.
pub const MOST_STACKS: usize = 20_000;

/// The old baseline with what the new one adds. A recording that is in both counts once; the key becomes the newer
/// one's.
///
/// # Errors
/// `Unsupported` if the keys differ in something the numbers depend on, by name; `Usage` if the two share some
/// recordings but not all of the new one's, because their call paths cannot be separated any more.
pub fn extend(old: &Baseline, new: &Baseline) -> Result<Baseline> {
    let differing = differences(&old.key, &new.key).into_iter().filter(|stale| stale.incompatible);
    let differing: Vec<_> = differing.map(|stale| (stale.what, format!("{} and {}", stale.then, stale.now))).collect();
    require_equal(&names(old), &names(new), &differing)?;
    let known = |started| old.sources.iter().any(|source| source.started_unix_ns == started);
    let twice = new.sources.iter().filter(|source| known(source.started_unix_ns)).count();
    if twice == new.sources.len() {
        return Ok(old.clone());
    }
    if twice > 0 {
        let message = format!("{} and {} share some of their recordings", names(old), names(new));
        return Err(Error::new(ErrorKind::Usage, message)
            .hint("Give the recordings that are missing in place of the second baseline."));
    }
    let mut whole = old.clone();
    whole.format = whole.format.max(BASELINE_FORMAT);
    let sources = u32::try_from(old.sources.len()).unwrap_or(u32::MAX);
    whole.sources.extend(new.sources.iter().cloned());
    let columns = columns(&mut whole, new);
    let width = whole.quantities.len();
    whole.windows.extend(new.windows.iter().map(|window| {
        let mut cells = vec![None; width];
        columns.iter().zip(&window.cells).for_each(|(at, cell)| cells[*at] = *cell);
        BaselineWindow { source: window.source.saturating_add(sources), cells, ..window.clone() }
    }));
    whole.stacks.extend(new.stacks.iter().cloned());
    whole.cpu_ns += new.cpu_ns;
    whole.ops = old.ops.zip(new.ops).map(|(a, b)| a + b);
    let newest = |baseline: &Baseline| baseline.sources.iter().map(|source| source.started_unix_ns).max();
    if newest(new) > newest(old) {
        whole.key = merged(&new.key, &old.key);
    }
    whole.tool.clone_from(&new.tool);
    apply_limits(&mut whole);
    Ok(whole)
}

/// The newer key; what it does not know about its program comes from the older one.
fn merged(newer: &crate::model::BaselineKey, older: &crate::model::BaselineKey) -> crate::model::BaselineKey {
    let mut key = newer.clone();
    key.build_id = key.build_id.or_else(|| older.build_id.clone().filter(|_| newer.program.is_none()));
    key.called = key.called.or_else(|| older.called.clone().filter(|_| newer.program.is_none()));
    key.program = key.program.or_else(|| older.program.clone());
    key.latency = key.latency.or_else(|| older.latency.clone());
    key.allowed = key.allowed.or_else(|| older.allowed.clone());
    key
}

/// Adds the quantities of `new` to `whole`, and returns the position of each in it.
fn columns(whole: &mut Baseline, new: &Baseline) -> Vec<usize> {
    let place = |name: &String| {
        if let Some(at) = whole.quantities.iter().position(|known| known == name) {
            return at;
        }
        whole.quantities.push(name.clone());
        whole.quantities.len() - 1
    };
    let places = new.quantities.iter().map(place).collect();
    whole.windows.iter_mut().for_each(|window| window.cells.resize(whole.quantities.len(), None));
    places
}

/// Adds equal call paths up, sorts them by cost, and applies the size limits of a baseline.
pub(super) fn apply_limits(baseline: &mut Baseline) {
    let mut paths: BTreeMap<Vec<String>, (f64, Option<u64>)> = BTreeMap::new();
    for BaselineStack { frames, cpu_ns, samples } in std::mem::take(&mut baseline.stacks) {
        let sum = paths.entry(frames).or_insert((0.0, Some(0)));
        *sum = (sum.0 + cpu_ns, sum.1.zip(samples).map(|(a, b)| a.saturating_add(b)));
    }
    let stack = |(frames, (cpu_ns, samples))| BaselineStack { frames, cpu_ns, samples };
    let mut stacks: Vec<_> = paths.into_iter().map(stack).collect();
    stacks.sort_by(|a, b| b.cpu_ns.total_cmp(&a.cpu_ns));
    stacks.truncate(MOST_STACKS);
    baseline.stacks = stacks;
    thin(baseline, MOST_WINDOWS);
}

/// Keeps at most `most` windows, evenly spread, so that every recording keeps its part.
fn thin(baseline: &mut Baseline, most: usize) {
    let count = baseline.windows.len();
    if count > most {
        let kept = |at: usize| at * most / count != (at + 1) * most / count;
        let mut at = 0;
        baseline.windows.retain(|_| {
            at += 1;
            kept(at - 1)
        });
    }
    for (at, source) in baseline.sources.iter_mut().enumerate() {
        source.windows = baseline.windows.iter().filter(|window| window.source as usize == at).count();
    }
}

/// The names of its first recordings.
pub(super) fn names(baseline: &Baseline) -> String {
    let mut names: Vec<&str> = baseline.sources.iter().take(3).map(|source| source.name.as_str()).collect();
    if baseline.sources.len() > 3 {
        names.push("...");
    }
    names.join(", ")
}

pub(super) fn require_equal(a: &str, b: &str, differences: &[(&str, String)]) -> Result<()> {
    if differences.is_empty() {
        return Ok(());
    }
    let told: Vec<_> = differences.iter().map(|(what, values)| format!("{what}: {values}")).collect();
    let message = format!("{a} and {b} do not match: {}", told.join("; "));
    Err(Error::new(ErrorKind::Unsupported, message).hint("Build one baseline for each: `ironlaw baseline build`."))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::testing::baseline;
    use super::*;

    fn other(windows: usize) -> Baseline {
        let mut other = baseline(&[windows]);
        other.sources[0].started_unix_ns += 1_000_000_000_000;
        other
    }

    #[test]
    fn what_the_new_one_adds_is_added_and_quantities_are_matched_by_name() {
        let (old, mut new) = (baseline(&[30]), other(25));
        new.quantities.reverse();
        new.windows.iter_mut().for_each(|window| window.cells.reverse());
        new.quantities.push("cpi".into());
        new.windows.iter_mut().for_each(|window| window.cells.push(Some([3.0, 2.0])));
        let whole = extend(&old, &new).unwrap();
        assert_eq!((whole.sources.len(), whole.windows.len(), whole.sources[1].windows), (2, 55, 25));
        assert!(whole.windows.iter().all(|window| window.cells.len() == whole.quantities.len()));
        let width = old.quantities.len();
        assert_eq!(whole.windows[40].cells[..width], other(25).windows[10].cells[..]);
        assert_eq!((whole.windows[0].cells[width], whole.windows[30].cells[width]), (None, Some([3.0, 2.0])));
        assert_eq!((whole.cpu_ns, whole.stacks.len()), (old.cpu_ns + new.cpu_ns, old.stacks.len()));
        assert_eq!(whole.stacks[0].cpu_ns, old.stacks[0].cpu_ns + new.stacks[0].cpu_ns);
    }

    #[test]
    fn a_recording_already_in_it_counts_once_and_a_part_of_a_baseline_cannot_be_taken() {
        let (old, new) = (baseline(&[30]), other(25));
        let whole = extend(&old, &new).unwrap();
        assert_eq!(extend(&whole, &new).unwrap(), whole);
        let error = extend(&new, &whole).unwrap_err();
        assert!(error.to_string().contains("share some"), "{error}");
    }

    #[test]
    fn another_key_is_refused_by_name() {
        let (old, mut new) = (baseline(&[30]), other(25));
        new.key.build_id = Some("ffee".into());
        new.key.host.kernel = "7.0".into();
        let error = extend(&old, &new).unwrap_err().to_string();
        assert!(error.contains("build-id of the program: 0a0b and ffee") && !error.contains("kernel"), "{error}");
    }

    #[test]
    fn windows_beyond_the_most_are_thinned_evenly() {
        let mut many = baseline(&[60, 30]);
        thin(&mut many, 30);
        let windows: Vec<_> = many.sources.iter().map(|source| source.windows).collect();
        assert_eq!((many.windows.len(), windows), (30, vec![20, 10]));
    }
}
