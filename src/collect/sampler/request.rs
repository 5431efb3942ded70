//! Translates the plan into requests to the kernel: events, their fallbacks, what each sample carries. Events are
//! opened only on the calling thread, to test what is permitted and what counts.

use super::event_requests::{EventGroup, EventRequests, layout, paranoid, refused};
use super::origin::Role;
use super::switches;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{CallGraph, EventKind, EventSpec, Note, Plan, Rate, Unit};
use crate::pmu::detect::is_virtual;
use crate::sys::perf::event::{self, Place, Request};
use crate::sys::perf::tracefs::Format;
use std::io;
use std::path::Path;

/// Chooses what to open. Files are read below `root` (`/` on a live system).
///
/// # Errors
/// `NotPermitted` if the kernel refuses sampling altogether, `Unsupported` and `NotFound` for events it does not have.
pub fn choose(plan: &Plan, root: &Path) -> Result<EventRequests> {
    let mut notes = Vec::new();
    let exclude_kernel = !permitted(root, &mut notes)?;
    let hardware = counts(0, 0, false);
    let is_virtual = is_virtual(&std::fs::read_to_string(root.join("proc/cpuinfo")).unwrap_or_default());
    let mut specs = if plan.events.is_empty() {
        vec![default_event(hardware, is_virtual, &mut notes)]
    } else {
        plan.events.clone()
    };
    // The recording states what was sampled, not what was requested.
    specs.iter_mut().for_each(|spec| spec.exclude_kernel |= exclude_kernel);
    let rate = cap(plan.rate, root, &mut notes);
    let mut sets: Vec<EventGroup> = Vec::new();
    for (index, spec) in specs.iter().enumerate() {
        let mut request = sample_request(spec, plan.call_graph, rate, exclude_kernel, root)?;
        // Counting groups take turns on the PMU; a sampling event among them would be inactive most of the time.
        request.pinned = hardware && specs.len() == 1 && spec.kind.is_hardware() && counts(0, 0, true);
        let role = Role::Event(index as u16);
        let same = index > 0 && spec.group.is_some() && specs[index - 1].group == spec.group;
        match sets.last_mut().filter(|_| same) {
            Some(set) => {
                set.requests.push(request);
                set.roles.push(role);
            }
            None => sets.push(EventGroup {
                requests: vec![request],
                roles: vec![role],
                name: spec.name.clone(),
                everywhere: false,
            }),
        }
    }
    let mut waits = None;
    if plan.off_cpu {
        let switches = switches::choose(plan.call_graph, exclude_kernel, root);
        waits = Some(switches.source);
        sets.extend(switches.sets);
        notes.extend(switches.note);
    }
    if plan.off_cpu {
        sets.push(records("context switches", Role::Switches, exclude_kernel));
    }
    sets.push(records("tasks", Role::Tasks, exclude_kernel));
    Ok(EventRequests { sets, specs, notes, hardware, is_virtual, exclude_kernel, waits })
}

/// An event that counts nothing and only carries records, so that these are complete wherever samples are taken, and
/// their losses are counted separately.
fn records(name: &str, role: Role, exclude_kernel: bool) -> EventGroup {
    let mut request = Request::counting(event::SOFTWARE, [event::DUMMY, 0, 0]);
    (request.exclude.kernel, request.exclude.hv) = (exclude_kernel, exclude_kernel);
    (request.side_band, request.switches) = (role == Role::Tasks, role == Role::Switches);
    EventGroup { requests: vec![request], roles: vec![role], name: name.to_string(), everywhere: false }
}

fn sample_request(
    spec: &EventSpec,
    method: CallGraph,
    rate: Rate,
    exclude_kernel: bool,
    root: &Path,
) -> Result<Request> {
    let (pmu, config) = match &spec.kind {
        EventKind::Tracepoint { category, name } => (event::TRACEPOINT, [Format::open(root, category, name)?.id, 0, 0]),
        kind => numbers(kind)
            .ok_or_else(|| Error::new(ErrorKind::Unsupported, format!("event {} cannot be sampled", spec.name)))?,
    };
    let mut request = Request::counting(pmu, config);
    request.exclude.user = spec.exclude_user;
    request.exclude.kernel = spec.exclude_kernel || exclude_kernel;
    request.exclude.hv = spec.exclude_hv;
    request.exclude.guest = spec.exclude_guest;
    request.exclude.host = spec.exclude_host;
    request.precise = spec.precise;
    request.layout = layout(method, request.exclude.kernel);
    // Each hit of a tracepoint is one event: a frequency would skip most of them.
    let every = matches!(spec.kind, EventKind::Tracepoint { .. }) && matches!(rate, Rate::Frequency(_));
    request.rate = Some(if every { Rate::Period(1) } else { rate });
    Ok(request)
}

