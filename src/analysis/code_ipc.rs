//! Instructions per cycle and cache misses of functions, from samples of cycles and of instructions.
//!
//! Where one event's samples carry the counts of the others, each sample tells what was counted since the one before, by
//! whatever ran in between. It says something about a function only if the samples at both ends are in it, and if that
//! is more frequent than chance: code that takes turns faster than samples come has the same counts everywhere.
//! Where each event has samples of its own, these are compared, and nothing of the kind is needed.

use super::names::Names;
use super::selection::Selection;
use super::tasks::Tasks;
use crate::model::profile::Profile;
use crate::model::{EventKind, EventSpec, Measure, Meta, SampleSource, StackId, Why};
use rustc_hash::FxHashMap;

/// With fewer samples or intervals there is no IPC: its standard error could be a fourth of it.
pub const FEWEST_SAMPLES: u64 = 20;
/// How much more often than by chance a function's interval must begin in it, 0 to 1. Of two pieces of code that take
/// turns at random, one interval in sixteen that begins and ends in one then contains the other.
const LEAST_RUN: f64 = 0.5;
/// What a function with this share of the samples shares its intervals with does not matter.
const ALMOST_ALL: f64 = 0.95;

/// The rates of some code.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Instructions per cycle.
    pub ipc: Measure<f64>,
    /// Standard error of `ipc`, if that is known.
    pub ipc_error: Option<f64>,
    /// Last-level cache misses per 1000 instructions.
    pub mpki: Measure<f64>,
    /// The samples or intervals that these are from.
    pub samples: u64,
}

/// The rates of all code of a selection.
#[derive(Debug, Clone, PartialEq)]
pub struct CodeIpc {
    /// Whether samples of one event carry the counts of the others.
    pub grouped: bool,
    /// All of it.
    pub whole: Rates,
    /// The code of programs, and that of the kernel.
    pub user: Rates,
    /// The code of the kernel.
    pub kernel: Rates,
    functions: FxHashMap<u32, Rates>,
    names: FxHashMap<(String, String), u32>,
}

/// The events that the rates are formed of, by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Roles {
    cycles: u16,
    instructions: u16,
    misses: Option<u16>,
    /// The event whose samples carry the counts of the others.
    leader: Option<u16>,
}

impl Roles {
    fn of(meta: &Meta) -> Option<Roles> {
        let events = &meta.events;
        let find = |is: &dyn Fn(&EventSpec) -> bool| {
            events.iter().position(is).and_then(|at| Some((u16::try_from(at).ok()?, events.get(at)?)))
        };
        let (cycles, counted) = find(&|event| generic(&event.kind) == EventKind::Hardware(0))?;
        // Only what counts the same code can be compared.
        let same = |event: &EventSpec| {
            let modes = |event: &EventSpec| [event.exclude_user, event.exclude_kernel, event.exclude_guest];
            modes(event) == modes(counted) && leader_of(events, event) == leader_of(events, counted)
        };
        let (instructions, _) = find(&|event| generic(&event.kind) == EventKind::Hardware(1) && same(event))?;
        let misses = find(&|event| is_llc_miss(meta, event) && same(event)).map(|(at, _)| at);
        Some(Roles { cycles, instructions, misses, leader: leader_of(events, counted) })
    }
}

/// The leader of an event that it samples for or with; `None` if it has samples of its own.
fn leader_of(events: &[EventSpec], event: &EventSpec) -> Option<u16> {
    let group = event.group?;
    let read = events.iter().any(|event| event.group == Some(group) && event.read_by_leader);
    let leader = events.iter().position(|event| event.group == Some(group)).filter(|_| read)?;
    u16::try_from(leader).ok()
}

/// The kind without the upper half of its config, which selects the core type.
fn generic(kind: &EventKind) -> EventKind {
    match kind {
        EventKind::Hardware(config) => EventKind::Hardware(config & u64::from(u32::MAX)),
        other => other.clone(),
    }
}

/// The CPU's own event, or the kernel's for a read or a write that misses the last level.
fn is_llc_miss(meta: &Meta, event: &EventSpec) -> bool {
    let planned = meta.hardware.groups.iter().flat_map(|group| &group.events);
    let mut own = planned.filter(|known| known.role == "llc-miss");
    own.any(|known| known.event.kind == event.kind)
        || matches!(event.kind, EventKind::Cache(config) if config & 0xff == 2 && config >> 16 & 0xff == 1)
}

