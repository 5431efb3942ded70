//! Names of frames, sent as definitions in the event stream. A thread asks a confined process for them, so that a hostile
//! file costs its own names only.

mod client;
mod deadline;
mod host_files;
#[cfg(any(test, fuzzing))]
mod hostile_peer;
mod namer;
mod probed;
mod server;
mod turns;
mod wire;

pub(super) use client::NameClient;
pub(super) use client::serve_names;
pub(super) use host_files::{FileSource, HostFiles, List};
#[cfg(any(test, fuzzing))]
pub(crate) use hostile_peer::hear;
pub use namer::Namer;
pub(super) use probed::find_probes;

use crate::model::{FrameDef, ModuleId};

/// The frames of each module, in their order.
pub(super) fn by_module(frames: &[FrameDef]) -> impl Iterator<Item = (ModuleId, Vec<FrameDef>)> {
    let mut known: Vec<_> = frames.iter().filter_map(|frame| Some((frame.module?, *frame))).collect();
    known.sort_by_key(|(module, _)| *module);
    let groups: Vec<_> = known
        .chunk_by(|one, other| one.0 == other.0)
        .filter_map(|group| Some((group.first()?.0, group.iter().map(|(_, frame)| *frame).collect())))
        .collect();
    groups.into_iter()
}
