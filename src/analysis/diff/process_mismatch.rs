//! Lists the conditions of the programs' processes in which two sides differ, with how each can change the speed of the
//! same code. A condition that is unknown on one side is not compared.

use super::conditions::Conditions;
use super::digest::Side;
use super::mismatch::{Mismatch, Severity};
use crate::model::{Bound, GroupLimits, ProcessConditions, Scheduling};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// A known condition of one recording.
struct Condition {
    what: Cow<'static, str>,
    value: String,
    /// How it can change the speed of the same code.
    effect: Option<&'static str>,
}

/// The conditions in which the recordings of two sides differ; those of one side may differ among themselves, too.
pub(super) fn process_mismatches(base: &Side, new: &Side) -> Vec<Mismatch> {
    let all = || base.runs.iter().chain(&new.runs).map(|run| &run.conditions);
    let switches = all().filter_map(|conditions| conditions.process.as_ref()?.switches.as_ref());
    let switches: BTreeSet<&str> = switches.flat_map(|switches| switches.keys().map(String::as_str)).collect();
    let [base, new] =
        [base, new].map(|side| side.runs.iter().flat_map(|run| known(&run.conditions, &switches)).collect::<Vec<_>>());
    let mut seen = BTreeSet::new();
    let first = base.iter().filter(|condition| seen.insert(&condition.what));
    first.filter_map(|condition| mismatch(condition, &base, &new)).collect()
}

fn mismatch(condition: &Condition, base: &[Condition], new: &[Condition]) -> Option<Mismatch> {
    let values = |side: &'_ [Condition]| -> BTreeSet<String> {
        side.iter().filter(|other| other.what == condition.what).map(|other| other.value.clone()).collect()
    };
    let (a, b) = (values(base), values(new));
    if b.is_empty() || (a == b && a.len() == 1) {
        return None;
    }
    let joined = |values: &BTreeSet<String>| values.iter().map(String::as_str).collect::<Vec<_>>().join(" / ");
    let severity = if condition.effect.is_some() { Severity::Warning } else { Severity::Info };
    Some(Mismatch {
        what: condition.what.clone(),
        base: joined(&a),
        new: joined(&b),
        severity,
        // What runs of both sides have in common does not tell the sides apart.
        effect: condition.effect.filter(|_| a.is_disjoint(&b)),
    })
}

/// The known conditions of a recording. `switches` are the variables that some recording has; they are unset elsewhere.
fn known(conditions: &Conditions, switches: &BTreeSet<&str>) -> Vec<Condition> {
    let mut all = Vec::new();
    of_host(conditions, &mut all);
    if let Some(process) = &conditions.process {
        of_process(process, conditions.cpus.is_empty(), &mut all);
        process.group.iter().for_each(|group| of_group(group, &mut all));
        of_environment(process, switches, &mut all);
    }
    all
}

fn of_host(conditions: &Conditions, all: &mut Vec<Condition>) {
    let host = &conditions.host;
    for (defect, state) in &host.mitigations {
        let what = Cow::Owned(format!("mitigation of {defect}"));
        let effect = Some("mitigations make system calls, switches or branches dearer");
        all.push(Condition { what, value: state.clone(), effect });
    }
    if let Some(value) = host.huge_pages.clone() {
        all.push(Condition { what: "transparent huge pages".into(), value, effect: Some(HUGE_PAGES) });
    }
}

const HUGE_PAGES: &str = "without huge pages, translating addresses costs more";
const TURN: &str = "it gets a CPU sooner or later than others";
const RECLAIM: &str = "near the limit, the kernel takes pages back, which must then be read again";

/// `may_choose`: whether nothing else confined the recording to CPUs.
fn of_process(process: &ProcessConditions, may_choose: bool, all: &mut Vec<Condition>) {
    let mut add = |what: &'static str, effect: &'static str, value: Option<String>| {
        all.extend(value.map(|value| Condition { what: what.into(), value, effect: Some(effect) }));
    };
    add(
        "speculative store bypass",
        "where it is mitigated, loads wait for the addresses of earlier stores",
        process.store_bypass.clone(),
    );
    add(
        "speculation of indirect branches",
        "where it is disabled, indirect calls and jumps are not predicted",
        process.indirect_branches.clone(),
    );
    add("seccomp", "each system call passes the filters", process.seccomp.map(|mode| seccomp(mode, process)));
    add(
        "tracer",
        "a tracer stops the program at system calls, signals or steps",
        process.traced.map(|traced| if traced { "attached" } else { "none" }.to_string()),
    );
    let allowed = |on: bool| if on { "allowed" } else { "disabled" }.to_string();
    add("huge pages of the process", HUGE_PAGES, process.huge_pages.map(allowed));
    add(
        "CPU affinity",
        "its threads share the CPUs that they may use",
        process.allowed_cpus.clone().filter(|_| may_choose),
    );
    add("memory nodes", "memory of another node is farther away", process.allowed_nodes.clone());
    add("personality", "code and data lie at other addresses", process.personality.map(personality));
    add("scheduling policy", TURN, process.scheduling.map(policy));
    add("nice value", TURN, process.scheduling.map(|scheduling| scheduling.nice.to_string()));
    for (name, bound) in process.limits.iter().flatten() {
        // They end a program, or change its layout; none of them makes code slower by itself.
        all.push(Condition { what: Cow::Owned(format!("limit of {name}")), value: number(*bound), effect: None });
    }
}

