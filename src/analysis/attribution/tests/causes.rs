//! Which cause each kind of trouble is reported as.

use super::*;
use crate::model::MetricId;

/// Runs usual windows, then the trouble, and returns the verdict.
fn verdict(mut session: Session, other: &[(MetricId, f64)]) -> (Cause, CauseLocation, Assessment) {
    session.run(20, &[]).run(6, other);
    let (cause, place, _) = session.verdict();
    (cause, place, session.said())
}

#[test]
fn each_trouble_is_told_as_what_it_is_where_hardware_counts() {
    for (other, cause, place) in [
        (&[(PRIMARY, 1.4), (MetricId::PathLength, 1.4)][..], Cause::PathLength, CauseLocation::Program),
        (&[(PRIMARY, 1.4), (MetricId::Cpi, 1.4), (MetricId::LlcMpki, 5.0)], Cause::Llc, CauseLocation::Unknown),
        (
            &[(PRIMARY, 1.4), (MetricId::Cpi, 1.4), (MetricId::L3MissLatency, 1.8)],
            Cause::MemoryBandwidth,
            CauseLocation::Unknown,
        ),
        (
            &[(PRIMARY, 1.4), (MetricId::Cpi, 1.4), (MetricId::PageWalkShare, 0.3)],
            Cause::PageWalk,
            CauseLocation::Unknown,
        ),
        (&[(PRIMARY, 1.4), (MetricId::Cpi, 1.4)], Cause::CpiOther, CauseLocation::Unknown),
        (&[(PRIMARY, 1.4), (MetricId::Frequency, 0.71)], Cause::Frequency, CauseLocation::Unknown),
        (&[(MetricId::RunQueueDelay, 0.2)], Cause::RunQueue, CauseLocation::Unknown),
        (
            &[(MetricId::RunQueueDelay, 0.4), (MetricId::ThrottledShare, 0.8)],
            Cause::Throttling,
            CauseLocation::OwnLimits,
        ),
        (
            &[(PRIMARY, 1.25), (MetricId::StealShare, 0.06), (MetricId::Frequency, 0.8)],
            Cause::Steal,
            CauseLocation::Outside,
        ),
    ] {
        let (found, at, said) = verdict(Session::counted(), other);
        assert_eq!((found, at), (cause, place), "{other:?}: {:#?}", said.diagnosis.evidence);
    }
}

#[test]
fn shares_are_those_of_the_law_and_are_about_all_of_it() {
    let (_, _, said) =
        verdict(Session::counted(), &[(PRIMARY, 1.2 * 1.3), (MetricId::PathLength, 1.2), (MetricId::Cpi, 1.3)]);
    let share = |cause| said.diagnosis.evidence.iter().find(|e| e.cause == cause).and_then(|e| e.share).unwrap();
    let (path, cpi) = (share(Cause::PathLength), share(Cause::CpiOther));
    assert!((path - 1.2_f64.ln() / 1.56_f64.ln()).abs() < 0.02 && (path + cpi - 1.0).abs() < 0.02, "{path} {cpi}");
    assert_eq!(said.diagnosis.evidence[0].cause, Cause::CpiOther, "the larger share leads");
}

#[test]
fn shares_are_of_what_grew_and_never_exceed_the_whole() {
    let share =
        |said: &Assessment, cause| said.diagnosis.evidence.iter().find(|e| e.cause == cause).and_then(|e| e.share);
    // Operations became cheaper while they waited longer: the wait is all of what takes longer, and no part of the cost.
    let (cause, _, said) = verdict(Session::new(), &[(PRIMARY, 0.74), (MetricId::RunQueueDelay, 0.36)]);
    assert_eq!((cause, share(&said, cause)), (Cause::RunQueue, Some(1.0)), "{:#?}", said.diagnosis.evidence);
    assert_eq!(said.diagnosis.worse(cause).map(|it| it.quantity.id), Some(MetricId::RunQueueDelay));
    for other in [
        &[(PRIMARY, 1.4), (MetricId::RunQueueDelay, 0.4)][..],
        &[(PRIMARY, 0.8), (MetricId::PathLength, 0.5), (MetricId::Cpi, 1.6), (MetricId::RunQueueDelay, 0.2)],
        &[(PRIMARY, 1.6), (MetricId::Cpi, 1.6), (MetricId::PageWalkShare, 0.5), (MetricId::LlcMpki, 4.0)],
        &[(PRIMARY, 1.5), (MetricId::Cpi, 1.2), (MetricId::Frequency, 0.8), (MetricId::StealShare, 0.1)],
        &[(PRIMARY, 1.3), (MetricId::PathLength, 1.3), (MetricId::StealShare, 0.1), (MetricId::RunQueueDelay, 0.3)],
    ] {
        for session in [Session::counted(), Session::new()] {
            let (_, _, said) = verdict(session, other);
            let shares: Vec<f64> = said.diagnosis.evidence.iter().filter_map(|e| e.share).collect();
            let sum: f64 = shares.iter().sum();
            assert!(
                shares.iter().all(|share| (0.0..=1.0).contains(share)) && sum <= 1.0 + 1e-9,
                "{other:?}: {shares:?}"
            );
        }
    }
}

