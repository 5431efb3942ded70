//! The classes of the instructions that samples fell on: in one function's own code, and in the whole selection.

use crate::analysis::{Axis, Butterfly, StackCounts};
use crate::model::profile::Profile;
use crate::model::{FrameId, InstructionClass};
use crate::view::annotate::{ClassRow, Sums};
use rustc_hash::FxHashMap;
use serde::Serialize;

/// A class of instructions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MixRow {
    /// The class; `None` for code that cannot be read here.
    pub class: Option<InstructionClass>,
    /// Share of the function's own samples.
    pub self_share: f64,
    /// Those samples.
    pub self_samples: u64,
    /// Share of all samples of the selection.
    pub all_share: f64,
    /// Those samples.
    pub all_samples: u64,
}

impl MixRow {
    /// The name of the class.
    #[must_use]
    pub fn label(&self) -> &'static str {
        self.class.map_or("unreadable", InstructionClass::label)
    }
}

/// Weight and samples by the frame that they fell on. Views read no files, so that its code is read later.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct SampledFrames {
    own: Vec<(Option<FrameId>, u64, u64)>,
    all: Vec<(Option<FrameId>, u64, u64)>,
}

impl SampledFrames {
    /// Those of a function and of the selection. Waits begin in no instruction of the program.
    pub fn of(profile: &Profile, butterfly: &Butterfly, counts: &StackCounts) -> SampledFrames {
        if counts.selection.axis == Axis::OffCpu {
            return SampledFrames::default();
        }
        let mut all: FxHashMap<Option<FrameId>, (u64, u64)> = FxHashMap::default();
        for row in &counts.rows {
            let (weight, samples) = all.entry(profile.walk(row.stack).next()).or_default();
            (*weight, *samples) = (weight.saturating_add(row.weight), *samples + row.samples);
        }
        SampledFrames {
            own: butterfly.instructions.iter().map(|own| (Some(own.frame), own.weight, own.samples)).collect(),
            all: all.into_iter().map(|(frame, (weight, samples))| (frame, weight, samples)).collect(),
        }
    }

    /// The classes by share of the function. `class` returns that of a frame; `None` if its code cannot be read.
    pub fn mix(&self, mut class: impl FnMut(FrameId) -> Option<InstructionClass>) -> Vec<MixRow> {
        let mut classes = |frames: &[(Option<FrameId>, u64, u64)]| {
            let whole = frames.iter().fold(0_u64, |sum, (_, weight, _)| sum.saturating_add(*weight)).max(1) as f64;
            let mut sums = Sums::default();
            for (frame, weight, samples) in frames {
                sums.add(frame.and_then(&mut class), *weight as f64 / whole, *samples);
            }
            sums.rows()
        };
        let (own, all) = (classes(&self.own), classes(&self.all));
        let own_of = |class| own.iter().find(|row| row.class == class);
        let row = |all: ClassRow| MixRow {
            class: all.class,
            self_share: own_of(all.class).map_or(0.0, |own| own.share),
            self_samples: own_of(all.class).map_or(0, |own| own.samples),
            all_share: all.share,
            all_samples: all.samples,
        };
        let mut rows: Vec<MixRow> = all.into_iter().map(row).collect();
        rows.sort_by(|a, b| b.self_share.total_cmp(&a.self_share));
        rows
    }
}
