//! Lists by name in what two sides differ: another CPU or event makes numbers incomparable without a visible sign. It
//! reports what should be refused; the caller refuses.

use super::conditions::Conditions;
use super::digest::Side;
use super::mismatch::{Mismatch, Severity};
use super::process_mismatch::process_mismatches;
use crate::analysis::Coverage;
use crate::model::{LatencySpec, OpsSpec};

/// Share of lost records above which a warning is issued.
const LOST: f64 = 0.01;
/// Counter coverage below which a warning is issued.
const COVERED: f64 = 0.9;

/// What is checked, its severity, and its value.
type Check = (&'static str, Severity, fn(&Conditions) -> String);

/// Everything in which the recordings of two sides differ, the most severe first; recordings of one side may differ
/// too.
#[must_use]
pub fn mismatches(base: &Side, new: &Side) -> Vec<Mismatch> {
    use Severity::{Incomparable, Info, Warning};
    let checks: [Check; 13] = [
        ("CPU model", Incomparable, |conditions| conditions.host.cpu_model.clone()),
        ("architecture", Incomparable, |conditions| conditions.host.arch.clone()),
        ("sampled events", Incomparable, |conditions| conditions.events.join(", ")),
        ("what counts operations", Incomparable, |conditions| {
            conditions.ops.as_ref().map_or("nothing", kind).to_string()
        }),
        ("number of CPUs", Incomparable, |conditions| conditions.host.cpus.len().to_string()),
        ("threads or CPUs of the run", Incomparable, |conditions| {
            conditions.width.map_or("any".to_string(), |n| n.to_string())
        }),
        ("CPU set", Warning, |conditions| list(&conditions.cpus)),
        ("kernel", Warning, |conditions| conditions.host.kernel.clone()),
        ("frequency governor", Warning, |conditions| conditions.host.governor.clone().unwrap_or("none".to_string())),
        ("call stacks", Warning, |conditions| format!("{:?}", conditions.call_graph).to_lowercase()),
        ("host", Warning, |conditions| conditions.host.hostname.clone()),
        ("program", Info, |conditions| conditions.program.as_ref().map_or("unknown".to_string(), |p| p.path.clone())),
        ("build-id of the program", Info, |conditions| {
            let id = conditions.program.as_ref().and_then(|program| program.build_id.as_deref());
            id.map_or("none".to_string(), |id| id.chars().take(12).collect())
        }),
    ];
    let of = |(what, severity, value): &Check| {
        let [a, b] = [base, new].map(|side| values(side, *value));
        // Repeats of one side that differ among themselves count too.
        (a != b || a.len() > 1).then(|| Mismatch::new(what, [a.join(" / "), b.join(" / ")], *severity))
    };
    let mut all: Vec<Mismatch> = checks.iter().filter_map(of).collect();
    all.extend(
        [
            latency(base, new),
            coverage(base, new),
            sampled(base, new),
            lost(base, new),
            lengths(base, new),
            together(base, new),
            order(base, new),
        ]
        .into_iter()
        .flatten(),
    );
    all.extend(process_mismatches(base, new));
    all.sort_by_key(|mismatch| std::cmp::Reverse(mismatch.severity));
    all
}

/// The distinct values of a side.
fn values(side: &Side, of: fn(&Conditions) -> String) -> Vec<String> {
    let mut values: Vec<String> = side.runs.iter().map(|run| of(&run.conditions)).collect();
    values.sort();
    values.dedup();
    values
}

fn kind(ops: &OpsSpec) -> &'static str {
    match ops {
        OpsSpec::Output { .. } => "the program's output",
        OpsSpec::Uprobe { .. } => "calls of a function",
        OpsSpec::Usdt { .. } => "a probe of the program",
        OpsSpec::Tracepoint { .. } => "a tracepoint",
        OpsSpec::Http { .. } => "a Prometheus counter",
        OpsSpec::File { .. } => "a file",
        OpsSpec::Page { .. } => "a shared page",
        OpsSpec::Rate { .. } => "a known rate",
    }
}

/// What measured latency where both sides have any: a build elsewhere has the same functions.
fn latency(base: &Side, new: &Side) -> Option<Mismatch> {
    let [a, b] = [base, new].map(|side| {
        let mut all: Vec<String> =
            side.runs.iter().filter_map(|run| Some(measured(run.conditions.latency.as_ref()?))).collect();
        all.sort();
        all.dedup();
        all
    });
    let differ = !a.is_empty() && !b.is_empty() && (a != b || a.len() > 1);
    let values = || [a.join(" / "), b.join(" / ")];
    differ.then(|| Mismatch::new("what measures latency", values(), Severity::Incomparable))
}

/// Its label, with files by their names only.
fn measured(latency: &LatencySpec) -> String {
    let label = latency.label();
    let file = |word: &str| {
        if word.starts_with('/') { word.rsplit('/').next().unwrap_or(word).to_string() } else { word.to_string() }
    };
    label.split(' ').map(file).collect::<Vec<_>>().join(" ")
}

