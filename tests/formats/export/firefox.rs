//! What profiler.firefox.com demands of a processed profile before it shows anything, by its documented types.

use super::profile::{Stacks, add, nanos};
use serde_json::Value;

const COLUMNS: &[(&str, &[&str])] = &[
    ("stackTable", &["frame", "prefix"]),
    (
        "frameTable",
        &[
            "address",
            "inlineDepth",
            "category",
            "subcategory",
            "func",
            "nativeSymbol",
            "innerWindowID",
            "line",
            "column",
        ],
    ),
    ("funcTable", &["name", "isJS", "relevantForJS", "resource", "source", "lineNumber", "columnNumber"]),
    ("resourceTable", &["lib", "name", "host", "type"]),
    ("nativeSymbols", &["libIndex", "address", "name", "functionSize"]),
    ("sources", &["id", "filename", "startLine", "startColumn", "sourceMapURL"]),
];

const META: &[&str] = &[
    "categories",
    "interval",
    "markerSchema",
    "preprocessedProfileVersion",
    "processType",
    "product",
    "stackwalk",
    "startTime",
    "version",
];

const THREAD: &[&str] = &[
    "isMainThread",
    "markers",
    "name",
    "pausedRanges",
    "pid",
    "processShutdownTime",
    "processStartupTime",
    "processType",
    "registerTime",
    "samples",
    "tid",
    "unregisterTime",
];

pub fn list(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap_or_else(|| panic!("not a list: {value}"))
}

fn number(value: &Value) -> usize {
    value.as_u64().unwrap_or_else(|| panic!("not a number: {value}")) as usize
}

fn has(object: &Value, keys: &[&str]) {
    keys.iter().for_each(|key| assert!(object.get(key).is_some(), "{key} is missing"));
}

/// Every column is as long as its table says, and holds only what `fits`.
fn column(table: &Value, key: &str, fits: impl Fn(&Value) -> bool) {
    let column = list(&table[key]);
    assert_eq!(column.len(), number(&table["length"]), "{key}");
    column.iter().for_each(|value| assert!(fits(value), "{key} holds {value}"));
}

fn below(limit: &Value) -> impl Fn(&Value) -> bool + use<> {
    let limit = limit.as_u64().expect("a length");
    move |value| value.as_u64().is_some_and(|value| value < limit)
}

fn or_null(fits: impl Fn(&Value) -> bool) -> impl Fn(&Value) -> bool {
    move |value| value.is_null() || fits(value)
}

/// Panics at the first breach.
pub fn check(profile: &Value) {
    has(profile, &["meta", "libs", "pages", "shared", "threads"]);
    has(&profile["meta"], META);
    let shared = &profile["shared"];
    for (table, columns) in COLUMNS {
        columns.iter().for_each(|key| column(&shared[table], key, |_| true));
    }
    let length = |table: &str| &shared[table]["length"];
    let strings = Value::from(list(&shared["stringArray"]).len());
    column(&shared["stackTable"], "frame", below(length("frameTable")));
    column(&shared["frameTable"], "func", below(length("funcTable")));
    column(&shared["frameTable"], "category", below(&Value::from(list(&profile["meta"]["categories"]).len())));
    column(&shared["funcTable"], "name", below(&strings));
    column(&shared["funcTable"], "source", or_null(below(length("sources"))));
    let resource = below(length("resourceTable"));
    column(&shared["funcTable"], "resource", |value| *value == -1 || resource(value));
    column(&shared["resourceTable"], "name", below(&strings));
    column(&shared["resourceTable"], "lib", below(&Value::from(list(&profile["libs"]).len())));
    column(&shared["sources"], "filename", below(&strings));
    for (at, prefix) in list(&shared["stackTable"]["prefix"]).iter().enumerate() {
        assert!(prefix.is_null() || number(prefix) < at, "a caller comes before its callee");
    }
    for lib in list(&profile["libs"]) {
        has(lib, &["arch", "name", "path", "debugName", "debugPath", "breakpadId", "codeId"]);
    }
    list(&profile["threads"]).iter().for_each(|thread| check_thread(profile, thread));
}

fn check_thread(profile: &Value, thread: &Value) {
    has(thread, THREAD);
    assert!(thread["pid"].is_string());
    let (samples, markers) = (&thread["samples"], &thread["markers"]);
    column(samples, "stack", below(&profile["shared"]["stackTable"]["length"]));
    column(samples, "time", Value::is_number);
    let times: Vec<_> = list(&samples["time"]).iter().filter_map(Value::as_f64).collect();
    assert!(times.is_sorted(), "samples come in the order of time");
    assert!(["samples", "tracing-ms", "bytes"].iter().any(|known| samples["weightType"] == *known));
    if !samples["weight"].is_null() {
        column(samples, "weight", Value::is_number);
    }
    let strings = Value::from(list(&profile["shared"]["stringArray"]).len());
    column(markers, "name", below(&strings));
    column(markers, "startTime", Value::is_number);
    column(markers, "endTime", or_null(Value::is_number));
    column(markers, "phase", |phase| *phase == 0 || *phase == 1);
    column(markers, "category", |category| *category == 0);
    let schemas = list(&profile["meta"]["markerSchema"]);
    column(markers, "data", |data| schemas.iter().any(|schema| schema["name"] == data["type"]));
    for data in list(&markers["data"]).iter().filter(|data| data.get("cause").is_some()) {
        assert!(below(&profile["shared"]["stackTable"]["length"])(&data["cause"]["stack"]));
    }
}

/// The names of a stack from the root.
pub fn names(profile: &Value, stack: &Value) -> Vec<String> {
    let shared = &profile["shared"];
    let (mut names, mut next) = (Vec::new(), stack);
    while !next.is_null() {
        let frame = number(&shared["stackTable"]["frame"][number(next)]);
        let func = number(&shared["frameTable"]["func"][frame]);
        let name = &shared["stringArray"][number(&shared["funcTable"]["name"][func])];
        names.push(name.as_str().expect("a text").to_string());
        next = &shared["stackTable"]["prefix"][number(next)];
    }
    names.reverse();
    names
}

/// All threads' stacks; weights are milliseconds.
pub fn stacks(profile: &Value) -> Stacks {
    let mut stacks = Stacks::new();
    for thread in list(&profile["threads"]) {
        let samples = &thread["samples"];
        for (at, stack) in list(&samples["stack"]).iter().enumerate() {
            let weight = samples["weight"][at].as_f64().expect("weights are given");
            add(&mut stacks, names(profile, stack), nanos(weight));
        }
    }
    stacks
}
