//! Tracks living tasks from the kernel's records: every task's name, every process's mappings. A process is forgotten
//! at the end of the round in which its last thread ended, so churn does not grow the tables.

use super::address_map::AddressMap;
use super::event_queue::EventQueue;
use super::jit_tables::JitTables;
use super::maps::{self, Mapping, Memory};
use super::measured_calls;
use super::modules::Modules;
use super::proc_source::{Asked, Come, ProcSource};
use super::trampolines::Trampolines;
use crate::abi::perf::TaskRecord;
use crate::model::{Event, TaskChange, TaskEvent};
use crate::units::Nanos;
use crate::unwind::Lack;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Living tasks and processes.
#[derive(Debug, Default)]
pub struct Tasks {
    tasks: FxHashMap<u32, Task>,
    processes: FxHashMap<u32, Process>,
    /// Processes whose last thread ended in this round, and when.
    ended: Vec<(u32, Nanos)>,
    /// Incremented when records are missing: mappings read before may be out of date.
    gaps: u32,
}

#[derive(Debug)]
struct Task {
    pid: u32,
    comm: String,
}

#[derive(Debug, Default)]
struct Process {
    /// Shared with forked children until one of them maps something.
    space: Arc<AddressMap>,
    threads: u32,
    /// Whether the mappings are known from the start, by reading or by inheritance.
    known: bool,
    /// The gap count that its mappings already account for.
    gaps: u32,
    /// Whether the answer with its mappings is still to come.
    awaits_maps: bool,
    /// The gap count when a record announced its birth: until records are missing, they tell of each of its threads.
    born_at: Option<u32>,
    /// With more mappings than this they are read again: the kernel does not report those that have gone.
    read_beyond: usize,
    /// Where its runtime describes just-in-time code.
    jit: Option<JitTables>,
    /// Just-in-time code that is unwound by its own instructions.
    trampolines: Trampolines,
    /// When the return addresses of measured functions were read.
    sites_read: Option<Nanos>,
}

/// So many mappings of a process are kept without asking which of them are still there.
const FEW_MAPPINGS: usize = 4096;

/// Context for tracking tasks: module numbers, the system to ask, the stream to write to.
pub struct TaskContext<'a, W> {
    /// Modules so far.
    pub modules: &'a mut Modules,
    /// The system.
    pub proc: &'a mut W,
    /// The stream.
    pub out: &'a mut EventQueue,
}

impl Tasks {
    /// Ensures that a task is known: one that was never announced was alive before.
    pub fn meet<W: ProcSource>(&mut self, at: Nanos, pid: u32, tid: u32, with: &mut TaskContext<'_, W>) {
        if self.tasks.contains_key(&tid) {
            return;
        }
        let Some(comm) = with.proc.comm(pid, tid) else {
            // Already gone: recorded without a name, so that it is not asked for with every sample.
            self.add(pid, tid, String::new());
            return;
        };
        with.out.push(task_event(at, pid, tid, TaskChange::Alive { comm: comm.clone() }));
        self.add(pid, tid, comm);
    }

    /// The mappings of a process, read from the system if they are unknown.
    pub fn space<W: ProcSource>(&mut self, pid: u32, with: &mut TaskContext<'_, W>) -> Arc<AddressMap> {
        let process = self.processes.entry(pid).or_default();
        if !process.known {
            process.known = true;
            process.gaps = self.gaps;
            process.read(pid, with);
        }
        Arc::clone(&process.space)
    }

    /// Takes the mappings and files that came later than they were waited for.
    pub fn take_late<W: ProcSource>(&mut self, with: &mut TaskContext<'_, W>) {
        for come in with.proc.late() {
            match come {
                Come::Maps(pid, text) => {
                    let awaiting = |process: &&mut Process| process.awaits_maps;
                    let Some(process) = self.processes.get_mut(&pid).filter(awaiting) else { continue };
                    process.take(pid, &text, with);
                    // What was mapped while the text was on its way may not be in it.
                    process.gaps = self.gaps.wrapping_sub(1);
                }
                Come::File(number, opened) => {
                    let Some((module, code)) = with.modules.come(number, opened) else { continue };
                    let mapping = |process: &&mut Process| process.space.has(module);
                    for process in self.processes.values_mut().filter(mapping) {
                        Arc::make_mut(&mut process.space).set_code(module, &code);
                    }
                }
            }
        }
    }

