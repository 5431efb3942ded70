//! What a recording's metadata says, written and read back; values of any kind, and files that lack the newer fields.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::analysis::testing::Synthetic;
use crate::units::Nanos;
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Writes a value as JSON and reads it back.
fn again<T: Serialize + DeserializeOwned>(value: &T) -> T {
    serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
}

/// Texts as a target may have them.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![3 => "[a-z/._-]{0,12}", 1 => ".{0,20}", 1 => Just("\u{1b}[31m\u{0}\"\\\u{202e}".to_string())]
}

fn target() -> impl Strategy<Value = Target> {
    prop_oneof![
        (prop::collection::vec(any::<u32>(), 0..9), any::<bool>())
            .prop_map(|(pids, children)| Target::Processes { pids, children }),
        prop::collection::vec(any::<u32>(), 0..9).prop_map(|tids| Target::Threads { tids }),
        (text(), text(), prop::collection::vec(text(), 0..3)).prop_map(|(name, path, others)| Target::Cgroup {
            name,
            path: path.into(),
            others: others.into_iter().map(Into::into).collect()
        }),
        prop::collection::vec(any::<u32>(), 0..9).prop_map(|cpus| Target::Cpus { cpus }),
        prop::collection::vec(text(), 0..5).prop_map(|argv| Target::Command { argv }),
    ]
}

fn ops() -> impl Strategy<Value = OpsSpec> {
    let reads = prop::sample::select(vec![NumberKind::Total, NumberKind::Sum, NumberKind::Rate]);
    prop_oneof![
        (text(), reads).prop_map(|(pattern, reads)| OpsSpec::Output { pattern, reads }),
        (text(), text()).prop_map(|(binary, symbol)| OpsSpec::Uprobe { binary: binary.into(), symbol }),
        (text(), prop::option::of(text()), text()).prop_map(|(binary, provider, name)| OpsSpec::Usdt {
            binary: binary.into(),
            provider,
            name
        }),
        (text(), text()).prop_map(|(category, name)| OpsSpec::Tracepoint { category, name }),
        (text(), text(), text(), prop::collection::vec((text(), text()), 0..3))
            .prop_map(|(authority, path, metric, labels)| OpsSpec::Http { authority, path, metric, labels }),
        text().prop_map(|path| OpsSpec::File { path: path.into() }),
        text().prop_map(|name| OpsSpec::Page { name }),
        (1..u32::MAX).prop_map(|eighths| OpsSpec::Rate { per_second: f64::from(eighths) / 8.0 }),
    ]
}

fn event() -> impl Strategy<Value = EventSpec> {
    let kind = prop_oneof![
        any::<u64>().prop_map(EventKind::Hardware),
        any::<u64>().prop_map(EventKind::Software),
        any::<u64>().prop_map(EventKind::Cache),
        (text(), text()).prop_map(|(category, name)| EventKind::Tracepoint { category, name }),
        (any::<u32>(), any::<u64>(), any::<u64>(), any::<u64>())
            .prop_map(|(pmu, config, config1, config2)| EventKind::Raw { pmu, config, config1, config2 }),
    ];
    let units = vec![Unit::Count, Unit::Nanos, Unit::Cycles, Unit::Instructions, Unit::Bytes];
    (text(), kind, any::<[bool; 5]>(), any::<u8>(), any::<Option<u16>>(), prop::sample::select(units)).prop_map(
        |(name, kind, without, precise, group, unit)| EventSpec {
            name,
            kind,
            exclude_user: without[0],
            exclude_kernel: without[1],
            exclude_hv: without[2],
            exclude_guest: without[3],
            exclude_host: without[4],
            precise,
            group,
            read_by_leader: without[0] && group.is_some(),
            access: without[1].then(|| AccessSampling {
                leader: without[2].then_some(EventKind::Software(u64::from(precise))),
                cpus: vec![u32::from(precise)],
            }),
            unit,
        },
    )
}

