//! Samples with the address of their data, on this kernel, and what is requested for those that hardware takes.

use crate::abi::data_source::{DataSource, bit};
use crate::collect::sampler::event_requests::EventGroup;
use crate::collect::sampler::origin::Role;
use crate::collect::sampler::request::choose;
use crate::model::{AccessSampling, CallGraph, EventKind, EventSpec, Plan, Rate, Target, Unit};
use crate::sys::affinity::OneCpu;
use crate::sys::memory_walks::current_cpu;
use crate::sys::perf::event::{self, Place, Request};
use crate::sys::perf::record::{self, Layout, Record, Sample};
use crate::sys::perf::ring::Ring;
use std::hint::black_box;
use std::path::Path;

const PAGE_FAULTS: u64 = 2;
const PAGE: usize = 4096;

/// A page fault knows its address, so that the kernel fills in what hardware would.
#[test]
fn the_address_of_a_page_fault_is_that_of_the_page_that_was_touched() {
    let layout = Layout { address: true, access: true, ..Layout::default() };
    let counting = Request::counting(event::SOFTWARE, [PAGE_FAULTS, 0, 0]);
    let mut request = Request { rate: Some(Rate::Period(1)), layout, ..counting };
    request.exclude.kernel = true;
    let (cpu, _) = current_cpu().expect("the kernel says which CPU this is");
    let _one_cpu = OneCpu::stay_on(cpu).expect("a thread may stay on its CPU");
    let place = Place::Task { tid: 0, cpu: Some(cpu) };
    let opened = event::open(&request, &[], place);
    let event = match opened.map(|mut events| events.pop().expect("one event was asked for")) {
        Ok(event) => event,
        Err(error) => return crate::skips::skip("perf", format!("page faults cannot be sampled: {error}")),
    };
    let id = event.id().expect("an open event has an id");
    let mut ring = Ring::map(event, 64 << 10).map_err(|(_, error)| error).expect("a small ring");
    // Beyond what the allocator keeps, so that it is mapped anew.
    let mut memory = vec![0_u8; 64 << 20];
    let start = memory.as_ptr() as usize;
    let touched: Vec<usize> = (1..4).map(|page| page * (16 << 20) + 40).collect();
    ring.owner().enable().expect("it can be started");
    touched.iter().for_each(|at| memory[*at] = black_box(7));
    ring.owner().disable().expect("it can be stopped");
    let mut found = Vec::new();
    ring.refresh();
    while let Some(record) = ring.peek() {
        let length = record.len();
        if let Some((_, Record::Sample(Sample { access, .. }))) =
            record::parse(record, true, |of| (of == id).then_some(layout))
        {
            found.push(access);
        }
        ring.consume(length);
    }
    for at in touched {
        let page = (start + at) / PAGE;
        let access = found.iter().find(|access| access.address as usize / PAGE == page);
        // A large page may have been mapped whole before.
        let Some(access) = access else { panic!("{at:#x} of {start:#x} is not among {found:x?}") };
        let source = DataSource::of(access.source);
        assert_eq!((access.cost, source.operation & (bit::LOAD | bit::STORE)), (0, 0), "software knows neither");
    }
}

fn planned(accesses: Vec<EventSpec>) -> Option<Vec<EventGroup>> {
    let target = Target::Processes { pids: vec![std::process::id()], children: false };
    let mut plan = Plan::new(target, Rate::Frequency(99), CallGraph::None);
    plan.events = vec![EventSpec::new("cpu-clock", EventKind::Software(0), Unit::Nanos)];
    plan.accesses = accesses;
    // Refused only where nothing may be sampled.
    let chosen = choose(&plan, Path::new("/")).inspect_err(|error| crate::skips::skip("perf", error));
    chosen.ok().map(|requests| requests.sets)
}

#[test]
fn loads_are_sampled_behind_the_leader_that_their_cpu_needs_and_every_sample_has_an_address() {
    let raw = |config, config1| EventKind::Raw { pmu: 4, config, config1, config2: 0 };
    let access = AccessSampling { leader: Some(raw(0x8203, 0)), cpus: vec![0, 1] };
    let loads = EventSpec { precise: 3, access: Some(access), ..EventSpec::new("loads", raw(0x1cd, 30), Unit::Count) };
    let Some(sets) = planned(vec![loads]) else { return };
    let [clock, loads, .., tasks] = &sets[..] else { panic!("{sets:?}") };
    assert_eq!((loads.roles.as_slice(), loads.cpus.as_slice()), (&[Role::Leads, Role::Event(1)][..], &[0, 1][..]));
    assert!(loads.is_on(1) && !loads.is_on(2) && clock.is_on(2));
    let [leader, member] = &loads.requests[..] else { panic!("{loads:?}") };
    assert_eq!((leader.config, leader.rate, leader.layout.access), ([0x8203, 0, 0], None, false));
    assert_eq!((member.config, member.precise, member.pinned), ([0x1cd, 30, 0], 3, false));
    assert!(member.layout.access && member.rate.is_some());
    let all = [clock, loads, tasks].into_iter().flat_map(|set| &set.requests);
    assert!(all.clone().all(|request| request.layout.address) && all.clone().count() == 4);
    let without = planned(vec![]).expect("it was permitted before");
    assert!(without.iter().flat_map(|set| &set.requests).all(|request| !request.layout.address));
}
