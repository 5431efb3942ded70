//! The speed of a machine's caches and memory for programs: JSON as `assets/schema/health.schema.json` describes it.
//! Numbers are not rounded.

use super::indented;
use crate::error::Result;
use crate::model::Health;
use serde::Serialize;

/// The schema of [`health`], draft 2020-12.
pub const HEALTH_SCHEMA: &str = include_str!("../../../assets/schema/health.schema.json");

/// Increased when a field changes its meaning; new fields do not increase it.
const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    #[serde(flatten)]
    health: &'a Health,
}

/// The measurements, as indented JSON with a newline at its end.
///
/// # Errors
/// `Io` if a value cannot be written as JSON.
pub fn health(health: &Health) -> Result<Vec<u8>> {
    indented(&Document { schema_version: SCHEMA_VERSION, health }, "health")
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::model::{BandwidthRow, CacheHealth, CurvePoint, LatencyRow, NodeRow};
    use serde_json::{Value, json};

    fn measured() -> Health {
        let row = |small_ns, huge_ns, translation_ns| LatencyRow {
            level: "DRAM".into(),
            bytes: 1 << 25,
            small_ns,
            huge_ns,
            translation_ns,
        };
        Health {
            cpu_model: "Xeon".into(),
            cpus: 2,
            caches: vec![
                CacheHealth { level: 1, bytes: 32 << 10, shared_by: 1, step: Some(3.5) },
                CacheHealth { level: 3, bytes: 32 << 20, shared_by: 2, step: None },
            ],
            latency: vec![row(Some(90.0), Some(80.0), Some(10.0)), row(None, None, None)],
            nodes: vec![NodeRow { from: 0, to: 1, ns: None }],
            curve: vec![CurvePoint { bytes: 1 << 14, ns: 1.2 }],
            bandwidth: vec![BandwidthRow { what: "copy".into(), threads: 2, bytes_per_s: 1e10, spread: [9e9, 1.1e10] }],
            unknown: vec!["a virtual machine".into()],
            seconds: 4.5,
        }
    }

    #[test]
    fn every_measurement_keeps_to_the_schema_and_the_schema_refuses_text_for_numbers() {
        let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
        compiler.add_resource("health.json", serde_json::from_str(HEALTH_SCHEMA).unwrap()).unwrap();
        let id = compiler.compile("health.json", &mut schemas).unwrap();
        for of in [measured(), Health::default()] {
            let mut value: Value = serde_json::from_slice(&health(&of).unwrap()).unwrap();
            if let Err(error) = schemas.validate(&value, id) {
                panic!("{error:#}");
            }
            value["seconds"] = json!("4.5");
            assert!(schemas.validate(&value, id).is_err(), "a string for a number");
        }
    }
}
