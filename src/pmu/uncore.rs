//! The counters outside the cores that say how many bytes the memory controllers and the links between sockets move.
//!
//! Names, scales and encodings: the kernel's sysfs events of `uncore_imc`; perf's metrics `upi_data_transmit_bw` and
//! `umc_mem_bandwidth`; `dram_channel_data_controller_*` of AMD's data fabric (Zen 2 and 3). Other units are not guessed.

use super::{EventSources, terms};
use crate::abi::parse_cpu_list;
use crate::model::EventKind;

/// What a counter counts bytes of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum UncoreTraffic {
    /// Memory read.
    MemoryRead,
    /// Memory written.
    MemoryWritten,
    /// Memory read or written, where the hardware does not tell which.
    Memory,
    /// Data sent from one socket to another.
    SocketLink,
}

/// A counter of a unit outside the cores.
#[derive(Debug, Clone, PartialEq)]
pub struct UncoreCounter {
    /// Its name as perf takes it.
    pub name: String,
    /// What it counts.
    pub traffic: UncoreTraffic,
    /// The kernel encoding.
    pub kind: EventKind,
    /// Bytes for one count.
    pub bytes: f64,
    /// The CPUs to open it on: one for each unit of the machine, usually one a socket.
    pub cpus: Vec<u32>,
}

/// A cache line, which one command to the memory moves.
const LINE: f64 = 64.0;
/// A flit carries a ninth of a line.
const FLIT: f64 = LINE / 9.0;
const MIB: f64 = 1_048_576.0;

/// Names of events, or their beginnings, by what they count: of servers, of clients, of counters that always run.
const READS: [&str; 3] = ["cas_count_read", "data_read", "read"];
const WRITES: [&str; 3] = ["cas_count_write", "data_write", "write"];

/// The counters that this machine's kernel lists, for cores of `uarch`.
#[must_use]
pub fn uncore_counters(sources: &dyn EventSources, uarch: &str) -> Vec<UncoreCounter> {
    let mut pmus = sources.list("");
    pmus.sort();
    let of = |prefix: &str| pmus.iter().filter(|pmu| is_unit(pmu, prefix)).cloned().collect::<Vec<_>>();
    let mut found: Vec<_> = of("uncore_imc").iter().flat_map(|pmu| named(pmu, sources)).collect();
    if found.is_empty() {
        // The same traffic once more on servers, the only counters of it on clients.
        found.extend(of("uncore_imc_free_running").iter().flat_map(|pmu| named(pmu, sources)));
    }
    let raw = |pmu: &str, terms: &str, traffic, bytes| described(pmu, terms, traffic, bytes, sources);
    for pmu in of("uncore_upi") {
        found.extend(raw(&pmu, "event=0x2,umask=0xf", UncoreTraffic::SocketLink, FLIT));
    }
    for pmu in of("amd_umc") {
        found.extend(raw(&pmu, "event=0xa,rdwrmask=0x1", UncoreTraffic::MemoryRead, LINE));
        found.extend(raw(&pmu, "event=0xa,rdwrmask=0x2", UncoreTraffic::MemoryWritten, LINE));
    }
    if ["amd-zen2", "amd-zen3"].contains(&uarch) {
        for channel in 0..8 {
            let terms = format!("event={:#x},umask=0x38", 0x07 + 0x40 * channel);
            found.extend(raw("amd_df", &terms, UncoreTraffic::Memory, LINE));
        }
    }
    found
}

/// Whether `pmu` is `prefix` or `prefix_N`.
fn is_unit(pmu: &str, prefix: &str) -> bool {
    let rest = pmu.strip_prefix(prefix);
    rest.is_some_and(|rest| {
        rest.is_empty() || rest.strip_prefix('_').is_some_and(|number| number.parse::<u32>().is_ok())
    })
}

/// The reads and writes among the events that the kernel names, each with its scale.
fn named(pmu: &str, sources: &dyn EventSources) -> Vec<UncoreCounter> {
    let mut names = terms::event_names(pmu, sources);
    names.sort();
    let counter = |name: &String| {
        let begins = |list: [&str; 3]| list.iter().any(|prefix| name.starts_with(prefix));
        let traffic = match (begins(READS), begins(WRITES)) {
            (true, false) => UncoreTraffic::MemoryRead,
            (false, true) => UncoreTraffic::MemoryWritten,
            _ => return None,
        };
        let unit = sources.read(&format!("{pmu}/events/{name}.unit"));
        let scale = sources.read(&format!("{pmu}/events/{name}.scale")).and_then(|text| text.parse::<f64>().ok());
        let bytes = match (unit.as_deref(), scale) {
            (Some("MiB"), Some(scale)) if scale > 0.0 && scale.is_finite() => scale * MIB,
            (None, None) if name.starts_with("cas_count") => LINE,
            _ => return None,
        };
        described(pmu, name, traffic, bytes, sources)
    };
    names.iter().filter_map(counter).collect()
}

