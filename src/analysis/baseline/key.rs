//! Identifies whose behaviour a baseline describes, and whether it still applies here and now: another build or another
//! CPU has another normal. It reports what should be refused; the caller refuses.

use crate::analysis::diff::Conditions;
use crate::model::profile::Profile;
use crate::model::{Baseline, BaselineKey, LatencySpec};
use crate::units::Utc;
use serde::Serialize;

/// Something that changed since the baseline was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeyChange {
    /// What changed, in a word or two.
    pub what: &'static str,
    /// Its value in the baseline.
    pub then: String,
    /// Its value now.
    pub now: String,
    /// The change in one sentence.
    pub text: String,
    /// Whether the baseline's numbers no longer hold, rather than may not hold.
    pub incompatible: bool,
}

/// After this many days a baseline is old.
const OLD_DAYS: u64 = 30;
const DAY_NS: u64 = 86_400_000_000_000;

/// The key of a recording, or of a session so far; the program is known once samples were taken.
#[must_use]
pub fn key_of(profile: &Profile) -> BaselineKey {
    key(&Conditions::of(profile, "", 0.0, &[], None))
}

pub(super) fn key(conditions: &Conditions) -> BaselineKey {
    let program = conditions.program.as_ref();
    BaselineKey {
        host: conditions.host.clone(),
        target: conditions.target.clone(),
        program: program.map(|program| program.path.clone()),
        called: program.and_then(|program| program.called.clone()),
        build_id: program.and_then(|program| program.build_id.clone()),
        cpus: conditions.cpus.clone(),
        allowed: conditions.allowed.clone(),
        ops: conditions.ops.clone(),
        latency: conditions.latency.clone(),
    }
}

/// What is checked, whether the numbers depend on it, and its value; `None` if unknown.
type Check = (&'static str, bool, fn(&BaselineKey) -> Option<String>);

const CHECKS: [Check; 12] = [
    ("CPU model", true, |key| named(&key.host.cpu_model)),
    ("architecture", true, |key| named(&key.host.arch)),
    ("number of CPUs", true, |key| Some(key.host.cpus.len()).filter(|n| *n > 0).map(|n| n.to_string())),
    ("CPU set", true, |key| Some(list(&key.cpus))),
    ("what counts operations", true, |key| Some(key.ops.as_ref().map_or("nothing".to_string(), |ops| ops.label()))),
    ("what measures latency", true, |key| key.latency.as_ref().map(LatencySpec::label)),
    ("program", true, |key| key.program.as_deref().map(|path| path.rsplit('/').next().unwrap_or(path).to_string())),
    ("build-id of the program", true, |key| key.build_id.as_deref().map(|id| id.chars().take(12).collect())),
    ("CPUs it may run on", false, |key| key.allowed.as_deref().map(list)),
    ("kernel", false, |key| named(&key.host.kernel)),
    ("frequency governor", false, |key| key.host.governor.clone()),
    ("machine", false, |key| named(&key.host.hostname)),
];

/// The differences between two keys, those that refuse first. A value that one of them does not know is not a
/// difference.
pub(super) fn differences(then: &BaselineKey, now: &BaselineKey) -> Vec<KeyChange> {
    let of = |(what, incompatible, value): &Check| {
        let (then, now) = (value(then)?, value(now)?);
        let text = format!("{what}: {then} then, {now} now");
        (then != now).then_some(KeyChange { what, then, now, text, incompatible: *incompatible })
    };
    CHECKS.iter().filter_map(of).collect()
}

/// What has changed since the baseline was made, what refuses it first; empty if it applies to this session. Values
/// that the session does not know yet are skipped.
#[must_use]
pub fn key_changes(baseline: &Baseline, now: &BaselineKey, now_unix_ns: u64) -> Vec<KeyChange> {
    let mut found = differences(&baseline.key, now);
    found.extend(age(baseline, now_unix_ns));
    found
}

fn age(baseline: &Baseline, now_unix_ns: u64) -> Option<KeyChange> {
    let newest = baseline.sources.iter().map(|source| source.started_unix_ns).max()?;
    let days = now_unix_ns.saturating_sub(newest) / DAY_NS;
    let text = format!("age: its newest recording is {days} days old");
    let (then, now) = (date(newest), date(now_unix_ns));
    (days > OLD_DAYS).then_some(KeyChange { what: "age", then, now, text, incompatible: false })
}

fn date(unix_ns: u64) -> String {
    let Utc { year, month, day, .. } = Utc::from_unix(unix_ns / 1_000_000_000);
    format!("{year:04}-{month:02}-{day:02}")
}

fn named(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_string())
}

