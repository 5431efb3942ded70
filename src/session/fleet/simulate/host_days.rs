//! The rows of a host, day by day, minute by minute.

use super::fleet::{DAY_S, FIRST_DAY, Fleet, Host, PLATFORMS, Role};
use super::random::{Random, SkewedNoise, SteadyNoise};
use crate::model::{AlarmRow, DatasetRows, FunctionRow, NeighbourRow, WindowRow};

const MINUTE_S: i64 = 60;
const MINUTES: i64 = 1440;
const HOUR_S: i64 = 3600;

/// Samples a second of CPU time.
const SAMPLES: f64 = 19.0;
/// What a heavy run of a noisy job multiplies its load by.
const HEAVY: f64 = 2.5;
/// Chance that a noisy job begins to run heavily in a minute, and that it stops.
const BEGINS: f64 = 1.0 / 60.0;
const STOPS: f64 = 1.0 / 30.0;
/// Minute to minute.
const LOAD_NOISE: f64 = 0.06;
const PATH_NOISE: f64 = 0.003;
const CORRELATION: f64 = 0.7;
/// CPU time of the host's own programs.
const SYSTEM: (&str, f64) = ("systemd", 0.05);
const LINE_BYTES: f64 = 64.0;

/// A host as its days go by.
pub(super) struct HostDays<'a> {
    fleet: &'a Fleet,
    host: &'a Host,
    random: Random,
    noise: &'a SkewedNoise,
    states: Vec<State>,
}

/// A job's noise and what it does now.
struct State {
    load: SteadyNoise,
    cpi: SteadyNoise,
    heavy: bool,
}

/// A job in a minute.
#[derive(Clone, Copy, Default)]
struct Minute {
    operations: f64,
    instructions: f64,
    cycles: f64,
    misses: f64,
    cpu_s: f64,
}

