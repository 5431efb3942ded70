//! Parses the head of a perf.data file or pipe: its events, its sections, and where its records lie.
//! Missing parts that are not essential are reported as gaps.

use super::attr::{self, Attr};
use super::features::{Build, Features, build, feature};
use super::stream::{Stream, own};
use super::tracing::tracepoints;
use crate::abi::Cursor;
use crate::abi::perf::kind;
use crate::error::{Error, ErrorKind, Result};
use crate::model::limits::PERF_EVENTS;
use rustc_hash::FxHashMap;

/// An event of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PerfEvent {
    /// The attributes it was opened with.
    pub attr: Attr,
    /// Its ids, one per CPU or thread.
    pub ids: Vec<u64>,
    /// Its name in `perf record`; `None` if the file does not contain it.
    pub name: Option<String>,
    /// The group it was scheduled in, if that has several members.
    pub group: Option<u16>,
}

/// A perf.data file whose head has been parsed.
#[derive(Debug)]
pub struct PerfData<'a> {
    /// Its events; never empty.
    pub events: Vec<PerfEvent>,
    /// Sections about the machine and the command.
    pub features: Features<'a>,
    /// The binaries that samples fell into, from all places in the file.
    pub builds: Vec<Build>,
    /// Parts of the file that could not be read, in sentences.
    pub gaps: Vec<String>,
    pub(super) big: bool,
    piped: bool,
    data: &'a [u8],
    data_at: usize,
    by_id: FxHashMap<u64, usize>,
}

impl<'a> PerfData<'a> {
    /// Whether these bytes are written by perf, in any version of the format.
    #[must_use]
    pub fn is_one(bytes: &[u8]) -> bool {
        [b"PERFILE2", b"2ELIFREP", b"PERFFILE"].iter().any(|magic| bytes.starts_with(*magic))
    }

    /// Parses the head.
    ///
    /// # Errors
    /// `Corrupt` where not even the events can be read; `Unsupported` for the format before Linux 2.6.36.
    pub fn parse(bytes: &'a [u8]) -> Result<PerfData<'a>> {
        let big = match bytes.get(..8) {
            Some(b"PERFILE2") => false,
            Some(b"2ELIFREP") => true,
            Some(b"PERFFILE") => {
                return Err(Error::new(ErrorKind::Unsupported, "the file is of perf's first format, of before 2010"));
            }
            _ => return Err(Error::new(ErrorKind::Corrupt, "not a perf.data file")),
        };
        let mut perf = PerfData {
            events: Vec::new(),
            features: Features { big, ..Features::default() },
            builds: Vec::new(),
            gaps: Vec::new(),
            big,
            piped: false,
            data: &[],
            data_at: 0,
            by_id: FxHashMap::default(),
        };
        perf.read(bytes).ok_or_else(|| Error::new(ErrorKind::Corrupt, "the file ends within its header"))?;
        perf.declared();
        perf.described();
        if perf.events.is_empty() {
            return Err(Error::new(ErrorKind::Corrupt, "the file names no event, so its samples cannot be read"));
        }
        Ok(perf)
    }

    pub(super) fn stream(&self) -> Stream<'a> {
        Stream::new(self.data, self.data_at, self.big, self.piped)
    }

    /// The index of a record's event; `None` if its id is unknown.
    pub(super) fn event_of(&self, record: u32, body: &[u8]) -> Option<usize> {
        let first = self.events.first().filter(|_| self.events.len() > 1).map(|event| &event.attr);
        let Some(first) = first else { return Some(0) };
        let at = if record == kind::SAMPLE {
            first.id_in_sample()
        } else {
            first.id_from_end().and_then(|back| body.len().checked_sub(back))
        };
        let Some(at) = at else { return Some(0) };
        let id = Cursor::new(body.get(at..)?, self.big).u64()?;
        // Records synthesized by perf have no id.
        if id == 0 { Some(0) } else { self.event_by_id(id) }
    }

    /// Whether its records are those of several threads, one after the other: no round is over before all are read.
    pub(super) fn is_of_threads(&self) -> bool {
        self.features.sections.contains_key(&feature::DIR_FORMAT)
    }

    /// The index of the event with that id.
    #[must_use]
    pub fn event_by_id(&self, id: u64) -> Option<usize> {
        self.by_id.get(&id).copied()
    }

