//! How far long work has come: the worker writes it, another thread shows it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What the work is counted in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ProgressUnit {
    /// Bytes read.
    #[default]
    Bytes,
    /// Addresses named.
    Addresses,
    /// Runs of a program.
    Runs,
}

/// One stage of the work, and how far it has come.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgressState {
    /// The stage, from 1; 0 before the first.
    pub number: usize,
    /// What is done, as a participle with its object: `reading run.ironlaw`.
    pub what: String,
    /// What it is counted in.
    pub unit: ProgressUnit,
    /// Done so far.
    pub done: u64,
    /// All of it; 0 if that is unknown.
    pub total: u64,
}

/// A counter that costs the worker one store. Copies count together.
#[derive(Debug, Clone, Default)]
pub struct Progress(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    stage: Mutex<ProgressState>,
    done: AtomicU64,
}

impl Progress {
    /// Begins the next stage.
    pub fn begin(&self, what: String, unit: ProgressUnit, total: u64) {
        let mut stage = self.0.stage.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.done.store(0, Ordering::Relaxed);
        *stage = ProgressState { number: stage.number + 1, what, unit, done: 0, total };
    }

    /// Sets what the stage has done.
    pub fn set(&self, done: u64) {
        self.0.done.store(done, Ordering::Relaxed);
    }

    /// Adds to what the stage has done.
    pub fn add(&self, done: u64) {
        self.0.done.fetch_add(done, Ordering::Relaxed);
    }

    /// The stage and how far it has come.
    #[must_use]
    pub fn state(&self) -> ProgressState {
        let stage = self.0.stage.lock().unwrap_or_else(PoisonError::into_inner);
        ProgressState { done: self.0.done.load(Ordering::Relaxed), ..stage.clone() }
    }
}