impl<'a> HostDays<'a> {
    pub fn new(fleet: &'a Fleet, host: &'a Host, number: usize, noise: &'a SkewedNoise) -> HostDays<'a> {
        let mut random = Random::of(fleet.settings.seed, (3 << 32) + number as u64);
        let state = |random: &mut Random| State {
            load: SteadyNoise::new(CORRELATION, random),
            cpi: SteadyNoise::new(CORRELATION, random),
            heavy: false,
        };
        let states = host.jobs.iter().map(|_| state(&mut random)).collect();
        HostDays { fleet, host, random, noise, states }
    }

    /// The rows of each job of the host, in the order of its jobs, of a day counted from the first.
    pub fn day(&mut self, day: u32) -> Vec<DatasetRows> {
        let start = (FIRST_DAY + i64::from(day)) * DAY_S;
        let count = self.host.jobs.len();
        let mut rows: Vec<DatasetRows> = (0..count).map(|_| DatasetRows::default()).collect();
        for own in &mut rows {
            own.windows.reserve(MINUTES as usize);
            own.neighbours.reserve(MINUTES as usize * count);
        }
        let mut hours = vec![0.0; count];
        for minute in 0..MINUTES {
            let start_s = start + minute * MINUTE_S;
            let minutes = self.minute(start_s);
            let (all_misses, all_cpu) =
                minutes.iter().fold((0.0, 0.0), |sum, own| (sum.0 + own.misses, sum.1 + own.cpu_s));
            for (place, own) in minutes.iter().enumerate() {
                rows[place].windows.push(self.window(place, start_s, own, all_misses, all_cpu));
                let others = (0..count).filter(|other| *other != place);
                let others = others.map(|other| (self.name(other).to_string(), minutes[other].cpu_s));
                let others = others.chain([(SYSTEM.0.to_string(), SYSTEM.1 * MINUTE_S as f64)]);
                let length_s = MINUTE_S as f64;
                let row = |(neighbour, cpu_s)| NeighbourRow { start_s, length_s, neighbour, cpu_s };
                rows[place].neighbours.extend(others.map(row));
                hours[place] += own.cpu_s;
            }
            if (start_s + MINUTE_S) % HOUR_S == 0 {
                for place in 0..count {
                    let cpu_s = std::mem::take(&mut hours[place]);
                    let own = self.functions(place, start_s + MINUTE_S - HOUR_S, cpu_s);
                    rows[place].functions.extend(own);
                }
            }
        }
        for (place, own) in rows.iter_mut().enumerate() {
            own.alarms = self.alarms(place, start);
        }
        rows
    }

    fn name(&self, place: usize) -> &str {
        &self.fleet.jobs[self.host.jobs[place]].name
    }

    fn minute(&mut self, start_s: i64) -> Vec<Minute> {
        let HostDays { fleet, host, random, noise, states } = self;
        for (state, job) in states.iter_mut().zip(&host.jobs) {
            if fleet.jobs[*job].role == Role::Noisy {
                let chance = if state.heavy { STOPS } else { BEGINS };
                state.heavy ^= random.share() < chance;
            }
        }
        let clock = fleet.clock(host, start_s);
        let usual = PLATFORMS[host.platform].hertz;
        let hour = (start_s % DAY_S) as f64 / HOUR_S as f64;
        let heavy: Vec<bool> = states.iter().map(|state| state.heavy).collect();
        let own = states.iter_mut().enumerate().map(|(place, state)| {
            let number = host.jobs[place];
            let job = &fleet.jobs[number];
            let season = 1.0 + job.season * ((hour - job.peak_hour) * std::f64::consts::TAU / 24.0).cos();
            let load = season * (1.0 + LOAD_NOISE * state.load.next(random)).max(0.1);
            let load = load * if state.heavy { HEAVY } else { 1.0 };
            let disturbed = match job.role {
                Role::Victim(noisy) => host.jobs.iter().position(|other| *other == noisy).is_some_and(|at| heavy[at]),
                _ => false,
            };
            let contention = if disturbed { Fleet::contention() } else { 1.0 };
            let skewed = 1.0 + job.noise * noise.at(state.cpi.next(random));
            let base = job.cpi[host.platform];
            let cpi = fleet.cpi(host, number) * (1.0 + job.bend * (load - 1.0)) * skewed.max(0.5) * contention;
            // As many operations as take the job's CPUs at its mean load on an ordinary host of this platform.
            let operations = job.cores * usual / (job.path * base) * load * MINUTE_S as f64;
            let instructions = operations * fleet.path(host, place) * (1.0 + PATH_NOISE * random.normal());
            let cycles = instructions * cpi;
            let misses = instructions * job.misses * contention * (1.0 + 0.05 * random.normal());
            Minute { operations, instructions, cycles, misses, cpu_s: cycles / clock }
        });
        own.collect()
    }

    fn window(&mut self, place: usize, start_s: i64, own: &Minute, all_misses: f64, all_cpu: f64) -> WindowRow {
        let job = &self.fleet.jobs[self.host.jobs[place]];
        let platform = &PLATFORMS[self.host.platform];
        let busy = all_cpu / (platform.cpus as f64 * MINUTE_S as f64);
        WindowRow {
            start_s,
            length_s: MINUTE_S as f64,
            platform: platform.name.to_string(),
            version: Some(self.host.versions[place].to_string()),
            config: Some(self.host.config.to_string()),
            host_cpus: platform.cpus,
            operations: Some(own.operations.round()),
            cpu_s: Some(own.cpu_s),
            kernel_cpu_s: Some(own.cpu_s * job.kernel_share),
            instructions: Some(own.instructions.round()),
            cycles: Some(own.cycles.round()),
            llc_misses: Some(own.misses.round()),
            page_walk_cycles: Some((own.cycles * job.walks).round()),
            memory_bytes: Some((all_misses * LINE_BYTES * 1.3).round()),
            run_queue_s: Some(own.cpu_s * 0.05 * busy * (1.0 + 0.3 * self.random.normal())),
            throttled_s: Some(0.0),
            stolen_s: Some(0.0),
            page_faults: Some((own.cpu_s * 20.0).round()),
            neighbour_cpu_s: Some(all_cpu - own.cpu_s + SYSTEM.1 * MINUTE_S as f64),
        }
    }

    fn functions(&mut self, place: usize, start_s: i64, cpu_s: f64) -> Vec<FunctionRow> {
        let job = &self.fleet.jobs[self.host.jobs[place]];
        let version = self.host.versions[place];
        let own = job.functions.iter().map(|(function, share)| {
            let expected = SAMPLES * cpu_s * share;
            let samples = (expected + expected.sqrt() * self.random.normal()).round().max(0.0);
            FunctionRow {
                start_s,
                length_s: HOUR_S as f64,
                version: Some(version.to_string()),
                function: function.clone(),
                module: format!("/srv/{}", job.name),
                cpu_s: samples / SAMPLES,
                samples: samples as i64,
            }
        });
        own.collect()
    }

    /// What a watch of the job would have raised on this day.
    fn alarms(&self, place: usize, start: i64) -> Vec<AlarmRow> {
        let alarm = |start_s, cause: &str, ratio: f64| AlarmRow {
            start_s,
            cause: cause.to_string(),
            confidence: Some("medium".to_string()),
            ratio: Some(ratio),
            suspect: None,
        };
        let mut found = Vec::new();
        let first = start == FIRST_DAY * DAY_S;
        if self.host.bad && first {
            found.push(alarm(start + 10 * MINUTE_S, "cpi_other", 1.4));
        }
        let today = |from: &i64| (start..start + DAY_S).contains(from);
        if let Some((from, _)) = self.host.lowered.filter(|(from, _)| today(from)) {
            found.push(alarm(from + 10 * MINUTE_S, "frequency", 1.0 / 0.7));
        }
        let job = &self.fleet.jobs[self.host.jobs[place]];
        if let Role::Victim(noisy) = job.role
            && self.host.jobs.contains(&noisy)
        {
            let suspect = Some(self.fleet.jobs[noisy].name.clone());
            found.push(AlarmRow { suspect, ..alarm(start + HOUR_S, "llc", 1.15) });
        }
        found.sort_by_key(|alarm| alarm.start_s);
        found
    }
}
