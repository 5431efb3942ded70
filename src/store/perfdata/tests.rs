//! What a perf.data file says of its machine and its events, cut off at any byte or forged, and the order of its records.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use super::attr::{Attr, SMALLEST, sample};
use super::features::{Features, feature};
use super::header::PerfData;
use super::order::Rounds;
use crate::model::CpuTopology;
use proptest::prelude::*;

fn halves(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn words(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// A text as a header has it: its padded length, then itself with zeros.
fn text(text: &str) -> Vec<u8> {
    let length = (text.len() + 1).next_multiple_of(8);
    let mut bytes = halves(&[length as u32]);
    bytes.extend(text.as_bytes());
    bytes.resize(4 + length, 0);
    bytes
}

fn features<'a>(sections: &[(u32, &'a [u8])]) -> Features<'a> {
    Features { sections: sections.iter().copied().collect(), big: false }
}

/// Three CPUs, the second of them not online, on two nodes.
fn topology() -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    let counts = halves(&[3, 2]);
    let mut cpus = halves(&[1]);
    cpus.extend(text("0-2"));
    cpus.extend(halves(&[0]));
    cpus.extend(halves(&[0, 0, u32::MAX, u32::MAX, 1, 1]));
    let mut nodes = halves(&[2]);
    for (node, list) in [(0u32, "0-1"), (7, "2")] {
        nodes.extend(halves(&[node]));
        nodes.extend(words(&[1 << 30, 1 << 29]));
        nodes.extend(text(list));
    }
    (counts, cpus, nodes)
}

#[test]
fn cpus_are_placed_by_core_package_and_node_and_those_not_online_are_left_out() {
    let (counts, cpus, nodes) = topology();
    let of = |sections: &[(u32, &[u8])]| {
        let cpus = features(sections).host().cpus;
        cpus.iter().map(|&CpuTopology { cpu, core, package, node }| (cpu, core, package, node)).collect::<Vec<_>>()
    };
    let all =
        [(feature::NRCPUS, &counts[..]), (feature::CPU_TOPOLOGY, &cpus[..]), (feature::NUMA_TOPOLOGY, &nodes[..])];
    assert_eq!(of(&all), [(0, 0, 0, 0), (2, 1, 1, 7)]);
    assert_eq!(of(&all[..2]), [(0, 0, 0, 0), (2, 1, 1, 0)], "without nodes all are on the first");
    assert_eq!(of(&all[..1]), [], "a number of CPUs says nothing of their cores");
    for length in 0..cpus.len() {
        let cut = [(feature::NRCPUS, &counts[..]), (feature::CPU_TOPOLOGY, &cpus[..length])];
        assert_eq!(of(&cut), [], "half a topology would misplace CPUs: {length} bytes");
    }
    for length in 0..nodes.len() {
        let cut = [all[0], all[1], (feature::NUMA_TOPOLOGY, &nodes[..length])];
        assert_eq!(of(&cut)[0], (0, 0, 0, 0), "nodes cut at {length}");
    }
    let forged = halves(&[u32::MAX, u32::MAX]);
    assert_eq!(of(&[(feature::NRCPUS, &forged), all[1]]), [], "more CPUs than are described");
}

#[test]
fn a_host_is_described_as_far_as_its_sections_go() {
    let (name, kernel, memory) = (text("node\u{1b}[2J"), text(""), words(&[u64::MAX]));
    let host = features(&[
        (feature::HOSTNAME, &name),
        (feature::OSRELEASE, &kernel),
        (feature::ARCH, b"\xff\xff\xff\xff"),
        (feature::TOTAL_MEM, &memory),
    ])
    .host();
    assert_eq!((host.hostname.as_str(), host.kernel.as_str(), host.arch.as_str()), ("node\u{1b}[2J", "", ""));
    assert_eq!(host.memory_bytes, u64::MAX, "kibibytes beyond 64 bits stay at the largest number");
    let empty = features(&[]).host();
    assert_eq!((empty.memory_bytes, empty.cpus.len(), empty.cpu_model.as_str()), (0, 0, ""));
}

#[test]
fn a_command_line_and_a_clock_are_whole_or_absent() {
    let mut line = halves(&[3]);
    for word in ["perf", "record", "a b\n"] {
        line.extend(text(word));
    }
    assert_eq!(features(&[(feature::CMDLINE, &line)]).command_line(), ["perf", "record", "a b\n"]);
    for length in 0..line.len() {
        assert!(features(&[(feature::CMDLINE, &line[..length])]).command_line().is_empty(), "cut at {length}");
    }
    let mut clock = halves(&[1, 1]);
    clock.extend(words(&[1_700_000_000, 55]));
    assert_eq!(features(&[(feature::CLOCK_DATA, &clock)]).clock(), Some((1_700_000_000, 55)));
    for length in 0..clock.len() {
        assert_eq!(features(&[(feature::CLOCK_DATA, &clock[..length])]).clock(), None, "cut at {length}");
    }
}

