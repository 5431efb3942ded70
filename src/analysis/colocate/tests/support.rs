//! Runs of known cost for tests.

use super::RunResult;
use crate::analysis::diff::testing::digest;
use crate::analysis::sweep::Split;
use crate::model::{
    ColocateMeta, ColocateRun, ColocatedProgram, HostFacts, Measure, RunPurpose, RunState, SlowdownMeasure, Why,
};
use crate::units::Nanos;

/// Seconds of an operation by what they were spent on.
#[derive(Debug, Clone, Copy, Default)]
pub struct Operation {
    pub running: f64,
    pub queued: f64,
    pub blocked: f64,
}

/// A run of ten seconds with one worker whose operations are like this.
pub fn result(like: &RunResult, operation: Operation) -> RunResult {
    let Operation { running, queued, blocked } = operation;
    let wall = 10.0;
    let ops = wall / (running + queued + blocked);
    let mut result = like.clone();
    let totals = &mut result.digest.run.totals;
    totals.wall = wall;
    totals.ops = Measure::exact(ops);
    totals.cpu = Measure::exact(running * ops);
    totals.threads = Measure::exact(wall);
    result.digest.run.split = Split {
        running: Measure::exact(running * ops),
        queued: Measure::exact(queued * ops),
        throttled: Measure::exact(0.0),
        blocked: vec![(crate::analysis::Cause::BlockIo, blocked * ops)],
        unseen: Measure::exact(0.0),
    };
    result
}

/// Any run.
pub fn any() -> RunResult {
    RunResult {
        digest: digest(Some(5000.0)),
        has_ops: true,
        complete: true,
        latency: [Measure::Missing(Why::NotRecorded); 2],
    }
}

/// One victim, as many neighbours, and `blocks` blocks: a run alone, then one beside each.
pub fn meta(neighbours: usize, blocks: u32) -> ColocateMeta {
    let program = |name: String| ColocatedProgram {
        command: vec![name.clone()],
        name,
        ops: None,
        latency: None,
        full_rate: None,
        busy_cpus: None,
    };
    let run = |neighbour: Option<usize>, block: u32| ColocateRun {
        purpose: RunPurpose::Cell,
        victim: Some(0),
        neighbour,
        load: 1.0,
        block,
        control: None,
        recording: String::new(),
        state: RunState::Done { wall_ns: 1 },
        ended_itself: true,
        restarts: 0,
        imposed: None,
    };
    let block = |block: u32| std::iter::once(None).chain((0..neighbours).map(Some)).map(move |at| run(at, block));
    ColocateMeta {
        format: (1, 0),
        tool: "0.1.0".to_string(),
        host: HostFacts::default(),
        victims: vec![program("victim".to_string())],
        neighbours: (0..neighbours).map(|at| program(format!("neighbour-{at}"))).collect(),
        loads: vec![1.0],
        repeats: blocks,
        seed: 7,
        duration: Nanos(1_000_000_000),
        settle: Nanos(0),
        leave_out: Nanos(0),
        measure: Some(SlowdownMeasure::Throughput),
        controls: vec![],
        started_unix_ns: 1,
        runs: (1..=blocks).flat_map(block).collect(),
        notes: vec![],
        stopped: false,
    }
}
