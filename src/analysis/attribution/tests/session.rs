//! A session made by hand, window by window.

use super::*;

/// Usual values at 1000 operations per second of half a millisecond each: one thread that runs half of its time.
pub(super) const USUAL: [(MetricId, f64); 8] = [
    (PRIMARY, 5e5),
    (RATE, 1000.0),
    (WITHOUT_OPERATIONS, 0.5),
    (MetricId::Utilisation, 0.5),
    (MetricId::RunQueueDelay, 0.005),
    (MetricId::StealShare, 0.0),
    (MetricId::HostBusy, 0.3),
    (MetricId::ThrottledShare, 0.0),
];
/// What hardware counts in addition.
pub(super) const COUNTED: [(MetricId, f64); 7] = [
    (MetricId::PathLength, 1e6),
    (MetricId::Cpi, 1.5),
    (MetricId::Frequency, 3e9),
    (MetricId::LlcMpki, 1.0),
    (MetricId::L2Mpki, 5.0),
    (MetricId::PageWalkShare, 0.02),
    (MetricId::L3MissLatency, 90.0),
];

pub(super) fn quantity(id: MetricId) -> Quantity {
    Quantity::of(id)
}

/// Runs differ by half of the quantity's usual noise, and their windows by as much.
pub(super) fn expected(id: MetricId, centre: f64) -> Expected {
    let quantity = quantity(id);
    let part = quantity.usual_noise() / 2.0 * centre;
    let within = part.max(if quantity.is_share() { 0.005 } else { 0.0 });
    let (low, high) = (centre - 2.5 * within, centre + 2.5 * within);
    let (windows, run, dependence, furthest) = (100, 4.5 * part, 3.0, (2.5, 2.5));
    Expected { quantity, windows, centre, spread: part.hypot(within), within, run, dependence, furthest, low, high }
}

/// One level at the usual load, and one at twice that load.
pub(super) fn levels(usual: &[(MetricId, f64)], axis: LoadAxis) -> Levels {
    let level = |factor: f64| {
        let value = |(id, value): &(MetricId, f64)| {
            let loads = [RATE, WITHOUT_OPERATIONS, MetricId::Utilisation].contains(id);
            expected(*id, if loads { value * factor } else { *value })
        };
        let all: Vec<Expected> = usual.iter().map(value).collect();
        let load = if axis == LoadAxis::OpsPerSecond { RATE } else { WITHOUT_OPERATIONS };
        let at = all.iter().find(|expected| expected.quantity.id == load).unwrap().centre;
        Level { from: at * 0.9, to: at * 1.1, windows: 100, expected: all }
    };
    let (false_alarms, growth_seen, weaknesses) = (None, None, vec![]);
    let strength =
        Strength { windows: 200, sources: 2, known_levels: 2, covered: 1.0, false_alarms, growth_seen, weaknesses };
    Levels { axis, levels: vec![level(1.0), level(2.0)], strength }
}

pub(super) fn facts() -> HostFacts {
    // CPU 2 is the sibling thread of CPU 0's core.
    let cpu = |cpu, core| CpuTopology { cpu, core, package: 0, node: 0 };
    HostFacts {
        cpus: vec![cpu(0, 0), cpu(1, 1), cpu(2, 0), cpu(3, 1)],
        stolen_in_cpu_time: Some(true),
        ..HostFacts::default()
    }
}

/// Drifts slowly between -1 and 1: each value resembles the one before it.
pub(super) fn drift(at: usize) -> f64 {
    let t = at as f64;
    ((t * 0.21).sin() + (t * 0.057 + 1.0).sin() + (t * 1.7).sin()) / 3.0
}

/// What a neighbour uses in a window: busy CPUs, bytes per second of storage traffic, and the CPU it is on.
pub(super) type Used = fn(usize) -> (f64, f64, u32);

/// A session of one-second windows.
pub(super) struct Session {
    pub(super) usual: Vec<(MetricId, f64)>,
    pub(super) assessor: Assessor,
    pub(super) defs: Vec<NeighbourDef>,
    pub(super) at: usize,
    pub(super) results: Vec<WindowResult>,
    pub(super) uses: Vec<Used>,
}