fn plan() -> impl Strategy<Value = Plan> {
    let rate = prop_oneof![any::<u64>().prop_map(Rate::Frequency), any::<u64>().prop_map(Rate::Period)];
    let call_graph = prop_oneof![
        Just(CallGraph::Auto),
        Just(CallGraph::FramePointer),
        any::<u32>().prop_map(|stack_bytes| CallGraph::Dwarf { stack_bytes }),
        Just(CallGraph::Lbr),
        Just(CallGraph::None),
    ];
    let what = (target(), prop::collection::vec(event(), 0..4), rate, call_graph);
    let times = (any::<u64>(), any::<Option<u64>>(), any::<u64>());
    (what, times, prop::option::of(ops()), any::<[bool; 3]>()).prop_map(
        |((target, events, rate, call_graph), (interval, duration, delay), ops, [off_cpu, neighbours, probe])| Plan {
            target,
            accesses: events.iter().take(1).cloned().collect(),
            events,
            only: [None, Some(OnlyCode::User), Some(OnlyCode::Kernel)][usize::from(probe) + usize::from(neighbours)],
            rate,
            call_graph,
            off_cpu,
            interval: Nanos(interval),
            duration: duration.map(Nanos),
            delay: Nanos(delay),
            ops,
            slo: probe.then_some(Nanos(5_000_000)),
            latency: neighbours.then(|| LatencySpec::Calls { binary: "/bin/app".into(), symbol: "handle".to_string() }),
            beside: probe.then(|| vec!["wrk".to_string()]),
            neighbours,
            probe,
            max_overhead: probe.then_some(0.25),
            max_sampling: off_cpu.then_some(1.5),
            hardware: vec![],
        },
    )
}

fn measure() -> impl Strategy<Value = Measure<f64>> {
    let why = prop::sample::select(REASONS.to_vec());
    prop_oneof![
        // Fractions of two: JSON keeps them exactly.
        3 => (any::<i32>(), 0..=64_u8).prop_map(|(value, coverage)| Measure::Known {
            value: f64::from(value) / 8.0,
            quality: Quality { coverage: f64::from(coverage) / 64.0 },
        }),
        1 => why.prop_map(Measure::Missing),
    ]
}

const REASONS: [Why; 20] = [
    Why::NotSupported,
    Why::NotPermitted,
    Why::Multiplexed,
    Why::TooFewSamples,
    Why::TooFewHosts,
    Why::Unvarying,
    Why::Interleaved,
    Why::RunsScatter,
    Why::LostEvents,
    Why::NoOpsSource,
    Why::OpsSilent,
    Why::NotRecorded,
    Why::TargetGone,
    Why::Idle,
    Why::NotRead,
    Why::ThreadsUnread,
    Why::QueueUnknown,
    Why::TooCostly,
    Why::CoarseBins,
    Why::Suspect,
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_recordings_metadata_reads_back_as_it_was(
        plan in plan(),
        times in any::<(u64, u64, Option<u64>)>(),
        exit_status in any::<Option<i32>>(),
        notes in prop::collection::vec((text(), text(), prop::option::of(text())), 0..3),
        words in (text(), text()),
    ) {
        let mut meta = Synthetic::new().meta;
        (meta.events, meta.plan) = (plan.events.clone(), plan);
        (meta.started_unix_ns, meta.started_mono_ns, meta.duration_ns) = times;
        meta.exit_status = exit_status;
        meta.notes = notes.into_iter().map(|(topic, text, fix)| Note { topic, text, fix }).collect();
        (meta.host.hostname, meta.host.cpu_model) = words;
        prop_assert_eq!(again(&meta), meta);
    }

    #[test]
    fn a_build_id_reads_back_and_nothing_but_pairs_of_digits_is_one(bytes in prop::collection::vec(any::<u8>(), 0..21), other in "[0-9a-fA-F+ gäxX-]{0,12}") {
        let id = BuildId(bytes);
        prop_assert_eq!(BuildId::try_from(id.to_string()), Ok(id.clone()));
        prop_assert_eq!(BuildId::try_from(id.to_string().to_uppercase()), Ok(id));
        let digits = other.chars().all(|c| c.is_ascii_hexdigit()) && other.len() % 2 == 0;
        prop_assert_eq!(BuildId::try_from(other).is_ok(), digits);
    }

    #[test]
    fn a_measure_keeps_its_reason_and_never_gains_coverage(a in measure(), b in measure()) {
        let ratio = a.over(b);
        match (a, b, ratio) {
            (Measure::Known { value, quality }, Measure::Known { value: by, quality: other }, Measure::Known { value: found, quality: kept }) => {
                prop_assert!(by > 0.0);
                prop_assert_eq!(found, value / by);
                prop_assert_eq!(kept.coverage, quality.coverage.min(other.coverage));
            }
            (Measure::Known { .. }, Measure::Known { value: by, .. }, missing) => {
                prop_assert!(by <= 0.0);
                prop_assert_eq!(missing.why(), Some(Why::Idle));
            }
            (Measure::Missing(why), _, found) | (_, Measure::Missing(why), found) => prop_assert_eq!(found.why(), Some(why)),
        }
        prop_assert_eq!(a.map(|value| value + 1.0).why(), a.why());
        prop_assert_eq!(a.value().is_some(), a.why().is_none());
        prop_assert_eq!(again(&a), a);
    }

    #[test]
    fn a_target_has_a_label_of_one_line_of_bounded_ids(ids in prop::collection::vec(any::<u32>(), 1..2000)) {
        for target in [
            Target::Processes { pids: ids.clone(), children: false },
            Target::Threads { tids: ids.clone() },
            Target::Cpus { cpus: ids },
        ] {
            let label = target.label();
            prop_assert!(!label.contains('\n') && label.len() < 100, "{label}");
        }
    }
}