fn of_group(group: &GroupLimits, all: &mut Vec<Condition>) {
    let mut add = |what: &'static str, effect: &'static str, value: Option<String>| {
        all.extend(value.map(|value| Condition { what: what.into(), value, effect: Some(effect) }));
    };
    let cpus = |bound: Bound| match bound {
        Bound::At(thousandths) => format!("{} CPUs", thousandths as f64 / 1000.0),
        Bound::Unlimited => "none".to_string(),
    };
    add("CPU quota", "threads stop when the quota of a period is used up", group.cpu_quota.map(cpus));
    add("CPU weight", TURN, group.cpu_weight.map(|weight| weight.to_string()));
    add("memory.high", RECLAIM, group.memory_high.map(bytes));
    add("memory limit", RECLAIM, group.memory_max.map(bytes));
}

fn of_environment(process: &ProcessConditions, switches: &BTreeSet<&str>, all: &mut Vec<Condition>) {
    let Some(set) = &process.switches else { return };
    for name in switches {
        all.push(Condition {
            what: Cow::Owned(format!("environment {name}")),
            value: set.get(*name).map_or("unset".to_string(), |checksum| format!("set (#{checksum:04x})")),
            effect: Some("the runtime or library that reads the variable works differently"),
        });
    }
}

fn seccomp(mode: u8, process: &ProcessConditions) -> String {
    match (mode, process.seccomp_filters) {
        (0, _) => "off".to_string(),
        (1, _) => "strict".to_string(),
        (_, Some(filters)) if filters != 1 => format!("{filters} filters"),
        _ => "filtered".to_string(),
    }
}

/// Flags of `personality(2)` that move memory, by name; the rest as a number.
fn personality(bits: u32) -> String {
    const FLAGS: [(u32, &str); 3] = [
        (0x004_0000, "addresses not randomised"),
        (0x020_0000, "legacy layout of addresses"),
        (0x040_0000, "readable memory is executable"),
    ];
    let named = FLAGS.iter().filter(|(flag, _)| bits & flag != 0);
    let rest = FLAGS.iter().fold(bits, |rest, (flag, _)| rest & !flag);
    let mut words: Vec<String> = named.map(|(_, name)| (*name).to_string()).collect();
    if rest != 0 {
        words.push(format!("{rest:#x}"));
    }
    if words.is_empty() { "default".to_string() } else { words.join(", ") }
}

fn policy(scheduling: Scheduling) -> String {
    let name = match scheduling.policy {
        0 => "other",
        1 => "fifo",
        2 => "round robin",
        3 => "batch",
        5 => "idle",
        6 => "deadline",
        policy => return format!("policy {policy}"),
    };
    if scheduling.priority > 0 { format!("{name}, priority {}", scheduling.priority) } else { name.to_string() }
}

fn number(bound: Bound) -> String {
    match bound {
        Bound::At(value) => value.to_string(),
        Bound::Unlimited => "unlimited".to_string(),
    }
}

