//! Rates of known samples.

use super::*;
use crate::analysis::names::Names;
use crate::analysis::testing::Synthetic;
use crate::analysis::time::TimeRange;
use crate::analysis::{CodeKind, GroupKey, Rank, RowRates};
use crate::model::{EventKind, EventSpec, Measure, Unit, Why};
use crate::units::Nanos;

const CYCLES: u64 = 1_000_000;

fn spec(name: &str, kind: EventKind, read_by_leader: bool, group: Option<u16>) -> EventSpec {
    EventSpec { read_by_leader, group, ..EventSpec::new(name, kind, Unit::Count) }
}

fn events(grouped: bool) -> Vec<EventSpec> {
    let group = grouped.then_some(0);
    vec![
        spec("cycles", EventKind::Hardware(0), false, group),
        spec("instructions", EventKind::Hardware(1), grouped, group),
        spec("LLC-load-misses", EventKind::Cache(0x1_0002), grouped, group),
    ]
}

/// A sample of an event at a time in milliseconds.
fn sample(synthetic: &mut Synthetic, at: u64, tid: u32, stack: &str, event: u16, weight: u64) {
    (synthetic.event, synthetic.weight) = (event, weight);
    synthetic.samples(at, tid, stack, 1);
}

/// A profile of samples: the function, and instructions and misses per 1000 cycles; `None` where they are not known.
fn profile(grouped: bool, samples: &[(&str, Option<[u64; 2]>)]) -> Profile {
    let mut synthetic = Synthetic::new();
    synthetic.meta.events = events(grouped);
    synthetic.meta.samples = Some(SampleSource::Threads);
    synthetic.alive(41, "main");
    for (at, (function, counts)) in samples.iter().enumerate() {
        let stack = format!("app!main;app!{function}");
        let at = 10 * at as u64;
        sample(&mut synthetic, at, 41, &stack, 0, CYCLES);
        for (event, count) in counts.iter().flatten().zip(1..).map(|(count, event)| (event, *count)) {
            if count > 0 {
                sample(&mut synthetic, at, 41, &stack, event, count * CYCLES / 1000);
            }
        }
    }
    synthetic.finish()
}

/// The rates of everything that is selected.
struct Found {
    grouped: bool,
    whole: Rates,
    modes: [Rates; 2],
    functions: RowRates,
}

fn found(profile: &Profile, selection: &Selection) -> Option<Found> {
    let tasks = Tasks::of(profile);
    let ipc = CodeIpc::of(profile, &tasks, selection)?;
    let (whole, modes) = (ipc.whole(), ipc.user_and_kernel());
    let functions = RowRates::of(&ipc, profile, &Names::of(profile), &tasks, &[GroupKey::Function]);
    Some(Found { grouped: ipc.is_grouped(), whole, modes, functions })
}

fn of(profile: &Profile) -> Found {
    found(profile, &Selection::default()).unwrap()
}

fn pair(rates: Rates) -> Result<(f64, f64), Why> {
    match (rates.ipc, rates.mpki) {
        (Measure::Known { value, .. }, Measure::Known { value: mpki, .. }) => Ok((value, mpki)),
        (Measure::Missing(why), _) | (_, Measure::Missing(why)) => Err(why),
    }
}

fn rates(found: &Found, function: &str) -> Rates {
    let (name, module) = (function.to_string(), "app".to_string());
    let (self_weight, total_weight, self_samples, total_samples) = (0, 0, 0, 0);
    let row = Rank {
        name,
        module,
        kind: CodeKind::User,
        inlined: false,
        id: None,
        self_weight,
        total_weight,
        self_samples,
        total_samples,
    };
    found.functions.get(&row)
}

fn ipc(found: &Found, function: &str) -> Result<(f64, f64), Why> {
    pair(rates(found, function))
}