    /// The processes whose mappings have not come, by id and name.
    pub fn without_maps(&self) -> Vec<(u32, &str)> {
        let awaiting = self.processes.iter().filter(|(_, process)| process.awaits_maps);
        let named = |pid: &u32| self.tasks.get(pid).map_or("", |task| task.comm.as_str());
        let mut all: Vec<_> = awaiting.map(|(pid, _)| (*pid, named(pid))).collect();
        all.sort_unstable();
        all
    }

    /// An address lies in none of the process's mappings: reads them again if records are missing since.
    pub fn reread_if_stale<W: ProcSource>(
        &mut self,
        pid: u32,
        with: &mut TaskContext<'_, W>,
    ) -> Option<Arc<AddressMap>> {
        let process = self.processes.get_mut(&pid).filter(|process| process.gaps != self.gaps)?;
        process.gaps = self.gaps;
        process.read(pid, with);
        Some(Arc::clone(&process.space))
    }

    /// A stack ended too early, at this address: reads what the process's runtime has written since of unwinding its
    /// just-in-time code. The mappings, if there was something.
    pub fn read_jit_tables<W: ProcSource>(
        &mut self,
        at: Nanos,
        pid: u32,
        end: u64,
        with: &mut TaskContext<'_, W>,
    ) -> Option<Arc<AddressMap>> {
        let process = self.processes.get_mut(&pid)?;
        let jit = process.jit.as_mut()?;
        let mut found = jit.read(at, pid, with.proc);
        if !process.space.unwind.has_tables(end) && !found.iter().any(|(code, _)| code.contains(&end)) {
            found.extend(jit.copy_at(end, pid, with.proc));
        }
        if found.is_empty() {
            return None;
        }
        let space = Arc::make_mut(&mut process.space);
        for (code, tables) in found {
            space.unwind.map(code.start, code.end, 0, &Arc::new(tables));
        }
        Some(Arc::clone(&process.space))
    }

    /// Code that a runtime made called another function at one of these addresses, innermost first, and a walk over them
    /// ended too early: looks at the instructions behind the calls. The mappings, if a frame follows from them.
    pub fn read_trampolines<W: ProcSource>(
        &mut self,
        pid: u32,
        calls: &[u64],
        with: &mut TaskContext<'_, W>,
    ) -> Option<Arc<AddressMap>> {
        let process = self.processes.get_mut(&pid)?;
        let space = &process.space;
        let is_made = |call: &u64| {
            space.find(*call).is_some_and(|(module, _)| with.modules.is_made(module)) && !space.unwind.has_tables(*call)
        };
        // A walk that went astray has left the innermost of them wrongly.
        let (code, tables) = calls
            .iter()
            .filter(|call| is_made(call))
            .find_map(|call| process.trampolines.behind(*call, pid, with.proc))?;
        Arc::make_mut(&mut process.space).unwind.map(code.start, code.end, 0, &tables);
        Some(Arc::clone(&process.space))
    }

    /// A walk lacked something at a call of a measured function: looks for it. The mappings, if there is something new.
    pub fn read_measured_calls<W: ProcSource>(
        &mut self,
        at: Nanos,
        pid: u32,
        lack: Lack,
        with: &mut TaskContext<'_, W>,
    ) -> Option<Arc<AddressMap>> {
        let process = self.processes.get_mut(&pid)?;
        let known = &process.space.unwind.measured;
        match lack {
            Lack::Sites => {
                let is_due =
                    process.sites_read.is_none_or(|read| at.0 >= read.0.saturating_add(measured_calls::SPACING.0));
                if !is_due {
                    return None;
                }
                process.sites_read = Some(at);
                let mut sites = with.proc.return_sites();
                // Those of other processes, which are mapped elsewhere, are left out.
                sites.retain(|site| process.space.find(site.wrapping_sub(1)).is_some());
                if sites[..] == known.sites()[..] {
                    return None;
                }
                Arc::make_mut(&mut process.space).unwind.measured.set_sites(sites.into());
            }
            Lack::Call(back) => {
                let callee = measured_calls::callee(back, pid, with.proc);
                if !Arc::make_mut(&mut process.space).unwind.measured.set_callee(back, callee) {
                    return None;
                }
            }
        }
        Some(Arc::clone(&process.space))
    }

