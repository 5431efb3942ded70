//! One thread: its samples ordered by time, its waits, and the recording's marks as markers.
//! Samples get CPU time only where it was counted.

use super::frames::Frames;
use super::meta::{MARK, WAIT};
use super::or_null;
use crate::error::{Context, Result};
use crate::export::quote::{array, failed, milliseconds, quoted};
use crate::model::{MICROSAMPLES, Mark, TaskState};
use crate::view::sampled::{Paths, Row, Sampled, ThreadSamples};
use std::io::Write;

/// Indices of the strings that markers refer to.
#[derive(Debug)]
pub(super) struct EventNames {
    wait: usize,
    mark: usize,
}

impl EventNames {
    pub fn of(frames: &mut Frames) -> EventNames {
        EventNames { wait: frames.string(WAIT), mark: frames.string(MARK) }
    }
}

/// How a sample's weight is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scale {
    /// All weights are equal: each sample counts as one.
    Samples,
    /// Nanoseconds, as milliseconds.
    Time,
    Bytes,
    /// Counts of an event, for which the viewer has no unit: as samples of the mean weight.
    Mean(f64),
}

impl Scale {
    pub fn of(sampled: &Sampled<'_>, threads: &[ThreadSamples]) -> Scale {
        let weights = || threads.iter().flat_map(|thread| &thread.samples).map(|sample| sample.weight);
        let first = weights().next();
        let unit = sampled.axis().1;
        let counted = matches!(unit, "samples" | "microsamples");
        if !sampled.is_off_cpu() && !counted && weights().all(|weight| Some(weight) == first) {
            return Scale::Samples;
        }
        match unit {
            "samples" => Scale::Mean(1.0),
            "microsamples" => Scale::Mean(MICROSAMPLES as f64),
            "ns" => Scale::Time,
            "B" => Scale::Bytes,
            _ => {
                let count = weights().count() as f64;
                Scale::Mean((weights().map(|weight| weight as f64).sum::<f64>() / count).max(f64::MIN_POSITIVE))
            }
        }
    }

    fn word(self) -> &'static str {
        match self {
            Scale::Samples | Scale::Mean(_) => "samples",
            Scale::Time => "tracing-ms",
            Scale::Bytes => "bytes",
        }
    }

    fn value(self, weight: u64) -> String {
        match self {
            Scale::Samples => "1".to_string(),
            Scale::Time => milliseconds(weight),
            Scale::Bytes => weight.to_string(),
            Scale::Mean(mean) => (weight as f64 / mean).to_string(),
        }
    }
}

/// Data that all threads share.
pub(super) struct ThreadWriter<'a> {
    pub sampled: &'a Sampled<'a>,
    /// The stack index of each path.
    pub stacks: &'a [usize],
    pub event_names: &'a EventNames,
    pub scale: Scale,
}