fn described(
    pmu: &str,
    terms: &str,
    traffic: UncoreTraffic,
    bytes: f64,
    sources: &dyn EventSources,
) -> Option<UncoreCounter> {
    let cpus = parse_cpu_list(&sources.read(&format!("{pmu}/cpumask"))?).ok().filter(|cpus| !cpus.is_empty())?;
    let kind = terms::describe(pmu, terms, sources).ok()?.kind;
    Some(UncoreCounter { name: format!("{pmu}/{terms}/"), traffic, kind, bytes, cpus })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pmu::fake::FakeSources;

    /// Name, what it counts, PMU and configuration, bytes for one count, CPUs.
    type Found = (String, UncoreTraffic, [u64; 2], f64, Vec<u32>);

    fn found(sources: &FakeSources, uarch: &str) -> Vec<Found> {
        let parts = |it: UncoreCounter| {
            let EventKind::Raw { pmu, config, .. } = it.kind else { panic!("{it:?}") };
            (it.name, it.traffic, [u64::from(pmu), config], it.bytes, it.cpus)
        };
        uncore_counters(sources, uarch).into_iter().map(parts).collect()
    }

    #[test]
    fn an_intel_server_counts_commands_to_the_memory_and_flits_between_sockets_once() {
        use UncoreTraffic::{MemoryRead, MemoryWritten, SocketLink};
        let server = FakeSources(&[
            ("uncore_imc_0/type", "14"),
            ("uncore_imc_0/cpumask", "0,18"),
            ("uncore_imc_0/format/event", "config:0-7"),
            ("uncore_imc_0/format/umask", "config:8-15"),
            ("uncore_imc_0/events/clockticks", "event=0x00,umask=0x00"),
            ("uncore_imc_0/events/cas_count_read", "event=0x04,umask=0x03"),
            ("uncore_imc_0/events/cas_count_read.scale", "6.103515625e-5"),
            ("uncore_imc_0/events/cas_count_read.unit", "MiB"),
            ("uncore_imc_0/events/cas_count_write", "event=0x04,umask=0x0c"),
            ("uncore_imc_free_running_0/type", "15"),
            ("uncore_imc_free_running_0/cpumask", "0,18"),
            ("uncore_imc_free_running_0/events/read", "event=0xff,umask=0x20"),
            ("uncore_upi_0/type", "16"),
            ("uncore_upi_0/cpumask", "0,18"),
            ("uncore_upi_0/format/event", "config:0-7"),
            ("uncore_upi_0/format/umask", "config:8-15,32-55"),
            // Not a unit that is known.
            ("uncore_imc_fancy/type", "17"),
        ]);
        let both = vec![0, 18];
        assert_eq!(
            found(&server, "intel-icx"),
            [
                ("uncore_imc_0/cas_count_read/".into(), MemoryRead, [14, 0x304], 64.0, both.clone()),
                ("uncore_imc_0/cas_count_write/".into(), MemoryWritten, [14, 0xc04], 64.0, both.clone()),
                ("uncore_upi_0/event=0x2,umask=0xf/".into(), SocketLink, [16, 0xf02], 64.0 / 9.0, both),
            ]
        );
    }

    #[test]
    fn a_client_has_counters_that_always_run_and_each_needs_a_known_unit() {
        let client = FakeSources(&[
            ("uncore_imc_free_running_0/type", "20"),
            ("uncore_imc_free_running_0/cpumask", "0"),
            ("uncore_imc_free_running_0/format/event", "config:0-7"),
            ("uncore_imc_free_running_0/format/umask", "config:8-15"),
            ("uncore_imc_free_running_0/events/data_total", "event=0xff,umask=0x10"),
            ("uncore_imc_free_running_0/events/data_read", "event=0xff,umask=0x20"),
            ("uncore_imc_free_running_0/events/data_read.scale", "6.103515625e-5"),
            ("uncore_imc_free_running_0/events/data_read.unit", "MiB"),
            ("uncore_imc_free_running_0/events/data_write", "event=0xff,umask=0x30"),
            ("uncore_imc_free_running_0/events/data_write.scale", "1"),
            ("uncore_imc_free_running_0/events/data_write.unit", "Joules"),
        ]);
        let names: Vec<_> = found(&client, "intel-adl").into_iter().map(|it| it.0).collect();
        assert_eq!(names, ["uncore_imc_free_running_0/data_read/"]);
    }

    #[test]
    fn amd_counts_at_its_memory_controllers_and_before_them_in_the_data_fabric() {
        let zen = FakeSources(&[
            ("amd_df/type", "11"),
            ("amd_df/cpumask", "0,64"),
            ("amd_df/format/event", "config:0-7,32-35,59-60"),
            ("amd_df/format/umask", "config:8-15"),
            ("amd_umc_0/type", "22"),
            ("amd_umc_0/cpumask", "0"),
            ("amd_umc_0/format/event", "config:0-7"),
            ("amd_umc_0/format/rdwrmask", "config:8-9"),
        ]);
        let zen4 = found(&zen, "amd-zen4");
        let kinds: Vec<_> = zen4.iter().map(|it| (it.1, it.2, it.3)).collect();
        assert_eq!(
            kinds,
            [(UncoreTraffic::MemoryRead, [22, 0x10a], 64.0), (UncoreTraffic::MemoryWritten, [22, 0x20a], 64.0)]
        );
        let fabric: Vec<_> = found(&zen, "amd-zen3").into_iter().filter(|it| it.2[0] == 11).collect();
        let configs: Vec<_> = fabric.iter().map(|it| it.2[1]).collect();
        assert_eq!(configs[..2], [0x3807, 0x3847]);
        assert_eq!(configs[4], 0x1_0000_3807, "the high bits of the event lie apart");
        assert!(fabric.iter().all(|it| it.1 == UncoreTraffic::Memory && it.4 == [0, 64]), "{fabric:?}");
        assert_eq!(fabric.len(), 8);
    }

    #[test]
    fn where_nothing_is_listed_or_no_cpu_is_named_nothing_is_counted() {
        let bare = FakeSources(&[("software/type", "1"), ("uncore_upi_0/type", "16")]);
        assert_eq!(found(&bare, "generic"), []);
    }
}
