//! Documents against the schemas that describe them.

use serde_json::Value;
use std::path::Path;

/// Checks a document against the schema of that name.
#[track_caller]
pub fn keeps_to(name: &str, document: &Value) {
    if let Some(breach) = breach(name, document) {
        panic!("{breach}: {document:#}");
    }
}

/// What a document says against the schema of that name.
pub fn breach(name: &str, document: &Value) -> Option<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("assets/schema/{name}.schema.json"));
    let schema = std::fs::read(path).expect("the schema is there");
    let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
    let schema = serde_json::from_slice(&schema).expect("the schema is JSON");
    compiler.add_resource(name, schema).expect("the schema is added");
    let id = compiler.compile(name, &mut schemas).expect("the schema is a schema");
    schemas.validate(document, id).err().map(|error| format!("{error:#}"))
}
