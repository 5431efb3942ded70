//! View model: every counter with its coverage and formula.
//! It never draws.

use super::look::Scene;
use serde::Serialize;

/// The view.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CountersView {}

impl CountersView {
    /// The view of a scene.
    #[must_use]
    pub fn of(scene: &Scene<'_>) -> CountersView {
        let _ = scene;

        CountersView {}
    }
}