impl Session {
    pub(super) fn new() -> Session {
        Session::of(&USUAL, LoadAxis::OpsPerSecond)
    }

    pub(super) fn counted() -> Session {
        Session::of(&[&USUAL[..], &COUNTED].concat(), LoadAxis::OpsPerSecond)
    }

    pub(super) fn of(usual: &[(MetricId, f64)], axis: LoadAxis) -> Session {
        Session::on(facts(), usual, axis)
    }

    /// A session on a machine with these facts.
    pub(super) fn on(facts: HostFacts, usual: &[(MetricId, f64)], axis: LoadAxis) -> Session {
        let assessor = Assessor::new(levels(usual, axis), facts, Settings::default());
        Session { usual: usual.to_vec(), assessor, defs: vec![], at: 0, results: vec![], uses: vec![] }
    }

    pub(super) fn neighbour(&mut self, kind: NeighbourKind, name: &str, group: Option<&str>, used: Used) {
        let id = NeighbourId(self.defs.len() as u32);
        let pid = (kind == NeighbourKind::Process).then_some(1000 + id.0);
        self.defs.push(NeighbourDef { id, kind, name: name.into(), pid, cgroup: group.map(String::from) });
        self.uses.push(used);
    }

    pub(super) fn process(&mut self, name: &str, used: Used) {
        self.neighbour(NeighbourKind::Process, name, None, used);
    }

    /// Runs this many windows in which these quantities are changed: by these factors or, for a share, to these values.
    pub(super) fn run(&mut self, windows: usize, other: &[(MetricId, f64)]) -> &mut Session {
        for _ in 0..windows {
            self.window(other);
        }
        self
    }

    pub(super) fn window(&mut self, other: &[(MetricId, f64)]) {
        let at = self.at;
        self.at += 1;
        let window = Window { from: ms(at as u64 * 1000), to: ms((at as u64 + 1) * 1000) };
        let reading = |(id, usual): &(MetricId, f64)| {
            let quantity = quantity(*id);
            let changed = other.iter().find(|(other, _)| other == id).map(|(_, to)| *to);
            let value = match changed {
                Some(to) if quantity.is_share() => to,
                Some(by) => usual * by,
                None => *usual,
            };
            let value = if quantity.is_share() { value } else { value * (1.0 + 0.015 * drift(at)) };
            Reading {
                quantity,
                value: Measure::exact(value),
                cell: Some(RatioCell { numerator: value * 10.0, denominator: 10.0 }),
            }
        };
        let mut readings: Vec<Reading> = self.usual.iter().map(reading).collect();
        readings.push(quantity(MetricId::MajorFaults).missing(Why::NotRecorded));
        let used = |(at_def, used): (usize, &Used)| {
            let (cores, io, cpu) = used(at);
            NeighbourActivity {
                neighbour: NeighbourId(at_def as u32),
                cores,
                on_cpu: Some(cpu),
                io_rate: Some(io),
                llc_bytes: None,
                memory_rate: None,
            }
        };
        let neighbours = self.uses.iter().enumerate().map(used).filter(|used| used.cores > 0.0).collect();
        let observed = WindowObservation { window, readings, neighbours, cpus: vec![0] };
        self.results.push(self.assessor.take(observed, &self.defs));
    }

    pub(super) fn states(&self, from: usize) -> Vec<WindowState> {
        self.results[from..].iter().map(|step| step.state).collect()
    }

    pub(super) fn said(&self) -> Assessment {
        self.assessor.assessment()
    }

    /// Cause, where to look, and the names of the suspects.
    pub(super) fn verdict(&self) -> (Cause, CauseLocation, Vec<String>) {
        let said = self.said();
        let lead = said
            .diagnosis
            .evidence
            .first()
            .unwrap_or_else(|| panic!("nothing was found: {:?}", said.diagnosis.quantities));
        (
            lead.cause,
            said.diagnosis.location.unwrap(),
            said.diagnosis.suspects.iter().map(|suspect| suspect.name.clone()).collect(),
        )
    }
}
