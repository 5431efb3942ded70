//! Parses the header's sections about the machine, the command and the events.
//! An invalid section counts as absent.

use super::attr::{self, Attr};
use super::simpleperf::{self, RecordedSymbols};
use crate::abi::{Cursor, parse_cpu_list};
use crate::model::{BuildId, CpuTopology, HostFacts};
use rustc_hash::FxHashMap;

/// Numbers of the sections (`HEADER_*`).
pub(super) mod feature {
    pub const TRACING_DATA: u32 = 1;
    pub const BUILD_ID: u32 = 2;
    pub const HOSTNAME: u32 = 3;
    pub const OSRELEASE: u32 = 4;
    pub const ARCH: u32 = 6;
    pub const NRCPUS: u32 = 7;
    pub const CPUDESC: u32 = 8;
    pub const CPUID: u32 = 9;
    pub const TOTAL_MEM: u32 = 10;
    pub const CMDLINE: u32 = 11;
    pub const EVENT_DESC: u32 = 12;
    pub const CPU_TOPOLOGY: u32 = 13;
    pub const NUMA_TOPOLOGY: u32 = 14;
    pub const GROUP_DESC: u32 = 17;
    pub const DIR_FORMAT: u32 = 24;
    pub const CLOCK_DATA: u32 = 29;
    /// Number of bits for sections in the header.
    pub const MOST: u32 = 256;
}

/// An event as the header describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EventDesc {
    pub attr: Attr,
    pub name: String,
    pub ids: Vec<u64>,
}

/// A binary that samples fell into, with its build-id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Build {
    /// Its path, as mapped; the kernel's may be that of a symbol file.
    pub path: String,
    /// The build-id.
    pub id: BuildId,
    /// Whether it is the kernel or a module of it.
    pub kernel: bool,
}

/// The sections by number.
#[derive(Debug, Clone, Default)]
pub struct Features<'a> {
    pub(super) sections: FxHashMap<u32, &'a [u8]>,
    pub(super) big: bool,
}

impl<'a> Features<'a> {
    fn section(&self, feature: u32) -> Option<Cursor<'a>> {
        self.sections.get(&feature).map(|bytes| Cursor::new(bytes, self.big))
    }

    fn text(&self, feature: u32) -> String {
        self.section(feature).and_then(|mut section| section.text()).unwrap_or_default().into_owned()
    }

    /// The machine, as far as described.
    #[must_use]
    pub fn host(&self) -> HostFacts {
        HostFacts {
            hostname: self.text(feature::HOSTNAME),
            kernel: self.text(feature::OSRELEASE),
            arch: self.text(feature::ARCH),
            cpu_model: self.text(feature::CPUDESC),
            cpuid: Some(self.text(feature::CPUID)).filter(|text| !text.is_empty()),
            cpus: self.topology(),
            memory_bytes: self.memory(),
            virtual_machine: false,
            governor: None,
            stolen_in_cpu_time: None,
            ..HostFacts::default()
        }
    }

    /// The command line of the `perf record` that made the file.
    #[must_use]
    pub fn command_line(&self) -> Vec<String> {
        let words = self.section(feature::CMDLINE).and_then(|mut section| section.texts());
        words.unwrap_or_default().into_iter().map(|word| word.into_owned()).collect()
    }

    /// The wall clock, nanoseconds since the Unix epoch, and the recording's clock at the same moment.
    #[must_use]
    pub fn clock(&self) -> Option<(u64, u64)> {
        let mut section = self.section(feature::CLOCK_DATA)?;
        // Version and clock.
        section.skip(8)?;
        Some((section.u64()?, section.u64()?))
    }

    /// The symbols that simpleperf stored.
    #[must_use]
    pub fn symbols(&self) -> RecordedSymbols {
        let mut symbols = RecordedSymbols::default();
        for (number, messages) in [(simpleperf::feature::FILE, false), (simpleperf::feature::FILE2, true)] {
            symbols.read(self.sections.get(&number).copied().unwrap_or_default(), messages);
        }
        symbols
    }

    /// The binaries that samples fell into.
    #[must_use]
    pub fn builds(&self) -> Vec<Build> {
        let mut found = Vec::new();
        let Some(mut section) = self.section(feature::BUILD_ID) else { return found };
        let mut next = || {
            let mut head = section;
            head.skip(4)?;
            let (misc, size) = (head.u16()?, usize::from(head.u16()?));
            let record = section.take(size)?;
            build(misc, record.get(8..)?, self.big)
        };
        found.extend(std::iter::from_fn(&mut next));
        found
    }

    pub(super) fn descriptions(&self) -> Vec<EventDesc> {
        self.section(feature::EVENT_DESC).and_then(|section| descriptions(section, self.big)).unwrap_or_default()
    }

    /// First member and number of members of each event group.
    pub(super) fn groups(&self) -> Vec<(u32, u32)> {
        let parse = |mut section: Cursor<'_>| {
            let count = section.u32()?;
            let group = |_| {
                section.text()?;
                Some((section.u32()?, section.u32()?))
            };
            (0..count).map(group).collect::<Option<Vec<_>>>()
        };
        self.section(feature::GROUP_DESC).and_then(parse).unwrap_or_default()
    }

    fn memory(&self) -> u64 {
        let kibibytes = self.section(feature::TOTAL_MEM).and_then(|mut section| section.u64());
        kibibytes.unwrap_or_default().saturating_mul(1024)
    }

    fn topology(&self) -> Vec<CpuTopology> {
        let (Some(mut section), Some(mut counts)) =
            (self.section(feature::CPU_TOPOLOGY), self.section(feature::NRCPUS))
        else {
            return Vec::new();
        };
        let nodes = self.nodes();
        let mut parse = || {
            let available = counts.u32()?;
            section.texts()?;
            section.texts()?;
            let place = |cpu| {
                let (core, package) = (section.u32()?, section.u32()?);
                let node = nodes.get(&cpu).copied().unwrap_or_default();
                // A CPU that is not online has -1 in both.
                Some((core != u32::MAX).then_some(CpuTopology { cpu, core, package, node }))
            };
            (0..available).map(place).collect::<Option<Vec<_>>>()
        };
        parse().unwrap_or_default().into_iter().flatten().collect()
    }

    fn nodes(&self) -> FxHashMap<u32, u32> {
        let mut nodes = FxHashMap::default();
        let Some(mut section) = self.section(feature::NUMA_TOPOLOGY) else { return nodes };
        let mut parse = || {
            for _ in 0..section.u32()? {
                let node = section.u32()?;
                section.skip(16)?;
                let cpus = parse_cpu_list(&section.text()?).unwrap_or_default();
                nodes.extend(cpus.into_iter().map(|cpu| (cpu, node)));
            }
            Some(())
        };
        // Everything read before the section ended is valid.
        let _ = parse();
        nodes
    }
}

