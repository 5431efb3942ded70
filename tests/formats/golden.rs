//! Recordings of every format version stay readable: each fixture was written by the first release of its version and
//! is never written again.

use ironlaw::model::{
    BuildId, CallGraph, CounterDef, CounterId, CounterReading, Coverage, CpuTopology, Definition, Event, EventKind,
    EventSpec, FrameDef, FrameId, HostFacts, LossKind, Lost, Mark, Meta, ModuleDef, ModuleId, ModuleKind, Note, OffCpu,
    Plan, Rate, Sample, Scope, StackDef, StackEnd, StackId, Symbol, Target, TaskChange, TaskEvent, TaskState, Tick,
    Unit, WaitBegan,
};
use ironlaw::store::{Recording, Writer};
use ironlaw::units::{Nanos, Ops};
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// Everything a reader sees, one event a line.
fn transcript(recording: &Recording) -> String {
    let mut text = format!("{:#?}\n", recording.meta());
    recording.events(&mut |event| writeln!(text, "{event:?}").unwrap());
    writeln!(text, "damage: {:?}", recording.damage()).unwrap();
    text
}

#[test]
fn a_recording_of_format_1_0_reads_as_it_did_when_it_was_written() {
    let recording = Recording::open(&fixture("golden-1.0.ironlaw")).unwrap();
    insta::assert_snapshot!(transcript(&recording));
}

#[test]
fn it_holds_every_kind_of_event_with_every_word() {
    let mut seen = Vec::new();
    Recording::open(&fixture("golden-1.0.ironlaw")).unwrap().events(&mut |event| seen.push(event));
    let written: Vec<_> = definitions().into_iter().chain(events()).collect();
    assert_eq!(seen.len(), written.len());
    assert!(written.iter().all(|event| seen.contains(event)));
}

/// How the fixture was made. To be run for a new version only: `cargo test --test golden -- --ignored`.
#[test]
#[ignore = "writes a fixture"]
fn write_the_fixture() {
    let mut writer = Writer::create(&fixture("golden-1.0.ironlaw"), &meta(), false).unwrap();
    writer.write(&definitions()).unwrap();
    writer.flush().unwrap();
    let events = events();
    let (early, late) = events.split_at(events.len() / 2);
    for part in [early, late] {
        writer.write(part).unwrap();
        writer.flush().unwrap();
    }
    writer.finish(&Meta { duration_ns: Some(4_000_000_000), exit_status: Some(130), ..meta() }).unwrap();
}

fn definitions() -> Vec<Event> {
    let module = |id, kind, path: &str, build_id: Option<&[u8]>| {
        let build_id = build_id.map(|bytes| BuildId(bytes.to_vec()));
        Definition::Module(ModuleDef { id: ModuleId(id), kind, path: path.into(), build_id, pid: 4100 })
    };
    let frame = |id, module: Option<u32>, address| {
        Definition::Frame(FrameDef { id: FrameId(id), module: module.map(ModuleId), address })
    };
    let stack = |id, parent: Option<u32>, frame| {
        Definition::Stack(StackDef { id: StackId(id), parent: parent.map(StackId), frame: FrameId(frame) })
    };
    let counter = |id, name: &str, unit, group| {
        Definition::Counter(CounterDef { id: CounterId(id), name: name.into(), unit, group })
    };
    let symbol = |function: &str, file: Option<&str>, line, inlined| Symbol {
        function: function.into(),
        file: file.map(Into::into),
        line,
        inlined,
        calls: None,
    };
    let definitions = [
        module(0, ModuleKind::File, "/usr/bin/server", None),
        module(1, ModuleKind::Kernel, "[kernel]", Some(&[0xde, 0xad, 0xbe, 0xef])),
        module(2, ModuleKind::Vdso, "[vdso]", None),
        module(3, ModuleKind::Jit, "[jit]", None),
        module(0, ModuleKind::File, "/usr/bin/server", Some(&[1, 2, 3])),
        counter(0, "task-clock", Unit::Nanos, None),
        counter(1, "voluntary-switches", Unit::Count, None),
        counter(2, "cycles", Unit::Cycles, Some(0)),
        counter(3, "instructions", Unit::Instructions, Some(0)),
        counter(4, "tool-memory", Unit::Bytes, None),
        frame(0, Some(0), 0x1139),
        frame(1, Some(1), 0xffff_ffff_8100_0000),
        frame(2, Some(2), 0x7b0),
        frame(3, Some(3), 0x7f00_0000_1000),
        frame(4, None, 0xdead),
        stack(0, None, 0),
        stack(1, Some(0), 1),
        stack(2, Some(0), 2),
        stack(3, Some(1), 3),
        stack(4, None, 4),
        Definition::Names { frame: FrameId(0), symbols: vec![symbol("main", None, None, false)] },
        Definition::Names {
            frame: FrameId(0),
            symbols: vec![
                symbol("std::vector<int>::operator[]", Some("/usr/include/vector"), Some(1046), true),
                symbol("main", Some("server.cc"), Some(12), false),
            ],
        },
        Definition::Names { frame: FrameId(3), symbols: vec![symbol("~<b>&\u{1b}[31m λ", None, None, false)] },
    ];
    definitions.into_iter().map(Event::Define).collect()
}

