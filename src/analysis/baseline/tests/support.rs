//! Hand-made baselines for tests, in which every number is known.

use crate::analysis::diff::{PRIMARY, RATE, WITHOUT_OPERATIONS};
use crate::analysis::testing;
use crate::model::{BASELINE_FORMAT, Baseline, BaselineKey, BaselineSource, BaselineStack, BaselineWindow, OpsSpec};

/// When the first source began.
pub(crate) const STARTED_NS: u64 = 1_767_225_600_000_000_000;

/// Sources with this many one-second windows, a day apart: 1000 operations a second of half a millisecond each, +/- 1%.
pub(crate) fn baseline(windows: &[usize]) -> Baseline {
    loaded(windows, &|at| (1000.0, 5e5 * (1.0 + 0.01 * noise(at))))
}

/// A value from -1 to 1 that differs from its neighbours.
pub(crate) fn noise(at: usize) -> f64 {
    ((at * 7919 + 13) % 17) as f64 / 8.0 - 1.0
}

/// The same, with each window's operations per second and nanoseconds per operation.
pub(crate) fn loaded(windows: &[usize], load: &dyn Fn(usize) -> (f64, f64)) -> Baseline {
    let mut all = Vec::new();
    for (source, count) in windows.iter().enumerate() {
        for at in 1..=*count {
            let (rate, cost) = load(all.len());
            let cells = vec![Some([rate * cost, rate]), Some([rate, 1.0]), Some([rate * cost * 1e-9, 1.0])];
            let at_ns = at as u64 * 1_000_000_000;
            all.push(BaselineWindow { source: source as u32, at_ns, span_ns: 1_000_000_000, cells });
        }
    }
    let source = |(at, windows): (usize, &usize)| BaselineSource {
        name: format!("r{at}.ironlaw"),
        started_unix_ns: STARTED_NS + at as u64 * 86_400_000_000_000,
        seconds: *windows as f64,
        windows: *windows,
    };
    let sum = |at: usize| all.iter().filter_map(|window| window.cells[at].map(|cell| cell[0])).sum::<f64>();
    // One sample for each 10 ms.
    let stack = |path: &str, cpu_ns: f64| BaselineStack {
        frames: path.split(';').map(String::from).collect(),
        cpu_ns,
        samples: Some((cpu_ns / 1e7) as u64),
    };
    Baseline {
        format: BASELINE_FORMAT,
        tool: "0.1.0".into(),
        key: BaselineKey {
            host: testing::Synthetic::new().meta.host,
            target: "pid 41".into(),
            program: Some("/opt/app".into()),
            called: None,
            build_id: Some("0a0b".into()),
            cpus: vec![],
            allowed: None,
            ops: Some(OpsSpec::File { path: "/run/ops".into() }),
            latency: None,
        },
        sources: windows.iter().enumerate().map(source).collect(),
        quantities: [PRIMARY, RATE, WITHOUT_OPERATIONS].map(|id| id.name().to_string()).to_vec(),
        stacks: vec![stack("main;work", sum(0) * 0.75), stack("main", sum(0) * 0.25)],
        cpu_ns: sum(0),
        ops: Some(sum(1)),
        windows: all,
    }
}
