//! Typed values out of single arguments, each with a message that shows what would have been right.
//! It never compares one argument with another.

use crate::abi;
use crate::analysis::TimeRange;
use crate::error::Error;
use crate::model::{CallGraph, LatencySpec, OpsSpec, Syntax};
use crate::ops;
use crate::units::Nanos;

/// What `-F` said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrequencyArg {
    /// Samples per second.
    Hertz(u64),
    /// As many as the kernel allows.
    Max,
}

/// CPU numbers: sorted, each once, never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuList(pub Vec<u32>);

/// A thread by name or by id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ThreadFilter {
    /// Kernel thread id.
    Tid(u32),
    /// Its whole name.
    Name(String),
}

/// As much as `auto` copies.
const DEFAULT_STACK_BYTES: u32 = crate::collect::sampler::STACK_BYTES;
/// The kernel stores the size in 16 bits and wants it aligned.
const MAX_STACK_BYTES: u32 = 65_528;
/// More CPUs than any kernel is built for.
const MAX_CPU: u32 = 8191;

/// A span; a bare number is seconds.
pub(super) fn seconds(text: &str) -> Result<Nanos, String> {
    let span = span(text, 1_000_000_000)?;
    if span == Nanos(0) { Err("must be longer than nothing".into()) } else { Ok(span) }
}

/// A span; a bare number is milliseconds, as in perf.
pub(super) fn milliseconds(text: &str) -> Result<Nanos, String> {
    span(text, 1_000_000)
}

/// An objective of latency; a bare number is milliseconds.
pub(super) fn slo(text: &str) -> Result<Nanos, String> {
    let slo = milliseconds(text)?;
    if slo == Nanos(0) { Err("no operation is that fast".into()) } else { Ok(slo) }
}

fn span(text: &str, bare_unit_ns: u64) -> Result<Nanos, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit_ns: u64 = match unit.trim_start() {
        "" => bare_unit_ns,
        "ns" => 1,
        "us" | "µs" => 1_000,
        "ms" => 1_000_000,
        "s" | "sec" => 1_000_000_000,
        "m" | "min" => 60 * 1_000_000_000,
        "h" => 3_600 * 1_000_000_000,
        other => return Err(format!("unknown unit '{other}'; write 500ms, 5s, 2m or 1h")),
    };
    let number: f64 = number.parse().map_err(|_| "not a time; write 500ms, 5s, 2m or 1h".to_string())?;
    let ns = number * unit_ns as f64;
    // Longer than a century: a slip of the finger, and room for sums of times.
    if ns > 3.2e18 { Err("that is longer than a century".into()) } else { Ok(Nanos(ns.round() as u64)) }
}

/// An error and what to do about it, as one text.
fn with_remedy(error: &Error) -> String {
    error.remedy().map_or(error.to_string(), |remedy| format!("{error}. {remedy}"))
}

/// A source of operations.
pub(super) fn ops(text: &str) -> Result<OpsSpec, String> {
    ops::parse(text).map_err(|error| with_remedy(&error))
}

/// A latency specification.
pub(super) fn latency(text: &str) -> Result<LatencySpec, String> {
    ops::parse_latency(text).map_err(|error| with_remedy(&error))
}

pub(super) fn frequency(text: &str) -> Result<FrequencyArg, String> {
    match text.parse() {
        _ if text == "max" => Ok(FrequencyArg::Max),
        Ok(0) | Err(_) => Err("give samples per second from 1 on, e.g. 997, or `max`".into()),
        Ok(hertz) => Ok(FrequencyArg::Hertz(hertz)),
    }
}

pub(super) fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').parse() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err("give percent from 0 to 100".into()),
    }
}

pub(super) fn cpu_list(text: &str) -> Result<CpuList, String> {
    match abi::parse_cpu_list(text) {
        Ok(cpus) if cpus.is_empty() => Err("no CPU given; write e.g. 0-3,8".into()),
        Ok(cpus) if cpus.last() > Some(&MAX_CPU) => Err(format!("CPU numbers end at {MAX_CPU}")),
        Ok(cpus) => Ok(CpuList(cpus)),
        Err(error) => Err(error.to_string()),
    }
}

pub(super) fn call_graph(text: &str) -> Result<CallGraph, String> {
    match text {
        "auto" => Ok(CallGraph::Auto),
        "fp" => Ok(CallGraph::FramePointer),
        "dwarf" => Ok(CallGraph::Dwarf { stack_bytes: DEFAULT_STACK_BYTES }),
        "lbr" => Ok(CallGraph::Lbr),
        "none" | "no" => Ok(CallGraph::None),
        _ => match text.strip_prefix("dwarf,") {
            Some(bytes) => stack_bytes(bytes),
            None => Err("choose auto, fp, dwarf, dwarf,BYTES, lbr or none".into()),
        },
    }
}

