//! Who had the CPUs while threads waited for one: other processes, the kernel, the hypervisor, other threads of the
//! target. What could not be attributed has no part: the shares then add up to less than 1.

use super::counters::Counters;
use super::selection::ThreadSet;
use super::threads::ThreadRow;
use super::time::Window;
use crate::model::profile::Profile;
use crate::model::{NeighbourDef, NeighbourId, NeighbourKind, Scope};
use crate::units::Nanos;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

/// A user with a smaller share is left out.
const LEAST: f64 = 0.01;
/// At most this many are named.
const MOST: usize = 8;
/// Spans that a window is cut into at most.
const SPANS: usize = 500;
/// With fewer samples, a thread may have run on CPUs where none was taken.
const FEWEST_SAMPLES: f64 = 20.0;

/// What had a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CpuUserKind {
    /// Processes outside the target.
    Process,
    /// Threads of the target itself.
    Own,
    /// Kernel threads.
    Kernel,
    /// The hypervisor, for other guests.
    Steal,
    /// Processes that nobody could read while they lived, and interrupts.
    Unknown,
}

/// How much of the CPUs the threads themselves had while some of them waited for one, 0 to 1; `None` if the users are not known.
pub(super) fn own_part(users: &[CpuUser]) -> Option<f64> {
    let sum = |own: bool| -> f64 {
        users.iter().filter(|user| (user.kind == CpuUserKind::Own) == own).map(|user| user.share).sum()
    };
    let (own, others) = (sum(true), sum(false));
    (own + others > 0.0).then(|| own / (own + others))
}

/// A user of the CPUs that threads waited for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CpuUser {
    /// What it is.
    pub kind: CpuUserKind,
    /// The processes' name as they set it, or a description of another kind of user.
    pub name: String,
    /// The process; `None` for several of one name and for other kinds of users.
    pub pid: Option<u32>,
    /// The control group of the process, or the one that all of them are in.
    pub cgroup: Option<String>,
    /// Its part of the CPU time that others used while threads waited, 0 to 1.
    pub share: f64,
}

/// The users of the CPUs that the threads in `who` waited for, largest share first; none where a recording does not
/// have the CPU time of processes. `threads` have CPU time and waits of each.
#[must_use]
pub fn cpu_users(
    profile: &Profile,
    counters: &Counters,
    (who, threads): (&ThreadSet, &[ThreadRow]),
    window: Window,
) -> Vec<CpuUser> {
    let cpus = Cpus::of(profile, who, threads, window);
    let defs: FxHashMap<NeighbourId, &NeighbourDef> = profile.neighbours.iter().map(|def| (def.id, def)).collect();
    let rivals = own_rivals(threads);
    let mut shares: FxHashMap<Identity<'_>, (f64, FxHashSet<NeighbourId>)> = FxHashMap::default();
    let mut waited = 0.0;
    for (span, grown) in uses_by_span(profile, window) {
        let delta = |name, scope| counters.delta(name, scope, span).value().copied();
        let delay = counters.of_tasks("run-delay", who, span).value().copied().unwrap_or(0.0);
        if delay <= 0.0 {
            continue;
        }
        waited += delay;
        let known = grown.into_iter().filter_map(|(id, (cpu, on_cpu))| Some((*defs.get(&id)?, cpu, on_cpu)));
        let mut used: Vec<Used<'_>> = known.filter_map(Used::of).collect();
        let more = [
            (CpuUserKind::Steal, "the hypervisor", delta("host-steal", Scope::Host)),
            (CpuUserKind::Process, "ironlaw", delta("tool-cpu", Scope::Tool)),
        ];
        let more = more.into_iter().filter_map(|(kind, name, time)| Some((kind, name, time?)));
        used.extend(more.map(|(kind, name, time)| Used { who: (kind, name), id: None, cpu: None, time }));
        let time = span.span().as_f64();
        let own = delta("task-clock", Scope::Target).unwrap_or(0.0);
        let busy = delta("host-busy", Scope::Host).unwrap_or(f64::INFINITY);
        let all: f64 = used.iter().map(|used| used.time).sum();
        for (cpu, part) in &cpus.waited {
            let here = |used: &Used<'_>| match used.cpu {
                Some(on) if on == *cpu => used.time.min(time),
                Some(_) => 0.0,
                // It may have been anywhere.
                None => used.time / cpus.online as f64,
            };
            let own_here = own * cpus.ran.get(cpu).copied().unwrap_or(0.0);
            let known: f64 = used.iter().map(here).sum();
            // Others had no more than what the CPU has, nor than what the machine used beyond what is known of other CPUs.
            let room = time.min(busy - (all - known) - (own - own_here)) - own_here;
            let total = (known.max(room) + own_here * rivals).max(1.0);
            let own = Used { who: (CpuUserKind::Own, "other threads of its own"), id: None, cpu: None, time: 0.0 };
            let parts = used.iter().map(|used| (used, here(used))).chain([(&own, own_here * rivals)]);
            for (used, time) in parts.filter(|(_, time)| *time > 0.0) {
                let (share, ids) = shares.entry(used.who).or_default();
                *share += delay * part * time / total;
                ids.extend(used.id);
            }
        }
    }
    let user = |((kind, name), (share, ids)): (Identity<'_>, (f64, FxHashSet<NeighbourId>))| {
        let of: Vec<&NeighbourDef> = ids.iter().filter_map(|id| defs.get(id).copied()).collect();
        let first = of.first().copied();
        let pid = first.and_then(|first| first.pid).filter(|pid| of.iter().all(|def| def.pid == Some(*pid)));
        let cgroup = first
            .and_then(|first| first.cgroup.clone())
            .filter(|group| of.iter().all(|def| def.cgroup.as_ref() == Some(group)));
        CpuUser { kind, name: name.to_string(), pid, cgroup, share: share / waited }
    };
    let mut users: Vec<CpuUser> = shares.into_iter().map(user).filter(|user| user.share >= LEAST).collect();
    users.sort_by(|a, b| b.share.total_cmp(&a.share).then_with(|| (a.kind, &a.name).cmp(&(b.kind, &b.name))));
    users.truncate(MOST);
    users
}