    fn read(&mut self, bytes: &'a [u8]) -> Option<()> {
        let mut head = Cursor::new(bytes, self.big);
        head.skip(8)?;
        let size = usize::try_from(head.u64()?).ok()?;
        /// Magic and size: the whole head of a pipe.
        const PIPE: usize = 16;
        if size == PIPE {
            self.piped = true;
            (self.data, self.data_at) = (bytes.get(PIPE..)?, PIPE);
            return Some(());
        }
        let attr_size = usize::try_from(head.u64()?).ok()?;
        let mut section = || Some((usize::try_from(head.u64()?).ok()?, usize::try_from(head.u64()?).ok()?));
        let (attrs, data, _types) = (section()?, section()?, section()?);
        let bits = feature_bits(head, self.big)?;
        self.read_attrs(bytes, attrs, attr_size);
        self.read_data(bytes, data);
        self.read_features(bytes, data, bits);
        Some(())
    }

    fn read_attrs(&mut self, bytes: &'a [u8], (at, length): (usize, usize), size: usize) {
        let cut = || "the list of events is cut off".to_string();
        let section = bytes.get(at..).unwrap_or_default();
        if section.len() < length || size < attr::SMALLEST + 16 {
            self.gaps.push(cut());
        }
        let section = section.get(..length).unwrap_or(section);
        // Every id lies in the file once, so more of them than fit into it are forged.
        let mut left = bytes.len();
        let mut whole = true;
        for entry in section.chunks_exact(size.max(attr::SMALLEST + 16)).take(PERF_EVENTS) {
            let (fields, ids) = entry.split_at(entry.len() - 16);
            let mut ids = Cursor::new(ids, self.big);
            let place = ids.u64().and_then(|at| Some((usize::try_from(at).ok()?, usize::try_from(ids.u64()?).ok()?)));
            let list = place.and_then(|(at, length)| bytes.get(at..at.checked_add(length)?));
            let list = list.filter(|list| left.checked_sub(list.len()).map(|rest| left = rest).is_some());
            whole &= list.is_some();
            let ids = Cursor::new(list.unwrap_or_default(), self.big).words().iter().collect();
            // The entry may be longer than the structure it holds, never shorter.
            self.events.extend(Attr::parse(fields, self.big).map(|attr| PerfEvent {
                attr,
                ids,
                ..PerfEvent::default()
            }));
        }
        if !whole && self.gaps.is_empty() {
            self.gaps.push(cut());
        }
    }

    fn read_data(&mut self, bytes: &'a [u8], (at, length): (usize, usize)) {
        let there = bytes.get(at..).unwrap_or_default();
        self.data_at = at;
        if length == 0 && !there.is_empty() {
            // perf writes the length when it ends; a killed one leaves 0.
            self.gaps.push("perf record did not end properly: the file does not describe the machine".into());
            self.data = there;
            return;
        }
        if there.len() < length {
            self.gaps.push(format!(
                "the file is cut off: {} of {length} bytes of records are missing",
                length - there.len()
            ));
        }
        self.data = there.get(..length).unwrap_or(there);
    }

    /// Reads the table after the data: the position of each section whose bit is set in the head.
    fn read_features(&mut self, bytes: &'a [u8], (at, length): (usize, usize), bits: [u64; 4]) {
        if length == 0 {
            return;
        }
        let table = at.checked_add(length).and_then(|at| bytes.get(at..)).unwrap_or_default();
        let mut table = Cursor::new(table, self.big);
        let wanted = (0..feature::MOST).filter(|number| bits[*number as usize / 64] >> (number % 64) & 1 == 1);
        let mut missing = 0;
        for number in wanted {
            let mut place = || Some((usize::try_from(table.u64()?).ok()?, usize::try_from(table.u64()?).ok()?));
            match place().and_then(|(at, length)| bytes.get(at..at.checked_add(length)?)) {
                Some(section) => drop(self.features.sections.insert(number, section)),
                None => missing += 1,
            }
        }
        if missing > 0 {
            self.gaps.push(format!("{missing} sections about the machine and the events are cut off"));
        }
        self.builds = self.features.builds();
    }