/// Parses a build-id record: process, build-id of up to 20 bytes, path.
pub(super) fn build(misc: u16, body: &[u8], big: bool) -> Option<Build> {
    /// `PERF_RECORD_MISC_BUILD_ID_SIZE`: the build-id's length follows it.
    const SIZED: u16 = 1 << 15;
    let mut body = Cursor::new(body, big);
    body.skip(4)?;
    let (bytes, length) = (body.take(20)?, usize::from(body.u8()?));
    body.skip(3)?;
    // Older files omit the length; the zeros after a shorter build-id are not part of it.
    let unsized_length = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1).next_multiple_of(4);
    let id = bytes.get(..if misc & SIZED != 0 { length } else { unsized_length })?;
    let path = String::from_utf8_lossy(body.name()).into_owned();
    let kernel = matches!(misc & 7, 1 | 4);
    (!id.is_empty()).then(|| Build { path, id: BuildId(id.to_vec()), kernel })
}

fn descriptions(mut section: Cursor<'_>, big: bool) -> Option<Vec<EventDesc>> {
    let (count, size) = (section.u32()?, section.u32()? as usize);
    if size < attr::SMALLEST {
        return None;
    }
    let event = |_| {
        let attr = Attr::parse(section.take(size)?, big)?;
        let ids = section.u32()?;
        let name = section.text()?.into_owned();
        let ids = section.take_counted(u64::from(ids) * 8)?;
        Some(EventDesc { attr, name, ids: Cursor::new(ids, big).words().iter().collect() })
    };
    (0..count).map(event).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn features(number: u32, bytes: &[u8]) -> Features<'_> {
        Features { sections: std::iter::once((number, bytes)).collect(), big: false }
    }

    fn text(text: &str) -> Vec<u8> {
        let mut bytes = 64u32.to_le_bytes().to_vec();
        bytes.extend(text.as_bytes());
        bytes.resize(68, 0);
        bytes
    }

    #[test]
    fn a_build_is_as_long_as_stated_or_as_its_zeros_tell() {
        let record = |misc: u16, length: u8| {
            let mut body = 0u32.to_le_bytes().to_vec();
            body.extend([7; 8]);
            body.extend([0; 12]);
            body.extend([length, 0, 0, 0]);
            body.extend(b"/bin/x\0\0");
            build(misc, &body, false).map(|build| (build.id.0.len(), build.path, build.kernel))
        };
        assert_eq!(record(2, 0), Some((8, "/bin/x".into(), false)));
        assert_eq!(record(1 << 15 | 1, 16), Some((16, "/bin/x".into(), true)));
        assert_eq!(record(1 << 15, 99), None);
    }

    #[test]
    fn sections_that_make_no_sense_say_nothing() {
        assert_eq!(features(feature::HOSTNAME, &text("node7")).host().hostname, "node7");
        assert_eq!(features(feature::HOSTNAME, &text("node7")[..20]).host().hostname, "");
        let counts = [0xff; 16];
        let hostile = features(feature::EVENT_DESC, &counts);
        assert!(hostile.descriptions().is_empty() && hostile.groups().is_empty() && hostile.builds().is_empty());
        assert!(features(feature::GROUP_DESC, &counts).groups().is_empty());
        assert!(features(feature::CMDLINE, &counts).command_line().is_empty());
    }
}
