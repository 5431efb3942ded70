//! Tests on a fake /proc and fake hierarchies, read window by window.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use super::*;
use crate::model::{Definition, Event, NeighbourDef, NeighbourKind, NeighbourUse};
use crate::sys::cgroupfs::Hierarchy;
use std::fs;
use tempfile::TempDir;

const TICK: u64 = 10_000_000;

struct Machine {
    root: TempDir,
    ours: TargetUsage,
}

impl Machine {
    fn new() -> Machine {
        let machine = Machine { root: tempfile::tempdir().unwrap(), ours: TargetUsage::default() };
        machine.write("proc/uptime", "100.00 100.00\n");
        machine.busy(0);
        machine
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn remove(&self, path: &str) {
        fs::remove_dir_all(self.root.path().join(path)).unwrap();
    }

    /// Busy ticks of the machine.
    fn busy(&self, ticks: u64) {
        self.write("proc/stat", &format!("cpu  {ticks} 0 0 900 0 0 0 50 0 0\n"));
    }

    /// A process born at `start` ticks that has used `ticks`, last on CPU 1.
    fn process(&self, pid: u32, comm: &str, parent: u32, start: u64, ticks: u64) {
        self.parent(pid, comm, parent, start, (ticks, 0));
    }

    /// One whose children that it waited for have used ticks, too.
    fn parent(&self, pid: u32, comm: &str, parent: u32, start: u64, (ticks, credited): (u64, u64)) {
        let tail = format!("{start} 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0\n");
        let head = format!("{pid} ({comm}) S {parent} 0 0 0 -1 4194304 0 0 0 0 {ticks} 0 {credited} 0 20 0 1 0 {tail}");
        self.write(&format!("proc/{pid}/stat"), &head);
    }

    fn io(&self, pid: u32, bytes: u64) {
        self.write(&format!("proc/{pid}/io"), &format!("read_bytes: {bytes}\nwrite_bytes: 0\n"));
    }

    fn group(&self, name: &str, usage_us: u64, bytes: u64) {
        self.write(&format!("cgroup/{name}/cpu.stat"), &format!("usage_usec {usage_us}\n"));
        self.write(&format!("cgroup/{name}/io.stat"), &format!("8:0 rbytes={bytes} wbytes=0\n"));
        self.write(&format!("cgroup/{name}/cgroup.procs"), "");
    }

    fn open(&self) -> Neighbours {
        let root = self.root.path();
        fs::create_dir_all(root.join("cgroup")).unwrap();
        let hierarchy =
            Hierarchy { version: 2, controllers: vec![], mount: root.join("cgroup"), root: PathBuf::from("/") };
        let places = NeighbourSources {
            proc: ProcFs::new(root.join("proc")),
            cgroups: CgroupFs { hierarchies: vec![hierarchy] },
            resctrl: root.join("resctrl"),
            cpu_clock: |_| None,
            own_pid: 999,
        };
        Neighbours::open(places, &self.ours, NeighbourScope::All).unwrap()
    }

    /// Ends a window late enough for everything to be due again.
    fn tick(&self, neighbours: &mut Neighbours, minute: u64) -> Vec<Event> {
        let mut out = Vec::new();
        neighbours.tick(Nanos(minute * 60_000_000_000), &self.ours, &mut out);
        out
    }
}

fn defs(events: &[Event]) -> Vec<&NeighbourDef> {
    let def = |event| if let &Event::Define(Definition::Neighbour(ref def)) = event { Some(def) } else { None };
    events.iter().filter_map(def).collect()
}

fn names(events: &[Event]) -> Vec<&str> {
    defs(events).into_iter().map(|def| def.name.as_str()).collect()
}

fn uses(events: &[Event]) -> Vec<NeighbourUse> {
    events.iter().filter_map(|event| if let Event::Neighbour(used) = event { Some(*used) } else { None }).collect()
}

#[test]
fn a_neighbour_counts_from_the_captures_beginning_and_is_named_when_it_first_runs() {
    let machine = Machine::new();
    machine.process(10, "old", 1, 50, 7);
    machine.io(10, 100);
    machine.process(11, "asleep", 1, 50, 7);
    let mut neighbours = machine.open();
    assert!(machine.tick(&mut neighbours, 1).is_empty(), "nobody ran");
    machine.process(10, "old", 1, 50, 9);
    machine.io(10, 4196);
    machine.process(20, "born", 1, 20_000, 3);
    machine.write("proc/10/cgroup", "0::/a.slice\n");
    let events = machine.tick(&mut neighbours, 2);
    let [old, born] = defs(&events)[..] else { panic!("{events:?}") };
    assert_eq!((old.name.as_str(), old.pid, old.cgroup.as_deref()), ("old", Some(10), Some("/a.slice")));
    assert_eq!((born.name.as_str(), born.kind), ("born", NeighbourKind::Process));
    let [first, second] = uses(&events)[..] else { panic!("{events:?}") };
    assert_eq!((first.cpu, first.io_bytes, first.on_cpu), (Nanos(2 * TICK), Some(4096), Some(1)));
    assert_eq!((second.cpu, second.io_bytes), (Nanos(3 * TICK), None), "its traffic may not be read");
    assert!(machine.tick(&mut neighbours, 3).is_empty(), "nobody ran again");
}

#[test]
fn a_process_of_several_threads_is_where_its_busiest_running_thread_is() {
    let machine = Machine::new();
    let stat = |id: u32, state: &str, threads: u32, ticks: u64, cpu: u32| {
        let tail = format!("50 {}17 {cpu} 0 0 0", "0 ".repeat(15));
        format!("{id} (java) {state} 1 0 0 0 -1 4194304 0 0 0 0 {ticks} 0 0 0 20 0 {threads} 0 {tail}\n")
    };
    machine.write("proc/10/stat", &stat(10, "S", 4, 7, 1));
    let mut neighbours = machine.open();
    machine.write("proc/10/stat", &stat(10, "S", 4, 90, 1));
    for (tid, state, ticks, cpu) in [(10, "S", 1, 1), (11, "R", 20, 2), (12, "R", 30, 3), (13, "S", 40, 4)] {
        machine.write(&format!("proc/10/task/{tid}/stat"), &stat(tid, state, 4, ticks, cpu));
    }
    assert_eq!(uses(&machine.tick(&mut neighbours, 1))[0].on_cpu, Some(3));
}

#[test]
fn what_ended_children_used_counts_once_and_for_who_waited_for_them() {
    let machine = Machine::new();
    machine.parent(10, "make", 1, 50, (5, 400));
    machine.parent(11, "sh", 10, 50, (5, 0));
    machine.process(12, "cc", 11, 50, 100);
    let mut neighbours = machine.open();
    // Of a compiler that was read before, its last moments; one that was never read; both credited through a shell.
    machine.process(12, "cc", 11, 50, 120);
    assert_eq!(uses(&machine.tick(&mut neighbours, 1))[0].cpu, Nanos(20 * TICK));
    machine.remove("proc/12");
    machine.remove("proc/11");
    machine.parent(10, "make", 1, 50, (6, 400 + 125 + 5 + 60));
    let events = machine.tick(&mut neighbours, 2);
    assert_eq!((names(&events), uses(&events)[0].cpu), (vec!["make"], Nanos((1 + 5 + 60) * TICK)));
    machine.parent(10, "make", 1, 50, (7, 590));
    assert_eq!(uses(&machine.tick(&mut neighbours, 3))[0].cpu, Nanos(67 * TICK), "once");
}

#[test]
fn a_number_used_again_and_another_program_are_other_neighbours() {
    let machine = Machine::new();
    machine.process(10, "sh", 1, 50, 1);
    let mut neighbours = machine.open();
    machine.process(10, "sh", 1, 50, 3);
    assert_eq!(names(&machine.tick(&mut neighbours, 1)), ["sh"]);
    machine.process(10, "gcc", 1, 50, 8);
    let executed = machine.tick(&mut neighbours, 2);
    assert_eq!(names(&executed), ["gcc"]);
    assert_eq!(uses(&executed)[0].cpu, Nanos(5 * TICK), "not what the shell had used");
    machine.process(10, "gcc", 1, 20_000, 2);
    let reused = machine.tick(&mut neighbours, 3);
    assert_eq!((names(&reused), uses(&reused)[0].cpu), (vec!["gcc"], Nanos(2 * TICK)));
}

#[test]
fn the_target_its_children_and_ironlaw_are_no_neighbours() {
    let mut machine = Machine::new();
    for pid in [10, 30, 999] {
        machine.process(pid, "x", 1, 50, 1);
    }
    machine.ours = TargetUsage { pids: [10].into_iter().collect(), children: true, ..TargetUsage::default() };
    let mut neighbours = machine.open();
    for pid in [10, 30, 999] {
        machine.process(pid, "x", 1, 50, 5);
    }
    machine.process(11, "child", 10, 20_000, 5);
    machine.process(12, "grandchild", 11, 20_000, 5);
    let events = machine.tick(&mut neighbours, 1);
    assert_eq!(defs(&events).iter().map(|def| def.pid).collect::<Vec<_>>(), [Some(30)]);
    machine.ours.children = false;
    machine.process(13, "another's", 10, 20_000, 5);
    assert_eq!(names(&machine.tick(&mut neighbours, 2)), ["another's"], "of a target without its children");
}

#[test]
fn the_rest_is_what_nobody_saw_and_it_never_falls() {
    let mut machine = Machine::new();
    machine.process(10, "target", 1, 50, 0);
    machine.process(20, "other", 1, 50, 0);
    machine.ours.pids.insert(10);
    let mut neighbours = machine.open();
    machine.process(10, "target", 1, 50, 30);
    machine.process(20, "other", 1, 50, 20);
    machine.ours.cpu = Nanos(30 * TICK);
    machine.ours.tool = Nanos(5 * TICK);
    machine.busy(100);
    let rest = |events: &[Event], neighbours: &Neighbours| (neighbours.rest, defs(events).len());
    let events = machine.tick(&mut neighbours, 1);
    assert_eq!(rest(&events, &neighbours), (Nanos(45 * TICK), 2));
    assert_eq!(defs(&events)[1].kind, NeighbourKind::Rest);
    // The other process ended. Half of its time had been seen; its last moments count toward the rest.
    machine.remove("proc/20");
    machine.busy(110);
    assert_eq!(rest(&machine.tick(&mut neighbours, 2), &neighbours), (Nanos(55 * TICK), 0));
    machine.ours.cpu = Nanos(60 * TICK);
    assert_eq!(rest(&machine.tick(&mut neighbours, 3), &neighbours), (Nanos(55 * TICK), 0));
}

#[test]
fn groups_count_unless_they_hold_the_target() {
    let mut machine = Machine::new();
    for name in ["web", "web/inner", "batch", "batch/one", "system"] {
        machine.group(name, 1000, 0);
    }
    machine.process(10, "target", 1, 50, 0);
    machine.write("proc/10/cgroup", "0::/web/inner\n");
    machine.ours.pids.insert(10);
    let mut neighbours = machine.open();
    for name in ["web", "web/inner", "web/beside", "batch", "batch/one"] {
        machine.group(name, 4000, 512);
    }
    let events = machine.tick(&mut neighbours, 1);
    let used: std::collections::BTreeMap<_, _> = names(&events).into_iter().zip(uses(&events)).collect();
    assert_eq!(used.keys().copied().collect::<Vec<_>>(), ["/batch", "/batch/one", "/web/beside"]);
    assert_eq!((used["/batch"].cpu, used["/batch"].io_bytes), (Nanos(3_000_000), Some(512)));
    assert_eq!(used["/web/beside"].cpu, Nanos(4_000_000), "made during the capture");
}

#[test]
fn an_old_group_that_comes_onto_the_list_counts_from_there() {
    let machine = Machine::new();
    for number in 0..400 {
        machine.group(&format!("g{number}"), 1000, 0);
    }
    machine.group("g0/inner", 700_000, 4096);
    let mut neighbours = machine.open();
    machine.remove("cgroup/g399");
    assert!(machine.tick(&mut neighbours, 1).is_empty(), "it is met now, and is old");
    machine.group("g0/inner", 700_003, 4100);
    machine.remove("cgroup/g398");
    let events = machine.tick(&mut neighbours, 2);
    assert_eq!(names(&events), ["/g0/inner"]);
    assert_eq!((uses(&events)[0].cpu, uses(&events)[0].io_bytes), (Nanos(3000), Some(4)));
    machine.group("g1/born", 5, 0);
    assert!(machine.tick(&mut neighbours, 3).is_empty(), "there are too many to know that it is new");
    machine.remove("cgroup/g397");
    machine.tick(&mut neighbours, 4);
    machine.remove("cgroup/g396");
    machine.group("g2/born", 5, 0);
    assert_eq!(names(&machine.tick(&mut neighbours, 5)), ["/g2/born"]);
}

#[test]
fn a_group_that_cannot_be_read_once_stays_the_one_it_was() {
    let mut machine = Machine::new();
    machine.group("batch", 1000, 0);
    machine.group("odd", 9000, 0);
    machine.write("cgroup/odd/cpu.stat", "");
    machine.group("left", 8000, 0);
    machine.ours.groups = vec![machine.root.path().join("cgroup/left")];
    let mut neighbours = machine.open();
    machine.write("cgroup/batch/cpu.stat", "");
    machine.group("odd", 9000, 0);
    // No longer part of the target.
    machine.ours.groups.clear();
    assert!(machine.tick(&mut neighbours, 1).is_empty());
    for (name, usage) in [("batch", 1002), ("odd", 9003), ("left", 8004)] {
        machine.group(name, usage, 0);
    }
    let events = machine.tick(&mut neighbours, 2);
    let mut used: Vec<_> = names(&events).into_iter().zip(uses(&events).iter().map(|used| used.cpu.0)).collect();
    used.sort_unstable();
    assert_eq!(used, [("/batch", 2000), ("/left", 4000), ("/odd", 3000)]);
}

#[test]
fn a_group_that_is_the_target_takes_its_processes_and_groups_with_it() {
    let mut machine = Machine::new();
    for name in ["a", "a/target", "a/target/inner", "b"] {
        machine.group(name, 0, 0);
    }
    machine.ours.groups = vec![machine.root.path().join("cgroup/a/target")];
    let mut neighbours = machine.open();
    for name in ["a", "a/target", "a/target/inner", "b"] {
        machine.group(name, 1000, 0);
    }
    // Born after the groups were listed and before the processes were.
    machine.process(40, "late", 1, 20_000, 5);
    machine.write("proc/40/cgroup", "0::/a/target/inner\n");
    assert_eq!(names(&machine.tick(&mut neighbours, 1)), ["/b"]);
}

#[test]
fn monitors_tell_of_cache_and_memory_traffic() {
    let mut machine = Machine::new();
    let domain = |name: &str, llc: u64, memory: u64| {
        machine.write(&format!("resctrl/mon_groups/{name}/mon_data/mon_L3_00/llc_occupancy"), &format!("{llc}\n"));
        machine.write(&format!("resctrl/mon_groups/{name}/mon_data/mon_L3_00/mbm_total_bytes"), &format!("{memory}\n"));
    };
    machine.write("resctrl/schemata", "");
    machine.write("resctrl/mon_groups/other/tasks", "20\n");
    machine.write("resctrl/mon_groups/target/tasks", "10\n");
    domain("other", 0, 1000);
    domain("target", 0, 1000);
    machine.ours = TargetUsage { pids: [10].into_iter().collect(), ..TargetUsage::default() };
    let mut neighbours = machine.open();
    let root = machine.root.path().join("resctrl/mon_groups/other/mon_data/mon_L3_00");
    fs::write(root.join("llc_occupancy"), "4096\n").unwrap();
    fs::write(root.join("mbm_total_bytes"), "1500\n").unwrap();
    let events = machine.tick(&mut neighbours, 1);
    assert_eq!((defs(&events)[0].name.as_str(), defs(&events)[0].kind), ("/other", NeighbourKind::Resctrl));
    assert_eq!((uses(&events)[0].llc_bytes, uses(&events)[0].memory_bytes), (Some(4096), Some(500)));
    assert_eq!(defs(&events).len(), 1);
}

#[test]
fn what_cannot_be_read_and_nonsense_break_nothing() {
    let machine = Machine::new();
    for (pid, stat) in [(10, ""), (11, "11 (x"), (12, "no"), (13, "13 (x) S -1")] {
        machine.write(&format!("proc/{pid}/stat"), stat);
    }
    machine.write("cgroup/odd/cpu.stat", "usage_usec -7\n");
    let mut neighbours = machine.open();
    machine.remove("proc");
    assert!(machine.tick(&mut neighbours, 1).is_empty());
}
