//! Whether a source of latencies leaves out slow operations: coordinated omission.

use super::load_generator::option;
use super::{LatencySpec, LoadGenerator, Plan};
use serde::Serialize;

/// What a source of latencies leaves out, by the way it measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CoordinatedOmission {
    /// A load generator sends a request when the one before it is answered.
    ClosedLoop,
    /// A load generator sends at a rate, and counts from the time that a request was due.
    Scheduled,
    /// Measured where the request is served.
    ServerTime,
    /// It depends on a program that is not known.
    Unknown,
}

impl CoordinatedOmission {
    /// What the plan's source of latencies leaves out; `None` without one.
    #[must_use]
    pub fn of(plan: &Plan) -> Option<CoordinatedOmission> {
        Some(match plan.latency.as_ref()? {
            LatencySpec::Calls { .. }
            | LatencySpec::Probes { .. }
            | LatencySpec::Http { .. }
            | LatencySpec::Page { .. } => CoordinatedOmission::ServerTime,
            LatencySpec::Output { generator } => {
                let run = plan.command().and_then(LoadGenerator::of_command);
                match (run, generator) {
                    (Some((found, arguments)), None) => of_generator(found, arguments),
                    (Some((found, arguments)), Some(named)) if found == *named => of_generator(found, arguments),
                    (_, Some(LoadGenerator::Wrk2)) => CoordinatedOmission::Scheduled,
                    _ => CoordinatedOmission::Unknown,
                }
            }
            LatencySpec::Matches { .. } | LatencySpec::File { .. } => {
                let run = plan.command().and_then(LoadGenerator::of_command);
                run.map_or(CoordinatedOmission::Unknown, |(found, arguments)| of_generator(found, arguments))
            }
        })
    }

    /// Whether slow operations are too few; `None` if that is not known.
    #[must_use]
    pub fn suffers(self) -> Option<bool> {
        match self {
            CoordinatedOmission::ClosedLoop => Some(true),
            CoordinatedOmission::Scheduled => Some(false),
            CoordinatedOmission::ServerTime | CoordinatedOmission::Unknown => None,
        }
    }

    /// Why, as one sentence.
    #[must_use]
    pub fn why(self) -> &'static str {
        match self {
            CoordinatedOmission::ClosedLoop => {
                "the load generator sends a request only when the one before it is answered: while answers are slow it \
                 sends fewer, so slow operations are too few"
            }
            CoordinatedOmission::Scheduled => {
                "the load generator sends at a rate and counts latency from the time that a request was due"
            }
            CoordinatedOmission::ServerTime => {
                "time in the server only: how long requests waited before it is not included"
            }
            CoordinatedOmission::Unknown => {
                "it depends on whether the program counts latency from the time that a request was due"
            }
        }
    }

    /// `yes`, `no` or `unknown`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self.suffers() {
            Some(true) => "yes",
            Some(false) => "no",
            None => "unknown",
        }
    }
}

fn of_generator(generator: LoadGenerator, arguments: &[String]) -> CoordinatedOmission {
    let scheduled = match generator {
        LoadGenerator::Wrk2 => true,
        LoadGenerator::Pgbench => option(arguments, "-R", "--rate").is_some(),
        LoadGenerator::Sysbench => option(arguments, "", "--rate").is_some_and(|rate| rate != "0"),
        // With a rate alone, an operation still waits for the one before it, and its latency does not count that.
        LoadGenerator::Fio if arguments.iter().any(|word| !word.starts_with('-')) => {
            return CoordinatedOmission::Unknown;
        }
        LoadGenerator::Fio => option(arguments, "", "--io_submit_mode") == Some("offload"),
        LoadGenerator::Wrk | LoadGenerator::RedisBenchmark | LoadGenerator::DbBench => false,
    };
    if scheduled { CoordinatedOmission::Scheduled } else { CoordinatedOmission::ClosedLoop }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{CallGraph, Rate, Target};

    fn check(latency: LatencySpec, command: &str, expected: CoordinatedOmission) {
        let argv = command.split_whitespace().map(String::from).collect();
        let mut plan = Plan::new(Target::Command { argv }, Rate::Frequency(99), CallGraph::None);
        plan.latency = Some(latency.clone());
        assert_eq!(CoordinatedOmission::of(&plan), Some(expected), "{latency:?} {command}");
    }

    #[test]
    fn a_rate_from_which_latency_counts_makes_the_difference() {
        use CoordinatedOmission::{ClosedLoop, Scheduled, ServerTime, Unknown};
        let output = |generator| LatencySpec::Output { generator };
        for (command, expected) in [
            ("wrk -c8 http://h/", ClosedLoop),
            ("wrk -c8 -R2000 http://h/", Scheduled),
            ("redis-benchmark -q", ClosedLoop),
            ("pgbench -c 8 bench", ClosedLoop),
            ("pgbench -c 8 --rate=500 bench", Scheduled),
            ("sysbench cpu --rate=50 run", Scheduled),
            ("sysbench cpu --rate=0 run", ClosedLoop),
            ("fio --name=a --rate_iops=100", ClosedLoop),
            ("fio --name=a --io_submit_mode=offload", Scheduled),
            ("fio job.fio", Unknown),
        ] {
            check(output(None), command, expected);
        }
        check(output(Some(LoadGenerator::Wrk)), "./bench.sh", Unknown);
        check(LatencySpec::Page { name: "a".into() }, "pgbench", ServerTime);
        let file = LatencySpec::File { path: "l".into(), unit: None };
        check(file.clone(), "pgbench -R 5 --log", Scheduled);
        check(file, "./mine", Unknown);
    }
}
