//! Metadata that the viewer needs before it reads any table: versions, units, categories, types of markers.
//! Only fields that are written are described.

use super::{FORMAT, GECKO_FORMAT};
use crate::export::quote::{milliseconds, quoted};
use crate::model::Rate;
use crate::view::sampled::Sampled;

/// Names of the marker types.
pub(super) const WAIT: &str = "OffCpu";
pub(super) const MARK: &str = "Mark";

const CATEGORIES: &str = r#"[
{"name":"Other","color":"grey","subcategories":["Other"]},
{"name":"User","color":"yellow","subcategories":["Other"]},
{"name":"Kernel","color":"orange","subcategories":["Other"]},
{"name":"JIT","color":"blue","subcategories":["Other"]}]"#;

const MARKERS: &str = r#"[
{"name":"OffCpu","display":["marker-chart","marker-table"],
"chartLabel":"{marker.data.state}","tableLabel":"{marker.data.state}",
"description":"A span in which the thread did not run: blocked, then waiting for a CPU.",
"fields":[{"key":"state","label":"Left as","format":"string"},
{"key":"blocked","label":"Blocked","format":"duration"},
{"key":"queued","label":"Waiting for a CPU","format":"duration"}]},
{"name":"Mark","display":["marker-chart","marker-table","timeline-overview"],
"chartLabel":"{marker.data.label}","tableLabel":"{marker.data.label}",
"fields":[{"key":"label","label":"Label","format":"string"}]}]"#;

/// The `meta` object.
pub(super) fn meta(sampled: &Sampled<'_>, title: &str) -> String {
    let (meta, host) = (sampled.meta(), &sampled.meta().host);
    let (from, length) = sampled.span();
    let mut cores: Vec<_> = host.cpus.iter().map(|cpu| (cpu.package, cpu.core)).collect();
    cores.sort_unstable();
    cores.dedup();
    let remarks: Vec<_> = sampled.remarks().iter().map(|text| remark(text)).collect();
    [
        "{\"version\":".to_string() + &GECKO_FORMAT.to_string(),
        format!("\"preprocessedProfileVersion\":{FORMAT}"),
        format!("\"product\":{}", quoted(title)),
        format!("\"importedFrom\":{}", quoted(&format!("ironlaw {}", env!("CARGO_PKG_VERSION")))),
        format!("\"interval\":{}", interval(meta.plan.rate)),
        format!("\"startTime\":{}", milliseconds(meta.started_unix_ns)),
        format!("\"startTimeAsClockMonotonicNanosecondsSinceBoot\":{}", meta.started_mono_ns),
        format!("\"profilingStartTime\":{}", milliseconds(from.0)),
        format!("\"profilingEndTime\":{}", milliseconds(from.0.saturating_add(length.0))),
        "\"processType\":0,\"stackwalk\":1,\"debug\":false".to_string(),
        "\"extensions\":{\"baseURL\":[],\"id\":[],\"name\":[],\"length\":0}".to_string(),
        "\"symbolicated\":true,\"usesOnlyOneStackType\":true,\"sourceCodeIsNotOnSearchfox\":true".to_string(),
        "\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"}".to_string(),
        format!("\"oscpu\":{}", quoted(&format!("Linux {} {}", host.kernel, host.arch))),
        format!("\"CPUName\":{}", quoted(&host.cpu_model)),
        format!("\"logicalCPUs\":{},\"physicalCPUs\":{}", host.cpus.len(), cores.len()),
        format!("\"mainMemory\":{}", host.memory_bytes),
        format!("\"arguments\":{}", quoted(&meta.plan.target.label())),
        "\"keepProfileThreadOrder\":true".to_string(),
        format!("\"extra\":[{{\"label\":\"Recording\",\"entries\":[{}]}}]", remarks.join(",")),
        format!("\"categories\":{CATEGORIES},\n\"markerSchema\":{MARKERS}}}"),
    ]
    .join(",")
}

fn remark(text: &str) -> String {
    format!("{{\"label\":\"Note\",\"format\":\"string\",\"value\":{}}}", quoted(text))
}

/// Milliseconds between samples. The viewer requires a value, even where samples are taken by events.
fn interval(rate: Rate) -> String {
    match rate {
        Rate::Frequency(hertz) if hertz > 0 => milliseconds(1_000_000_000 / hertz),
        Rate::Frequency(_) | Rate::Period(_) => "1".to_string(),
    }
}
