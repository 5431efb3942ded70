//! The simulated fleet: jobs, hosts and what is planted, all from the seed.

use super::random::Random;
use crate::model::{PlantedCause as Cause, PlantedKind as CauseKind, PlantedTruth as Truth};
use std::collections::BTreeSet;

/// What to simulate.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Hosts.
    pub hosts: u32,
    /// Days.
    pub days: u32,
    /// Jobs, of which three run on each host.
    pub jobs: u32,
    /// Seed of all that is random.
    pub seed: u64,
}

/// The first day is Monday, 2026-01-05, in UTC; days since the Unix epoch.
pub(super) const FIRST_DAY: i64 = 20_458;
pub(super) const DAY_S: i64 = 86_400;

const JOBS_PER_HOST: usize = 3;

/// Rise of CPI on a bad host.
const BAD_HOST: f64 = 0.40;
/// Rise of the path length in a new version.
const DEARER: f64 = 0.03;
/// Rise of CPI and misses while a noisy neighbour runs heavily.
const NOISY: f64 = 0.15;
/// Cycles per CPU second that a lowered clock lacks.
const LOWERED: f64 = 0.30;
const LOWERED_HOURS: i64 = 4;
/// Operations per CPU second that configuration `b` gains.
const CONFIG_GAIN: f64 = 0.02;
/// Deviation of the CPI of hosts.
const HOST_SD: f64 = 0.015;

/// A CPU model.
#[derive(Debug)]
pub(super) struct Platform {
    pub name: &'static str,
    pub cpus: i64,
    pub hertz: f64,
    cpi: f64,
}

pub(super) const PLATFORMS: [Platform; 3] = [
    Platform { name: "Intel Xeon Platinum 8481C", cpus: 112, hertz: 2.7e9, cpi: 1.0 },
    Platform { name: "AMD EPYC 9B14", cpus: 192, hertz: 3.0e9, cpi: 0.88 },
    Platform { name: "Neoverse-V2", cpus: 96, hertz: 2.9e9, cpi: 1.12 },
];

/// What is special about a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Plain,
    /// Half of its hosts run a version that is dearer.
    Dearer,
    /// Half of its hosts run a version that changes nothing.
    Alike,
    /// Runs heavily from time to time.
    Noisy,
    /// Suffers from the noisy job of this number.
    Victim(usize),
}

/// A job.
#[derive(Debug)]
pub(super) struct Job {
    pub name: String,
    pub role: Role,
    /// Instructions of an operation.
    pub path: f64,
    /// By platform.
    pub cpi: [f64; 3],
    /// Last-level-cache misses per instruction.
    pub misses: f64,
    /// Cycles of an instruction in which pages are walked.
    pub walks: f64,
    pub kernel_share: f64,
    /// CPUs that it uses on a host at its mean load.
    pub cores: f64,
    /// By how much CPI rises with the load, if it doubles.
    pub bend: f64,
    pub season: f64,
    /// The hour of the highest load.
    pub peak_hour: f64,
    pub noise: f64,
    /// Its functions and their shares of CPU time.
    pub functions: Vec<(String, f64)>,
}

/// A host.
#[derive(Debug)]
pub(super) struct Host {
    pub name: String,
    pub platform: usize,
    pub config: &'static str,
    pub jobs: Vec<usize>,
    /// The version of each.
    pub versions: Vec<&'static str>,
    /// What its CPI is multiplied by.
    pub cpi: f64,
    pub bad: bool,
    /// Start and end of a lowered clock.
    pub lowered: Option<(i64, i64)>,
}

/// The fleet.
#[derive(Debug)]
pub(super) struct Fleet {
    pub settings: Settings,
    pub jobs: Vec<Job>,
    pub hosts: Vec<Host>,
}