fn list(cpus: &[u32]) -> String {
    if cpus.is_empty() { "all".to_string() } else { cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",") }
}

fn least(side: &Side, of: fn(&Conditions) -> f64) -> f64 {
    side.runs.iter().map(|run| of(&run.conditions)).fold(f64::INFINITY, f64::min)
}

fn most(side: &Side, of: fn(&Conditions) -> f64) -> f64 {
    side.runs.iter().map(|run| of(&run.conditions)).fold(0.0, f64::max)
}

fn percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

fn coverage(base: &Side, new: &Side) -> Option<Mismatch> {
    let [a, b] = [base, new].map(|side| least(side, |conditions| conditions.coverage));
    let thin = a < COVERED || b < COVERED;
    thin.then(|| Mismatch::new("coverage of the events", [percent(a), percent(b)], Severity::Warning))
}

/// Shares and costs of functions cover only what was sampled.
fn sampled(base: &Side, new: &Side) -> Option<Mismatch> {
    let least = |side: &Side| {
        let runs = side.runs.iter().filter_map(|run| Coverage::of_run(&run.run.metrics, run.run.cpu.samples));
        runs.min_by(|a, b| a.share.total_cmp(&b.share))
    };
    let [a, b] = [base, new].map(least);
    let low = [a, b].into_iter().flatten().any(|coverage| coverage.is_low());
    let shown = |side: Option<Coverage>| side.map_or("unknown".to_string(), |coverage| percent(coverage.share));
    low.then(|| Mismatch::new("CPU time sampled", [shown(a), shown(b)], Severity::Warning))
}

fn lost(base: &Side, new: &Side) -> Option<Mismatch> {
    let [a, b] = [base, new].map(|side| most(side, |conditions| conditions.lost_share));
    let shown = |share: f64| format!("{:.1}%", share * 100.0);
    (a > LOST || b > LOST).then(|| Mismatch::new("lost samples", [shown(a), shown(b)], Severity::Warning))
}

/// Costs do not depend on the length, but start and end weigh more in the shorter recording.
fn lengths(base: &Side, new: &Side) -> Option<Mismatch> {
    let [a, b] = [base, new]
        .map(|side| (least(side, |conditions| conditions.seconds), most(side, |conditions| conditions.seconds)));
    let (short, long) = (a.0.min(b.0), a.1.max(b.1));
    let shown = |(low, high): (f64, f64)| {
        if high > low * 1.1 { format!("{low:.1} to {high:.1} s") } else { format!("{high:.1} s") }
    };
    let severity = if short < 1.0 { Severity::Warning } else { Severity::Info };
    (long > 2.0 * short).then(|| Mismatch::new("duration", [shown(a), shown(b)], severity))
}

/// Two recordings on one machine at the same time disturb each other.
fn together(base: &Side, new: &Side) -> Option<Mismatch> {
    let conditions = |side: &Side| side.runs.iter().map(|run| run.conditions.clone()).collect::<Vec<_>>();
    let (all_base, all_new) = (conditions(base), conditions(new));
    let overlap = |a: &Conditions, b: &Conditions| {
        a.host.hostname == b.host.hostname
            && a.started_unix_ns < b.ended_unix_ns()
            && b.started_unix_ns < a.ended_unix_ns()
            && (a.started_unix_ns, &a.name) != (b.started_unix_ns, &b.name)
    };
    let pair = all_base.iter().find_map(|a| Some((a, all_new.iter().find(|b| overlap(a, b))?)));
    let names = |(a, b): (&Conditions, &Conditions)| [a.name.clone(), b.name.clone()];
    pair.map(|pair| Mismatch::new("recorded at the same time", names(pair), Severity::Warning))
}