#[test]
fn functions_that_run_for_long_have_rates_of_their_own_and_the_sample_between_them_counts_for_neither() {
    let mut samples = vec![("fast", Some([2000, 0])); 50];
    // What the first sample of the slow code carries was counted in the fast code.
    samples.push(("slow", Some([1900, 1])));
    samples.extend([("slow", Some([250, 5])); 50]);
    let found = of(&profile(true, &samples));
    assert!(found.grouped);
    assert_eq!((ipc(&found, "fast"), ipc(&found, "slow")), (Ok((2.0, 0.0)), Ok((0.25, 20.0))));
    assert_eq!(rates(&found, "slow").ipc_error, Some(0.0));
    let (slowness, all) = (found.functions.against_whole(CodeRate::Cpi), *found.whole.ipc.value().unwrap());
    assert_eq!((slowness.get("fast"), slowness.get("slow")), (Some(&(all / 2.0)), Some(&(all / 0.25))));
    let whole = found.whole.ipc.value().unwrap();
    assert!((whole - (49.0 * 2.0 + 1.9 + 50.0 * 0.25) / 100.0).abs() < 1e-9, "{whole}");
    assert_eq!(ipc(&found, "absent"), Err(Why::TooFewSamples));
}

#[test]
fn functions_that_take_turns_faster_than_samples_have_no_rates_but_the_whole_has() {
    // As leader sampling sees two functions of a loop: the same counts, whatever they are like.
    let samples: Vec<_> =
        (0..400).map(|at| (if at * 7 % 10 < 7 { "often" } else { "seldom" }, Some([1000, 1]))).collect();
    let found = of(&profile(true, &samples));
    assert_eq!((ipc(&found, "often"), ipc(&found, "seldom")), (Err(Why::Interleaved), Err(Why::Interleaved)));
    assert_eq!((found.whole.ipc.value(), found.functions.against_whole(CodeRate::Cpi).len()), (Some(&1.0), 0));
    assert_eq!(found.modes[0].ipc.value(), Some(&1.0), "all of it is user code");
    assert_eq!(found.modes[1].ipc.why(), Some(Why::TooFewSamples));
}

#[test]
fn intervals_that_nobody_knows_count_for_nothing() {
    let known: Vec<_> = [("f", Some([500, 1])); 30].into();
    let unknown = [("f", None); 100];
    let found = of(&profile(true, &[&known[..], &unknown].concat()));
    assert_eq!(ipc(&found, "f"), Ok((0.5, 2.0)), "by the 29 that are known");
    assert_eq!(rates(&found, "f").samples, 29);
    let found = of(&profile(true, &[&known[..10], &unknown].concat()));
    assert_eq!(ipc(&found, "f"), Err(Why::LostEvents));
    assert_eq!(ipc(&of(&profile(true, &known[..15])), "f"), Err(Why::TooFewSamples));
}

#[test]
fn events_with_samples_of_their_own_tell_apart_what_takes_turns() {
    let mut synthetic = Synthetic::new();
    synthetic.meta.events = events(false);
    synthetic.alive(41, "main");
    for at in 0..400 {
        // Each has half of the cycles; one has three of four instructions, the other all misses.
        sample(&mut synthetic, 20 * at, 41, if at.is_multiple_of(2) { "app!fast" } else { "app!slow" }, 0, CYCLES);
        sample(&mut synthetic, 20 * at, 41, if at % 4 > 0 { "app!fast" } else { "app!slow" }, 1, CYCLES);
        sample(&mut synthetic, 20 * at, 41, "app!slow", 2, 100);
    }
    let found = of(&synthetic.finish());
    assert!(!found.grouped);
    assert_eq!(ipc(&found, "fast"), Err(Why::TooFewSamples), "no sample of a miss");
    assert_eq!(rates(&found, "fast").ipc.value(), Some(&1.5));
    let (slow, misses) = ipc(&found, "slow").unwrap();
    assert!((slow - 0.5).abs() < 1e-9 && (misses - 0.4).abs() < 1e-9, "{slow} {misses}");
    let error = rates(&found, "slow").ipc_error.unwrap();
    assert!((error - 0.5 * (1.0f64 / 200.0 + 1.0 / 100.0).sqrt()).abs() < 1e-9, "{error}");
}