impl Fleet {
    pub fn new(settings: Settings) -> Fleet {
        let jobs: Vec<Job> = (0..settings.jobs as usize).map(|number| job(settings, number)).collect();
        let mut hosts: Vec<Host> = (0..settings.hosts as usize).map(|number| host(settings, &jobs, number)).collect();
        let mut random = Random::of(settings.seed, 1 << 40);
        for number in some(&mut random, hosts.len(), (hosts.len() / 1000).max(2), &BTreeSet::new()) {
            hosts[number].bad = true;
        }
        let bad = (0..hosts.len()).filter(|number| hosts[*number].bad).collect();
        for number in some(&mut random, hosts.len(), (hosts.len() / 200).max(2), &bad) {
            let hours = i64::from(settings.days) * 24 - LOWERED_HOURS;
            let from = FIRST_DAY * DAY_S + 3600 * (random.share() * (hours + 1) as f64) as i64;
            hosts[number].lowered = Some((from, from + LOWERED_HOURS * 3600));
        }
        Fleet { settings, jobs, hosts }
    }

    /// What an instruction of a job takes on a host, cycles, before what changes by the minute.
    pub fn cpi(&self, host: &Host, job: usize) -> f64 {
        let config = if host.config == "b" { 1.0 / (1.0 + CONFIG_GAIN) } else { 1.0 };
        let bad = if host.bad { 1.0 + BAD_HOST } else { 1.0 };
        self.jobs[job].cpi[host.platform] * host.cpi * config * bad
    }

    /// Instructions of an operation of the job at this place of a host.
    pub fn path(&self, host: &Host, place: usize) -> f64 {
        let job = &self.jobs[host.jobs[place]];
        let dearer = job.role == Role::Dearer && host.versions[place] == NEW;
        job.path * if dearer { 1.0 + DEARER } else { 1.0 }
    }

    pub fn clock(&self, host: &Host, second: i64) -> f64 {
        let lowered = host.lowered.is_some_and(|(from, to)| (from..to).contains(&second));
        PLATFORMS[host.platform].hertz * if lowered { 1.0 - LOWERED } else { 1.0 }
    }

    /// What a victim's CPI and misses are multiplied by while its noisy neighbour runs heavily.
    pub fn contention() -> f64 {
        1.0 + NOISY
    }

    /// What was planted.
    pub fn truth(&self) -> Truth {
        let Settings { hosts, days, jobs, seed } = self.settings;
        let (from_s, to_s) = (FIRST_DAY * DAY_S, (FIRST_DAY + i64::from(days)) * DAY_S);
        let cause = |kind, size| Cause { kind, size, from_s, to_s, ..Cause::default() };
        let mut causes = Vec::new();
        for host in self.hosts.iter().filter(|host| host.bad) {
            let jobs = host.jobs.iter().map(|job| self.jobs[*job].name.clone()).collect();
            causes.push(Cause { hosts: vec![host.name.clone()], jobs, ..cause(CauseKind::BadHost, BAD_HOST) });
        }
        for host in &self.hosts {
            if let Some((from_s, to_s)) = host.lowered {
                let jobs = host.jobs.iter().map(|job| self.jobs[*job].name.clone()).collect();
                let hosts = vec![host.name.clone()];
                causes.push(Cause { hosts, jobs, from_s, to_s, ..cause(CauseKind::LoweredClock, -LOWERED) });
            }
        }
        for (number, job) in self.jobs.iter().enumerate() {
            let on = |is: &dyn Fn(&Host, usize) -> bool| -> Vec<String> {
                let runs =
                    |host: &&Host| host.jobs.iter().position(|own| *own == number).is_some_and(|at| is(host, at));
                self.hosts.iter().filter(runs).map(|host| host.name.clone()).collect()
            };
            let jobs = vec![job.name.clone()];
            let planted = match job.role {
                Role::Dearer | Role::Alike => {
                    let dearer = job.role == Role::Dearer;
                    let (kind, size) =
                        if dearer { (CauseKind::Version, DEARER) } else { (CauseKind::SameVersion, 0.0) };
                    let hosts = on(&|host, at| host.versions[at] == NEW);
                    Some(Cause { hosts, version: Some(NEW.to_string()), ..cause(kind, size) })
                }
                Role::Victim(noisy) => {
                    let neighbour = Some(self.jobs[noisy].name.clone());
                    let hosts = on(&|host, _| host.jobs.contains(&noisy));
                    Some(Cause { hosts, neighbour, ..cause(CauseKind::NoisyNeighbour, NOISY) })
                }
                Role::Plain | Role::Noisy => None,
            };
            causes.extend(
                planted.filter(|cause| !cause.hosts.is_empty()).map(|cause| Cause { jobs: jobs.clone(), ..cause }),
            );
            if self.hosts.iter().any(|host| host.jobs.contains(&number)) {
                causes.push(Cause { jobs, peak_hour: Some(job.peak_hour), ..cause(CauseKind::Season, job.season) });
            }
        }
        causes.push(Cause { config: Some("b".to_string()), ..cause(CauseKind::Config, CONFIG_GAIN) });
        Truth { seed, hosts, days, jobs, from_s, to_s, causes }
    }
}