    /// Reads declarations among the records instead of in the head: in a pipe, that is everything.
    fn declared(&mut self) {
        let (mut stream, mut names) = (self.stream(), Vec::new());
        while let Some(raw) = stream.next_outer() {
            // Borrowed for as long as the file, because nothing was unpacked.
            let std::borrow::Cow::Borrowed(body) = raw.body else { continue };
            let mut cursor = Cursor::new(body, self.big);
            match raw.kind {
                own::ATTR if self.piped && self.events.len() < PERF_EVENTS => {
                    self.events.extend(piped_event(body, self.big))
                }
                own::FEATURE => {
                    if let Some(number) = cursor.u64().and_then(|number| u32::try_from(number).ok()) {
                        self.features.sections.insert(number, cursor.rest());
                    }
                }
                // As in a file, where the section of that number holds it.
                own::TRACING_DATA if self.piped => {
                    self.features.sections.insert(feature::TRACING_DATA, stream.behind_last());
                }
                own::BUILD_ID => self.builds.extend(build(raw.misc, body, self.big)),
                own::EVENT_UPDATE => {
                    /// `PERF_EVENT_UPDATE__NAME`.
                    const NAME: u64 = 2;
                    let named = cursor.u64().filter(|kind| *kind == NAME).and_then(|_| cursor.u64());
                    names.extend(named.map(|id| (id, String::from_utf8_lossy(cursor.name()).into_owned())));
                }
                _ => {}
            }
        }
        if self.piped {
            self.builds.extend(self.features.builds());
        }
        let first = first_by_id(self.events.iter().map(|event| &event.ids));
        for (id, name) in names {
            if let Some(event) = first.get(&id).and_then(|at| self.events.get_mut(*at)) {
                event.name = Some(name);
            }
        }
    }

    /// Names the tracepoints that nothing else names.
    fn name_tracepoints(&mut self) {
        let nameless = |event: &&mut PerfEvent| event.attr.kind == TRACEPOINT && event.name.is_none();
        let Some(data) = self.features.sections.get(&feature::TRACING_DATA) else { return };
        if self.events.iter_mut().any(|event| nameless(&event)) {
            let names = tracepoints(data);
            let events = self.events.iter_mut().filter(nameless);
            events.for_each(|event| event.name = names.get(&event.attr.config).cloned());
        }
    }

    /// Adds names and groups, which the head stores apart from the events.
    fn described(&mut self) {
        let descriptions = self.features.descriptions();
        let in_order = descriptions.len() == self.events.len();
        let first = first_by_id(descriptions.iter().map(|known| &known.ids));
        for (at, event) in self.events.iter_mut().enumerate() {
            let found = event.ids.iter().filter_map(|id| first.get(id)).min();
            let found = found.copied().or(in_order.then_some(at)).and_then(|at| descriptions.get(at));
            event.name = found.map(|known| known.name.clone()).filter(|name| !name.is_empty()).or(event.name.take());
            if let (true, Some(found)) = (event.ids.is_empty(), found) {
                event.ids.clone_from(&found.ids);
            }
        }
        self.name_tracepoints();
        for (number, (first, members)) in
            (0..).zip(self.features.groups().into_iter().filter(|(_, members)| *members > 1))
        {
            let members = self.events.iter_mut().skip(first as usize).take(members as usize);
            members.for_each(|event| event.group = Some(number));
        }
        let numbered = self.events.iter().enumerate();
        self.by_id = numbered.flat_map(|(at, event)| event.ids.iter().map(move |id| (*id, at))).collect();
    }
}

/// `PERF_TYPE_TRACEPOINT`.
const TRACEPOINT: u32 = 2;

/// The position of the first list that contains an id.
fn first_by_id<'a>(lists: impl Iterator<Item = &'a Vec<u64>>) -> FxHashMap<u64, usize> {
    let mut first = FxHashMap::default();
    for (at, ids) in lists.enumerate() {
        for id in ids {
            first.entry(*id).or_insert(at);
        }
    }
    first
}

/// An event in a pipe: its attributes, which contain their length, and its ids.
fn piped_event(body: &[u8], big: bool) -> Option<PerfEvent> {
    let mut size = Cursor::new(body, big);
    size.skip(4)?;
    // The first version had no length field.
    let size = Some(size.u32()? as usize).filter(|size| *size > 0).unwrap_or(attr::SMALLEST);
    let (fields, ids) = body.split_at_checked(size)?;
    let attr = Attr::parse(fields, big)?;
    Some(PerfEvent { attr, ids: Cursor::new(ids, big).words().iter().collect(), ..PerfEvent::default() })
}