    /// Whether an address lies in code that a runtime made.
    pub fn is_made(&self, pid: u32, address: u64, modules: &Modules) -> bool {
        let space = self.processes.get(&pid).map(|process| &process.space);
        space.and_then(|space| space.find(address)).is_some_and(|(module, _)| modules.is_made(module))
    }

    /// Records were lost, or none were made for a while: known tasks and mappings may be out of date.
    pub fn mark_stale(&mut self) {
        self.gaps = self.gaps.wrapping_add(1);
    }

    /// A process mapped something.
    pub fn mapped<W: ProcSource>(&mut self, pid: u32, mapping: &Mapping<'_>, with: &mut TaskContext<'_, W>) {
        let process = self.processes.entry(pid).or_default();
        let replaced = process.space.find(mapping.start).map(|(module, _)| module);
        if mapping.memory == Memory::Anonymous && replaced.is_some_and(|module| with.modules.is_file(module)) {
            // Text that is moved to larger pages, or what is mapped where a library was: the list of mappings tells which.
            process.read(pid, with);
            return;
        }
        let placed = with.modules.place(pid, mapping, with.proc, with.out);
        let space = Arc::make_mut(&mut process.space);
        space.map(mapping.start, mapping.end, &placed);
        measured_calls::mapped(mapping, &mut space.unwind);
        process.mapped_dump(pid, mapping, with);
        if process.space.len() > process.read_beyond.max(FEW_MAPPINGS) {
            process.read(pid, with);
            process.read_beyond = 2 * process.space.len();
        }
    }

    /// A task changed its name, perhaps by executing another program, which leaves no mapping and no other thread.
    pub fn named(&mut self, at: Nanos, pid: u32, tid: u32, comm: &str, exec: bool, out: &mut EventQueue) {
        if exec {
            self.executed(pid);
        }
        self.add(pid, tid, comm.to_string());
        out.push(task_event(at, pid, tid, TaskChange::Renamed { comm: comm.to_string(), exec }));
    }

    /// A task was born. A new process starts with its parent's mappings.
    pub fn born(&mut self, at: Nanos, record: &TaskRecord, out: &mut EventQueue) {
        let TaskRecord { pid, tid, parent_pid, parent_tid, .. } = *record;
        let comm = self.tasks.get(&parent_tid).map(|parent| parent.comm.clone()).unwrap_or_default();
        if pid != parent_pid {
            let born_at = Some(self.gaps);
            let process = match self.processes.get(&parent_pid) {
                Some(Process { space, known, gaps, .. }) => {
                    Process { space: Arc::clone(space), known: *known, gaps: *gaps, born_at, ..Process::default() }
                }
                None => Process { born_at, ..Process::default() },
            };
            if self.processes.insert(pid, process).is_some() {
                // Another one's that had its id.
                self.ended.retain(|(ended, _)| *ended != pid);
                self.tasks.retain(|_, task| task.pid != pid);
            }
        }
        self.add(pid, tid, comm.clone());
        out.push(task_event(at, pid, tid, TaskChange::Born { parent: parent_tid, comm }));
    }

    /// A task ended.
    pub fn died(&mut self, at: Nanos, pid: u32, tid: u32, out: &mut EventQueue) {
        if self.tasks.remove(&tid).is_some() {
            out.push(task_event(at, pid, tid, TaskChange::Ended));
        }
        if let Some(process) = self.processes.get_mut(&pid) {
            process.threads = process.threads.saturating_sub(1);
            if process.threads == 0 {
                self.ended.push((pid, at));
            }
        }
    }

    /// Ends the round: forgets processes that have ended and passes them to `gone`. One whose threads were not all
    /// announced may live on: `alive` tells whether a process is alive that was so already at a time, as another may have
    /// got its id. If the system does not show its end yet, it is checked again in the next round.
    pub fn sweep(&mut self, mut alive: impl FnMut(u32, Nanos) -> bool, mut gone: impl FnMut(u32)) {
        let Tasks { tasks, processes, ended, gaps, .. } = self;
        ended.retain(|(pid, at)| {
            let Some(process) = processes.get(pid) else { return false };
            let is_announced = process.born_at == Some(*gaps) && process.threads == 0;
            if !is_announced && alive(*pid, *at) {
                return process.threads == 0;
            }
            if process.threads > 0 {
                // They have been met since, and are another's that has got the id.
                tasks.retain(|_, task| task.pid != *pid);
            }
            processes.remove(pid);
            gone(*pid);
            false
        });
    }