/// `type` and `config`, `config1`, `config2`; `None` for a tracepoint, whose numbers are only in tracefs.
pub fn numbers(kind: &EventKind) -> Option<(u32, [u64; 3])> {
    Some(match kind {
        EventKind::Hardware(config) => (0, [*config, 0, 0]),
        EventKind::Software(config) => (event::SOFTWARE, [*config, 0, 0]),
        EventKind::Cache(config) => (3, [*config, 0, 0]),
        EventKind::Raw { pmu, config, config1, config2 } => (*pmu, [*config, *config1, *config2]),
        EventKind::Tracepoint { .. } => return None,
    })
}

/// Cycles if a real PMU counts them. A virtual machine's counter interrupts pass through its host, tens of microseconds
/// each: on a Zen 5 guest they attributed half of the kernel's time to its callers, and on whole CPUs they locked the
/// guest up.
fn default_event(hardware: bool, is_virtual: bool, notes: &mut Vec<Note>) -> EventSpec {
    let cycles = hardware && !is_virtual;
    if hardware && is_virtual {
        notes.push(Note {
            topic: "virtual-pmu".to_string(),
            text:
                "Samples come from the CPU clock: in a virtual machine the interrupts of hardware counters come late. \
                   Cycles and instructions are counted all the same."
                    .to_string(),
            fix: Some("To sample cycles nevertheless: -e cycles.".to_string()),
        });
    } else if !hardware {
        notes.push(Note {
            topic: "no-pmu".to_string(),
            text: "No hardware counter counts here: samples come from the CPU clock instead of cycles.".to_string(),
            fix: Some("On a virtual machine, have its host expose the PMU.".to_string()),
        });
    }
    let (name, kind, unit) = if cycles {
        ("cycles", EventKind::Hardware(0), Unit::Cycles)
    } else {
        ("cpu-clock", EventKind::Software(0), Unit::Nanos)
    };
    EventSpec {
        name: name.to_string(),
        kind,
        exclude_user: false,
        exclude_kernel: false,
        exclude_hv: false,
        exclude_guest: cycles,
        exclude_host: false,
        precise: 0,
        group: None,
        unit,
    }
}

/// Whether the event actually counts on this thread: many virtual machines open hardware events that stay at zero, and
/// a pinned event reads nothing if other pinned events hold the counters.
fn counts(pmu: u32, config: u64, pinned: bool) -> bool {
    let mut request = Request { pinned, ..Request::counting(pmu, [config, 0, 0]) };
    (request.exclude.kernel, request.exclude.hv) = (true, true);
    let count = || -> io::Result<u64> {
        let events = event::open(&request, &[], Place::Task { tid: 0, cpu: None })?;
        let event = events.first().ok_or(io::ErrorKind::NotFound)?;
        event.enable()?;
        std::hint::black_box((0..100_000u64).fold(0, |sum, n| std::hint::black_box(sum ^ n)));
        Ok(event.read()?.value)
    };
    count().is_ok_and(|value| value > 0)
}

/// Whether the kernel itself may be sampled; an error if not even this process may be.
fn permitted(root: &Path, notes: &mut Vec<Note>) -> Result<bool> {
    let mut request = Request::counting(event::SOFTWARE, [0, 0, 0]);
    let mut open = |exclude| {
        (request.exclude.kernel, request.exclude.hv) = (exclude, exclude);
        event::open(&request, &[], Place::Task { tid: 0, cpu: None }).map(drop)
    };
    if open(false).is_ok() {
        return Ok(true);
    }
    let paranoid = paranoid(root);
    open(true).map_err(|error| refused(&error, "cpu-clock", paranoid))?;
    notes.push(Note {
        topic: "kernel-excluded".to_string(),
        text: format!(
            "The kernel does not let this user sample it (perf_event_paranoid is {}): only user code is \
             sampled and counted.",
            paranoid.map_or("unknown".to_string(), |level| level.to_string())
        ),
        fix: Some("sudo sysctl kernel.perf_event_paranoid=1".to_string()),
    });
    Ok(false)
}

/// Lowers a frequency beyond `kernel.perf_event_max_sample_rate`, which the kernel would refuse, and notes it.
fn cap(rate: Rate, root: &Path, notes: &mut Vec<Note>) -> Rate {
    let path = root.join("proc/sys/kernel/perf_event_max_sample_rate");
    let most = std::fs::read_to_string(path).ok().and_then(|text| text.trim().parse().ok());
    match (rate, most) {
        (Rate::Frequency(requested), Some(most)) if requested > most => {
            notes.push(Note {
                topic: "rate-capped".to_string(),
                text: format!("{requested} samples per second are more than this kernel allows: taking {most}."),
                fix: Some(format!("sudo sysctl kernel.perf_event_max_sample_rate={requested}")),
            });
            Rate::Frequency(most)
        }
        _ => rate,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_frequency_beyond_the_kernels_limit_is_lowered_and_said() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("proc/sys/kernel")).unwrap();
        std::fs::write(root.path().join("proc/sys/kernel/perf_event_max_sample_rate"), "1000\n").unwrap();
        for (requested, taken, said) in [(997, 997, 0), (5000, 1000, 1)] {
            let mut notes = Vec::new();
            assert_eq!(cap(Rate::Frequency(requested), root.path(), &mut notes), Rate::Frequency(taken));
            assert_eq!(notes.len(), said);
        }
    }
}
