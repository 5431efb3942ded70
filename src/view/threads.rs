//! View model: the threads and processes, and what each CPU does.
//! It never draws.

use super::look::Scene;
use serde::Serialize;

/// The view.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ThreadsView {}

impl ThreadsView {
    /// The view of a scene.
    #[must_use]
    pub fn of(scene: &Scene<'_>) -> ThreadsView {
        let _ = scene;

        ThreadsView {}
    }
}
