//! Ranks by several keys at once: threads by name and CPU, functions by process, as `perf report --sort` does it.

use super::accesses::chosen_accesses;
use super::cgroups::Cgroups;
use super::names::{CodeKind, Function, Names, short};
use super::observe::{chosen_samples, spans};
use super::profile_tree::{UNKNOWN, Weight};
use super::ranking::{GroupBy, Ranking, SortBy, Sum};
use super::sampling_error::Lockstep;
use super::selection::{Axis, Selection};
use super::stack_counts::StackCounts;
use super::tasks::Tasks;
use crate::model::profile::Profile;
use crate::model::{AccessPlace, MemoryAccess, StackId, Unit};
use crate::units::Nanos;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// A key by which rows are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupKey {
    /// The last name of the thread.
    Comm,
    /// The process, by id.
    Process,
    /// The thread, by id.
    Thread,
    /// The CPU of a sample; a wait has none.
    Cpu,
    /// The control group of the thread at that moment.
    Cgroup,
    /// Where the data of a sampled memory access was. Rows are of accesses then, by their cycles.
    Memory,
    /// The program or library.
    Module,
    /// The function.
    Function,
}

impl GroupKey {
    /// Its name, as a heading.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            GroupKey::Comm => "comm",
            GroupKey::Process => "process",
            GroupKey::Thread => "thread",
            GroupKey::Cpu => "cpu",
            GroupKey::Cgroup => "cgroup",
            GroupKey::Memory => "memory",
            GroupKey::Module => "module",
            GroupKey::Function => "function",
        }
    }
}

impl From<GroupBy> for GroupKey {
    fn from(by: GroupBy) -> GroupKey {
        match by {
            GroupBy::Function => GroupKey::Function,
            GroupBy::Module => GroupKey::Module,
            GroupBy::Thread => GroupKey::Thread,
            GroupBy::Process => GroupKey::Process,
        }
    }
}

/// Numbers of name, process, thread, CPU, control group and place of data; 0 where no key asks for it.
pub(super) type Who = [u32; 6];
/// The CPU of a wait.
const NO_CPU: u32 = u32::MAX;
/// The group of a thread that was not found in any.
const NO_CGROUP: u32 = u32::MAX;

/// Numbers of texts.
#[derive(Default)]
struct Texts<'a> {
    numbers: FxHashMap<&'a str, u32>,
    texts: Vec<&'a str>,
}

impl<'a> Texts<'a> {
    fn number(&mut self, text: &'a str) -> u32 {
        *self.numbers.entry(text).or_insert_with(|| {
            self.texts.push(text);
            self.texts.len() as u32 - 1
        })
    }
}

/// The code that rows stand for: functions, modules, or none if no key asks for it.
pub(super) struct Code<'a> {
    names: &'a Names,
    by_function: bool,
    by_module: bool,
    modules: Texts<'a>,
}

impl<'a> Code<'a> {
    pub fn of(names: &'a Names, keys: &[GroupKey]) -> Code<'a> {
        let by_function = keys.contains(&GroupKey::Function);
        let by_module = !by_function && keys.contains(&GroupKey::Module);
        Code { names, by_function, by_module, modules: Texts::default() }
    }

    /// The functions or modules of a stack, innermost first and each once.
    pub fn on_stack(&mut self, profile: &Profile, stack: Option<StackId>, out: &mut Vec<u32>) {
        out.clear();
        if !self.by_function && !self.by_module {
            return;
        }
        let names = self.names;
        for call in names.walk(profile, stack) {
            let module = || names.functions.get(call.function as usize).map_or("", |function| function.module.as_str());
            let code = if self.by_function { call.function } else { self.modules.number(module()) };
            if !out.contains(&code) {
                out.push(code);
            }
        }
    }

    /// The function of a row, if rows stand for functions, and the path of its module.
    pub fn row(&self, code: Option<u32>) -> (Option<&'a Function>, &'a str) {
        let at = code.map(|code| code as usize);
        if self.by_function {
            let function = at.and_then(|at| self.names.functions.get(at));
            return (function, function.map_or("", |function| function.module.as_str()));
        }
        (None, at.and_then(|at| self.modules.texts.get(at)).copied().unwrap_or_default())
    }
}

/// What the keys say of threads and places, as numbers, and the texts of these.
pub(super) struct Keys<'a> {
    keys: &'a [GroupKey],
    tasks: &'a Tasks,
    comms: Texts<'a>,
    cgroups: Cgroups<'a>,
    places: Vec<AccessPlace>,
}