/// Sums of counts of intervals or samples, and what the error of their ratio needs.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    /// Samples in this code; those that came after another one, and those after one in the same code.
    samples: u64,
    followed: u64,
    same: u64,
    /// Intervals that count, and their counts.
    intervals: u64,
    cycles: f64,
    instructions: f64,
    misses: f64,
    squares: [f64; 3],
    /// Samples of instructions and of misses, where these have samples of their own.
    own: [u64; 2],
}

impl Tally {
    fn interval(&mut self, [cycles, instructions, misses]: [u64; 3]) {
        let (cycles, instructions) = (cycles as f64, instructions as f64);
        self.intervals += 1;
        self.cycles += cycles;
        self.instructions += instructions;
        self.misses += misses as f64;
        for (sum, product) in
            self.squares.iter_mut().zip([cycles * cycles, cycles * instructions, instructions * instructions])
        {
            *sum += product;
        }
    }

    /// The rates by intervals, `share` being that of this code among all samples.
    fn by_intervals(&self, share: f64, has_misses: bool) -> Rates {
        let same = if self.followed > 0 { self.same as f64 / self.followed as f64 } else { 0.0 };
        let run = if share < 1.0 { (same - share) / (1.0 - share) } else { 1.0 };
        let missing = if self.samples < FEWEST_SAMPLES {
            Some(Why::TooFewSamples)
        } else if share < ALMOST_ALL && run < LEAST_RUN {
            Some(Why::Interleaved)
        } else if self.intervals < FEWEST_SAMPLES {
            Some(Why::LostEvents)
        } else {
            None
        };
        let [square, mixed, own] = self.squares;
        let ratio = self.instructions / self.cycles;
        let number = self.intervals as f64;
        // The error of a ratio of sums, linearised.
        let rest = (own - 2.0 * ratio * mixed + ratio * ratio * square).max(0.0);
        let error = (number / (number - 1.0) * rest).sqrt() / self.cycles;
        self.rates(missing, error, self.intervals, has_misses.then_some(missing))
    }

    /// The rates by the samples that each event has of its own.
    fn by_samples(&self, has_misses: bool) -> Rates {
        let [instructions, misses] = self.own;
        let few = |samples: u64| (samples < FEWEST_SAMPLES).then_some(Why::TooFewSamples);
        let missing = few(self.samples.min(instructions));
        let ratio = self.instructions / self.cycles;
        let error = ratio * (1.0 / self.samples as f64 + 1.0 / instructions as f64).sqrt();
        self.rates(missing, error, self.samples, has_misses.then_some(missing.or(few(misses))))
    }

    fn rates(&self, missing: Option<Why>, error: f64, samples: u64, misses: Option<Option<Why>>) -> Rates {
        let ratio = |missing: Option<Why>, above: f64, below: f64| match missing {
            Some(why) => Measure::Missing(why),
            None => Measure::exact(above).over(Measure::exact(below)),
        };
        let ipc = ratio(missing, self.instructions, self.cycles);
        let mpki = match misses {
            Some(missing) => ratio(missing, 1000.0 * self.misses, self.instructions),
            None => Measure::Missing(Why::NotRecorded),
        };
        Rates { ipc, ipc_error: ipc.value().map(|_| error), mpki, samples }
    }
}

impl CodeIpc {
    /// The rates of a selection's code; `None` unless both cycles and instructions were sampled.
    #[must_use]
    pub fn of(profile: &Profile, names: &Names, tasks: &Tasks, selection: &Selection) -> Option<CodeIpc> {
        let roles = Roles::of(&profile.meta)?;
        let mut functions = OwnFunctions { profile, names, known: Vec::new() };
        let stacks = &profile.samples.stack;
        let by_function = tallies(profile, roles, tasks, selection, |at| functions.of(stacks[at]));
        let kernel = &profile.samples.kernel;
        let by_mode = tallies(profile, roles, tasks, selection, |at| u32::from(kernel[at]));
        let whole = tallies(profile, roles, tasks, selection, |_| 0);
        let rates = |tallies: &FxHashMap<u32, Tally>, key: u32| {
            let all: u64 = tallies.values().map(|tally| tally.samples).sum();
            let tally = tallies.get(&key).copied().unwrap_or_default();
            match roles.leader {
                Some(_) => tally.by_intervals(tally.samples as f64 / all.max(1) as f64, roles.misses.is_some()),
                None => tally.by_samples(roles.misses.is_some()),
            }
        };
        let named = |key: &u32| {
            let function = names.functions.get(*key as usize)?;
            Some(((function.name.clone(), function.module.clone()), *key))
        };
        Some(CodeIpc {
            grouped: roles.leader.is_some(),
            whole: rates(&whole, 0),
            user: rates(&by_mode, 0),
            kernel: rates(&by_mode, 1),
            names: by_function.keys().filter_map(named).collect(),
            functions: by_function.keys().map(|key| (*key, rates(&by_function, *key))).collect(),
        })
    }