    /// Number of known tasks and processes.
    #[cfg(test)]
    pub fn len(&self) -> (usize, usize) {
        (self.tasks.len(), self.processes.len())
    }

    fn add(&mut self, pid: u32, tid: u32, comm: String) {
        if self.tasks.insert(tid, Task { pid, comm }).is_none() {
            self.processes.entry(pid).or_default().threads += 1;
        }
    }

    fn executed(&mut self, pid: u32) {
        let process = self.processes.entry(pid).or_default();
        process.space = Arc::default();
        process.known = true;
        process.gaps = self.gaps;
        process.read_beyond = 0;
        process.jit = None;
        process.trampolines = Trampolines::default();
        process.sites_read = None;
        process.awaits_maps = false;
        if process.threads > 1 {
            process.threads = 1;
            self.tasks.retain(|tid, task| task.pid != pid || *tid == pid);
        }
    }
}

impl Process {
    fn read<W: ProcSource>(&mut self, pid: u32, with: &mut TaskContext<'_, W>) {
        if self.awaits_maps {
            return;
        }
        match with.proc.maps(pid) {
            Asked::Is(text) => self.take(pid, &text, with),
            Asked::Nothing => {}
            Asked::Late(_) => self.awaits_maps = true,
        }
    }

    fn take<W: ProcSource>(&mut self, pid: u32, text: &[u8], with: &mut TaskContext<'_, W>) {
        self.awaits_maps = false;
        let (text, is_cut) = maps::whole_lines(text);
        if is_cut {
            with.modules.maps_were_cut(pid);
        }
        let mut space = AddressMap::default();
        for mapping in maps::parse(text) {
            let placed = with.modules.place(pid, &mapping, with.proc, with.out);
            space.map(mapping.start, mapping.end, &placed);
            measured_calls::mapped(&mapping, &mut space.unwind);
            // Read anew: the tables of the old mappings go with them.
            self.mapped_dump(pid, &mapping, with);
        }
        self.trampolines.look_again();
        self.sites_read = None;
        self.space = Arc::new(space);
    }

    /// Takes a mapping for that of a jitdump if it is one.
    fn mapped_dump<W: ProcSource>(&mut self, pid: u32, mapping: &Mapping<'_>, with: &mut TaskContext<'_, W>) {
        if let Some(jit) = JitTables::of(mapping) {
            with.modules.add_dump(pid, jit.path());
            self.jit = Some(jit);
        }
    }
}