impl ThreadWriter<'_> {
    /// Writes one thread; the first one carries the recording's marks.
    pub fn write(
        &self,
        thread: &ThreadSamples,
        waits: &[Row],
        paths: &mut Paths,
        first: bool,
        out: &mut dyn Write,
    ) -> Result<()> {
        let (sampled, (born, ended)) = (self.sampled, self.sampled.life(thread.tid));
        let comm = sampled.comm(thread.tid);
        write!(
            out,
            "{{\"processType\":\"default\",\"processName\":{},\"processStartupTime\":0,\"processShutdownTime\":null,\
             \"registerTime\":{},\"unregisterTime\":{},\"pausedRanges\":[],\"showMarkersInTimeline\":{first},\
             \"name\":{},\"isMainThread\":{},\"pid\":\"{}\",\"tid\":\"{}\",\n\"samples\":",
            quoted(sampled.process_name(thread.pid)),
            milliseconds(born.map_or(0, |born| born.0)),
            or_null(ended.map(|ended| milliseconds(ended.0))),
            quoted(if comm.is_empty() { "[no name]" } else { comm }),
            thread.pid == thread.tid,
            thread.pid,
            thread.tid
        )
        .context(failed)?;
        self.samples(thread, out)?;
        out.write_all(b",\n\"markers\":").context(failed)?;
        self.markers(if first { sampled.marks().collect() } else { Vec::new() }, waits, paths, out)?;
        out.write_all(b"}").context(failed)
    }

    fn samples(&self, thread: &ThreadSamples, out: &mut dyn Write) -> Result<()> {
        let samples = &thread.samples;
        write!(out, "{{\"length\":{},\"weightType\":\"{}\",", samples.len(), self.scale.word()).context(failed)?;
        array(out, "stack", samples.iter().map(|sample| self.stacks[sample.path.0 as usize]))?;
        out.write_all(b",").context(failed)?;
        array(out, "time", samples.iter().map(|sample| milliseconds(sample.at.0)))?;
        out.write_all(b",").context(failed)?;
        if self.scale == Scale::Samples {
            out.write_all(b"\"weight\":null").context(failed)?;
        } else {
            array(out, "weight", samples.iter().map(|sample| self.scale.value(sample.weight)))?;
        }
        // A sample of the CPU clock represents the CPU time since the sample before it.
        if !self.sampled.is_off_cpu() && self.sampled.axis().1 == "ns" {
            out.write_all(b",").context(failed)?;
            array(out, "threadCPUDelta", samples.iter().map(|sample| sample.weight))?;
        }
        out.write_all(b"}").context(failed)
    }

    fn markers(&self, marks: Vec<&Mark>, waits: &[Row], paths: &mut Paths, out: &mut dyn Write) -> Result<()> {
        let n = marks.len();
        let per = |mark: String, wait: String| {
            (0..n).map(move |_| mark.clone()).chain(waits.iter().map(move |_| wait.clone()))
        };
        write!(out, "{{\"length\":{},", n + waits.len()).context(failed)?;
        // A mark is a moment (phase 0), a wait has a beginning and an end (phase 1).
        for (key, mark, wait) in [
            ("name", self.event_names.mark.to_string(), self.event_names.wait.to_string()),
            ("category", "0".to_string(), "0".to_string()),
            ("phase", "0".to_string(), "1".to_string()),
        ] {
            array(out, key, per(mark, wait))?;
            out.write_all(b",").context(failed)?;
        }
        let starts = marks.iter().map(|mark| mark.at.0).chain(waits.iter().map(|wait| wait.at.0));
        array(out, "startTime", starts.map(milliseconds))?;
        out.write_all(b",").context(failed)?;
        let ends = marks.iter().map(|_| "null".to_string()).chain(waits.iter().map(|wait| milliseconds(end(wait))));
        array(out, "endTime", ends)?;
        out.write_all(b",").context(failed)?;
        let labels = marks.iter().map(|mark| format!("{{\"type\":\"{MARK}\",\"label\":{}}}", quoted(&mark.label)));
        array(out, "data", labels.chain(waits.iter().map(|wait| self.wait(wait, paths))))?;
        out.write_all(b"}").context(failed)
    }

    fn wait(&self, wait: &Row, paths: &mut Paths) -> String {
        let state = match wait.state {
            Some(TaskState::Runnable) => "preempted",
            Some(TaskState::Sleeping) => "sleeping",
            Some(TaskState::DiskSleep) => "waiting for storage",
            Some(TaskState::Other) | None => "stopped or ending",
        };
        let queued = wait.queued.map_or(String::new(), |queued| format!(",\"queued\":{}", milliseconds(queued)));
        let stack = self.stacks.get(paths.id(wait.path()).0 as usize).copied().unwrap_or_default();
        format!(
            "{{\"type\":\"{WAIT}\",\"state\":\"{state}\",\"blocked\":{}{queued},\"cause\":{{\"time\":{},\"stack\":{stack}}}}}",
            milliseconds(wait.weight),
            milliseconds(wait.at.0)
        )
    }
}

fn end(wait: &Row) -> u64 {
    wait.at.0.saturating_add(wait.weight).saturating_add(wait.queued.unwrap_or_default())
}
