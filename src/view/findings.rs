//! View model: findings (being built on another branch).
use super::look::Scene;
use serde::Serialize;

/// The view.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FindingsView {}

impl FindingsView {
    /// The view of a scene.
    #[must_use]
    pub fn of(scene: &Scene<'_>) -> FindingsView {
        let _ = scene;
        FindingsView {}
    }
}