fn bytes(bound: Bound) -> String {
    const MIB: u64 = 1 << 20;
    match bound {
        Bound::At(bytes) if bytes >= MIB => format!("{:.0} MiB", bytes as f64 / MIB as f64),
        Bound::At(bytes) => format!("{bytes} bytes"),
        Bound::Unlimited => "none".to_string(),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::testing::side;
    use super::*;

    fn with(runs: usize, change: impl Fn(&mut ProcessConditions)) -> Side {
        let mut side = side(&vec![5000.0; runs]);
        for run in &mut side.runs {
            let mut process = ProcessConditions {
                store_bypass: Some("thread vulnerable".into()),
                seccomp: Some(0),
                personality: Some(0),
                allowed_cpus: Some("0-3".into()),
                scheduling: Some(Scheduling::default()),
                limits: Some([("stack size".to_string(), Bound::At(8 << 20))].into()),
                group: Some(GroupLimits { cpu_quota: Some(Bound::Unlimited), ..GroupLimits::default() }),
                switches: Some([("LANG".to_string(), 1)].into()),
                ..ProcessConditions::default()
            };
            change(&mut process);
            run.conditions.process = Some(process);
        }
        side
    }

    fn found(change: impl Fn(&mut ProcessConditions)) -> Vec<Mismatch> {
        process_mismatches(&with(1, |_| ()), &with(1, change))
    }

    #[test]
    fn each_condition_that_differs_is_named_with_both_values_and_what_it_can_do() {
        let one = |change: fn(&mut ProcessConditions), what: &str, values: [&str; 2]| {
            let all = found(change);
            let mismatch = all.first().unwrap();
            assert_eq!((all.len(), &*mismatch.what), (1, what), "{all:?}");
            assert_eq!([mismatch.base.as_str(), &mismatch.new], values);
            assert_eq!(mismatch.effect.is_some(), mismatch.severity == Severity::Warning);
        };
        one(
            |process| process.store_bypass = Some("thread mitigated".into()),
            "speculative store bypass",
            ["thread vulnerable", "thread mitigated"],
        );
        one(|process| process.seccomp = Some(2), "seccomp", ["off", "filtered"]);
        one(
            |process| process.personality = Some(0x004_0008),
            "personality",
            ["default", "addresses not randomised, 0x8"],
        );
        one(|process| process.allowed_cpus = Some("1".into()), "CPU affinity", ["0-3", "1"]);
        one(
            |process| process.scheduling = Some(Scheduling { nice: 5, ..Scheduling::default() }),
            "nice value",
            ["0", "5"],
        );
        one(
            |process| process.limits = Some([("stack size".to_string(), Bound::Unlimited)].into()),
            "limit of stack size",
            ["8388608", "unlimited"],
        );
        one(
            |process| process.group = Some(GroupLimits { cpu_quota: Some(Bound::At(500)), ..GroupLimits::default() }),
            "CPU quota",
            ["none", "0.5 CPUs"],
        );
        one(
            |process| process.switches = Some([("LANG".to_string(), 1), ("OMP_NUM_THREADS".to_string(), 0xab)].into()),
            "environment OMP_NUM_THREADS",
            ["unset", "set (#00ab)"],
        );
        assert!(found(|_| ()).is_empty());
    }

    #[test]
    fn what_is_unknown_on_one_side_is_not_called_different() {
        assert!(found(|process| *process = ProcessConditions::default()).is_empty());
        let mut unknown = with(1, |process| process.seccomp = Some(2));
        unknown.runs[0].conditions.process = None;
        let plain = with(1, |_| ());
        assert!(process_mismatches(&plain, &unknown).is_empty() && process_mismatches(&unknown, &plain).is_empty());
    }

    #[test]
    fn a_value_that_both_sides_have_differs_without_an_effect() {
        let mut mixed = with(2, |process| process.seccomp = Some(2));
        mixed.runs[0].conditions.process.as_mut().unwrap().seccomp = Some(0);
        let all = process_mismatches(&with(1, |_| ()), &mixed);
        assert_eq!((all.len(), all[0].new.as_str(), all[0].effect), (1, "filtered / off", None));
    }

    #[test]
    fn the_affinity_counts_only_where_nothing_else_confined_the_recording() {
        let mut confined = with(1, |process| process.allowed_cpus = Some("1".into()));
        confined.runs[0].conditions.cpus = vec![1];
        assert!(process_mismatches(&with(1, |_| ()), &confined).is_empty());
    }

    #[test]
    fn settings_of_the_machine_are_compared_where_both_are_known() {
        let (plain, mut other) = (with(1, |_| ()), with(1, |_| ()));
        other.runs[0].conditions.host.huge_pages = Some("never".into());
        assert!(process_mismatches(&plain, &other).is_empty());
        let mut base = plain.clone();
        base.runs[0].conditions.host.huge_pages = Some("always".into());
        for (side, state) in [(&mut base, "Mitigation: PTI"), (&mut other, "Vulnerable")] {
            side.runs[0].conditions.host.mitigations = [("meltdown".to_string(), state.to_string())].into();
        }
        let all = process_mismatches(&base, &other);
        let whats: Vec<&str> = all.iter().map(|mismatch| &*mismatch.what).collect();
        assert_eq!(whats, ["mitigation of meltdown", "transparent huge pages"]);
    }
}