#[test]
fn without_instructions_of_the_same_code_there_is_nothing() {
    let mut profile = profile(true, &[("f", Some([500, 1])); 30]);
    let of = |profile: &Profile| found(profile, &Selection::default()).is_some();
    assert!(of(&profile));
    profile.meta.events[1].exclude_kernel = true;
    assert!(!of(&profile));
    profile.meta.events.truncate(1);
    assert!(!of(&profile));
}

#[test]
fn only_the_selected_part_counts() {
    let profile = profile(true, &[[("f", Some([500, 1])); 40], [("f", Some([1000, 1])); 40]].concat());
    let time = TimeRange { from: Nanos(400_000_000), to: None };
    let selection = Selection { time, ..Selection::default() };
    let found = found(&profile, &selection).unwrap();
    assert_eq!((ipc(&found, "f"), found.whole.samples), (Ok((1.0, 1.0)), 40));
}

#[test]
fn a_call_path_has_the_rates_of_all_that_runs_in_it_even_if_that_takes_turns() {
    // `often` and `seldom` take turns within `work`, and nothing else runs then.
    let turns = |at: usize| (if at.is_multiple_of(2) { "work;app!often" } else { "work;app!seldom" }, Some([500, 1]));
    let samples: Vec<_> = (0..200).map(turns).chain([("rest", Some([2000, 0])); 200]).collect();
    let profile = profile(true, &samples);
    let (tasks, selection) = (Tasks::of(&profile), Selection::default());
    let paths = CodeIpc::of(&profile, &tasks, &selection).unwrap().paths(&Names::of(&profile), false);
    let rates = |wanted: &str| {
        let name = |node: &u32| {
            paths.tree.path(*node).iter().map(|label| label.text.as_str()).collect::<Vec<_>>().join(";") == wanted
        };
        pair(paths.rates[(0..paths.tree.nodes.len() as u32).find(name).unwrap() as usize])
    };
    assert_eq!(rates("main;work"), Ok((0.5, 2.0)));
    assert_eq!((rates("main;rest"), rates("main;work;often")), (Ok((2.0, 0.0)), Err(Why::Interleaved)));
    let all = rates("main").unwrap().0;
    assert!((all - (199.0 * 0.5 + 200.0 * 2.0) / 399.0).abs() < 1e-9, "{all}");
}

#[test]
fn call_paths_count_the_samples_of_each_event_even_if_they_are_of_stacks_of_their_own() {
    let mut synthetic = Synthetic::new();
    synthetic.meta.events = events(false);
    synthetic.alive(41, "main");
    for at in 0..100 {
        sample(&mut synthetic, 20 * at, 41, "app!main;app!work;app!waits", 0, CYCLES);
        sample(&mut synthetic, 20 * at, 41, "app!main;app!work;app!runs", 1, CYCLES);
    }
    let profile = synthetic.finish();
    let (tasks, selection) = (Tasks::of(&profile), Selection::default());
    let paths = CodeIpc::of(&profile, &tasks, &selection).unwrap().paths(&Names::of(&profile), false);
    let rates: Vec<_> = paths.rates.iter().map(|rates| rates.ipc.value().copied()).collect();
    assert_eq!(rates, [Some(1.0), Some(1.0), None, None]);
}

#[test]
fn threads_and_cpus_have_rates_of_their_own() {
    let mut synthetic = Synthetic::new();
    synthetic.meta.events = events(true);
    synthetic.meta.samples = Some(SampleSource::Threads);
    for (tid, per_mille) in [(41, 500), (42, 2000)] {
        synthetic.alive(tid, "main");
        for at in 0..50 {
            sample(&mut synthetic, 10 * at, tid, "app!main", 0, CYCLES);
            sample(&mut synthetic, 10 * at, tid, "app!main", 1, per_mille * CYCLES / 1000);
        }
    }
    let profile = synthetic.finish();
    let (tasks, selection) = (Tasks::of(&profile), Selection::default());
    let found = CodeIpc::of(&profile, &tasks, &selection).unwrap().by(|at| profile.samples.tid[at]);
    assert_eq!((found[&41].ipc.value(), found[&42].ipc.value()), (Some(&0.5), Some(&2.0)));
}
