//! The messages of a profile.

use super::field;
use super::tables::Tables;
use crate::error::{Context, Result};
use crate::export::protobuf::Message;
use crate::model::{Rate, Unit};
use crate::view::sampled::{Path, Paths, Sampled};
use rustc_hash::FxHashMap;
use std::io::Write;

/// Writes the profile: equal stacks of a thread are one sample with their count and weight.
///
/// # Errors
/// Those of the writer.
pub fn write(sampled: &Sampled<'_>, out: &mut (dyn Write + Send)) -> Result<()> {
    crate::export::gzip(out, |out| write_plain(sampled, out))
}

fn write_plain(sampled: &Sampled<'_>, out: &mut dyn Write) -> Result<()> {
    let mut tables = Tables::default();
    let mut sums: FxHashMap<(u32, u32, Path), (u64, u64)> = FxHashMap::default();
    for row in sampled.rows() {
        for share in row.shares() {
            let (count, weight) = sums.entry((row.pid, row.tid, share.path)).or_default();
            *count += share.count;
            *weight = weight.saturating_add(share.weight);
        }
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_unstable_by_key(|(key, _)| *key);

    out.write_all(&head(sampled, &mut tables)).context(crate::export::quote::failed)?;
    let mut paths = Stacks::default();
    for ((pid, tid, path), (count, weight)) in sums {
        let locations = paths.locations(sampled, &mut tables, path);
        let mut sample = Message::default();
        sample.packed(1, locations.iter().copied());
        sample.packed(2, [count, weight].into_iter());
        labels(sampled, &mut tables, &mut sample, (pid, tid));
        let mut field = Message::default();
        field.message(field::SAMPLE, &sample);
        out.write_all(field.bytes()).context(crate::export::quote::failed)?;
    }
    tables.write(sampled, out)
}

/// The locations of each path, computed once because threads share stacks.
#[derive(Default)]
struct Stacks {
    paths: Paths,
    locations: Vec<Vec<u64>>,
}

impl Stacks {
    fn locations(&mut self, sampled: &Sampled<'_>, tables: &mut Tables, path: Path) -> &[u64] {
        let at = self.paths.id(path).0 as usize;
        if at == self.locations.len() {
            self.locations.push(tables.locations(sampled, path));
        }
        &self.locations[at]
    }
}

fn head(sampled: &Sampled<'_>, tables: &mut Tables) -> Vec<u8> {
    let meta = sampled.meta();
    let (count, weight) = types(sampled);
    let mut head = Message::default();
    for (kind, unit) in [(count, "count"), (weight.0.as_str(), weight.1)] {
        head.message(field::SAMPLE_TYPE, &value_type(tables, kind, unit));
    }
    let (from, length) = sampled.span();
    head.number(field::TIME_NANOS, meta.started_unix_ns.saturating_add(from.0));
    head.number(field::DURATION_NANOS, length.0);
    let period = match meta.plan.rate {
        _ if sampled.is_off_cpu() => None,
        Rate::Period(period) => Some(period),
        // A frequency determines the period only where time itself is counted.
        Rate::Frequency(hertz) if weight.1 == "nanoseconds" && hertz > 0 => Some(1_000_000_000 / hertz),
        Rate::Frequency(_) => None,
    };
    if let Some(period) = period {
        head.message(field::PERIOD_TYPE, &value_type(tables, &weight.0, weight.1));
        head.number(field::PERIOD, period);
    }
    for remark in sampled.remarks() {
        let text = tables.string(&remark);
        head.number(field::COMMENT, text);
    }
    let default = tables.string(&weight.0);
    head.number(field::DEFAULT_SAMPLE_TYPE, default);
    head.into_bytes()
}

/// The two values of a sample: the name of the count, and name and unit of the weight.
fn types(sampled: &Sampled<'_>) -> (&'static str, (String, &'static str)) {
    if sampled.is_off_cpu() {
        return ("waits", ("delay".to_string(), "nanoseconds"));
    }
    let (name, _) = sampled.axis();
    let event = sampled.meta().events.iter().find(|event| event.name == name);
    let weight = match event.map_or(Unit::Count, |event| event.unit) {
        // The name every viewer knows.
        Unit::Nanos if name.starts_with("cpu-clock") || name.starts_with("task-clock") => {
            ("cpu".to_string(), "nanoseconds")
        }
        Unit::Nanos => (name, "nanoseconds"),
        Unit::Bytes => (name, "bytes"),
        Unit::Microsamples => (name, "microsamples"),
        _ => (name, "count"),
    };
    ("samples", weight)
}

fn value_type(tables: &mut Tables, kind: &str, unit: &str) -> Message {
    let mut message = Message::default();
    message.number(1, tables.string(kind));
    message.number(2, tables.string(unit));
    message
}

fn labels(sampled: &Sampled<'_>, tables: &mut Tables, sample: &mut Message, (pid, tid): (u32, u32)) {
    for (key, text) in [("thread", sampled.comm(tid)), ("comm", sampled.process_name(pid))] {
        if !text.is_empty() {
            let mut label = Message::default();
            label.number(1, tables.string(key));
            label.number(2, tables.string(text));
            sample.message(3, &label);
        }
    }
    for (key, number) in [("pid", pid), ("tid", tid)] {
        let mut label = Message::default();
        label.number(1, tables.string(key));
        label.number(3, u64::from(number));
        sample.message(3, &label);
    }
}