    /// The rates of a function's own code.
    #[must_use]
    pub fn function(&self, name: &str, module: &str) -> Rates {
        let known = self.names.get(&(name.to_string(), module.to_string()));
        let none = Measure::Missing(Why::TooFewSamples);
        let few = Rates { ipc: none, ipc_error: None, mpki: none, samples: 0 };
        known.and_then(|function| self.functions.get(function)).copied().unwrap_or(few)
    }

    /// Cycles per instruction of each function's own code over those of all code, by name, where both are known. Functions
    /// that share a name have none.
    #[must_use]
    pub fn slowness(&self) -> FxHashMap<&str, f64> {
        let mut found: FxHashMap<&str, Option<f64>> = FxHashMap::default();
        for ((name, _), function) in &self.names {
            let rates = self.functions.get(function);
            let ratio = rates.and_then(|rates| Some(self.whole.ipc.value()? / rates.ipc.value()?));
            found.entry(name).and_modify(|ratio| *ratio = None).or_insert(ratio);
        }
        found.into_iter().filter_map(|(name, ratio)| Some((name, ratio?))).collect()
    }
}

/// The innermost function of each stack, looked up once.
struct OwnFunctions<'a> {
    profile: &'a Profile,
    names: &'a Names,
    known: Vec<Option<u32>>,
}

impl OwnFunctions<'_> {
    /// A number that no function has stands for samples without a stack.
    fn of(&mut self, stack: Option<StackId>) -> u32 {
        let Some(id) = stack else { return u32::MAX };
        let at = id.0 as usize;
        if self.known.len() <= at {
            self.known.resize(at + 1, None);
        }
        *self.known[at]
            .get_or_insert_with(|| self.names.walk(self.profile, stack).next().map_or(u32::MAX, |call| call.function))
    }
}

/// The counts of all selected code by its key.
fn tallies(
    profile: &Profile,
    roles: Roles,
    tasks: &Tasks,
    selection: &Selection,
    mut key: impl FnMut(usize) -> u32,
) -> FxHashMap<u32, Tally> {
    let (all, who) = (&profile.samples, selection.who(tasks));
    let mut tallies: FxHashMap<u32, Tally> = FxHashMap::default();
    // The last sample of each event on a CPU, or on a CPU and thread: its thread and key.
    let mut last: FxHashMap<(u32, u32), (u32, u32)> = FxHashMap::default();
    let by_thread = profile.meta.samples == Some(SampleSource::Threads);
    for at in 0..all.len() {
        let event = all.event[at];
        let is_selected = || {
            selection.time.contains(all.at[at])
                && who.has(all.tid[at])
                && (selection.cpus.is_empty() || selection.cpus.contains(&all.cpu[at]))
        };
        let Some(leader) = roles.leader else {
            let places = [Some(roles.cycles), Some(roles.instructions), roles.misses];
            if let Some(place) = places.iter().position(|role| *role == Some(event))
                && is_selected()
            {
                let (tally, weight) = (tallies.entry(key(at)).or_default(), all.weight[at] as f64);
                let (sum, samples) = match place {
                    0 => (&mut tally.cycles, &mut tally.samples),
                    1 => (&mut tally.instructions, &mut tally.own[0]),
                    _ => (&mut tally.misses, &mut tally.own[1]),
                };
                *sum += weight;
                *samples += 1;
            }
            continue;
        };
        if event != leader {
            continue;
        }
        let (tid, cpu, own) = (all.tid[at], all.cpu[at], key(at));
        let before = last.insert((cpu, if by_thread { tid } else { 0 }), (tid, own));
        if !is_selected() {
            continue;
        }
        let tally = tallies.entry(own).or_default();
        tally.samples += 1;
        tally.followed += u64::from(before.is_some());
        let same = before == Some((tid, own));
        tally.same += u64::from(same);
        let counts = interval(profile, roles, at);
        if same && counts[0] > 0 && counts[1] > 0 {
            tally.interval(counts);
        }
    }
    tallies
}