/// Repeats show how far runs differ, but not what changed on the machine between two sides that took no turns.
fn order(base: &Side, new: &Side) -> Option<Mismatch> {
    let runs = || base.runs.iter().chain(&new.runs).map(|run| &run.conditions);
    let first = runs().next()?;
    let repeated = base.runs.len() > 1 && new.runs.len() > 1;
    if !repeated || runs().any(|run| run.host.hostname != first.host.hostname) {
        return None;
    }
    let starts = |side: &Side| {
        let starts = || side.runs.iter().map(|run| run.conditions.started_unix_ns);
        starts().min().zip(starts().max())
    };
    let (a, b) = (starts(base)?, starts(new)?);
    let (earlier, later) = ("all earlier".to_string(), "all later".to_string());
    let values = match () {
        () if a.1 < b.0 => [earlier, later],
        () if b.1 < a.0 => [later, earlier],
        () => return None,
    };
    Some(Mismatch::new("order of the runs", values, Severity::Warning))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::testing::side;
    use super::*;

    fn check(change: fn(&mut Conditions), what: &str, severity: Severity, values: [&str; 2]) {
        let (base, mut new) = (side(&[5000.0]), side(&[5000.0]));
        change(&mut new.runs[0].conditions);
        let found = mismatches(&base, &new);
        let values = values.map(str::to_string);
        let expected = Mismatch { what: what.to_string().into(), effect: None, ..Mismatch::new("", values, severity) };
        assert_eq!(found[0], expected, "{found:?}");
        assert!(mismatches(&base, &base).is_empty());
    }

    #[test]
    fn what_is_not_alike_is_told_by_name_with_both_values() {
        use Severity::{Incomparable, Info, Warning};
        check(|f| f.host.cpu_model = "EPYC".into(), "CPU model", Incomparable, ["Xeon Platinum 8383C", "EPYC"]);
        check(|f| f.events = vec!["cycles".into()], "sampled events", Incomparable, ["cpu-clock", "cycles"]);
        check(|f| f.ops = None, "what counts operations", Incomparable, ["a file", "nothing"]);
        check(|f| f.host.kernel = "6.9".into(), "kernel", Warning, ["6.1.0-18-amd64", "6.9"]);
        check(|f| f.host.governor = Some("powersave".into()), "frequency governor", Warning, ["none", "powersave"]);
        check(|f| f.cpus = vec![0, 1], "CPU set", Warning, ["all", "0,1"]);
        check(|f| f.coverage = 0.4, "coverage of the events", Warning, ["100%", "40%"]);
        check(|f| f.lost_share = 0.2, "lost samples", Warning, ["0.0%", "20.0%"]);
        check(|f| f.seconds = 200.0, "duration", Info, ["40.0 s", "200.0 s"]);
        check(|f| f.seconds = 0.5, "duration", Warning, ["40.0 s", "0.5 s"]);
        check(
            |f| (f.name, f.started_unix_ns) = ("b".into(), f.started_unix_ns + 1),
            "recorded at the same time",
            Warning,
            ["r0", "b"],
        );
        check(|f| f.program.as_mut().unwrap().build_id = None, "build-id of the program", Info, ["0a0b", "none"]);
    }

    #[test]
    fn other_operations_are_not_compared_by_their_latency_and_the_same_of_another_build_are() {
        let calls =
            |binary: &str, symbol: &str| Some(LatencySpec::Calls { binary: binary.into(), symbol: symbol.into() });
        let found = |a: Option<LatencySpec>, b: Option<LatencySpec>| {
            let (mut base, mut new) = (side(&[5000.0]), side(&[5000.0]));
            (base.runs[0].conditions.latency, new.runs[0].conditions.latency) = (a, b);
            mismatches(&base, &new).into_iter().next()
        };
        let one = calls("/opt/v1/app", "serve");
        assert_eq!(found(one.clone(), calls("/opt/v2/app", "serve")), None);
        assert_eq!((found(one.clone(), None), found(None, None)), (None, None));
        let mismatch = found(one, calls("/opt/v1/app", "parse")).unwrap();
        assert_eq!((&*mismatch.what, mismatch.severity), ("what measures latency", Severity::Incomparable));
        assert_eq!([mismatch.base, mismatch.new], ["calls of serve in app", "calls of parse in app"]);
    }

    #[test]
    fn repeats_that_took_no_turns_are_a_warning_and_those_that_did_are_none() {
        let (base, mut new) = (side(&[5000.0; 3]), side(&[5000.0; 3]));
        let found = |base: &Side, new: &Side| {
            mismatches(base, new).into_iter().find(|found| found.what == "order of the runs").map(|found| found.base)
        };
        new.runs.iter_mut().for_each(|run| run.conditions.started_unix_ns += 50_000_000_000);
        assert_eq!(found(&base, &new), None, "in turns");
        new.runs.iter_mut().for_each(|run| run.conditions.started_unix_ns += 1_000_000_000_000);
        assert_eq!(found(&base, &new).as_deref(), Some("all earlier"));
        assert_eq!(found(&new, &base).as_deref(), Some("all later"));
        new.runs[0].conditions.host.hostname = "elsewhere".into();
        assert_eq!(found(&base, &new), None, "the host differs");
        new.runs.truncate(1);
        assert_eq!(found(&base, &new), None, "one run has no order");
    }

    #[test]
    fn repeats_of_one_side_that_are_not_alike_are_unlike() {
        let (base, mut new) = (side(&[5000.0, 5000.0]), side(&[5000.0]));
        new.runs[0].conditions.started_unix_ns += 1_000_000_000_000;
        assert!(mismatches(&base, &new).is_empty());
        let mut mixed = base.clone();
        mixed.runs[1].conditions.host.kernel = "6.9".into();
        let found = mismatches(&mixed, &new);
        assert_eq!((&*found[0].what, found[0].base.as_str()), ("kernel", "6.1.0-18-amd64 / 6.9"));
    }
}
