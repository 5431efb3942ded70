//! A comparison for programs: JSON as `assets/schema/diff.schema.json` describes it.
//! Numbers are not rounded, and every row is included.

use crate::error::Result;
use crate::view::diff::DiffView;

/// The comparison as indented JSON with a newline at its end.
///
/// # Errors
/// `Io` if a value cannot be written as JSON.
pub fn json(view: &DiffView) -> Result<Vec<u8>> {
    crate::export::json::indented(view, "comparison")
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::diff::{LoadBy, Per, Settings, testing};
    use crate::view::diff::testing::{costlier, sides};
    use serde_json::{Value, json};

    const SCHEMA: &str = include_str!("../../../assets/schema/diff.schema.json");

    #[test]
    fn every_comparison_keeps_to_the_schema_and_the_schema_refuses_text_for_numbers() {
        let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
        compiler.add_resource("diff.json", serde_json::from_str(SCHEMA).unwrap()).unwrap();
        let id = compiler.compile("diff.json", &mut schemas).unwrap();
        let (base, new) = sides();
        let silent = crate::analysis::diff::Side { label: "s".into(), runs: vec![testing::digest(None)] };
        let load = |low| testing::LoadShape { low, high: low * 4.0, cost_ns: 5000.0, fixed: 0.2, cores: None };
        let settings = Settings { per: Per::Share, load: LoadBy::Operations, ..Settings::default() };
        for view in [
            costlier(),
            DiffView::of(&base, &[new.clone(), silent], &settings, &[], true),
            DiffView::of(&testing::loaded(load(2e4)), &[testing::loaded(load(3e4))], &settings, &[], true),
        ] {
            let value: Value = serde_json::from_slice(&super::json(&view).unwrap()).unwrap();
            if let Err(error) = schemas.validate(&value, id) {
                panic!("{error:#}");
            }
            let mut wrong = value.clone();
            wrong["comparisons"][0]["metrics"][0]["base"]["value"] = json!("5000");
            assert!(schemas.validate(&wrong, id).is_err(), "a string for a number");
        }
    }
}