#[test]
fn every_reason_has_its_own_words_and_name() {
    let mut texts: Vec<&str> = REASONS.iter().map(|why| why.text()).collect();
    let mut names: Vec<String> = REASONS.iter().map(|why| serde_json::to_string(why).unwrap()).collect();
    assert!(texts.iter().all(|text| !text.is_empty() && !text.ends_with('.') && !text.contains('\n')));
    texts.sort_unstable();
    texts.dedup();
    names.sort_unstable();
    names.dedup();
    assert_eq!((texts.len(), names.len()), (REASONS.len(), REASONS.len()));
}

#[test]
fn metadata_without_the_newer_fields_is_read_with_their_defaults() {
    let meta = Synthetic::new().meta;
    let mut old = serde_json::to_value(&meta).unwrap();
    let fields = old.as_object_mut().unwrap();
    for newer in
        ["target", "coverage", "hardware", "waits", "samples", "records", "duration_ns", "exit_status", "notes"]
    {
        fields.remove(newer);
    }
    let plan = fields["plan"].as_object_mut().unwrap();
    for newer in ["ops", "neighbours", "probe", "hardware"] {
        plan.remove(newer);
    }
    let read: Meta = serde_json::from_value(old).unwrap();
    assert_eq!(read, Meta { duration_ns: None, ..meta });
}

#[test]
fn metadata_with_a_field_of_the_wrong_kind_is_refused() {
    let meta = serde_json::to_value(Synthetic::new().meta).unwrap();
    for (pointer, wrong) in [
        ("/format", json!([1])),
        ("/format", json!([1, 70_000])),
        ("/started_unix_ns", json!(-1)),
        ("/started_unix_ns", json!("yesterday")),
        ("/plan/rate", json!({ "frequency": -5 })),
        ("/plan/rate", json!({ "speed": 5 })),
        ("/plan/target", json!("pid 41")),
        ("/plan/call_graph", json!("magic")),
        ("/plan/interval", json!(null)),
        ("/events", json!({})),
        ("/host/cpus", json!(4)),
        ("/host/hostname", json!(7)),
    ] {
        let mut changed: Value = meta.clone();
        *changed.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer} is not there")) = wrong.clone();
        assert!(serde_json::from_value::<Meta>(changed).is_err(), "{pointer} = {wrong}");
    }
}
