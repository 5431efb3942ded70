//! Records of perf, for events with any attributes: the kernel's ring and the data section of a file.

use super::imported;
use crate::abi::perf;
use crate::session::import::Format;
use crate::sys::perf::record::{self, Layout, Record};

/// The attributes of an event, in this order: contents of samples, layout of counter values, flags, branches, user
/// registers, bytes of stack; then what samples in the ring contain, and the byte order of the file.
const ATTRIBUTES: usize = 46;

/// Records after the attributes: each has its type, its flags and its length in words, a byte each, then its body.
pub fn perf_records(data: &[u8]) {
    let Some((attributes, records)) = data.split_first_chunk::<ATTRIBUTES>() else { return };
    let (ring, big) = (attributes[ATTRIBUTES - 2], attributes[ATTRIBUTES - 1] & 1 == 1);
    let stack = attributes[40..44].iter().rev().fold(0, |stack, byte| stack << 8 | u32::from(*byte));
    let registers = attributes[32..40].iter().rev().fold(0, |mask, byte| mask << 8 | u64::from(*byte));
    let has = |bit: u8| ring & bit != 0;
    let layout = Layout {
        members: ring >> 4 & 1,
        chain: has(1),
        user_chain: has(128),
        raw: has(2),
        branches: has(4),
        registers,
        stack_bytes: stack,
        cgroup: has(8),
        address: has(32),
        access: has(64),
    };
    framed(records, cfg!(target_endian = "big")).for_each(|record| of_ring(&record, layout));
    imported(&file(attributes, records, big), Format::Perf);
}

fn of_ring(record: &[u8], layout: Layout) {
    let _ = record::time(record);
    match record::parse(record, layout.address, |id| (id != 9).then_some(layout)) {
        Some((_, Record::Sample(sample))) => {
            perf::split_chain(sample.chain, sample.mode, &mut Vec::new(), &mut Vec::new());
            let _ = (0..70).filter_map(|register| sample.registers.get(register)).count();
        }
        Some((_, Record::Mmap(mapping))) => {
            let _ = mapping.end();
        }
        _ => {}
    }
}

/// The records with their headers.
fn framed(mut records: &[u8], big: bool) -> impl Iterator<Item = Vec<u8>> {
    std::iter::from_fn(move || {
        let ([kind, flags, words], rest) = records.split_first_chunk()?;
        let (body, rest) = rest.split_at(rest.len().min(usize::from(*words) * 8));
        records = rest;
        // The processor mode, and the upper bits that mean something.
        let misc = u16::from(flags & 7) | u16::from(flags >> 3 & 3) << 13;
        let size = 8 + body.len() as u16;
        let (kind, misc, size) = (u32::from(*kind), misc, size);
        let head = if big {
            [&kind.to_be_bytes()[..], &misc.to_be_bytes(), &size.to_be_bytes()].concat()
        } else {
            [&kind.to_le_bytes()[..], &misc.to_le_bytes(), &size.to_le_bytes()].concat()
        };
        Some([&head, body].concat())
    })
}

/// A file of two events with these attributes and these records.
fn file(attributes: &[u8; ATTRIBUTES], records: &[u8], big: bool) -> Vec<u8> {
    const HEAD: u64 = 104;
    /// A `perf_event_attr` up to the bytes of stack, and the place of the event's ids.
    const EVENT: u64 = 96 + 16;
    const IDS: u64 = HEAD + 2 * EVENT;
    const DATA: u64 = IDS + 2 * 8;
    let word = |word: &u64| if big { word.to_be_bytes() } else { word.to_le_bytes() };
    let words = |words: &[u64]| words.iter().flat_map(word).collect::<Vec<_>>();
    let records: Vec<u8> = framed(records, big).flatten().collect();
    let event = |nth: u64| {
        let [sample, read, flags, branches, registers, stack] =
            [0, 8, 16, 24, 32, 40].map(|at| attributes[at..].first_chunk::<8>().copied().unwrap_or_default());
        let kind = [1, 96, 0, 0, 0, 0, 0, 0];
        let place = words(&[IDS + nth * 8, 8]);
        let plain = words(&[0, 1000]);
        [&kind[..], &plain, &sample, &read, &flags, &[0; 24], &branches, &registers, &stack[..4], &[0; 4], &place]
            .concat()
    };
    let magic = if big { b"2ELIFREP" } else { b"PERFILE2" };
    let head = words(&[HEAD, EVENT, HEAD, 2 * EVENT, DATA, records.len() as u64, 0, 0]);
    // A round ends where a record says so, and at the end of the data.
    [&magic[..], &head, &[0; 32], &event(0), &event(1), &words(&[1, 2]), &records].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::perf::kind;
    use crate::store::perfdata::PerfData;

    /// What the target is fed is read as it was meant.
    #[test]
    fn the_file_of_any_records_has_its_events_and_its_records() {
        let mut attributes = [0; ATTRIBUTES];
        // An address, a task, a time and an id in each sample; the latter three at the end of each other record.
        (attributes[0], attributes[18]) = (0b100_0111, 4);
        let word = |low: u8| [low, 0, 0, 0, 0, 0, 0, 0];
        let sample = [&[kind::SAMPLE as u8, 2, 4][..], &[word(7), word(8), word(9), word(2)].concat()].concat();
        let bytes = file(&attributes, &sample, false);
        let perf = PerfData::parse(&bytes).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((perf.events.len(), perf.gaps.len()), (2, 0));
        let found: Vec<_> = perf.records().map(|record| (record.event, record.stamp.time)).collect();
        assert_eq!(found, [(1, Some(9))]);
        let bytes = file(&attributes, &sample, true);
        let perf = PerfData::parse(&bytes).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((perf.events[1].ids.as_slice(), perf.events[1].attr.sample), (&[2][..], 0b100_0111 << 56));
    }
}