#[test]
fn factors_that_each_grew_a_little_are_told_together() {
    let mut session = Session::counted();
    session.run(20, &[]).run(20, &[(PRIMARY, 1.09), (MetricId::Cpi, 1.048), (MetricId::Frequency, 1.048 / 1.09)]);
    let lead = session.said().diagnosis.evidence[0].clone();
    assert_eq!((lead.cause, lead.confidence), (Cause::CpiOther, Confidence::Low), "{lead:?}");
    assert!(lead.text.ends_with("this one most."), "{}", lead.text);
}

#[test]
fn an_llc_that_misses_no_more_than_the_cache_before_it_is_no_sure_cause() {
    let (_, _, said) = verdict(
        Session::counted(),
        &[(PRIMARY, 1.4), (MetricId::Cpi, 1.4), (MetricId::LlcMpki, 3.0), (MetricId::L2Mpki, 3.0)],
    );
    assert_eq!(
        (said.diagnosis.evidence[0].cause, said.diagnosis.evidence[0].confidence),
        (Cause::Llc, Confidence::Low)
    );
}

#[test]
fn without_hardware_counters_it_is_cpu_time_and_what_is_missing_is_said() {
    let (cause, place, said) = verdict(Session::new(), &[(PRIMARY, 1.4)]);
    assert_eq!((cause, place), (Cause::CpuTimeOther, CauseLocation::Unknown));
    assert_eq!(said.diagnosis.evidence[0].confidence, Confidence::Low);
    for missing in
        ["No instructions are counted", "Memory is not probed", "Other programs on the machine were not recorded"]
    {
        assert!(
            said.diagnosis.unknown.iter().any(|text| text.starts_with(missing)),
            "{missing}: {:?}",
            said.diagnosis.unknown
        );
    }
    assert!(said.diagnosis.evidence[0].text.contains("usually 500 us"), "{}", said.diagnosis.evidence[0].text);
}

#[test]
fn without_operations_waits_are_judged_and_load_is_not() {
    let usual = [(WITHOUT_OPERATIONS, 0.5), (MetricId::Utilisation, 0.5), (MetricId::RunQueueDelay, 0.005)];
    let mut session = Session::of(&usual, LoadAxis::BusyCores);
    session.run(20, &[]).run(10, &[(WITHOUT_OPERATIONS, 2.0), (MetricId::Utilisation, 0.99)]);
    assert!(session.said().alarms.is_empty());
    session.run(6, &[(MetricId::RunQueueDelay, 0.3)]);
    assert_eq!((session.verdict().0, session.said().diagnosis.primary), (Cause::RunQueue, WITHOUT_OPERATIONS));
    assert!(session.said().diagnosis.unknown.iter().any(|text| text.starts_with("Operations are not counted")));
}

#[test]
fn a_change_of_functions_is_probably_the_program_and_never_surely() {
    let mut session = Session::new();
    session.process("cron", |_| (0.06, 0.0, 1));
    session.run(20, &[]).run(6, &[(PRIMARY, 1.4)]);
    let shift = FunctionShift {
        function: "check_twice".into(),
        now: 2e5,
        then: 0.0,
        per_operation: true,
        part: Some(1.0),
        shifted: 0.28,
    };
    session.assessor.set_function_shift(Some(shift.clone()));
    assert_eq!(session.verdict(), (Cause::PathLength, CauseLocation::Program, vec![]));
    let lead = session.said().diagnosis.evidence[0].clone();
    assert!(lead.confidence == Confidence::Medium && lead.text.contains("`check_twice` grew most"), "{lead:?}");
    session.assessor.set_function_shift(Some(FunctionShift { shifted: 0.01, ..shift }));
    assert_eq!(session.verdict().0, Cause::CpuTimeOther, "functions that all grew alike say nothing");
}

/// Usual latencies of the memory probes.
const PROBED: [(MetricId, f64); 4] = [
    (MetricId::ProbeL2Latency, 4.0),
    (MetricId::ProbeLlcLatency, 30.0),
    (MetricId::ProbeDramLatency, 140.0),
    (MetricId::ProbeTlbLatency, 10.0),
];

