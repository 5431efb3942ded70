//! Shows every window that ended to a judge, with no more of the session than the window needs.
//! It never looks at a sample, so that a judgement costs the same however much history is held.

use crate::analysis::Window;
use crate::analysis::attribution::Assessment;
use crate::model::profile::{Profile, ProfileBuilder};
use crate::model::{Definition, Event, Meta, Tick};
use std::fmt;

/// Holds windows of a session against what is usual.
pub trait Judge: Send {
    /// Takes in a window that ended; `recent` holds the counters, tasks, operations and neighbours of it and of the time
    /// just before, and no samples.
    fn take(&mut self, recent: &Profile, window: Window);

    /// How the session stands.
    fn assessment(&self) -> Assessment;
}

/// Windows that stay beside the one that is judged: its base, and one that had already ended.
const KEPT: usize = 4;

/// A judge and what it is shown.
pub(super) struct Judging {
    judge: Box<dyn Judge>,
    recent: ProfileBuilder,
    /// Whether totals of operations come a little after the windows they belong to.
    waits: bool,
    judged: usize,
}

impl fmt::Debug for Judging {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Judging").field("judged", &self.judged).finish_non_exhaustive()
    }
}

impl Judging {
    pub(super) fn new(judge: Box<dyn Judge>, meta: Meta) -> Judging {
        let waits = meta.plan.ops.is_some();
        Judging { judge, recent: ProfileBuilder::new(meta), waits, judged: 0 }
    }

    pub(super) fn assessment(&self) -> Assessment {
        self.judge.assessment()
    }

    /// How many windows have been judged.
    pub(super) fn judged(&self) -> usize {
        self.judged
    }

    /// Takes an event in, and judges the window whose end it is, or the one before.
    pub(super) fn take(&mut self, event: &Event) {
        match event {
            Event::Define(Definition::Counter(_) | Definition::Neighbour(_))
            | Event::Reading(_)
            | Event::Neighbour(_)
            | Event::Task(_)
            | Event::Ops { .. }
            | Event::Lost(_)
            | Event::Tick(_) => self.recent.apply(event.clone()),
            _ => {}
        }
        if matches!(event, Event::Tick(_)) {
            self.judge_last();
        }
    }

    fn judge_last(&mut self) {
        let ticks = &self.recent.profile().ticks;
        let Some(at) = ticks.len().checked_sub(if self.waits { 2 } else { 1 }) else { return };
        let Tick { at, span } = ticks[at];
        self.judged += 1;
        self.judge.take(self.recent.profile(), Window { from: at - span, to: at });
        let ticks = &self.recent.profile().ticks;
        if let Some(cut) = ticks.len().checked_sub(KEPT).map(|first| ticks[first].at) {
            self.recent.profile_mut().forget_before(cut);
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::analysis::Counters;
    use crate::analysis::attribution::State;
    use crate::analysis::baseline::LoadAxis;
    use crate::model::{CounterId, CounterReading, Measure, NeighbourDef, NeighbourId, NeighbourKind, NeighbourUse};
    use crate::model::{OpsSpec, Scope};
    use crate::units::{Nanos, Ops};
    use std::sync::{Arc, Mutex};

    /// What a judge was shown: the window's end in seconds, CPU time, operations, neighbours, bytes held.
    type Shown = Arc<Mutex<Vec<(u64, f64, Measure<f64>, usize, u64)>>>;

    struct Notebook(Shown);

    impl Judge for Notebook {
        fn take(&mut self, recent: &Profile, window: Window) {
            let cpu = Counters::of(recent).delta("task-clock", Scope::Target, window);
            let ops = crate::analysis::operations(recent, window);
            let row = (window.to.0, *cpu.value().unwrap(), ops, recent.neighbours.len(), recent.approximate_bytes());
            self.0.lock().unwrap().push(row);
        }

        fn assessment(&self) -> Assessment {
            nothing()
        }
    }

    fn nothing() -> Assessment {
        Assessment {
            state: State::Waiting,
            axis: LoadAxis::BusyCores,
            load: None,
            level: None,
            primary: "busy_cores",
            quantities: Vec::new(),
            evidence: Vec::new(),
            place: None,
            suspects: Vec::new(),
            alarms: Vec::new(),
            steps: Vec::new(),
            unknown: Vec::new(),
        }
    }

    fn second(at: u64) -> Nanos {
        Nanos(at * 1_000_000_000)
    }

    /// Shows so many windows, operations coming half a window late.
    fn shown(ops: Option<OpsSpec>, windows: u64) -> Vec<(u64, f64, Measure<f64>, usize, u64)> {
        let fixture = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/golden-1.0.ironlaw");
        let mut meta = crate::session::open(&fixture).unwrap().meta;
        meta.plan.ops = ops;
        meta.duration_ns = None;
        let book = Shown::default();
        let mut judging = Judging::new(Box::new(Notebook(book.clone())), meta.clone());
        crate::session::live::counters(&meta).iter().for_each(|event| judging.take(event));
        let name = "cron".to_string();
        let (id, kind) = (NeighbourId(0), NeighbourKind::Process);
        judging.take(&Event::Define(Definition::Neighbour(NeighbourDef {
            id,
            kind,
            name,
            pid: Some(2),
            cgroup: None,
        })));
        for at in 0..=windows {
            let (zero, value) = (Nanos(0), at * 250);
            let counter = CounterId(0);
            let reading =
                CounterReading { counter, scope: Scope::Target, at: second(at), value, enabled: zero, running: zero };
            judging.take(&Event::Reading(reading));
            if at == windows || at == 0 {
                let (on_cpu, io_bytes, llc_bytes, memory_bytes) = (None, None, None, None);
                let cpu = second(at);
                let used =
                    NeighbourUse { neighbour: id, at: second(at), cpu, on_cpu, io_bytes, llc_bytes, memory_bytes };
                judging.take(&Event::Neighbour(used));
            }
            if at > 0 {
                judging.take(&Event::Tick(Tick { at: second(at), span: second(1) }));
            }
            judging.take(&Event::Ops { at: second(at) + Nanos(500_000_000), total: Ops(at * 100 + 50) });
        }
        assert_eq!(judging.judged() as u64, book.lock().unwrap().len() as u64);
        let shown = book.lock().unwrap().clone();
        shown
    }

    #[test]
    fn every_window_is_judged_once_in_memory_that_does_not_grow() {
        let shown = shown(None, 300);
        assert_eq!(
            shown.iter().map(|row| row.0).collect::<Vec<_>>(),
            (1..=300).map(|at| second(at).0).collect::<Vec<_>>()
        );
        assert!(shown.iter().all(|row| (row.1 - 250.0).abs() < 1e-9), "each has its base: {shown:?}");
        assert!(shown[298].4 <= shown[10].4, "{} bytes, then {}", shown[10].4, shown[298].4);
        assert_eq!(shown[299].3, 1, "a neighbour that was silent for long is still known by its name");
    }

    #[test]
    fn totals_of_operations_are_waited_for() {
        let shown = shown(Some(OpsSpec::File { path: "/x".into() }), 20);
        assert_eq!(shown.len(), 19, "the last window is not judged before its totals have come");
        for row in &shown[1..] {
            assert_eq!(row.2, Measure::exact(100.0), "{row:?}");
        }
    }
}
