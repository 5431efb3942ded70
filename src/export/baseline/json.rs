//! A baseline for programs: JSON as `assets/schema/baseline.schema.json` describes it.
//! Numbers are not rounded, and every quantity is included.

use crate::error::Result;
use crate::view::baseline::BaselineView;

/// The baseline as indented JSON with a newline at its end.
///
/// # Errors
/// `Io` if a value cannot be written as JSON.
pub fn json(view: &BaselineView) -> Result<Vec<u8>> {
    crate::export::json::indented(view, "baseline")
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::baseline::key_changes;
    use crate::analysis::baseline::testing::{baseline, loaded};
    use serde_json::{Value, json};

    const SCHEMA: &str = include_str!("../../../assets/schema/baseline.schema.json");

    #[test]
    fn every_baseline_keeps_to_the_schema_and_the_schema_refuses_text_for_numbers() {
        let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
        compiler.add_resource("baseline.json", serde_json::from_str(SCHEMA).unwrap()).unwrap();
        let id = compiler.compile("baseline.json", &mut schemas).unwrap();
        let mut bare = baseline(&[3]);
        (bare.key.program, bare.key.build_id, bare.key.ops, bare.ops) = (None, None, None, None);
        let mut other = baseline(&[3]).key;
        other.host.kernel = "7.0".into();
        let scattered = loaded(&[60, 9], &|at| (1000.0 * f64::from(1 + at as u32 / 23), 5e5));
        for baseline in [baseline(&[30, 30]), bare, scattered, baseline(&[0])] {
            let view = BaselineView::of(&baseline, "web", key_changes(&baseline, &other, u64::MAX));
            let value: Value = serde_json::from_slice(&super::json(&view).unwrap()).unwrap();
            if let Err(error) = schemas.validate(&value, id) {
                panic!("{error:#}");
            }
            let mut wrong = value.clone();
            wrong["strength"]["covered"] = json!("1");
            assert!(schemas.validate(&wrong, id).is_err(), "a string for a number");
        }
    }
}
