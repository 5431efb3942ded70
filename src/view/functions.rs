//! View model: the functions, with callers, callees and lines of one.
//! It never draws.

use super::look::Scene;
use serde::Serialize;

/// The view.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FunctionsView {}

impl FunctionsView {
    /// The view of a scene.
    #[must_use]
    pub fn of(scene: &Scene<'_>, detail: Option<&(String, String)>) -> FunctionsView {
        let _ = scene;
        let _ = detail;
        FunctionsView {}
    }
}