type Identity<'a> = (CpuUserKind, &'a str);

/// CPU time that a user used, nanoseconds, and on which CPU, if that is known.
struct Used<'a> {
    who: Identity<'a>,
    id: Option<NeighbourId>,
    cpu: Option<u32>,
    time: f64,
}

impl<'a> Used<'a> {
    /// `None` for what other neighbours contain.
    fn of((def, time, cpu): (&'a NeighbourDef, Nanos, Option<u32>)) -> Option<Used<'a>> {
        let who = match def.kind {
            // Kernel threads are in brackets.
            NeighbourKind::Process if def.name.starts_with('[') => (CpuUserKind::Kernel, def.name.as_str()),
            NeighbourKind::Process => (CpuUserKind::Process, def.name.as_str()),
            NeighbourKind::Rest => (CpuUserKind::Unknown, "short-lived processes, interrupts"),
            NeighbourKind::Cgroup | NeighbourKind::Resctrl => return None,
        };
        Some(Used { who, id: Some(def.id), cpu, time: time.as_f64() })
    }
}

/// What each neighbour used in a span, and where it was seen last.
type Grown = FxHashMap<NeighbourId, (Nanos, Option<u32>)>;

/// The spans between readings of the neighbours, and what these used in each.
fn uses_by_span(profile: &Profile, window: Window) -> Vec<(Window, Grown)> {
    let mut moments: Vec<Nanos> = profile.neighbour_uses.iter().map(|used| used.at).collect();
    moments.retain(|at| *at > window.from && *at <= window.to);
    moments.dedup();
    let step = moments.len().div_ceil(SPANS).max(1);
    let mut ends =
        moments.iter().copied().enumerate().filter(|(at, _)| (at + 1) % step == 0 || at + 1 == moments.len());
    let mut next = ends.next().map(|(_, end)| end);
    let mut before: FxHashMap<NeighbourId, Nanos> = FxHashMap::default();
    let (mut spans, mut grown, mut from) = (Vec::new(), Grown::default(), window.from);
    for used in profile.neighbour_uses.iter().filter(|used| used.at <= window.to) {
        while let Some(end) = next.filter(|end| used.at > *end) {
            spans.push((Window { from, to: end }, std::mem::take(&mut grown)));
            from = end;
            next = ends.next().map(|(_, end)| end);
        }
        let cpu = used.cpu - before.insert(used.neighbour, used.cpu).unwrap_or_default();
        if used.at > window.from {
            let sum = grown.entry(used.neighbour).or_default();
            *sum = (sum.0 + cpu, used.on_cpu);
        }
    }
    spans.extend(next.map(|end| (Window { from, to: end }, grown)));
    spans
}

/// The part of the target's CPU time that was used by other threads than the one that waited.
fn own_rivals(threads: &[ThreadRow]) -> f64 {
    let known = |row: &ThreadRow| Some((*row.cpu_time.value()?, *row.run_delay.value()?));
    let rows: Vec<(f64, f64)> = threads.iter().filter_map(known).collect();
    let (cpu, delay) = rows.iter().fold((0.0, 0.0), |sum, row| (sum.0 + row.0, sum.1 + row.1));
    if cpu <= 0.0 || delay <= 0.0 {
        return 0.0;
    }
    rows.iter().map(|(own, waited)| (waited / delay) * (1.0 - own / cpu)).sum()
}

/// The CPUs that threads waited for: those they ran on.
struct Cpus {
    /// Each with its part of the waiting.
    waited: Vec<(u32, f64)>,
    /// The part of the target's CPU time on each.
    ran: FxHashMap<u32, f64>,
    online: usize,
}

impl Cpus {
    fn of(profile: &Profile, who: &ThreadSet, threads: &[ThreadRow], window: Window) -> Cpus {
        let host: Vec<u32> = profile.meta.host.cpus.iter().map(|cpu| cpu.cpu).collect();
        let delays: FxHashMap<u32, f64> =
            threads.iter().filter_map(|row| Some((row.task.tid, *row.run_delay.value()?))).collect();
        let mut seen: FxHashMap<u32, FxHashMap<u32, f64>> = FxHashMap::default();
        let mut ran: FxHashMap<u32, f64> = FxHashMap::default();
        let (samples, mut count) = (&profile.samples, 0.0);
        for at in (0..samples.len()).filter(|at| samples.at[*at] >= window.from && samples.at[*at] < window.to) {
            *ran.entry(samples.cpu[at]).or_default() += 1.0;
            count += 1.0;
            if who.has(samples.tid[at]) {
                *seen.entry(samples.tid[at]).or_default().entry(samples.cpu[at]).or_default() += 1.0;
            }
        }
        ran.values_mut().for_each(|samples| *samples /= f64::max(count, 1.0));
        let mut waited: FxHashMap<u32, f64> = FxHashMap::default();
        for (tid, by_cpu) in &seen {
            let (all, delay) = (by_cpu.values().sum::<f64>(), delays.get(tid).copied().unwrap_or(0.0));
            for (cpu, samples) in by_cpu {
                *waited.entry(*cpu).or_default() += delay * samples / all;
            }
        }
        let delay: f64 = waited.values().sum();
        let waited = if delay > 0.0 && count >= FEWEST_SAMPLES {
            waited.into_iter().map(|(cpu, waited)| (cpu, waited / delay)).collect()
        } else {
            let allowed =
                profile.meta.target.allowed_cpus.clone().filter(|allowed| !allowed.is_empty()).unwrap_or(host.clone());
            let part = 1.0 / allowed.len().max(1) as f64;
            allowed.into_iter().map(|cpu| (cpu, part)).collect()
        };
        Cpus { waited, ran, online: host.len().max(1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{Synthetic, ms};
    use crate::analysis::{Selection, StackCounts, Tasks, threads};
    use crate::model::NeighbourUse;

    const WINDOW: Window = Window { from: Nanos(0), to: ms_of(2000) };

    const fn ms_of(milliseconds: u64) -> Nanos {
        Nanos(milliseconds * 1_000_000)
    }

    /// Threads of the target that wait in the first second only, each with its CPU time by then and by the end; neighbours
    /// by name, with the CPU they were on and their CPU time in each second. Milliseconds.
    fn recorded(own: &[(u32, [u64; 2])], cpus: &[u32], others: &[(&str, NeighbourKind, u32, [u64; 2])]) -> Profile {
        let mut s = Synthetic::new();
        for (tid, cpu) in own {
            s.alive(*tid, "own").samples(5, *tid, "app!work", 40);
            for (at, cpu) in [(1000, cpu[0]), (2000, cpu[1])] {
                s.reading("task-clock", Scope::Thread(*tid), at, ms(cpu).0);
                s.reading("run-delay", Scope::Thread(*tid), at, ms(100).0);
            }
        }
        for (at, which) in [(1000, 0), (2000, 1)] {
            s.tick(at, 1000);
            let cpu: u64 = own.iter().map(|(_, cpu)| cpu[which]).sum();
            s.reading("task-clock", Scope::Target, at, ms(cpu).0);
            s.reading("run-delay", Scope::Target, at, ms(100 * own.len() as u64).0);
            s.reading("host-busy", Scope::Host, at, ms(1950 * (which as u64 + 1)).0);
        }
        let mut profile = s.finish();
        for (at, cpu) in profile.samples.cpu.iter_mut().enumerate() {
            *cpu = cpus[at % cpus.len()];
        }
        for (id, (name, kind, on_cpu, used)) in (0..).zip(others) {
            let (pid, cgroup) = (Some(100 + id), Some("/web".to_string()));
            profile.neighbours.push(NeighbourDef {
                id: NeighbourId(id),
                kind: *kind,
                name: name.to_string(),
                pid,
                cgroup,
            });
            for (at, cpu) in [(1000, used[0]), (2000, used[0] + used[1])] {
                profile.neighbour_uses.push(NeighbourUse {
                    neighbour: NeighbourId(id),
                    at: ms(at),
                    cpu: ms(cpu),
                    on_cpu: (*kind == NeighbourKind::Process).then_some(*on_cpu),
                    io_bytes: None,
                    llc_bytes: None,
                    memory_bytes: None,
                });
            }
        }
        profile.neighbour_uses.sort_by_key(|used| used.at);
        profile
    }

    fn users(profile: &Profile) -> Vec<CpuUser> {
        let (tasks, counters) = (Tasks::of(profile), Counters::of(profile));
        let counts = StackCounts::of(profile, &tasks, &Selection::default());
        let rows = threads(&tasks, &counters, &counts, WINDOW);
        cpu_users(profile, &counters, (&ThreadSet::All, &rows), WINDOW)
    }

    fn shares(profile: &Profile) -> Vec<(String, CpuUserKind, u64)> {
        let users = users(profile);
        assert!(users.iter().map(|user| user.share).sum::<f64>() <= 1.0 + 1e-9, "{users:?}");
        users.into_iter().map(|user| (user.name, user.kind, (user.share * 1000.0).round() as u64)).collect()
    }

    const BURN: (&str, NeighbourKind, u32, [u64; 2]) = ("burn", NeighbourKind::Process, 0, [600, 0]);
    const LATE: (&str, NeighbourKind, u32, [u64; 2]) = ("late", NeighbourKind::Process, 0, [0, 900]);
    const RUSTC: (&str, NeighbourKind, u32, [u64; 2]) = ("rustc", NeighbourKind::Process, 1, [500, 500]);
    const MORE: (&str, NeighbourKind, u32, [u64; 2]) = ("rustc", NeighbourKind::Process, 1, [400, 400]);
    const REST: (&str, NeighbourKind, u32, [u64; 2]) = ("the rest", NeighbourKind::Rest, 0, [175, 900]);

    #[test]
    fn only_what_ran_on_its_cpu_while_it_waited_is_to_blame_and_what_is_not_known_has_no_share() {
        let pinned = recorded(&[(41, [200, 1100])], &[0], &[BURN, LATE, RUSTC, MORE, REST]);
        let expected =
            [("burn", CpuUserKind::Process, 787), ("short-lived processes, interrupts", CpuUserKind::Unknown, 115)];
        assert_eq!(shares(&pinned), expected.map(|(name, kind, share)| (name.to_string(), kind, share)));
        assert_eq!(users(&pinned)[0].pid, Some(100));
    }

    #[test]
    fn on_all_cpus_processes_of_one_name_are_one_and_the_rest_is_said_to_be_unknown() {
        let profile = recorded(&[(41, [200, 1100])], &[0, 1], &[BURN, LATE, RUSTC, MORE, REST]);
        let expected = [
            ("rustc", CpuUserKind::Process, 456),
            ("burn", CpuUserKind::Process, 393),
            ("short-lived processes, interrupts", CpuUserKind::Unknown, 102),
        ];
        assert_eq!(shares(&profile), expected.map(|(name, kind, share)| (name.to_string(), kind, share)));
        let rustc = &users(&profile)[0];
        assert_eq!((rustc.pid, rustc.cgroup.as_deref()), (None, Some("/web")), "two processes");
    }

    #[test]
    fn a_thread_is_not_in_its_own_way_but_others_of_the_target_are() {
        let kernel = ("[kworker/0:1]", NeighbourKind::Process, 0, [20, 0]);
        let profile = recorded(&[(41, [480, 500]), (42, [480, 500])], &[0], &[kernel]);
        let shares = shares(&profile);
        assert_eq!((shares[0].1, shares[1].1), (CpuUserKind::Own, CpuUserKind::Kernel), "{shares:?}");
        assert_eq!((shares[0].2, shares[1].2), (923, 38), "half of 960 ms is the other's, of 520 ms");
    }

    #[test]
    fn without_the_cpu_time_of_processes_nobody_is_blamed() {
        assert_eq!(users(&recorded(&[(41, [200, 1100])], &[0], &[])), []);
    }
}