const OLD: &str = "v1";
const NEW: &str = "v2";

/// The first jobs, which run on the most hosts, have roles: five in turn, in so many groups.
fn role(jobs: u32, number: usize) -> Role {
    if number / 5 >= (jobs as usize / 40).clamp(1, 8) {
        return Role::Plain;
    }
    match number % 5 {
        1 => Role::Dearer,
        2 => Role::Alike,
        3 => Role::Noisy,
        4 => Role::Victim(number - 1),
        _ => Role::Plain,
    }
}

fn job(settings: Settings, number: usize) -> Job {
    let mut random = Random::of(settings.seed, (1 << 32) + number as u64);
    let cpi = random.between(0.7, 1.9);
    let own = [(); 3].map(|()| 1.0 + 0.05 * random.normal());
    let verbs = ["handle", "decode", "lookup", "encode", "hash", "merge", "flush", "sort", "parse", "copy"];
    let weights: Vec<f64> = (1..=verbs.len()).map(|rank| random.between(0.6, 1.4) / rank as f64).collect();
    let all: f64 = weights.iter().sum();
    let functions = verbs.iter().zip(&weights).map(|(verb, weight)| (format!("job_{number:03}::{verb}"), weight / all));
    Job {
        name: format!("job-{number:03}"),
        role: role(settings.jobs, number),
        path: 1e5 * (random.between(0.0, 4.0)).exp(),
        cpi: [0, 1, 2].map(|at| cpi * PLATFORMS[at].cpi * own[at]),
        misses: 1e-3 * random.between(0.3, 6.0),
        walks: random.between(0.01, 0.12),
        kernel_share: random.between(0.03, 0.3),
        cores: random.between(1.0, 8.0),
        bend: random.between(0.0, 0.12),
        season: random.between(0.1, 0.5),
        peak_hour: random.between(0.0, 24.0),
        noise: random.between(0.02, 0.05),
        functions: functions.collect(),
    }
}

/// Jobs run on the more hosts the lower their number. Half of the hosts of a noisy job run its victim too.
fn host(settings: Settings, jobs: &[Job], number: usize) -> Host {
    let mut random = Random::of(settings.seed, (2 << 32) + number as u64);
    let mut own: Vec<usize> = Vec::with_capacity(JOBS_PER_HOST);
    while own.len() < JOBS_PER_HOST.min(jobs.len()) {
        // Density 1 / (10 + number).
        let share = random.share();
        let picked = (10.0 * ((1.0 + jobs.len() as f64 / 10.0).powf(share) - 1.0)) as usize;
        let picked = picked.min(jobs.len() - 1);
        if own.contains(&picked) {
            continue;
        }
        own.push(picked);
        let victim = picked + 1;
        let has_victim = jobs.get(victim).is_some_and(|job| job.role == Role::Victim(picked));
        if has_victim && own.len() < JOBS_PER_HOST && !own.contains(&victim) && random.share() < 0.5 {
            own.push(victim);
        }
    }
    let mut version = |job: &usize| match jobs[*job].role {
        Role::Dearer | Role::Alike if random.next() & 1 == 1 => NEW,
        _ => OLD,
    };
    Host {
        name: format!("host-{number:06}"),
        versions: own.iter().map(&mut version).collect(),
        platform: number % PLATFORMS.len(),
        config: if random.next() & 1 == 1 { "b" } else { "a" },
        jobs: own,
        cpi: (HOST_SD * random.normal()).exp(),
        bad: false,
        lowered: None,
    }
}

/// So many different numbers below `end`, none of those excluded.
fn some(random: &mut Random, end: usize, count: usize, excluded: &BTreeSet<usize>) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let free = end.saturating_sub(excluded.len());
    while found.len() < count.min(free) {
        let number = random.below(end);
        if !excluded.contains(&number) {
            found.insert(number);
        }
    }
    found
}