fn task_event(at: Nanos, pid: u32, tid: u32, change: TaskChange) -> Event {
    Event::Task(TaskEvent { at, pid, tid, change })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::sampler::proc_source::fake::Tables;
    use crate::model::limits::MAPS_BYTES;
    use crate::model::{Identity, ObjectFile};

    struct Fixture {
        tasks: Tasks,
        modules: Modules,
        proc: Tables,
        out: EventQueue,
    }

    impl Fixture {
        fn new(maps: &[(u32, &str)]) -> Fixture {
            let mut out = EventQueue::default();
            let modules = Modules::new(&mut out);
            let maps = maps.iter().map(|(pid, text)| (*pid, text.to_string())).collect();
            Fixture { tasks: Tasks::default(), modules, proc: Tables { maps, ..Tables::default() }, out }
        }

        fn with<T>(&mut self, f: impl FnOnce(&mut Tasks, &mut TaskContext<'_, Tables>) -> T) -> T {
            let Fixture { tasks, modules, proc, out } = self;
            f(tasks, &mut TaskContext { modules, proc, out })
        }

        fn found(&mut self, pid: u32, address: u64) -> Option<u64> {
            self.with(|tasks, with| tasks.space(pid, with)).find(address).map(|(_, offset)| offset)
        }

        fn fork(&mut self, pid: u32, tid: u32, parent: u32) {
            let record = TaskRecord { pid, tid, parent_pid: parent, parent_tid: parent, own_mappings: false };
            self.tasks.born(Nanos(1), &record, &mut self.out);
        }

        fn map(&mut self, pid: u32, start: u64, path: &str) {
            let identity = Identity { major: 1, minor: 1, inode: start };
            let memory = maps::Memory::File(path.into());
            let mapping = Mapping { start, end: start + 0x1000, offset: 0, identity, memory };
            self.with(|tasks, with| tasks.mapped(pid, &mapping, with));
        }
    }

    const MAPS: &str = "1000-2000 r-xp 00000000 08:01 5 /bin/a\n";

    #[test]
    fn a_forked_child_shares_its_parents_mappings_until_it_maps_its_own() {
        let mut fixture = Fixture::new(&[(5, MAPS)]);
        fixture.with(|tasks, with| tasks.meet(Nanos(0), 5, 5, with));
        assert_eq!(fixture.found(5, 0x1010), Some(0x10));
        fixture.fork(6, 6, 5);
        fixture.map(6, 0x8000, "/lib/b");
        assert_eq!((fixture.found(6, 0x1010), fixture.found(6, 0x8001)), (Some(0x10), Some(1)));
        assert_eq!((fixture.found(5, 0x8001), fixture.proc.reads), (None, 1), "and the parent sees nothing of it");
    }

    #[test]
    fn where_measured_functions_return_to_is_read_when_a_stack_needs_it_and_not_with_each_sample() {
        let maps = format!("{MAPS}7ffff000-80000000 --xp 00000000 00:00 0 [uprobes]\n");
        let mut fixture = Fixture::new(&[(5, &maps)]);
        fixture.proc.return_sites = vec![0x1011, 0x9011];
        fixture.proc.memory = (0x1000, vec![0; 0x100]);
        fixture.found(5, 0);
        let mut read = |at, lack| {
            let sites = fixture.with(|tasks, with| tasks.read_measured_calls(Nanos(at), 5, lack, with));
            fixture.proc.return_sites.push(0x1021);
            sites.map(|space| space.unwind.measured.sites().to_vec())
        };
        assert_eq!(read(1, Lack::Sites), Some(vec![0x1011]), "the other is another process's");
        assert_eq!(read(2, Lack::Sites), None);
        assert_eq!(read(3, Lack::Call(0x1021)), Some(vec![0x1011]));
        assert_eq!(read(3, Lack::Call(0x1021)), None, "it was looked at");
        let later = 1 + measured_calls::SPACING.0;
        assert_eq!(read(later, Lack::Sites).map(|sites| sites[..2].to_vec()), Some(vec![0x1011, 0x1021]));
    }

    #[test]
    fn an_exec_leaves_only_what_the_new_program_maps() {
        let mut fixture = Fixture::new(&[(5, MAPS)]);
        fixture.found(5, 0);
        fixture.tasks.named(Nanos(2), 5, 5, "b", true, &mut fixture.out);
        fixture.map(5, 0x9000, "/bin/b");
        assert_eq!((fixture.found(5, 0x1010), fixture.found(5, 0x9002)), (None, Some(2)));
    }

    #[test]
    fn the_jitdump_of_a_process_is_remembered_for_names_however_it_became_known() {
        let mut fixture = Fixture::new(&[(5, "1000-2000 r-xp 00000000 08:01 5 /tmp/jit-5.dump\n")]);
        fixture.found(5, 0);
        fixture.map(6, 0x8000, "/tmp/jit-6.dump");
        fixture.map(7, 0x8000, "/lib/b");
        let dumps = [5, 6, 7].map(|pid| fixture.modules.shared().dump(pid));
        assert_eq!(dumps, [Some("/tmp/jit-5.dump".into()), Some("/tmp/jit-6.dump".into()), None]);
    }

    #[test]
    fn mappings_are_read_again_once_after_a_loss_and_not_before() {
        let mut fixture = Fixture::new(&[(5, MAPS)]);
        fixture.found(5, 0);
        assert!(fixture.with(|tasks, with| tasks.reread_if_stale(5, with)).is_none());
        fixture.tasks.mark_stale();
        assert!(fixture.with(|tasks, with| tasks.reread_if_stale(5, with)).is_some());
        assert!(fixture.with(|tasks, with| tasks.reread_if_stale(5, with)).is_none());
        assert_eq!(fixture.proc.reads, 2);
    }

    #[test]
    fn mappings_that_come_late_are_taken_unless_the_process_runs_another_program_by_then() {
        let mut fixture = Fixture::new(&[(5, MAPS), (6, MAPS)]);
        for pid in [5, 6] {
            fixture.with(|tasks, with| tasks.meet(Nanos(0), pid, pid, with));
            fixture.proc.slow.push(pid);
            assert_eq!(fixture.found(pid, 0x1010), None);
        }
        fixture.tasks.mark_stale();
        assert!(fixture.with(|tasks, with| tasks.reread_if_stale(5, with)).is_some());
        assert_eq!(fixture.proc.reads, 2, "it was asked for");
        assert_eq!(fixture.tasks.without_maps(), [(5, "task-5"), (6, "task-6")]);
        fixture.tasks.named(Nanos(2), 6, 6, "other", true, &mut fixture.out);
        fixture.with(|tasks, with| tasks.take_late(with));
        assert_eq!((fixture.found(5, 0x1010), fixture.found(6, 0x1010)), (Some(0x10), None));
        assert_eq!(fixture.tasks.without_maps(), []);
        assert!(fixture.with(|tasks, with| tasks.reread_if_stale(5, with)).is_some(), "newer mappings are looked for");
    }

    #[test]
    fn a_file_that_opens_late_has_its_tables_wherever_it_is_mapped() {
        let mut fixture = Fixture::new(&[(5, MAPS), (6, MAPS)]);
        fixture.proc.image = Some(ObjectFile::new(std::fs::read("/bin/sh").expect("a shell")));
        fixture.proc.slow.push(5);
        fixture.map(5, 0x9000, "/bin/late");
        fixture.fork(7, 7, 5);
        let has_tables = |fixture: &Fixture, pid| fixture.tasks.processes[&pid].space.unwind.has_tables(0x9001);
        assert!(!has_tables(&fixture, 5) && fixture.modules.late_note().is_some());
        fixture.with(|tasks, with| tasks.take_late(with));
        assert!(has_tables(&fixture, 5) && has_tables(&fixture, 7) && fixture.modules.late_note().is_none());
        let module = fixture.tasks.processes[&5].space.find(0x9001).expect("it is mapped").0;
        assert!(fixture.modules.shared().get(module).is_some_and(|module| module.file.is_some()), "and its names");
    }

    #[test]
    fn mappings_beyond_the_limit_are_left_out_and_noted() {
        let line = "1000-2000 r-xp 00000000 08:01 5 /bin/a\n";
        let mut text = line.repeat(MAPS_BYTES as usize / line.len()) + "5000-6000 r-xp 00000000 08:01 6 /bin/b\n";
        text.truncate(MAPS_BYTES as usize);
        let mut fixture = Fixture::new(&[(7, &text), (8, line)]);
        assert_eq!((fixture.found(8, 0x1000), fixture.modules.maps_note()), (Some(0), None));
        assert_eq!((fixture.found(7, 0x1000), fixture.found(7, 0x5000)), (Some(0), None));
        let note = fixture.modules.maps_note().expect("it was cut");
        assert!(note.text.starts_with("The mappings of 1 process "), "{note:?}");
    }

    #[test]
    fn mappings_that_come_and_go_without_end_do_not_add_up() {
        let mut fixture = Fixture::new(&[(5, MAPS)]);
        fixture.with(|tasks, with| tasks.meet(Nanos(0), 5, 5, with));
        for number in 0..3 * FEW_MAPPINGS as u64 {
            fixture.map(5, 0x9000_0000 - number * 0x2000, "/lib/b");
        }
        assert_eq!(fixture.proc.reads, 2, "each time that many have been added");
        assert!(fixture.tasks.processes[&5].space.len() < FEW_MAPPINGS + 2);
        assert_eq!(fixture.found(5, 0x1010), Some(0x10), "what is still there");
    }

    #[test]
    fn ten_thousand_lives_leave_nothing_behind() {
        let mut fixture = Fixture::new(&[(5, MAPS)]);
        fixture.with(|tasks, with| tasks.meet(Nanos(0), 5, 5, with));
        for tid in 10..10_010 {
            fixture.fork(5, tid, 5);
            fixture.fork(100_000 + tid, 100_000 + tid, 5);
            fixture.tasks.died(Nanos(3), 5, tid, &mut fixture.out);
            fixture.tasks.died(Nanos(3), 100_000 + tid, 100_000 + tid, &mut fixture.out);
            // The system still shows each process for one more round.
            fixture.tasks.sweep(|pid, _| pid == 100_000 + tid, |_| {});
        }
        fixture.tasks.sweep(|_, _| false, |_| {});
        assert_eq!(fixture.tasks.len(), (1, 1));
    }

    #[test]
    fn the_system_is_asked_for_the_end_of_a_process_only_where_records_may_be_missing() {
        let mut fixture = Fixture::new(&[(5, MAPS)]);
        fixture.with(|tasks, with| tasks.meet(Nanos(0), 5, 5, with));
        for (missing, asked) in [(false, vec![]), (true, vec![8])] {
            fixture.fork(8, 8, 5);
            if missing {
                fixture.tasks.mark_stale();
            }
            fixture.tasks.died(Nanos(3), 8, 8, &mut fixture.out);
            let (mut whom, mut gone) = (Vec::new(), Vec::new());
            fixture.tasks.sweep(
                |pid, _| {
                    whom.push(pid);
                    false
                },
                |pid| gone.push(pid),
            );
            assert_eq!((whom, gone), (asked, vec![8]));
        }
    }

    #[test]
    fn a_child_with_the_id_of_one_that_ended_in_the_same_round_lives() {
        let mut fixture = Fixture::new(&[(5, MAPS)]);
        fixture.with(|tasks, with| tasks.meet(Nanos(0), 5, 5, with));
        for _ in 0..2 {
            fixture.fork(8, 8, 5);
            fixture.tasks.died(Nanos(3), 8, 8, &mut fixture.out);
        }
        fixture.fork(8, 8, 5);
        fixture.tasks.sweep(|_, _| false, |pid| panic!("{pid} is alive"));
        assert_eq!(fixture.tasks.len(), (2, 2));
    }

    #[test]
    fn an_id_that_is_given_again_at_once_is_another_process() {
        let mut fixture = Fixture::new(&[(5, MAPS)]);
        fixture.with(|tasks, with| tasks.meet(Nanos(0), 5, 5, with));
        fixture.tasks.died(Nanos(3), 5, 5, &mut fixture.out);
        fixture.with(|tasks, with| tasks.meet(Nanos(4), 5, 5, with));
        let mut gone = Vec::new();
        fixture.tasks.sweep(|pid, ended| (pid, ended) != (5, Nanos(3)), |pid| gone.push(pid));
        assert_eq!((gone, fixture.tasks.len()), (vec![5], (0, 0)));
    }

    #[test]
    fn a_process_that_lives_on_in_a_thread_that_nobody_announced_is_kept() {
        let mut fixture = Fixture::new(&[(5, MAPS)]);
        fixture.with(|tasks, with| tasks.meet(Nanos(0), 5, 5, with));
        fixture.tasks.died(Nanos(3), 5, 5, &mut fixture.out);
        fixture.with(|tasks, with| tasks.meet(Nanos(4), 5, 6, with));
        fixture.tasks.sweep(|_, _| true, |pid| panic!("{pid} is alive"));
        assert_eq!(fixture.tasks.len(), (1, 1));
    }

    #[test]
    fn a_task_says_how_it_came_what_it_was_called_and_that_it_ended() {
        let mut fixture = Fixture::new(&[(5, MAPS)]);
        fixture.with(|tasks, with| tasks.meet(Nanos(0), 5, 5, with));
        fixture.fork(5, 7, 5);
        fixture.tasks.named(Nanos(2), 5, 7, "worker", false, &mut fixture.out);
        fixture.tasks.died(Nanos(3), 5, 7, &mut fixture.out);
        let changes: Vec<_> = fixture
            .out
            .take()
            .into_iter()
            .filter_map(|event| if let Event::Task(task) = event { Some((task.tid, task.change)) } else { None })
            .collect();
        assert_eq!(
            changes,
            [
                (5, TaskChange::Alive { comm: "task-5".into() }),
                (7, TaskChange::Born { parent: 5, comm: "task-5".into() }),
                (7, TaskChange::Renamed { comm: "worker".into(), exec: false }),
                (7, TaskChange::Ended),
            ]
        );
    }
}
