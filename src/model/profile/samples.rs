//! Samples in columns, so that a scan over one field reads only that field.

use crate::model::{Sample, StackEnd, StackId};
use crate::units::Nanos;

/// Parallel columns; all have the same length.
#[derive(Debug, Clone, Default)]
pub struct Samples {
    /// Time.
    pub at: Vec<Nanos>,
    /// Process.
    pub pid: Vec<u32>,
    /// Thread.
    pub tid: Vec<u32>,
    /// CPU.
    pub cpu: Vec<u32>,
    /// Index into `Meta::events`.
    pub event: Vec<u16>,
    /// Number of counts the sample represents.
    pub weight: Vec<u64>,
    /// Stack.
    pub stack: Vec<Option<StackId>>,
    /// How the stack ended.
    pub end: Vec<StackEnd>,
    /// Whether it was in the kernel.
    pub kernel: Vec<bool>,
}

impl Samples {
    /// Number of samples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.at.len()
    }

    /// Whether there are no samples.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.at.is_empty()
    }

    /// Appends a sample.
    #[inline]
    pub fn push(&mut self, sample: &Sample) {
        self.at.push(sample.at);
        self.pid.push(sample.pid);
        self.tid.push(sample.tid);
        self.cpu.push(sample.cpu);
        self.event.push(sample.event);
        self.weight.push(sample.weight);
        self.stack.push(sample.stack);
        self.end.push(sample.end);
        self.kernel.push(sample.kernel);
    }

    /// The sample at `index`, reassembled; `None` past the end.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Sample> {
        Some(Sample {
            at: *self.at.get(index)?,
            pid: *self.pid.get(index)?,
            tid: *self.tid.get(index)?,
            cpu: *self.cpu.get(index)?,
            event: *self.event.get(index)?,
            weight: *self.weight.get(index)?,
            stack: *self.stack.get(index)?,
            end: *self.end.get(index)?,
            kernel: *self.kernel.get(index)?,
        })
    }

    /// All samples, reassembled, in order.
    pub fn iter(&self) -> impl Iterator<Item = Sample> + '_ {
        (0..self.len()).filter_map(|index| self.get(index))
    }
}