fn events() -> Vec<Event> {
    let (pid, tid, at) = (4100, 4101, Nanos(1_000_000_000));
    let sample = |stack: Option<u32>, end, kernel| {
        let stack = stack.map(StackId);
        Event::Sample(Sample { at, pid, tid, cpu: 1, event: 0, weight: 1_003_009, stack, end, kernel })
    };
    let off_cpu = |state, queued: Option<u64>| {
        let (stack, end) = (Some(StackId(3)), StackEnd::Whole);
        let (blocked, queued) = (Nanos(5_000), queued.map(Nanos));
        let longest = blocked + queued.unwrap_or_default();
        let began = WaitBegan::Seen;
        Event::OffCpu(OffCpu {
            at,
            pid,
            tid,
            state,
            blocked,
            queued,
            stack,
            end,
            estimated: false,
            count: 1,
            longest,
            began,
        })
    };
    let task = |change| Event::Task(TaskEvent { at, pid, tid, change });
    let lost = |kind, count| Event::Lost(Lost { at, cpu: 1, kind, count });
    let reading = |counter, scope, value, running| {
        let (counter, enabled, running) = (CounterId(counter), at, Nanos(running));
        Event::Reading(CounterReading { counter, scope, at, value, enabled, running })
    };
    vec![
        task(TaskChange::Alive { comm: "server".into() }),
        task(TaskChange::Born { parent: 4100, comm: "server".into() }),
        task(TaskChange::Renamed { comm: "worker".into(), exec: false }),
        task(TaskChange::Renamed { comm: "sh".into(), exec: true }),
        task(TaskChange::Ended),
        sample(Some(3), StackEnd::Whole, false),
        sample(Some(1), StackEnd::Truncated, true),
        sample(Some(4), StackEnd::Broken, false),
        sample(None, StackEnd::NotTaken, false),
        off_cpu(TaskState::Runnable, Some(0)),
        off_cpu(TaskState::Sleeping, Some(700)),
        off_cpu(TaskState::DiskSleep, None),
        off_cpu(TaskState::Other, None),
        reading(0, Scope::Target, 900_000_000, 1_000_000_000),
        reading(1, Scope::Thread(4101), 12, 1_000_000_000),
        reading(2, Scope::Cpu(1), u64::MAX, 400_000_000),
        reading(3, Scope::Host, 7, 400_000_000),
        reading(4, Scope::Tool, 30_000_000, 0),
        Event::Tick(Tick { at, span: Nanos(1_000_000_000) }),
        lost(LossKind::Ring, 40),
        lost(LossKind::Throttled, 1),
        lost(LossKind::OffCpu, 2),
        Event::Ops { at, total: Ops(123_456) },
        Event::Mark(Mark { at, label: "warm".into() }),
    ]
}

fn meta() -> Meta {
    let event = EventSpec {
        exclude_kernel: true,
        exclude_hv: true,
        ..EventSpec::new("cpu-clock:u", EventKind::Software(0), Unit::Nanos)
    };
    let target = Target::Command { argv: vec!["server".into(), "--port".into(), "1".into()] };
    let plan = Plan {
        events: vec![event],
        off_cpu: true,
        duration: Some(Nanos(4_000_000_000)),
        ..Plan::new(target, Rate::Frequency(997), CallGraph::Dwarf { stack_bytes: 16_384 })
    };
    Meta {
        tool: "0.1.0".into(),
        host: HostFacts {
            hostname: "bell".into(),
            kernel: "6.1.0-18-amd64".into(),
            arch: "x86_64".into(),
            cpu_model: "Example CPU".into(),
            cpuid: None,
            cpus: vec![CpuTopology { cpu: 0, core: 0, package: 0, node: 0 }],
            memory_bytes: 1 << 34,
            virtual_machine: true,
            governor: Some("powersave".into()),
            stolen_in_cpu_time: None,
            ..HostFacts::default()
        },
        coverage: vec![Coverage { event: "cpu-clock:u".into(), share: 0.75 }],
        started_unix_ns: 1_700_000_000_000_000_000,
        started_mono_ns: 86_400_000_000_000,
        notes: vec![Note { topic: "no-pmu".into(), text: "no hardware counters".into(), fix: Some("none".into()) }],
        ..Meta::new((1, 0), plan)
    }
}
