//! View model: the call tree laid out as a flame graph.
//! It never draws.

use super::look::Scene;
use serde::Serialize;

/// The view.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Icicle {}

impl Icicle {
    /// The view of a scene.
    #[must_use]
    pub fn of(scene: &Scene<'_>) -> Icicle {
        let _ = scene;

        Icicle {}
    }
}
