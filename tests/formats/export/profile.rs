//! The profile that all export tests share, and what a flame graph says of it: the measure for every format.

use crate::synthetic::{Synthetic, ms};
use ironlaw::analysis::{Axis, Selection};
use ironlaw::model::profile::{Profile, ProfileBuilder};
use ironlaw::model::{BuildId, Definition, Event, Mark, ModuleDef, ModuleId, ModuleKind, Symbol};
use ironlaw::model::{FrameId, LossKind, StackEnd, TaskChange, TaskState};
use ironlaw::units::Nanos;
use ironlaw::view::Label;
use ironlaw::view::flame::{FlameGraph, FlameOptions};
use std::collections::BTreeMap;

const MAIN: &str = "/usr/bin/server!_start;/usr/lib/libc.so.6!__libc_start_main;/usr/bin/server!main";

/// Stacks by their names from the root, each with its weight.
pub type Stacks = BTreeMap<Vec<String>, u64>;

/// Every kind of frame, end and name: kernel, JIT, vdso, inlined, nameless, unmapped, cut, empty, hostile.
pub fn profile() -> Profile {
    let mut s = Synthetic::new();
    s.meta.plan.off_cpu = true;
    s.alive(41, "server").alive(42, "worker 3").alive(43, "#\u{1b}[31mred;\n");
    s.task(2_000, 41, 44, TaskChange::Born { parent: 41, comm: String::new() });
    for (weight, at, tid, stack) in [
        (1_003_009, 100, 41, format!("{MAIN};/usr/bin/server!inner < middle < outer")),
        (1_003_009, 105, 41, format!("{MAIN};/usr/bin/server!inner < middle < outer")),
        (1_000_000, 104, 42, format!("{MAIN};/usr/lib/libc.so.6!write;[kernel]!entry;[kernel]!tcp_sendmsg")),
        (999_991, 110, 43, format!("{MAIN};[jit]!lua:call;[jit]!+0x7f00;[jit]!+0x7f40")),
        (7, 120, 43, "/usr/lib/libm.so.6!+0x2a40".to_string()),
        (11, 130, 43, "?".to_string()),
        (13, 140, 44, format!("{MAIN};/usr/bin/server!\u{1b}[31mlazy\u{202e}eerf \"x\"\\")),
        (17, 150, 44, "[vdso]!clock".to_string()),
        (19, 160, 44, String::new()),
        (23, 170, 44, format!("{MAIN};/usr/bin/server!fact;/usr/bin/server!fact")),
    ] {
        s.weight = weight;
        s.samples(at, tid, &stack, 3);
    }
    s.weight = 29;
    s.ended(300, 42, "/usr/bin/server!deep", 2, StackEnd::Truncated);
    let futex = format!("{MAIN};[kernel]!futex_wait;[kernel]!schedule");
    s.off_cpu(400, 42, TaskState::Sleeping, 60, Some(1), &futex).off_cpu(
        500,
        42,
        TaskState::DiskSleep,
        35,
        None,
        &futex,
    );
    s.off_cpu(600, 43, TaskState::Runnable, 0, Some(12), MAIN).off_cpu(700, 45, TaskState::Sleeping, 5, Some(0), "");
    s.lost(500, LossKind::Ring, 3);
    known_better(s.finish())
}

/// With a build-id, source lines and a mark.
fn known_better(profile: Profile) -> Profile {
    let server = profile.modules.iter().position(|module| module.path == "/usr/bin/server").expect("it is mapped");
    let inlined = profile.names.iter().position(|names| names.len() == 3).expect("there is an inlined call");
    let symbols = profile.names[inlined].iter().zip([(7, "in \"a\".c"), (70, "b.c"), (700, "b.c")]);
    let symbols: Vec<_> = symbols
        .map(|(symbol, (line, file))| Symbol { file: Some(file.to_string()), line: Some(line), ..symbol.clone() })
        .collect();
    let build_id = BuildId::try_from("510d0a5c19eadf8043f203b4525be9be3dcb9554".to_string()).ok();
    let (id, path) = (ModuleId(server as u32), "/usr/bin/server".to_string());
    let meta = profile.meta.clone();
    let mut builder = ProfileBuilder::of(profile);
    builder.apply(Event::Define(Definition::Module(ModuleDef { id, kind: ModuleKind::File, path, build_id, pid: 41 })));
    builder.apply(Event::Define(Definition::Names { frame: FrameId(inlined as u32), symbols }));
    builder.apply(Event::Mark(Mark { at: ms(250), label: "deploy \"2\"\u{1b}".to_string() }));
    builder.finish(meta)
}

pub fn samples() -> Selection {
    Selection::default()
}

pub fn waits() -> Selection {
    Selection { axis: Axis::OffCpu, ..Selection::default() }
}

/// What the flame graph of the selection holds, its names passed through `name`.
pub fn expected(profile: &Profile, selection: &Selection, name: impl Fn(&Label) -> String) -> Stacks {
    let options = FlameOptions { selection: selection.clone(), ..FlameOptions::default() };
    let flame = FlameGraph::build(profile, &options).expect("the selection can be met");
    let mut stacks = Stacks::new();
    for line in &flame.stacks {
        *stacks.entry(line.frames.iter().map(&name).collect()).or_default() += line.value;
    }
    stacks
}

/// Names as the target gave them.
pub fn plain(frame: &Label) -> String {
    frame.text.clone()
}

/// Adds to a stack; what weighs nothing is no part of a flame graph.
pub fn add(stacks: &mut Stacks, stack: Vec<String>, weight: u64) {
    if weight > 0 {
        *stacks.entry(stack).or_default() += weight;
    }
}

pub fn nanos(milliseconds: f64) -> u64 {
    Nanos((milliseconds * 1e6).round() as u64).0
}
