//! Opens the events of a group at one place.

use super::totals::GroupLocation;
use crate::collect::sampler::request;
use crate::model::{EventKind, EventSpec, HardwareGroup};
use crate::sys::perf::event::{self, Inherit, PerfEvent, Place, Request};
use crate::sys::perf::tracefs::Format;
use std::io;
use std::path::Path;

const ESRCH: i32 = 3;

/// One group at one place.
#[derive(Debug)]
pub(super) struct OpenedGroup {
    pub(super) location: GroupLocation,
    pub(super) events: Vec<PerfEvent>,
}

impl HardwareGroup {
    /// Whether the group counts at this place. A thread may run on any CPU.
    pub(super) fn counts_at(&self, place: &Place<'_>) -> bool {
        match place {
            Place::Cpu(cpu) | Place::Cgroup { cpu, .. } => self.cpus.is_empty() || self.cpus.contains(cpu),
            Place::Task { .. } => true,
        }
    }
}

/// How the events of a group are requested.
pub(super) struct Requests {
    pub(super) inherit: Inherit,
    pub(super) on_exec: bool,
    pub(super) exclude_kernel: bool,
}

impl Requests {
    /// Opens a group at each place where it counts. Returns the first error, ended threads aside.
    pub(super) fn everywhere(
        &self,
        group: &HardwareGroup,
        number: usize,
        places: &[Place<'_>],
        opened: &mut Vec<OpenedGroup>,
    ) -> Option<io::Error> {
        let mut refused = None;
        for (at, place) in places.iter().enumerate().filter(|(_, place)| group.counts_at(place)) {
            match self.open(group, *place) {
                Ok(events) => {
                    let location =
                        GroupLocation { group: number, at, tid: own_thread(*place, self.inherit), cgroup: None };
                    opened.push(OpenedGroup { location, events });
                }
                Err(error) if error.raw_os_error() == Some(ESRCH) => {}
                Err(error) => _ = refused.get_or_insert(error),
            }
        }
        refused
    }

    pub(super) fn open(&self, group: &HardwareGroup, place: Place<'_>) -> io::Result<Vec<PerfEvent>> {
        let requests: Option<Vec<Request>> =
            group.events.iter().map(|event| request(&event.event, self.exclude_kernel)).collect();
        let mut requests = requests.ok_or(io::ErrorKind::Unsupported)?;
        for request in &mut requests {
            request.inherit = self.inherit;
            request.enable_on_exec = self.on_exec;
        }
        let (leader, members) = requests.split_first_mut().ok_or(io::ErrorKind::InvalidInput)?;
        leader.reads_group = true;
        event::open(leader, members, place)
    }
}

/// A request for an event that only counts; `None` for a tracepoint that the kernel does not have.
pub(super) fn request(spec: &EventSpec, exclude_kernel: bool) -> Option<Request> {
    let (pmu, config) = match &spec.kind {
        EventKind::Tracepoint { category, name } => {
            (event::TRACEPOINT, [Format::open(Path::new("/"), category, name).ok()?.id, 0, 0])
        }
        kind => request::numbers(kind)?,
    };
    let mut request = Request::counting(pmu, config);
    request.exclude.user = spec.exclude_user;
    request.exclude.kernel = spec.exclude_kernel || exclude_kernel;
    request.exclude.hv = spec.exclude_hv;
    // Code of a guest is not work of the thread that runs the guest. PMUs outside the cores refuse the attribute.
    request.exclude.guest = spec.exclude_guest;
    request.exclude.host = spec.exclude_host;
    Some(request)
}

fn own_thread(place: Place<'_>, inherit: Inherit) -> Option<u32> {
    match place {
        Place::Task { tid, .. } if inherit == Inherit::No => Some(tid),
        _ => None,
    }
}
