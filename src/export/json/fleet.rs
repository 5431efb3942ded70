//! What a data set says of many machines, for programs.

use super::indented;
use crate::error::{Error, ErrorKind, Result};
use crate::model::Why;
use crate::view::fleet::FleetView;
use serde_json::{Map, Value};

/// The schema of [`fleet`], draft 2020-12.
pub const FLEET_SCHEMA: &str = include_str!("../../../assets/schema/fleet.schema.json");

/// The answers as indented JSON with a newline at its end. A value that was measured stands for itself; one that was not
/// is `{"missing": WHY, "reason": "..."}`.
///
/// # Errors
/// `Io` if a value cannot be written as JSON.
pub fn fleet(view: &FleetView) -> Result<Vec<u8>> {
    let value = serde_json::to_value(view)
        .map_err(|error| Error::new(ErrorKind::Io, format!("cannot write the fleet as JSON: {error}")))?;
    indented(&plain(value), "fleet")
}

/// Measures as the other documents have them: `{"known": {"value": X, ...}}` becomes X, `{"missing": WHY}` gets its reason.
fn plain(value: Value) -> Value {
    match value {
        Value::Array(values) => values.into_iter().map(plain).collect(),
        Value::Object(mut members) => {
            if members.len() == 1 {
                if let Some(value) = members.get_mut("known").and_then(|known| known.get_mut("value")) {
                    return plain(value.take());
                }
                let why = members.get("missing").and_then(|why| serde_json::from_value::<Why>(why.clone()).ok());
                if let Some(why) = why {
                    members.insert("reason".to_string(), Value::from(why.text()));
                    return Value::Object(members);
                }
            }
            members.into_iter().map(|(name, value)| (name, plain(value))).collect::<Map<_, _>>().into()
        }
        value => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Measure;
    use serde_json::json;

    #[test]
    fn measures_stand_for_their_values_and_gaps_for_their_reasons() {
        let value = json!({ "a": Measure::exact(json!({ "interval": Measure::exact((1.0, 2.0)) })), "b": Measure::<f64>::Missing(Why::Idle) });
        let expected = json!({ "a": { "interval": [1.0, 2.0] }, "b": { "missing": "idle", "reason": "nothing ran" } });
        assert_eq!(plain(value), expected);
    }
}