#[test]
fn without_hardware_counters_probes_tell_caches_from_memory_and_from_the_clock() {
    for (other, cause) in [
        (&[(MetricId::ProbeLlcLatency, 3.0)][..], Cause::Llc),
        (&[(MetricId::ProbeLlcLatency, 3.0), (MetricId::ProbeDramLatency, 1.4)], Cause::MemoryBandwidth),
        (&[(MetricId::ProbeTlbLatency, 2.5)], Cause::PageWalk),
        (
            &[(MetricId::ProbeL2Latency, 1.6), (MetricId::ProbeLlcLatency, 1.6), (MetricId::ProbeDramLatency, 1.5)],
            Cause::Frequency,
        ),
        (&[], Cause::CpuTimeOther),
    ] {
        let session = Session::of(&[&USUAL[..], &PROBED].concat(), LoadAxis::OpsPerSecond);
        let (found, place, said) = verdict(session, &[&[(PRIMARY, 1.4)], other].concat());
        assert_eq!((found, place), (cause, CauseLocation::Unknown), "{other:?}: {:#?}", said.diagnosis.evidence);
        assert!(!said.diagnosis.unknown.iter().any(|text| text.starts_with("Memory is not probed")));
    }
}

#[test]
fn a_function_that_grew_says_more_than_probes_that_took_longer() {
    let mut session = Session::of(&[&USUAL[..], &PROBED].concat(), LoadAxis::OpsPerSecond);
    session.run(20, &[]).run(6, &[(PRIMARY, 1.4), (MetricId::ProbeDramLatency, 1.6)]);
    let function = "check_twice".to_string();
    let shift = FunctionShift { function, now: 2e5, then: 0.0, per_operation: true, part: Some(1.0), shifted: 0.28 };
    session.assessor.set_function_shift(Some(shift));
    assert_eq!(session.verdict().0, Cause::PathLength);
    assert_eq!(
        session.said().diagnosis.evidence[1].cause,
        Cause::MemoryBandwidth,
        "what the probes tell is still there"
    );
}
#[test]
fn uncounted_waits_for_storage_are_told_with_the_remedy_and_counted_ones_are_not() {
    for (more, expected) in [
        (&[][..], Some("cannot be seen")),
        (&[(MetricId::PsiIoSome, 0.01)][..], Some("I/O pressure of its group alone")),
        (&[(MetricId::BlockIoDelay, 0.01)][..], None),
    ] {
        let mut session = Session::of(&[&USUAL[..], more].concat(), LoadAxis::OpsPerSecond);
        session.run(30, &[]);
        let said = session.said().diagnosis.unknown;
        let told = said.iter().find(|text| text.starts_with("Waits for storage"));
        assert_eq!(told.is_some(), expected.is_some(), "{said:?}");
        for part in expected.into_iter().chain(expected.map(|_| "sudo sysctl kernel.task_delayacct=1")) {
            assert!(told.unwrap().contains(part), "{part}: {told:?}");
        }
    }
}

#[test]
fn stolen_time_is_taken_off_cpu_time_only_where_the_kernel_counts_it_there() {
    // The host took a fifth of the busy time, and the code costs a tenth more in instructions that are not counted
    // here.
    let trouble = [(PRIMARY, 1.1), (MetricId::StealShare, 0.06)];
    let found = |stolen_in_cpu_time| {
        let facts = HostFacts { virtual_machine: true, stolen_in_cpu_time, ..facts() };
        let (_, _, said) = verdict(Session::on(facts, &USUAL, LoadAxis::OpsPerSecond), &trouble);
        let of = |cause| said.diagnosis.evidence.iter().find(|it| it.cause == cause).map(|it| it.share);
        (of(Cause::Steal), of(Cause::CpuTimeOther).flatten(), said.diagnosis.evidence[0].cause)
    };
    let (steal, code, lead) = found(Some(true));
    assert!(
        steal.flatten().unwrap() > 0.999 && code.is_none() && lead == Cause::Steal,
        "all of it may have been taken"
    );
    let (steal, code, lead) = found(Some(false));
    let (steal, code) = (steal.flatten().unwrap(), code.unwrap());
    let expected = 1.1_f64.ln() / (1.1_f64.ln() + 1.25_f64.ln());
    assert!((code - expected).abs() < 0.04 && (steal + code - 1.0).abs() < 0.03, "{steal} {code} {expected}");
    assert_eq!(lead, Cause::Steal);
    let (steal, code, lead) = found(None);
    assert_eq!((steal, lead), (Some(None), Cause::CpuTimeOther));
    assert!(code.unwrap() > 0.95, "nobody takes from it what may lie beside it");
}

#[test]
fn in_a_guest_fewer_cycles_per_second_are_not_called_a_slower_clock() {
    let usual = [&USUAL[..], &COUNTED].concat();
    let facts = HostFacts { virtual_machine: true, stolen_in_cpu_time: Some(false), ..facts() };
    let session = Session::on(facts, &usual, LoadAxis::OpsPerSecond);
    let (cause, _, said) = verdict(session, &[(PRIMARY, 1.4), (MetricId::Frequency, 0.71)]);
    assert_eq!((cause, said.diagnosis.evidence[0].confidence), (Cause::CpuTimeOther, Confidence::Low));
    assert!(said.diagnosis.evidence[0].text.contains("did not run"), "{:?}", said.diagnosis.evidence);
}