impl<'a> Keys<'a> {
    pub fn of(profile: &'a Profile, tasks: &'a Tasks, keys: &'a [GroupKey]) -> Keys<'a> {
        let cgroups = if keys.contains(&GroupKey::Cgroup) { Cgroups::of(profile) } else { Cgroups::default() };
        let accesses = if keys.contains(&GroupKey::Memory) { profile.accesses.as_slice() } else { &[] };
        let places: BTreeSet<_> = accesses.iter().map(MemoryAccess::place).collect();
        Keys { keys, tasks, comms: Texts::default(), cgroups, places: places.into_iter().collect() }
    }

    /// The numbers of a thread or process on a CPU at a time, and of the place of its data.
    pub fn who(&mut self, [pid, tid, cpu]: [u32; 3], at: Nanos, place: Option<AccessPlace>) -> Who {
        let mut by = Who::default();
        for key in self.keys {
            match key {
                GroupKey::Comm => by[0] = self.comms.number(self.tasks.get(tid).map_or("", |task| task.comm.as_str())),
                GroupKey::Process => by[1] = pid,
                GroupKey::Thread => by[2] = tid,
                GroupKey::Cpu => by[3] = cpu,
                GroupKey::Cgroup => by[4] = self.cgroups.at(pid, tid, at).unwrap_or(NO_CGROUP),
                GroupKey::Memory => {
                    let number = place.and_then(|place| self.places.binary_search(&place).ok());
                    by[5] = number.unwrap_or_default() as u32;
                }
                GroupKey::Module | GroupKey::Function => {}
            }
        }
        by
    }

    /// The keys' values, separated by tabs.
    pub fn name(&self, by: &Who, function: Option<&Function>, module: &str) -> String {
        let text = |key: &GroupKey| match key {
            GroupKey::Comm => self.comms.texts.get(by[0] as usize).copied().unwrap_or_default().to_string(),
            GroupKey::Process => by[1].to_string(),
            GroupKey::Thread => by[2].to_string(),
            GroupKey::Cpu if by[3] == NO_CPU => "-".to_string(),
            GroupKey::Cpu => by[3].to_string(),
            GroupKey::Cgroup => self.cgroups.path(by[4]).unwrap_or(UNKNOWN).to_string(),
            GroupKey::Memory => self.places.get(by[5] as usize).map_or(UNKNOWN.to_string(), |place| place.label()),
            GroupKey::Module if module.is_empty() => UNKNOWN.to_string(),
            GroupKey::Module => short(module).to_string(),
            GroupKey::Function => function.map_or(UNKNOWN, |function| function.name.as_str()).to_string(),
        };
        let texts: Vec<String> = self.keys.iter().map(|key| text(key).replace('\t', " ")).collect();
        texts.join("\t")
    }
}

/// The weight of each stack by what the keys say of its thread.
#[derive(Default)]
struct Counted {
    stacks: FxHashMap<(Who, Option<StackId>), Weight>,
    all: Weight,
}

impl Counted {
    fn of(profile: &Profile, tasks: &Tasks, selection: &Selection, keys: &mut Keys<'_>) -> Counted {
        let mut counted = Counted::default();
        let is_memory = keys.keys.contains(&GroupKey::Memory);
        let unit = if is_memory { Unit::Count } else { selection.axis.unit(&profile.meta) };
        let mut add = |by: Who, stack: Option<StackId>, weight: u64| {
            let one = Weight { weight, samples: 1 };
            *counted.stacks.entry((by, stack)).or_default() += one;
            counted.all += one;
        };
        let who = selection.who(tasks);
        match selection.axis {
            _ if is_memory => {
                let timed = profile.accesses.iter().any(|it| it.latency.is_some());
                chosen_accesses(profile, selection, &who).for_each(|it| {
                    let weight = if timed { it.latency.unwrap_or_default() } else { 1 };
                    add(keys.who([it.pid, it.tid, it.cpu], it.at, Some(it.place())), it.stack, weight);
                });
            }
            Axis::Event(event) => chosen_samples(profile, event, selection, &who).for_each(|at| {
                let samples = &profile.samples;
                let by = keys.who([samples.pid[at], samples.tid[at], samples.cpu[at]], samples.at[at], None);
                add(by, samples.stack[at], samples.weight[at]);
            }),
            Axis::OffCpu => spans(profile, selection.time, &who).for_each(|(span, seen)| {
                add(keys.who([seen.pid, seen.tid, NO_CPU], span.at, None), seen.stack, seen.weight);
            }),
        }
        let sums = counted.stacks.values_mut().chain([&mut counted.all]);
        sums.for_each(|sum| sum.samples = unit.samples(sum.samples, sum.weight));
        counted
    }
}

/// Ranks the observations of a selection by `keys`. The name of a row holds the keys' values, separated by tabs. Code that
/// a stack passes more than once counts once in the row's total.
#[must_use]
pub fn group(
    profile: &Profile,
    names: &Names,
    tasks: &Tasks,
    selection: &Selection,
    keys: &[GroupKey],
    sort: SortBy,
) -> Ranking {
    let mut keys = Keys::of(profile, tasks, keys);
    let counts = StackCounts::of(profile, tasks, selection);
    let Counted { stacks, all } = Counted::of(profile, tasks, selection, &mut keys);
    let mut code = Code::of(names, keys.keys);
    let mut sums: FxHashMap<(Who, Option<u32>), Sum> = FxHashMap::default();
    let mut on_stack = Vec::new();
    for ((by, stack), weight) in stacks {
        code.on_stack(profile, stack, &mut on_stack);
        sums.entry((by, on_stack.first().copied())).or_default().add(weight);
        for code in on_stack.iter().skip(1) {
            sums.entry((by, Some(*code))).or_default().add_callees(weight);
        }
    }
    let rows = sums.into_iter().map(|((by, at), sum)| {
        let (function, module) = code.row(at);
        let kind = function.map_or(CodeKind::Heading, |function| function.kind);
        sum.rank(&keys.name(&by, function, module), module, kind, false, None)
    });
    let of_functions = Ranking::of(rows.collect(), &counts, Lockstep::of(profile, names, &counts));
    Ranking { weight: all.weight, samples: all.samples, ..of_functions }.sorted(sort)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::Synthetic;

    fn check(synthetic: Synthetic, keys: &[GroupKey], expected: &[(&str, u64, u64)]) {
        let profile = synthetic.finish();
        let (names, tasks) = (Names::of(&profile), Tasks::of(&profile));
        let ranking = group(&profile, &names, &tasks, &Selection::default(), keys, SortBy::SelfWeight);
        let rows: Vec<_> =
            ranking.rows.iter().map(|row| (row.name.as_str(), row.self_weight, row.total_weight)).collect();
        assert_eq!(rows, expected, "{keys:?}");
        assert_eq!(ranking.rows.iter().map(|row| row.self_weight).sum::<u64>(), ranking.weight);
    }

    fn two_threads() -> Synthetic {
        let mut synthetic = Synthetic::new();
        synthetic.alive(41, "main").alive(42, "io");
        synthetic
            .samples(0, 41, "app!main;app!walk;app!walk", 3)
            .samples(0, 42, "app!main;/lib/c.so!read", 2)
            .samples(0, 42, "app!main", 1);
        synthetic
    }

    #[test]
    fn rows_are_told_apart_by_every_key_and_recursion_counts_once() {
        use GroupKey::{Comm, Function, Module, Thread};
        check(two_threads(), &[Comm], &[("io", 3, 3), ("main", 3, 3)]);
        check(two_threads(), &[Comm, Thread], &[("io\t42", 3, 3), ("main\t41", 3, 3)]);
        check(two_threads(), &[Module], &[("app", 4, 6), ("c.so", 2, 2)]);
        check(
            two_threads(),
            &[Comm, Module, Function],
            &[("main\tapp\twalk", 3, 3), ("io\tc.so\tread", 2, 2), ("io\tapp\tmain", 1, 3), ("main\tapp\tmain", 0, 3)],
        );
        check(
            two_threads(),
            &[Function, Comm],
            &[("walk\tmain", 3, 3), ("read\tio", 2, 2), ("main\tio", 1, 3), ("main\tmain", 0, 3)],
        );
    }

    #[test]
    fn a_thread_counts_for_the_group_it_is_in_at_that_moment() {
        let mut synthetic = Synthetic::new();
        synthetic.alive(41, "main").alive(42, "io");
        synthetic.joins(0, 41, "/web").joins(500, 41, "/web/new");
        synthetic.samples(0, 41, "app!main", 2).samples(600, 41, "app!main", 4);
        synthetic.samples(0, 42, "app!main", 1);
        // Thread 42 was found in no group, but its process was.
        check(synthetic, &[GroupKey::Cgroup], &[("/web/new", 4, 4), ("/web", 3, 3)]);
    }

    #[test]
    fn samples_without_an_address_are_a_row_of_their_own() {
        let mut synthetic = Synthetic::new();
        synthetic.alive(41, "main").samples(0, 41, "", 4).samples(0, 41, "app!main", 1);
        check(synthetic, &[GroupKey::Comm, GroupKey::Function], &[("main\t[unknown]", 4, 4), ("main\tmain", 1, 1)]);
    }
}
