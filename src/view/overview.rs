//! View model: the iron law's factors, the rates around it and the findings.
//! It never draws.

use super::look::Scene;
use serde::Serialize;

/// The view.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Overview {}

impl Overview {
    /// The view of a scene.
    #[must_use]
    pub fn of(scene: &Scene<'_>) -> Overview {
        let _ = scene;

        Overview {}
    }
}