/// How x86 instructions are written, by objdump's names.
pub(super) fn syntax(text: &str) -> Result<Syntax, String> {
    match text {
        "intel" => Ok(Syntax::Intel),
        "att" | "at&t" => Ok(Syntax::Att),
        _ => Err("choose intel or att".into()),
    }
}

fn stack_bytes(text: &str) -> Result<CallGraph, String> {
    match text.parse::<u32>().ok().and_then(|bytes| bytes.checked_next_multiple_of(8)) {
        Some(stack_bytes @ 8..=MAX_STACK_BYTES) => Ok(CallGraph::Dwarf { stack_bytes }),
        _ => Err(format!("'{text}' is not a stack size; give bytes from 8 to {MAX_STACK_BYTES}")),
    }
}

/// Never fails: whatever is not a number is a name.
pub(super) fn thread_filter(text: &str) -> Result<ThreadFilter, String> {
    match text.parse() {
        Ok(tid) => Ok(ThreadFilter::Tid(tid)),
        Err(_) if text.is_empty() => Err("give the name or the id of a thread".into()),
        Err(_) => Ok(ThreadFilter::Name(text.to_string())),
    }
}

pub(super) fn time_range(text: &str) -> Result<TimeRange, String> {
    TimeRange::parse(text).map_err(|error| error.to_string())
}

pub(super) fn pixels(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(width) if (0.0..=1200.0).contains(&width) => Ok(width),
        _ => Err("give pixels from 0 to 1200, e.g. 0.5".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_span_has_a_unit_or_takes_the_flags_own() {
        for (text, in_seconds, in_ms) in [
            ("5", Ok(5000 * MS), Ok(5 * MS)),
            ("1.5", Ok(1500 * MS), Ok(3 * MS / 2)),
            ("5s", Ok(5000 * MS), Ok(5000 * MS)),
            ("500ms", Ok(500 * MS), Ok(500 * MS)),
            ("250us", Ok(MS / 4), Ok(MS / 4)),
            ("2m", Ok(120_000 * MS), Ok(120_000 * MS)),
            ("1h", Ok(3_600_000 * MS), Ok(3_600_000 * MS)),
            ("0", Err(()), Ok(0)),
            ("", Err(()), Err(())),
            ("s", Err(()), Err(())),
            ("-5s", Err(()), Err(())),
            ("5 parsecs", Err(()), Err(())),
            ("1.2.3s", Err(()), Err(())),
            ("99999999999h", Err(()), Err(())),
        ] {
            assert_eq!(seconds(text).map(|n| n.0).map_err(|_| ()), in_seconds, "{text} in seconds");
            assert_eq!(milliseconds(text).map(|n| n.0).map_err(|_| ()), in_ms, "{text} in milliseconds");
        }
    }

    #[test]
    fn a_list_of_cpus_comes_out_sorted_and_each_once() {
        assert_eq!(cpu_list("8,0-3,2"), Ok(CpuList(vec![0, 1, 2, 3, 8])));
        for wrong in ["", "a", "3-1", "1-", "-1", "0,,1", "0-4294967295", "0-8192"] {
            assert!(cpu_list(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_call_graph_is_a_method_with_an_optional_size() {
        for (text, expected) in [
            ("auto", Some(CallGraph::Auto)),
            ("fp", Some(CallGraph::FramePointer)),
            ("dwarf", Some(CallGraph::Dwarf { stack_bytes: 16384 })),
            ("dwarf,8192", Some(CallGraph::Dwarf { stack_bytes: 8192 })),
            ("dwarf,8190", Some(CallGraph::Dwarf { stack_bytes: 8192 })),
            ("dwarf,65528", Some(CallGraph::Dwarf { stack_bytes: 65528 })),
            ("dwarf,65529", None),
            ("dwarf,0", None),
            ("dwarf,4294967295", None),
            ("dwarf,", None),
            ("lbr", Some(CallGraph::Lbr)),
            ("none", Some(CallGraph::None)),
            ("FP", None),
        ] {
            assert_eq!(call_graph(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn a_frequency_is_positive_or_the_maximum() {
        assert_eq!(frequency("997"), Ok(FrequencyArg::Hertz(997)));
        assert_eq!(frequency("max"), Ok(FrequencyArg::Max));
        assert!(frequency("0").is_err() && frequency("-1").is_err() && frequency("fast").is_err());
    }

    #[test]
    fn a_thread_is_an_id_when_it_is_a_number() {
        assert_eq!(thread_filter("41"), Ok(ThreadFilter::Tid(41)));
        assert_eq!(thread_filter("worker-1"), Ok(ThreadFilter::Name("worker-1".into())));
        assert!(thread_filter("").is_err());
    }
}