/// Cycles, instructions and misses that a sample of the leader carries. Those of the members follow it.
fn interval(profile: &Profile, roles: Roles, leader: usize) -> [u64; 3] {
    let all = &profile.samples;
    let mut counts = [0; 3];
    let together = |at: &usize| {
        *at == leader
            || all.event[*at] != all.event[leader]
                && (all.at[*at], all.tid[*at], all.cpu[*at]) == (all.at[leader], all.tid[leader], all.cpu[leader])
    };
    for at in (leader..all.len()).take_while(together) {
        let roles = [Some(roles.cycles), Some(roles.instructions), roles.misses];
        for (count, role) in counts.iter_mut().zip(roles) {
            if role == Some(all.event[at]) {
                *count = all.weight[at];
            }
        }
    }
    counts
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::testing::Synthetic;
    use crate::analysis::time::TimeRange;
    use crate::model::Unit;
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

    fn of(profile: &Profile) -> CodeIpc {
        CodeIpc::of(profile, &Names::of(profile), &Tasks::of(profile), &Selection::default()).unwrap()
    }

    fn ipc(found: &CodeIpc, function: &str) -> Result<(f64, f64), Why> {
        let rates = found.function(function, "app");
        match (rates.ipc, rates.mpki) {
            (Measure::Known { value, .. }, Measure::Known { value: mpki, .. }) => Ok((value, mpki)),
            (Measure::Missing(why), _) | (_, Measure::Missing(why)) => Err(why),
        }
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
        assert_eq!(found.function("slow", "app").ipc_error, Some(0.0));
        let (slowness, all) = (found.slowness(), *found.whole.ipc.value().unwrap());
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
        assert_eq!((found.whole.ipc.value(), found.slowness().len()), (Some(&1.0), 0));
        assert_eq!(found.user.ipc.value(), Some(&1.0), "all of it is user code");
        assert_eq!(found.kernel.ipc.why(), Some(Why::TooFewSamples));
    }

    #[test]
    fn intervals_that_nobody_knows_count_for_nothing() {
        let known: Vec<_> = [("f", Some([500, 1])); 30].into();
        let unknown = [("f", None); 100];
        let found = of(&profile(true, &[&known[..], &unknown].concat()));
        assert_eq!(ipc(&found, "f"), Ok((0.5, 2.0)), "by the 29 that are known");
        assert_eq!(found.function("f", "app").samples, 29);
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
            sample(&mut synthetic, 20 * at, 41, if at % 2 == 0 { "app!fast" } else { "app!slow" }, 0, CYCLES);
            sample(&mut synthetic, 20 * at, 41, if at % 4 > 0 { "app!fast" } else { "app!slow" }, 1, CYCLES);
            sample(&mut synthetic, 20 * at, 41, "app!slow", 2, 100);
        }
        let found = of(&synthetic.finish());
        assert!(!found.grouped);
        assert_eq!(ipc(&found, "fast"), Err(Why::TooFewSamples), "no sample of a miss");
        assert_eq!(found.function("fast", "app").ipc.value(), Some(&1.5));
        let (slow, misses) = ipc(&found, "slow").unwrap();
        assert!((slow - 0.5).abs() < 1e-9 && (misses - 0.4).abs() < 1e-9, "{slow} {misses}");
        let error = found.function("slow", "app").ipc_error.unwrap();
        assert!((error - 0.5 * (1.0f64 / 200.0 + 1.0 / 100.0).sqrt()).abs() < 1e-9, "{error}");
    }

    #[test]
    fn without_instructions_of_the_same_code_there_is_nothing() {
        let mut profile = profile(true, &[("f", Some([500, 1])); 30]);
        let of = |profile: &Profile| {
            CodeIpc::of(profile, &Names::of(profile), &Tasks::of(profile), &Selection::default()).is_some()
        };
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
        let found = CodeIpc::of(&profile, &Names::of(&profile), &Tasks::of(&profile), &selection).unwrap();
        assert_eq!((ipc(&found, "f"), found.whole.samples), (Ok((1.0, 1.0)), 40));
    }
}