/// Reads 256 bits, stored as the machine's `long`s: on a big-endian 32-bit machine their halves are swapped. The
/// section of the host name is always present, which reveals the order.
fn feature_bits(mut head: Cursor<'_>, big: bool) -> Option<[u64; 4]> {
    let mut bits = [head.u64()?, head.u64()?, head.u64()?, head.u64()?];
    if big && bits[0] >> feature::HOSTNAME & 1 == 0 {
        bits = bits.map(|word| word.rotate_left(32));
    }
    Some(bits)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::super::attr::sample;
    use super::super::record::RecordBody;
    use super::*;

    /// A file of two events with one sample each, a name and a host name, in either order of bytes.
    struct Fake {
        bytes: Vec<u8>,
        big: bool,
    }

    /// Lengths of the parts of the fake.
    const HEAD: u64 = 104;
    const ENTRY: u64 = 112 + 16;
    const IDS: u64 = HEAD + 2 * ENTRY;
    const DATA: u64 = IDS + 16;

    impl Fake {
        fn words(&mut self, words: &[u64]) {
            for word in words {
                self.bytes.extend(if self.big { word.to_be_bytes() } else { word.to_le_bytes() });
            }
        }

        fn halves(&mut self, halves: &[u32]) {
            for half in halves {
                self.bytes.extend(if self.big { half.to_be_bytes() } else { half.to_le_bytes() });
            }
        }

        fn record(&mut self, kind: u32, misc: u16, body: &[u64]) {
            let size = body.len() as u16 * 8 + 8;
            self.halves(&[kind]);
            let halves = if self.big {
                u32::from(misc) << 16 | u32::from(size)
            } else {
                u32::from(size) << 16 | u32::from(misc)
            };
            self.halves(&[halves]);
            self.words(body);
        }

        fn records(&mut self) {
            // Out of order, within one round.
            self.record(kind::SAMPLE, 2, &[71, 0x2000, 20]);
            self.record(kind::SAMPLE, 1, &[70, 0x1000, 10]);
            self.record(kind::SAMPLE, 1, &[99, 0x1000, 15]);
            self.record(own::FINISHED_ROUND, 0, &[]);
        }

        fn attr(&mut self, config: u64) {
            let flags = 1u64 << 18;
            self.halves(&[0, 112]);
            let flags = if self.big { flags.reverse_bits() } else { flags };
            let fields = sample::IP | sample::TIME | sample::IDENTIFIER;
            self.words(&[config, 1000, fields, 0, flags]);
            self.words(&[0; 8]);
        }

        fn file(big: bool, stated: Option<u64>) -> Vec<u8> {
            let mut data = Fake { bytes: vec![], big };
            data.records();
            let length = data.bytes.len() as u64;
            let mut fake = Fake { bytes: if big { b"2ELIFREP" } else { b"PERFILE2" }.to_vec(), big };
            fake.words(&[
                HEAD,
                ENTRY,
                HEAD,
                2 * ENTRY,
                DATA,
                stated.unwrap_or(length),
                0,
                0,
                1 << feature::HOSTNAME,
                0,
                0,
                0,
            ]);
            for (at, config) in [(0, 0), (1, 1)] {
                fake.attr(config);
                fake.words(&[IDS + at * 8, 8]);
            }
            fake.words(&[70, 71]);
            fake.bytes.extend(&data.bytes);
            fake.words(&[DATA + length + 16, 12]);
            fake.halves(&[8]);
            fake.bytes.extend(b"node7\0\0\0");
            fake.bytes
        }

        fn pipe(big: bool) -> Vec<u8> {
            let mut fake = Fake { bytes: if big { b"2ELIFREP" } else { b"PERFILE2" }.to_vec(), big };
            fake.words(&[16]);
            for (config, id) in [(0, 70), (1, 71)] {
                let mut attr = Fake { bytes: vec![], big };
                attr.attr(config);
                let mut words: Vec<u64> = crate::abi::Words::new(&attr.bytes, big).iter().collect();
                words.push(id);
                fake.record(own::ATTR, 0, &words);
            }
            fake.records();
            fake.bytes
        }
    }

    /// Event and address of each sample.
    fn samples(perf: &PerfData<'_>) -> Vec<(usize, u64)> {
        let mut records = perf.records();
        let found = records.by_ref().filter_map(|record| match perf.read_record(&record)? {
            RecordBody::Sample(sample) => Some((record.event, sample.ip?)),
            _ => None,
        });
        let found = found.collect();
        assert_eq!(records.left_out().unknown_event, 1, "number 99 is nobody's");
        found
    }

    #[test]
    fn files_and_pipes_of_both_orders_of_bytes_hold_the_same() {
        for big in [false, true] {
            for bytes in [Fake::file(big, None), Fake::pipe(big)] {
                let perf = PerfData::parse(&bytes).unwrap();
                assert_eq!(samples(&perf), [(0, 0x1000), (1, 0x2000)]);
                assert!(perf.gaps.is_empty(), "{:?}", perf.gaps);
            }
            let bytes = Fake::file(big, None);
            assert_eq!(PerfData::parse(&bytes).unwrap().features.host().hostname, "node7");
        }
    }

    #[test]
    fn the_files_of_a_directory_are_read_as_one() {
        for big in [false, true] {
            let head = Fake::file(big, None);
            let mut part = Fake { bytes: vec![], big };
            part.record(kind::SAMPLE, 1, &[70, 0x3000, 5]);
            part.record(own::FINISHED_ROUND, 0, &[]);
            let bytes = super::super::joined(&head, &[part.bytes.clone(), part.bytes]).unwrap();
            let perf = PerfData::parse(&bytes).unwrap();
            let found = samples(&perf);
            assert_eq!(found.len(), 4, "{found:?}");
            assert_eq!((perf.features.host().hostname.as_str(), perf.gaps.len()), ("node7", 0));
            assert!(super::super::joined(&head[..60], &[]).is_none());
        }
    }

    #[test]
    fn a_pipe_names_its_tracepoints_by_the_tracing_files_in_it() {
        let mut attr = Fake { bytes: vec![], big: false };
        attr.attr(316);
        attr.bytes[0] = 2;
        let mut words: Vec<u64> = crate::abi::Words::new(&attr.bytes, false).iter().collect();
        words.push(70);
        let mut pipe = Fake { bytes: b"PERFILE2".to_vec(), big: false };
        pipe.words(&[16]);
        pipe.record(own::ATTR, 0, &words);
        let data = super::super::tracing::fake::data();
        let padded = data.len().next_multiple_of(8);
        pipe.bytes.extend(super::super::stream::fake::record(own::TRACING_DATA, 0, &(padded as u32).to_le_bytes()));
        pipe.bytes.extend(&data);
        pipe.bytes.resize(pipe.bytes.len() + padded - data.len(), 0);
        pipe.records();
        let perf = PerfData::parse(&pipe.bytes).unwrap();
        assert_eq!(perf.events[0].name.as_deref(), Some("sched:sched_switch"));
        assert!(perf.gaps.is_empty(), "{:?}", perf.gaps);
    }

    #[test]
    fn a_file_that_was_not_finished_or_is_cut_off_says_so() {
        let unfinished = Fake::file(false, Some(0));
        let unfinished = &unfinished[..unfinished.len() - 28];
        let perf = PerfData::parse(unfinished).unwrap();
        assert_eq!(samples(&perf).len(), 2);
        assert!(perf.gaps[0].contains("did not end properly"), "{:?}", perf.gaps);
        let whole = Fake::file(false, None);
        let cut = &whole[..whole.len() - 40];
        let gaps = PerfData::parse(cut).unwrap().gaps;
        assert!(gaps.iter().any(|gap| gap.contains("bytes of records are missing")), "{gaps:?}");
        assert!(gaps.iter().any(|gap| gap.contains("sections about the machine")), "{gaps:?}");
        for length in 0..IDS as usize {
            // Without events nothing can be read; with one of the two, something can.
            let parsed = PerfData::parse(&whole[..length]);
            assert_eq!(parsed.is_ok(), length >= (HEAD + ENTRY) as usize, "{length} bytes");
        }
    }

    #[test]
    fn the_features_of_a_32_bit_big_endian_machine_are_found() {
        let bits = 1u64 << feature::HOSTNAME | 1 << feature::ARCH;
        let mut fake = Fake { bytes: vec![], big: true };
        fake.words(&[bits.rotate_left(32), 0, 0, 0]);
        assert_eq!(feature_bits(Cursor::new(&fake.bytes, true), true), Some([bits, 0, 0, 0]));
    }
}
