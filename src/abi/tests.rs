//! Records, mappings and lists as no kernel writes them: cut off, forged, or at the ends of their types.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use super::perf::{CommRecord, MmapRecord, Mode, Registers, TaskRecord, counted, kind, lost, misc, raw, stack};
use super::{Cursor, Mapping, format_cpu_list, is_anonymous, mappings, parse_cpu_list};
use proptest::prelude::*;
use std::os::unix::ffi::OsStrExt;

fn words(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn halves(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn little(bytes: &[u8]) -> Cursor<'_> {
    Cursor::new(bytes, false)
}

#[test]
fn a_read_that_fails_takes_nothing() {
    let bytes = [1, 2, 3];
    let mut cursor = little(&bytes);
    assert_eq!((cursor.u32(), cursor.u64(), cursor.take(4)), (None, None, None));
    assert_eq!((cursor.take_counted(u64::MAX), cursor.skip(usize::MAX)), (None, None));
    assert_eq!(cursor.rest(), bytes, "all of it is still there");
    assert_eq!((cursor.u16(), cursor.u16(), cursor.u8(), cursor.u8()), (Some(0x0201), None, Some(3), None));
    assert_eq!((cursor.take(0), cursor.rest()), (Some(&[][..]), &[][..]));
}

#[test]
fn a_count_of_words_that_overflows_is_refused_like_one_that_is_too_large() {
    let bytes = words(&[7, 8]);
    for count in [3, 1 << 60, 1 << 61, u64::MAX / 8, u64::MAX] {
        assert_eq!(little(&bytes).take_words(count), None, "{count}");
    }
    let mut cursor = little(&bytes);
    let taken = cursor.take_words(1).unwrap();
    assert_eq!((taken.len(), taken.get(0), taken.get(1)), (1, Some(7), None));
    assert_eq!(cursor.u64(), Some(8), "the word after those taken");
    assert_eq!(little(&bytes).take_words(0).map(|none| none.len()), Some(0));
}

#[test]
fn an_incomplete_number_at_the_end_is_no_number() {
    let bytes = words(&[1, 2]);
    for (length, count) in [(0, 0), (7, 0), (8, 1), (15, 1), (16, 2)] {
        let list = little(&bytes[..length]).words();
        assert_eq!((list.len(), list.iter().count()), (count, count), "{length} bytes");
        assert_eq!(list.get(count), None, "{length} bytes");
    }
}

#[test]
fn a_name_ends_at_its_zero_or_with_the_record_and_a_text_of_any_bytes_is_text() {
    for (bytes, name) in [(&b"sh\0rest"[..], &b"sh"[..]), (b"\0x", b""), (b"", b""), (b"no end", b"no end")] {
        assert_eq!(little(bytes).name(), name);
    }
    let padded = |text: &[u8], length: u32| [&length.to_le_bytes()[..], text].concat();
    for (bytes, text) in [
        (padded(b"abc", 3), Some("abc")),
        (padded(b"\xff\xfe\0\0", 4), Some("\u{fffd}\u{fffd}")),
        (padded(b"", 0), Some("")),
        (padded(b"abc", 4), None),
        (padded(b"abc", u32::MAX), None),
        (vec![3, 0, 0], None),
    ] {
        assert_eq!(little(&bytes).text().as_deref(), text, "{bytes:?}");
    }
}

#[test]
fn a_list_of_texts_is_whole_or_absent() {
    let mut bytes = halves(&[2, 2]);
    bytes.extend(b"ab");
    bytes.extend(halves(&[1]));
    bytes.extend(b"c");
    assert_eq!(little(&bytes).texts().unwrap(), ["ab", "c"]);
    for length in 0..bytes.len() {
        assert_eq!(little(&bytes[..length]).texts(), None, "cut at {length}");
    }
    assert_eq!(little(&halves(&[0])).texts().unwrap().len(), 0);
}

/// The body of an `MMAP2` record with device and inode.
fn mmap2(pid: u32, inode: u64, path: &[u8]) -> Vec<u8> {
    let mut body = halves(&[pid, 9]);
    body.extend(words(&[0x1000, 0x2000, 0x3000]));
    body.extend(halves(&[8, 1]));
    body.extend(words(&[inode, 77]));
    body.extend(halves(&[5, 2]));
    body.extend(path);
    body
}

#[test]
fn a_mapping_cut_before_its_name_is_none_and_after_it_has_a_shorter_name() {
    let body = mmap2(41, 123, b"/bin/x\0");
    let fixed = body.len() - 7;
    for length in 0..=body.len() {
        let parsed = MmapRecord::parse(kind::MMAP2, 2, &mut little(&body[..length]));
        match parsed {
            None => assert!(length < fixed, "{length} of {fixed} bytes"),
            Some(record) => {
                let name = &b"/bin/x"[..(length - fixed).min(6)];
                assert_eq!((record.path, record.start, record.end()), (name, 0x1000, Some(0x3000)));
                assert_eq!((record.device, record.inode, record.mode), ((8, 1), Some(123), Mode::User));
            }
        }
    }
}

#[test]
fn a_mapping_says_only_what_was_recorded() {
    let parse = |record, misc, body: &[u8]| {
        let found = MmapRecord::parse(record, misc, &mut little(body)).unwrap();
        (found.pid, found.device, found.inode, found.build_id.map(<[u8]>::len), found.path.to_vec())
    };
    let kernel = mmap2(u32::MAX, 0, b"[kernel.kallsyms]_text\0");
    let (pid, _, inode, _, path) = parse(kind::MMAP2, 1, &kernel);
    assert_eq!((pid, inode, path), (u32::MAX, None, b"[kernel.kallsyms]_text".to_vec()), "inode 0 is no inode");
    // The same bytes as an older record: what follows the offset is the name.
    let (_, device, inode, _, _) = parse(kind::MMAP, 1, &kernel);
    assert_eq!((device, inode), ((0, 0), None));
    for (length, expected) in [(0u8, None), (1, Some(1)), (16, Some(16)), (20, Some(20)), (21, None), (255, None)] {
        let mut body = halves(&[41, 41]);
        body.extend(words(&[0x1000, 0x2000, 0]));
        body.extend([length, 0, 0, 0]);
        body.extend([0xab; 20]);
        body.extend(halves(&[5, 2]));
        body.extend(b"/lib/y\0");
        let (_, device, inode, build_id, path) = parse(kind::MMAP2, 2 | misc::MMAP_BUILD_ID, &body);
        assert_eq!((device, inode, build_id), ((0, 0), None, expected), "a build-id of {length} bytes");
        assert_eq!(path, b"/lib/y", "a build-id of {length} bytes");
    }
}

#[test]
fn modes_of_addresses_that_this_version_does_not_know_are_unknown() {
    for (bits, mode) in [
        (0, Mode::Unknown),
        (1, Mode::Kernel),
        (2, Mode::User),
        (3, Mode::Hypervisor),
        (4, Mode::GuestKernel),
        (5, Mode::GuestUser),
        (6, Mode::Unknown),
        (7, Mode::Unknown),
    ] {
        assert_eq!(Mode::of(bits), mode, "{bits}");
        assert_eq!(Mode::of(bits | 0xfff8), mode, "the other bits mean something else");
    }
}

#[test]
fn a_rename_and_a_birth_keep_their_numbers_in_place() {
    let mut body = halves(&[41, 42]);
    body.extend(b"worker\0\0junk");
    let renamed = CommRecord::parse(0, &mut little(&body)).unwrap();
    assert_eq!((renamed.pid, renamed.tid, renamed.comm, renamed.exec), (41, 42, &b"worker"[..], false));
    assert!(CommRecord::parse(misc::COMM_EXEC, &mut little(&body)).unwrap().exec);
    assert_eq!(CommRecord::parse(0, &mut little(&body[..7])), None);
    let body = halves(&[41, 1, 42, 2]);
    let born = TaskRecord::parse(misc::FORK_EXEC, &mut little(&body)).unwrap();
    assert_eq!((born.pid, born.tid, born.parent_pid, born.parent_tid, born.own_mappings), (41, 42, 1, 2, true));
    for length in 0..body.len() {
        assert_eq!(TaskRecord::parse(0, &mut little(&body[..length])), None, "cut at {length}");
    }
}

#[test]
fn every_register_of_the_widest_mask_is_found_and_none_beyond_it() {
    let values: Vec<u64> = (100..164).collect();
    let body = words(&[&[2], &values[..]].concat());
    let all = Registers::parse(&mut little(&body), u64::MAX).unwrap();
    assert_eq!([0, 1, 63].map(|at| all.get(at)), [Some(100), Some(101), Some(163)]);
    assert_eq!([64, 127, u32::MAX].map(|at| all.get(at)), [None; 3]);
    assert_eq!(Registers::parse(&mut little(&body[..body.len() - 1]), u64::MAX), None, "one byte short");
    let narrow = Registers::parse(&mut little(&words(&[1, 5])), 1 << 63).map(|it| (it.wide, it.get(63), it.get(0)));
    assert_eq!(narrow, Some((false, Some(5), None)), "a 32-bit program");
    let body = words(&[2]);
    let none = Registers::parse(&mut little(&body), 0).unwrap();
    assert_eq!((none.get(0), none.values.len()), (None, 0), "an empty mask");
}

#[test]
fn the_raw_data_and_the_stack_of_a_sample_are_as_long_as_they_say_or_absent() {
    for (size, length, expected) in [(4u32, 4usize, Some(4)), (0, 0, Some(0)), (5, 4, None), (u32::MAX, 4, None)] {
        let body = [&size.to_le_bytes()[..], &vec![1; length]].concat();
        assert_eq!(raw(&mut little(&body)).map(<[u8]>::len), expected, "{size} of {length} bytes");
    }
    for (case, numbers, expected) in [
        ("nothing reserved", &[0][..], Some(0)),
        ("half filled", &[16, 7, 7, 8], Some(8)),
        ("not filled", &[16, 7, 7, 0], Some(0)),
        ("filled beyond what was reserved", &[16, 7, 7, u64::MAX], Some(16)),
        ("without the number of filled bytes", &[16, 7, 7], None),
        ("reserved beyond the record", &[24, 7, 7, 8], None),
        ("nothing at all", &[], None),
    ] {
        assert_eq!(stack(&mut little(&words(numbers))).map(<[u8]>::len), expected, "{case}");
    }
}

#[test]
fn counted_entries_of_several_words_are_counted_as_entries() {
    let body = words(&[2, 1, 2, 3, 4, 5, 6, 99]);
    let mut cursor = little(&body);
    assert_eq!(counted(&mut cursor, 3).unwrap().iter().collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
    assert_eq!(cursor.u64(), Some(99));
    assert_eq!(counted(&mut little(&words(&[u64::MAX / 2, 1, 2])), 3), None, "the product overflows");
    assert_eq!(lost(kind::LOST, &mut little(&words(&[1]))), None, "the number of lost records is cut off");
}

#[test]
fn lines_of_mappings_are_read_or_skipped_and_never_guessed() {
    let whole = |line: &[u8]| mappings(line).next().map(|it| (it.start, it.end, it.offset, it.executable, it.inode));
    let fine = Some((0x1000, 0x2000, 0, true, 5));
    for (case, line, expected) in [
        ("a plain line", &b"1000-2000 r-xp 0 8:1 5 /x"[..], fine),
        ("leading blanks", b"   1000-2000 r-xp 0 8:1 5 /x", fine),
        ("tabs", b"1000-2000\tr-xp\t0\t8:1\t5\t/x", fine),
        ("without a name", b"1000-2000 r-xp 0 8:1 5", fine),
        ("the last address", b"ffffffffffffffff-ffffffffffffffff r-xp 0 0:0 5", Some((u64::MAX, u64::MAX, 0, true, 5))),
        ("short permissions", b"1000-2000 r 0 8:1 5 /x", Some((0x1000, 0x2000, 0, false, 5))),
        ("no permissions", b"1000-2000", None),
        ("no range", b"1000 r-xp 0 8:1 5 /x", None),
        ("an address of 65 bits", b"1000-10000000000000000 r-xp 0 8:1 5 /x", None),
        ("a negative address", b"-1000-2000 r-xp 0 8:1 5 /x", None),
        ("a device without a minor number", b"1000-2000 r-xp 0 8 5 /x", None),
        ("a device beyond 32 bits", b"1000-2000 r-xp 0 100000000:1 5 /x", None),
        ("an inode that is a word", b"1000-2000 r-xp 0 8:1 none /x", None),
        ("an inode beyond 64 bits", b"1000-2000 r-xp 0 8:1 18446744073709551616 /x", None),
        ("bytes that are no text in a number", b"1000-2000 r-xp \xff 8:1 5 /x", None),
        ("an empty line", b"", None),
    ] {
        assert_eq!(whole(line), expected, "{case}");
    }
}

#[test]
fn a_path_keeps_every_byte_and_loses_only_the_kernels_mark() {
    let path = |name: &[u8]| {
        let line = [b"1000-2000 r-xp 0 8:1 5  ", name].concat();
        let mapping = mappings(&line).next().unwrap();
        (mapping.path().map(|path| path.as_os_str().as_bytes().to_vec()), mapping.is_deleted())
    };
    for (name, bytes, deleted) in [
        (&b"/\xff\xfe"[..], &b"/\xff\xfe"[..], false),
        (b"/a\\012", b"/a\n", false),
        (b"/a\\\\012b", b"/a\\\nb", false),
        (b"/a\\0123", b"/a\n3", false),
        (b"/a\\01", b"/a\\01", false),
        (b"/a (deleted)b", b"/a (deleted)b", false),
        (b"/a (deleted) (deleted)", b"/a (deleted)", true),
        (b"/a\\012 (deleted)", b"/a\n", true),
        (b"/memfd:jit (deleted)", b"/memfd:jit", true),
        (b"/trailing blank ", b"/trailing blank ", false),
    ] {
        assert_eq!(path(name), (Some(bytes.to_vec()), deleted), "{}", name.escape_ascii());
    }
}

#[test]
fn a_mapping_holds_its_first_address_and_not_the_one_after_its_last() {
    let holds =
        |line: &str, address| mappings(line.as_bytes()).next().is_some_and(|it: Mapping<'_>| it.contains(address));
    for (line, address, expected) in [
        ("1000-2000 r--p 0 0:0 0", 0x1000, true),
        ("1000-2000 r--p 0 0:0 0", 0x1fff, true),
        ("1000-2000 r--p 0 0:0 0", 0x2000, false),
        ("1000-2000 r--p 0 0:0 0", 0xfff, false),
        ("1000-1000 r--p 0 0:0 0", 0x1000, false),
        ("2000-1000 r--p 0 0:0 0", 0x1800, false),
    ] {
        assert_eq!(holds(line, address), expected, "{line} at {address:x}");
    }
}

#[test]
fn memory_without_a_file_has_names_that_no_file_has() {
    for name in
        ["", "[heap]", "[stack]", "[anon:jit]", "//anon", "/memfd:x", "/SYSV00000000", "/dev/zero", "anon_inode:[perf]"]
    {
        assert!(is_anonymous(name), "{name}");
    }
    for name in ["/usr/bin/x", "/", "/device/x", "relative", "/home/[x]", "/anon_huge"] {
        assert!(!is_anonymous(name), "{name}");
    }
}

#[test]
fn the_highest_cpu_is_accepted_and_the_next_is_not() {
    assert_eq!(parse_cpu_list("65534-65535").unwrap(), [65_534, 65_535]);
    for list in ["65536", "0-65536", "4294967295", "4294967296", "0-4294967295"] {
        assert!(parse_cpu_list(list).is_err(), "{list}");
    }
    for (cpus, list) in
        [(&[u32::MAX - 1, u32::MAX][..], "4294967294-4294967295"), (&[3, 1, 2], "3,1-2"), (&[5, 5], "5,5"), (&[], "")]
    {
        assert_eq!(format_cpu_list(cpus), list);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_a_reader_panic_or_return_more_than_there_is(
        bytes in proptest::collection::vec(any::<u8>(), 0..120), record in any::<u32>(), misc in any::<u16>(),
        mask in any::<u64>(), big in any::<bool>(),
    ) {
        let cursor = || Cursor::new(&bytes, big);
        for record in [record, kind::MMAP, kind::MMAP2] {
            if let Some(mapping) = MmapRecord::parse(record, misc, &mut cursor()) {
                prop_assert!(mapping.path.len() <= bytes.len());
            }
        }
        if let Some(renamed) = CommRecord::parse(misc, &mut cursor()) {
            prop_assert!(renamed.comm.len() + 8 <= bytes.len());
        }
        let _ = TaskRecord::parse(misc, &mut cursor());
        if let Some(registers) = Registers::parse(&mut cursor(), mask) {
            let found = (0..64).filter(|at| registers.get(*at).is_some()).count();
            prop_assert!(found == registers.values.len(), "every value belongs to one register");
        }
        for part in [raw(&mut cursor()), stack(&mut cursor())].into_iter().flatten() {
            prop_assert!(part.len() <= bytes.len());
        }
        prop_assert!(cursor().texts().is_none_or(|texts| texts.len() * 4 <= bytes.len()));
    }

    #[test]
    fn numbers_mean_the_same_in_either_order_of_bytes(numbers in proptest::collection::vec(any::<u64>(), 0..20)) {
        let turned: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
        let read: Vec<u64> = Cursor::new(&turned, true).words().iter().collect();
        prop_assert_eq!(&read, &numbers);
        prop_assert_eq!(little(&words(&numbers)).words().iter().collect::<Vec<_>>(), numbers);
    }
}
