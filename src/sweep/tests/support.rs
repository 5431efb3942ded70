//! A small sweep for tests.

use crate::model::{HostFacts, Placement, Region, RunMeta, RunState, SweepMeta, Width};
use crate::session::run_folder::RunsMeta;

pub fn meta() -> SweepMeta {
    let run = |n: u32| RunMeta {
        n,
        repeat: 1,
        cpus: (0..n).collect(),
        region: Region::Cores,
        recording: super::recording_name(n, 1),
        state: RunState::Planned,
    };
    SweepMeta {
        format: SweepMeta::FORMAT,
        tool: "0.1.0".to_string(),
        host: HostFacts::default(),
        command: vec!["app".to_string(), "--threads={threads}".to_string()],
        target: None,
        width: Width::Threads,
        widths: vec![1, 2],
        repeats: 1,
        seed: 7,
        placement: Placement::Cores,
        ops: None,
        duration: None,
        leave_out: crate::units::Nanos(0),
        started_unix_ns: 1,
        runs: vec![run(1), run(2)],
        notes: vec![],
        stopped: false,
    }
}