/// A build-id record: header, process, id of up to 20 bytes, path.
fn build(misc: u16, id: &[u8], path: &str) -> Vec<u8> {
    let size = 8 + 4 + 24 + path.len() + 1;
    let mut record = halves(&[0]);
    record.extend(misc.to_le_bytes());
    record.extend((size as u16).to_le_bytes());
    record.extend(halves(&[u32::MAX]));
    record.extend(id);
    record.resize(8 + 4 + 20, 0);
    record.extend([id.len() as u8, 0, 0, 0]);
    record.extend(path.as_bytes());
    record.push(0);
    record
}

#[test]
fn builds_are_read_up_to_the_first_that_is_broken() {
    const SIZED: u16 = 1 << 15;
    let one = build(SIZED | 2, &[1; 20], "/bin/x");
    let two = build(SIZED | 1, &[2; 16], "[kernel.kallsyms]");
    let of = |bytes: &[u8]| {
        let builds = features(&[(feature::BUILD_ID, bytes)]).builds();
        builds.into_iter().map(|build| (build.path, build.id.0.len(), build.kernel)).collect::<Vec<_>>()
    };
    let both = [&one[..], &two].concat();
    let (first, second) = (("/bin/x".to_string(), 20, false), ("[kernel.kallsyms]".to_string(), 16, true));
    assert_eq!(of(&both), [first.clone(), second.clone()]);
    for length in 0..both.len() {
        let whole = usize::from(length >= one.len());
        assert_eq!(of(&both[..length]).len(), whole, "cut at {length}");
    }
    for (case, size) in [("no size", 0u16), ("a size of its head", 8), ("a size beyond the section", u16::MAX)] {
        let mut broken = both.clone();
        broken[6..8].copy_from_slice(&size.to_le_bytes());
        assert_eq!(of(&broken), [], "{case}: the next record cannot be found");
    }
    let nameless = build(SIZED | 2, &[3; 20], "");
    assert_eq!(of(&[&nameless[..], &two].concat()), [(String::new(), 20, false), second]);
}

#[test]
fn descriptions_and_groups_are_whole_or_absent() {
    let mut section = halves(&[2, SMALLEST as u32]);
    for (config, name, ids) in [(0u64, "cycles:u", &[7u64, 8][..]), (1, "", &[])] {
        let mut attr = halves(&[0, SMALLEST as u32]);
        attr.extend(words(&[config]));
        attr.resize(SMALLEST, 0);
        section.extend(attr);
        section.extend(halves(&[ids.len() as u32]));
        section.extend(text(name));
        section.extend(words(ids));
    }
    let of = |bytes: &[u8]| {
        let found = features(&[(feature::EVENT_DESC, bytes)]).descriptions();
        found.into_iter().map(|event| (event.attr.config, event.name, event.ids)).collect::<Vec<_>>()
    };
    assert_eq!(of(&section), [(0, "cycles:u".to_string(), vec![7, 8]), (1, String::new(), vec![])]);
    for length in 0..section.len() {
        assert_eq!(of(&section[..length]), [], "cut at {length}");
    }
    let mut groups = halves(&[1]);
    groups.extend(text("{a,b}"));
    groups.extend(halves(&[0, 2]));
    assert_eq!(features(&[(feature::GROUP_DESC, &groups)]).groups(), [(0, 2)]);
    assert_eq!(features(&[(feature::GROUP_DESC, &groups[..groups.len() - 1])]).groups(), []);
}

#[test]
fn an_event_says_what_it_excludes_how_it_samples_and_what_samples_carry() {
    let flags = |flags| Attr { flags, ..Attr::default() };
    for (case, bit, expected) in [
        ("user", 4, [true, false, false, false, false]),
        ("kernel", 5, [false, true, false, false, false]),
        ("hypervisor", 6, [false, false, true, false, false]),
        ("guest", 20, [false, false, false, true, false]),
        ("host", 19, [false, false, false, false, true]),
        ("nothing", 0, [false; 5]),
    ] {
        assert_eq!(flags(1 << bit).excludes(), expected, "{case}");
    }
    assert!(flags(1 << 10).is_frequency() && !flags(!(1 << 10)).is_frequency());
    assert_eq!([0u64, 1, 2, 3].map(|precise| flags(precise << 15).precise()), [0, 1, 2, 3]);
    let of = |sample, branches| Attr { sample, branches, ..Attr::default() };
    for (case, attr, [chain, stack, branches, calls]) in [
        ("an address", of(sample::IP, 0), [false; 4]),
        ("a chain", of(sample::CALLCHAIN, 0), [true, false, false, false]),
        ("stack bytes without registers", of(sample::STACK_USER, 0), [false; 4]),
        ("stack bytes and registers", of(sample::STACK_USER | sample::REGS_USER, 0), [false, true, false, false]),
        ("any branches", of(sample::BRANCH_STACK, 1 << 3), [false, false, true, false]),
        ("the hardware's call stack", of(sample::BRANCH_STACK, 1 << 11), [false, false, true, true]),
        ("a call stack that is not sampled", of(0, 1 << 11), [false; 4]),
    ] {
        let found = [attr.has_chain(), attr.has_stack(), attr.has_branches(), attr.has_call_stack()];
        assert_eq!(found, [chain, stack, branches, calls], "{case}");
    }
}