fn list(cpus: &[u32]) -> String {
    let runs = cpus.chunk_by(|before, after| before.checked_add(1) == Some(*after));
    let run = |run: &[u32]| match run {
        [first, _, .., last] if run.len() > 2 => format!("{first}-{last}"),
        run => run.iter().map(u32::to_string).collect::<Vec<_>>().join(","),
    };
    if cpus.is_empty() { "all".to_string() } else { runs.map(run).collect::<Vec<_>>().join(",") }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{STARTED_NS, baseline};
    use super::*;
    use crate::model::OpsSpec;

    const NOW: u64 = STARTED_NS + 3 * DAY_NS;

    fn check(change: fn(&mut BaselineKey), expected: Option<(&str, &str, &str, bool)>) {
        let baseline = baseline(&[30]);
        let mut now = baseline.key.clone();
        change(&mut now);
        let found = key_changes(&baseline, &now, NOW);
        let told: Vec<_> = found.iter().map(|s| (s.what, s.then.as_str(), s.now.as_str(), s.incompatible)).collect();
        assert_eq!(told, expected.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn what_has_changed_is_told_by_name_and_what_is_not_known_is_not() {
        check(|_| {}, None);
        check(|key| key.host.cpu_model = "EPYC".into(), Some(("CPU model", "Xeon Platinum 8383C", "EPYC", true)));
        check(|key| key.host.cpus.truncate(1), Some(("number of CPUs", "2", "1", true)));
        check(|key| key.cpus = vec![0, 2], Some(("CPU set", "all", "0,2", true)));
        check(|key| key.cpus = vec![0, 1, 2, 3, 6, 7], Some(("CPU set", "all", "0-3,6,7", true)));
        check(|key| key.ops = None, Some(("what counts operations", "the total in /run/ops", "nothing", true)));
        let other = |key: &mut BaselineKey| key.ops = Some(OpsSpec::Rate { per_second: 5.0 });
        check(other, Some(("what counts operations", "the total in /run/ops", "5 per second, as given", true)));
        check(|key| key.program = Some("/bin/other".into()), Some(("program", "app", "other", true)));
        check(|key| key.program = Some("/opt/new/app".into()), None);
        check(|key| key.build_id = Some("ff".into()), Some(("build-id of the program", "0a0b", "ff", true)));
        check(|key| key.host.kernel = "6.9".into(), Some(("kernel", "6.1.0-18-amd64", "6.9", false)));
        check(|key| key.host.hostname = "web-2".into(), Some(("machine", "web-1", "web-2", false)));
        check(|key| (key.program, key.build_id) = (None, None), None);
    }

    #[test]
    fn a_baseline_grows_old_and_its_newest_recording_counts() {
        let baseline = baseline(&[30, 30]);
        let newest = baseline.sources[1].started_unix_ns;
        let ages = |days: u64| key_changes(&baseline, &baseline.key, newest + days * DAY_NS);
        assert!(ages(30).is_empty());
        let old = ages(31);
        assert_eq!((old.len(), old[0].what, old[0].incompatible), (1, "age", false));
        assert!(old[0].text.contains("31 days old"), "{}", old[0].text);
        assert!(key_changes(&baseline, &baseline.key, 0).is_empty(), "a clock that was set back is no age");
    }

    #[test]
    fn other_cpus_that_it_may_run_on_are_a_warning_with_both_sets_and_unknown_ones_none() {
        let with = |allowed: Option<&[u32]>| {
            let mut baseline = baseline(&[30]);
            baseline.key.allowed = allowed.map(<[u32]>::to_vec);
            baseline
        };
        for (then, now, expected) in [
            (Some(&[0, 1][..]), Some(&[1][..]), Some("CPUs it may run on: 0,1 then, 1 now")),
            (Some(&[]), Some(&[3]), Some("CPUs it may run on: all then, 3 now")),
            (Some(&[3]), Some(&[3]), None),
            (None, Some(&[3]), None),
            (Some(&[3]), None, None),
        ] {
            let found = key_changes(&with(then), &with(now).key, NOW);
            let told: Vec<_> = found.iter().map(|stale| (stale.text.as_str(), stale.incompatible)).collect();
            assert_eq!(told, expected.into_iter().map(|text| (text, false)).collect::<Vec<_>>());
        }
    }
}
