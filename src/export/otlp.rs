//! The gauges of a watch as a request of the OpenTelemetry protocol (OTLP 1.x, protobuf): the metrics of the OpenMetrics
//! page under the same names.

use super::openmetrics::{Family, FamilySample, families};
use super::protobuf::Message;
use crate::view::watch::Gauges;

/// The `Content-Type` of a request.
pub const CONTENT_TYPE: &str = "application/x-protobuf";

/// Field numbers, message by message.
mod field {
    pub mod request {
        pub const RESOURCE_METRICS: u32 = 1;
    }
    pub mod resource_metrics {
        pub const RESOURCE: u32 = 1;
        pub const SCOPE_METRICS: u32 = 2;
    }
    pub mod resource {
        pub const ATTRIBUTES: u32 = 1;
    }
    pub mod scope_metrics {
        pub const SCOPE: u32 = 1;
        pub const METRICS: u32 = 2;
    }
    pub mod scope {
        pub const NAME: u32 = 1;
        pub const VERSION: u32 = 2;
    }
    pub mod metric {
        pub const NAME: u32 = 1;
        pub const DESCRIPTION: u32 = 2;
        pub const UNIT: u32 = 3;
        pub const GAUGE: u32 = 5;
        pub const SUM: u32 = 7;
    }
    pub mod data {
        pub const POINTS: u32 = 1;
        pub const TEMPORALITY: u32 = 2;
        pub const MONOTONIC: u32 = 3;
    }
    pub mod point {
        pub const START: u32 = 2;
        pub const TIME: u32 = 3;
        pub const DOUBLE: u32 = 4;
        pub const ATTRIBUTES: u32 = 7;
    }
    pub mod key_value {
        pub const KEY: u32 = 1;
        pub const VALUE: u32 = 2;
    }
    pub mod any_value {
        pub const STRING: u32 = 1;
    }
}

/// `AGGREGATION_TEMPORALITY_CUMULATIVE`.
const CUMULATIVE: u64 = 2;

/// When and where the values hold.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The machine.
    pub host: String,
    /// Start of the watch, nanoseconds since the Unix epoch.
    pub started_ns: u64,
    /// When the values were read, likewise.
    pub now_ns: u64,
}

/// An `ExportMetricsServiceRequest` with the current values.
#[must_use]
pub fn request(gauges: &Gauges, origin: &Origin) -> Vec<u8> {
    let mut scope = Message::default();
    scope.text(field::scope::NAME, "ironlaw");
    scope.text(field::scope::VERSION, &gauges.tool);
    let mut scoped = Message::default();
    scoped.message(field::scope_metrics::SCOPE, &scope);
    families(gauges).iter().for_each(|family| scoped.message(field::scope_metrics::METRICS, &metric(family, origin)));
    let mut resource = Message::default();
    for (key, value) in [("service.name", "ironlaw"), ("service.version", &gauges.tool), ("host.name", &origin.host)] {
        resource.message(field::resource::ATTRIBUTES, &attribute(key, value));
    }
    let mut all = Message::default();
    all.message(field::resource_metrics::RESOURCE, &resource);
    all.message(field::resource_metrics::SCOPE_METRICS, &scoped);
    let mut request = Message::default();
    request.message(field::request::RESOURCE_METRICS, &all);
    request.into_bytes()
}

fn metric(family: &Family, origin: &Origin) -> Message {
    let Family { name, kind, unit, help, samples } = family;
    // A family has one suffix.
    let suffix = samples.first().map_or("", |sample| sample.suffix);
    let mut data = Message::default();
    samples.iter().for_each(|sample| data.message(field::data::POINTS, &point(sample, origin)));
    let is_gauge = *kind == "gauge";
    if !is_gauge {
        data.number(field::data::TEMPORALITY, CUMULATIVE);
        // Infos and states become sums that are not monotonic, as the specification for OpenMetrics has it.
        data.number(field::data::MONOTONIC, u64::from(*kind == "counter"));
    }
    let mut metric = Message::default();
    metric.text(field::metric::NAME, &format!("{name}{suffix}"));
    metric.text(field::metric::DESCRIPTION, help);
    metric.text(field::metric::UNIT, ucum(unit));
    metric.message(if is_gauge { field::metric::GAUGE } else { field::metric::SUM }, &data);
    metric
}

fn point(sample: &FamilySample, origin: &Origin) -> Message {
    let mut point = Message::default();
    point.fixed(field::point::START, origin.started_ns);
    point.fixed(field::point::TIME, origin.now_ns);
    point.double(field::point::DOUBLE, sample.value);
    for (key, value) in &sample.labels {
        point.message(field::point::ATTRIBUTES, &attribute(key, value));
    }
    point
}

fn attribute(key: &str, text: &str) -> Message {
    let mut value = Message::default();
    value.text(field::any_value::STRING, text);
    let mut attribute = Message::default();
    attribute.text(field::key_value::KEY, key);
    attribute.message(field::key_value::VALUE, &value);
    attribute
}

/// The unit as OTLP names it (UCUM).
fn ucum(unit: &str) -> &str {
    match unit {
        "seconds" => "s",
        "bytes" => "By",
        "ratio" => "1",
        "hertz" => "Hz",
        other => other,
    }
}
