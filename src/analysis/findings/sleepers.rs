//! Where threads go to sleep: the part of a stack from the root to the function that requests the wait.

use super::paths::lock_taker;
use super::wait_targets::requester;
use crate::analysis::LockCalls;
use crate::analysis::names::{Function, Names};
use crate::model::profile::Profile;
use crate::model::{LockCode, StackId};
use rustc_hash::FxHashMap;

/// The threads that go to sleep at one place, in whatever process.
#[derive(Debug, Clone)]
pub(super) struct Sleepers {
    /// Labels from the root to the function that requests the wait.
    pub path: Vec<u32>,
    /// Threads that do so often, with their waits.
    pub threads: FxHashMap<u32, u64>,
    /// Their waits altogether.
    pub count: u64,
    pub pid: u32,
    /// Whether outer frames of the path are missing.
    pub incomplete: bool,
}

/// The path from the root to the function that requested the wait, without the functions that implement it.
pub(super) fn wait_path(profile: &Profile, names: &Names, stack: Option<StackId>, locks: &LockCode) -> Vec<u32> {
    let calls: Vec<_> = names.walk(profile, stack).collect();
    let functions: Vec<&Function> = calls.iter().map(|call| &names.functions[call.function as usize]).collect();
    let root_first: Vec<&Function> = functions.iter().rev().copied().collect();
    let taker = lock_taker(&root_first, LockCalls::of(profile, names, locks, stack));
    let own = taker.map_or_else(|| requester(functions.iter().copied()), |taker| calls.len() - 1 - taker);
    calls.get(own..).unwrap_or(&[]).iter().rev().map(|call| call.label).collect()
}