#[test]
fn later_fields_of_a_shorter_structure_are_zero() {
    let mut bytes = vec![0xff; 112];
    bytes[..8].copy_from_slice(&halves(&[4, 112]));
    let whole = Attr::parse(&bytes, false).unwrap();
    assert_eq!((whole.kind, whole.config2, whole.registers, whole.stack_bytes), (4, u64::MAX, u64::MAX, u32::MAX));
    for (length, config2, branches, registers, stack) in [
        (64, false, false, false, false),
        (72, true, false, false, false),
        (80, true, true, false, false),
        (87, true, true, false, false),
        (88, true, true, true, false),
        (92, true, true, true, true),
    ] {
        let attr = Attr::parse(&bytes[..length], false).unwrap();
        let found = (attr.config2 != 0, attr.branches != 0, attr.registers != 0, attr.stack_bytes != 0);
        assert_eq!(found, (config2, branches, registers, stack), "{length} bytes");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_section_makes_a_reader_panic(number in 0..40_u32, bytes in prop::collection::vec(any::<u8>(), 0..200), big in any::<bool>()) {
        let mut features = features(&[(number, &bytes), (feature::NRCPUS, &bytes), (feature::NUMA_TOPOLOGY, &bytes)]);
        features.big = big;
        let host = features.host();
        prop_assert!(host.cpus.len() * 8 <= bytes.len(), "every CPU takes eight bytes");
        let _ = (features.clock(), features.command_line(), features.builds(), features.groups());
        prop_assert!(features.descriptions().len() * SMALLEST <= bytes.len());
    }

    #[test]
    fn rounds_drop_no_record_and_each_release_is_in_order(rounds in prop::collection::vec(prop::collection::vec(0..50_u64, 0..12), 0..8)) {
        let (mut held, mut out, mut added) = (Rounds::default(), Vec::new(), 0);
        for round in &rounds {
            for time in round {
                held.add(*time, (*time, added));
                added += 1;
            }
            let released: Vec<(u64, i32)> = held.finish_round().collect();
            prop_assert!(released.is_sorted(), "by time, then by arrival: {released:?}");
            out.extend(released);
        }
        out.extend(held.finish());
        out.sort_unstable_by_key(|(_, at)| *at);
        let expected: Vec<u64> = rounds.into_iter().flatten().collect();
        prop_assert_eq!(out.into_iter().map(|(time, _)| time).collect::<Vec<_>>(), expected);
    }
}

/// A file of events with one id each, stored as `ids` says, and a name for each of them among the records.
fn many_events(count: u64, ids: impl Fn(u64) -> (u64, u64)) -> Vec<u8> {
    const HEAD: u64 = 104;
    const ENTRY: u64 = SMALLEST as u64 + 16;
    let (list, data) = (HEAD + ENTRY * count, HEAD + (ENTRY + 8) * count);
    let names: Vec<u8> = (0..count)
        .flat_map(|at| {
            let mut record = halves(&[78, 40 << 16]);
            record.extend(words(&[2, at + 1]));
            record.extend(format!("{at:<16}").into_bytes());
            record
        })
        .collect();
    let mut file = b"PERFILE2".to_vec();
    file.extend(words(&[HEAD, ENTRY, HEAD, ENTRY * count, data, names.len() as u64, 0, 0, 0, 0, 0, 0]));
    for at in 0..count {
        file.extend(halves(&[1, SMALLEST as u32]));
        file.extend(words(&[0, 1000, sample::IP, 0, 1 << 18, 0, 0]));
        let (offset, length) = ids(list + 8 * at);
        file.extend(words(&[offset, length]));
    }
    file.extend(words(&(1..=count).collect::<Vec<_>>()));
    file.extend(names);
    file
}

#[test]
fn as_many_events_as_a_file_may_hold_are_named_without_comparing_each_with_each() {
    let file = many_events(65_000, |own| (own, 8));
    let perf = PerfData::parse(&file).unwrap();
    let names = perf.events.iter().map(|event| event.name.as_deref().map(str::trim_end).unwrap_or_default());
    assert!(names.eq((0..65_000).map(|at| at.to_string())), "each has its own");
    assert!(perf.gaps.is_empty(), "{:?}", perf.gaps);
}

#[test]
fn ids_of_forged_events_take_no_more_memory_than_the_file() {
    let length = many_events(4000, |own| (own, 8)).len() as u64;
    let file = many_events(4000, |_| (0, length));
    let perf = PerfData::parse(&file).unwrap();
    let ids: usize = perf.events.iter().map(|event| event.ids.len()).sum();
    assert_eq!((perf.events.len(), ids), (4000, file.len() / 8));
    assert_eq!(perf.gaps, ["the list of events is cut off"]);
}
