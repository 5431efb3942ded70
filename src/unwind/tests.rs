//! Code and stacks that nobody wrote by hand: damaged images, mappings at the edges of the address space, random stacks.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use super::*;
use crate::model::{ObjectFile, StackEnd};
use proptest::prelude::*;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, OnceLock};

/// A small image with unwind tables that every Linux process has.
fn vdso() -> &'static [u8] {
    static VDSO: OnceLock<Vec<u8>> = OnceLock::new();
    VDSO.get_or_init(|| {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let range = maps.lines().find(|line| line.ends_with("[vdso]")).unwrap().split(' ').next().unwrap();
        let (start, end) = range.split_once('-').unwrap();
        let [start, end] = [start, end].map(|hex| u64::from_str_radix(hex, 16).unwrap());
        let mut bytes = vec![0; (end - start) as usize];
        File::open("/proc/self/mem").unwrap().read_exact_at(&mut bytes, start).unwrap();
        bytes
    })
}

fn code(bytes: Vec<u8>) -> Result<Arc<UnwindTables>, crate::error::Error> {
    UnwindTables::parse(&ObjectFile::new(bytes)).map(Arc::new)
}

const BASE: u64 = 0x7000_0000_0000;

/// Walks one stack and checks what every caller relies on.
fn walk(space: &AddressSpace, regs: Regs, stack: &[u8]) -> StackEnd {
    let mut out = Vec::new();
    let end = space.unwind(&mut Cache::default(), &regs, stack, &mut out);
    assert!(out.len() <= 512, "{} frames", out.len());
    assert!(out.is_empty() || out[0] == regs.ip, "the first frame is where it ran");
    end
}

#[test]
fn a_process_without_code_has_stacks_of_one_frame_or_frame_pointers() {
    let space = AddressSpace::new();
    for (ip, sp, bp) in [(0, 0, 0), (u64::MAX, u64::MAX, u64::MAX), (BASE, 8, u64::MAX - 7), (1, u64::MAX - 8, 0)] {
        walk(&space, Regs { ip, sp, bp, lr: 0 }, &[]);
        walk(&space, Regs { ip, sp, bp, lr: u64::MAX }, &[0xff; 64]);
    }
}

#[test]
fn mappings_at_the_edges_of_the_address_space_and_of_a_file_are_taken_or_left() {
    let code = code(vdso().to_vec()).unwrap();
    let edges = [0, 1, 4095, 4096, BASE, u64::MAX - 4096, u64::MAX - 1, u64::MAX];
    for start in edges {
        for end in edges {
            for offset in edges {
                let mut space = AddressSpace::new();
                space.map(start, end, offset, &code);
                space.map(BASE, BASE + 4096, 0, &code);
                space.unmap(start, end);
                space.unmap(0, u64::MAX);
                assert!(format!("{space:?}").contains("mappings: 0"), "{start:#x}-{end:#x} at {offset:#x}: {space:?}");
            }
        }
    }
}

#[test]
fn a_hole_in_a_mapping_leaves_both_its_ends_and_a_copy_is_its_own() {
    let code = code(vdso().to_vec()).unwrap();
    let mut space = AddressSpace::new();
    let count = |space: &AddressSpace| format!("{space:?}");
    space.map(BASE, BASE + 0x300, 0, &code);
    let child = space.clone();
    space.unmap(BASE + 0x100, BASE + 0x200);
    assert!(count(&space).contains("mappings: 2") && count(&child).contains("mappings: 1"), "{space:?} {child:?}");
    space.map(BASE, BASE + 0x300, 0, &code);
    assert!(count(&space).contains("mappings: 1"), "the new one takes the place of both: {space:?}");
}

#[test]
fn an_image_cut_anywhere_is_refused_or_has_fewer_tables() {
    let whole = vdso();
    let mut refused = 0;
    for length in (0..whole.len()).step_by(16) {
        let Ok(code) = code(whole[..length].to_vec()) else {
            refused += 1;
            continue;
        };
        let mut space = AddressSpace::new();
        space.map(BASE, BASE + whole.len() as u64, 0, &code);
        walk(&space, Regs { ip: BASE + 0x600, sp: 0x1000, bp: 0x1100, lr: 0 }, &[7; 512]);
    }
    assert!(refused > 0 && code(whole.to_vec()).is_ok());
}

/// An image of one function at `FUNCTION`, with these unwind instructions, whose table is sorted or not.
pub(super) fn image(instructions: &[u8], sorted: bool) -> Vec<u8> {
    image_of(b"\x01zR\0\x01\x78\x10\x01\x1b\x0c\x07\x08\x90\x01\0\0", instructions, sorted)
}

/// An image whose function shares what these bytes describe.
fn image_of(common: &[u8], instructions: &[u8], sorted: bool) -> Vec<u8> {
    const NAMES: &[u8] = b"\0.eh_frame\0.eh_frame_hdr\0.shstrtab\0";
    let word = |value: u64| (value as u32).to_le_bytes();
    let mut cie = [word(0).as_slice(), common].concat();
    cie = [word(cie.len() as u64).as_slice(), &cie].concat();
    let fde = FRAMES + cie.len() as u64;
    let mut entry = [word(cie.len() as u64 + 4), word(FUNCTION.wrapping_sub(fde + 8)), word(0x800)].concat();
    entry.push(0);
    entry.extend(instructions);
    entry.resize(entry.len().next_multiple_of(4), 0);
    let frames = [&cie, word(entry.len() as u64).as_slice(), &entry, &[0; 4]].concat();
    let index = FRAMES + frames.len() as u64;
    let place = |at: u64, from: u64| word(at.wrapping_sub(from));
    let header = [[1, 0x1b, 3, 0x3b], place(FRAMES, index + 4), word(1), place(FUNCTION, index), place(fde, index)];
    let names = index + 20;
    let sections = (names + NAMES.len() as u64).next_multiple_of(8);
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0\x01\0\0\0".to_vec();
    file.extend([0, 64, sections].iter().flat_map(|value: &u64| value.to_le_bytes()));
    file.extend([0, 0, 0, 0, 64, 0, 56, 0, 1, 0, 64, 0, if sorted { 4 } else { 3 }, 0, if sorted { 3 } else { 2 }, 0]);
    // A segment of the whole file that may be executed.
    file.extend([1, 0, 0, 0, 5, 0, 0, 0]);
    file.extend([0, 0, 0, sections, sections, 4096].iter().flat_map(|value: &u64| value.to_le_bytes()));
    file.resize(FRAMES as usize, 0x90);
    file.extend(&frames);
    header.iter().for_each(|word| file.extend(word));
    file.extend(NAMES);
    file.resize(sections as usize, 0);
    let mut section = |name: u64, kind: u64, at: u64, length: usize| {
        file.extend([word(name), word(kind)].concat());
        file.extend([2, at, at, length as u64, 0, 1, 0].iter().flat_map(|value: &u64| value.to_le_bytes()));
    };
    section(0, 0, 0, 0);
    section(1, 1, FRAMES, frames.len());
    if sorted {
        section(11, 1, index, 20);
    }
    section(25, 3, names, NAMES.len());
    file
}

/// Addresses of the function, and of its unwind table, in an image.
const FUNCTION: u64 = 0x100;
const FRAMES: u64 = 0x200;

/// The frames of a walk in such an image over a stack that returns to it at these offsets.
fn frames(image: Vec<u8>, returns: &[u64]) -> (StackEnd, usize) {
    last_frames(1, image, returns)
}

/// The frames of the last of several such walks.
fn last_frames(walks: usize, image: Vec<u8>, returns: &[u64]) -> (StackEnd, usize) {
    let mut space = AddressSpace::new();
    space.map(BASE, BASE + image.len() as u64, 0, &code(image).unwrap());
    let stack: Vec<u8> = returns.iter().flat_map(|offset| (BASE + FUNCTION + offset).to_le_bytes()).collect();
    let sp = 0x7ffc_0000_0000;
    let regs = Regs { ip: BASE + FUNCTION, sp, bp: 0, lr: BASE + FUNCTION + 1 };
    let mut cache = Cache::default();
    let walk = |_| {
        let mut out = Vec::new();
        (space.unwind(&mut cache, &regs, &stack, &mut out), out.len())
    };
    (0..walks).map(walk).last().unwrap()
}

#[cfg(target_arch = "x86_64")]
#[test]
fn unwind_instructions_without_end_or_beyond_measure_end_the_stack_at_their_function() {
    // An expression that jumps back to itself, and one that jumps into the middle of a constant that is such a jump.
    let endless = [0x0f, 3, 0x2f, 0xfd, 0xff];
    let hidden = [0x0f, 8, 0x2f, 1, 0, 0x0c, 0x2f, 0xfd, 0xff, 0];
    for sorted in [true, false] {
        assert_eq!(frames(image(&[0], sorted), &[16, 32, 48]), (StackEnd::Truncated, 4), "{sorted}");
        assert_eq!(frames(image(&endless, sorted), &[16, 32]), (StackEnd::Broken, 1), "{sorted}");
        assert_eq!(frames(image(&hidden, sorted), &[16, 32]), (StackEnd::Broken, 1), "{sorted}");
        assert_eq!(frames(image(&vec![0; 100_000], sorted), &[16, 32]), (StackEnd::Broken, 1), "{sorted}");
        // The 50 kB are read twice for each address, and five times is enough.
        let returns: Vec<u64> = (2..64).collect();
        assert_eq!(frames(image(&vec![0; 50_000], sorted), &returns), (StackEnd::Truncated, 3), "{sorted}");
        // Here, the same address is known.
        assert_eq!(frames(image(&vec![0; 50_000], sorted), &[7; 64]), (StackEnd::Truncated, 65), "{sorted}");
        // These are known too after two walks, unless one drives out what was known of the other.
        let returns = |distance: u64| [7, 7 + distance].repeat(32);
        assert_eq!(
            last_frames(3, image(&vec![0; 50_000], sorted), &returns(100)),
            (StackEnd::Truncated, 65),
            "{sorted}"
        );
        assert_eq!(
            last_frames(3, image(&vec![0; 50_000], sorted), &returns(512)),
            (StackEnd::Truncated, 7),
            "{sorted}"
        );
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_program_starts_at_its_entry_where_no_table_says_so() {
    const ENTRY: u64 = 0x80;
    let walked = |entry: u64, back: u64| {
        let mut image = image(&[0], true);
        image[24..32].copy_from_slice(&entry.to_le_bytes());
        let mut space = AddressSpace::new();
        space.map(BASE, BASE + image.len() as u64, 0, &code(image).unwrap());
        let stack: Vec<u8> = [BASE + back, 7].iter().flat_map(|word: &u64| word.to_le_bytes()).collect();
        let regs = Regs { ip: BASE + FUNCTION, sp: 0x7ffc_0000_0000, bp: 0x7ffc_0000_0008, lr: 0 };
        let mut out = Vec::new();
        (space.unwind(&mut Cache::default(), &regs, &stack, &mut out), out.len())
    };
    assert_eq!(walked(ENTRY, ENTRY + 8), (StackEnd::Whole, 2));
    assert_ne!(walked(ENTRY, ENTRY + 65).0, StackEnd::Whole, "another function");
    assert_ne!(walked(0, ENTRY + 8).0, StackEnd::Whole, "the entry is elsewhere");
    assert_ne!(walked(FUNCTION, FUNCTION + 8).0, StackEnd::Whole, "a table has it");
}

#[test]
fn each_of_any_number_of_mappings_is_found() {
    const COUNT: u64 = 50_000;
    let code = code(vdso().to_vec()).unwrap();
    let mut space = AddressSpace::new();
    for nth in (0..COUNT).rev() {
        space.map(BASE + nth * 0x2000, BASE + nth * 0x2000 + 0x1000, 0, &code);
    }
    assert!((0..COUNT).all(|nth| space.find(BASE + nth * 0x2000 + 0xfff).is_some()));
    assert!((0..COUNT).all(|nth| space.find(BASE + nth * 0x2000 + 0x1000).is_none()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damage_anywhere_in_an_image_panics_nowhere(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
        ip in 0u64..0x3000,
        stack in prop::collection::vec(any::<u8>(), 0..600),
    ) {
        let mut bytes = vdso().to_vec();
        let length = bytes.len();
        // Headers are hit as often as all the rest: most of what can go wrong stands there.
        for (at, (place, byte)) in damage.iter().enumerate() {
            bytes[place.index(if at % 2 == 0 { 512 } else { length })] ^= byte;
        }
        if let Ok(code) = code(bytes) {
            let mut space = AddressSpace::new();
            space.map(BASE, BASE + length as u64, 0, &code);
            walk(&space, Regs { ip: BASE + ip, sp: 0x7ffc_0000_0000, bp: 0x7ffc_0000_0100, lr: BASE + ip / 2 }, &stack);
        }
    }

    #[test]
    fn no_stack_and_no_register_panics_or_runs_for_ever(
        ip in any::<u64>(), sp in any::<u64>(), bp in any::<u64>(), lr in any::<u64>(),
        near in any::<bool>(),
        words in prop::collection::vec(prop_oneof![any::<u64>(), (0u64..0x2000).prop_map(|at| BASE + at)], 0..200),
    ) {
        let mut space = AddressSpace::new();
        space.map(BASE, BASE + vdso().len() as u64, 0, &code(vdso().to_vec()).unwrap());
        let (ip, bp) = if near { (BASE + ip % 0x2000, sp.wrapping_add(bp % 1600)) } else { (ip, bp) };
        let stack: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        walk(&space, Regs { ip, sp, bp, lr }, &stack);
    }

    /// Frame pointers in a ring, as a damaged stack has them.
    #[test]
    fn frame_pointers_that_lead_back_end(length in 2usize..64, back in 0usize..64) {
        let sp = 0x7ffc_0000_0000u64;
        let mut stack = Vec::new();
        for at in 0..length {
            let next = if at + 1 == length { back % length } else { at + 1 };
            stack.extend((sp + 16 * next as u64).to_le_bytes());
            stack.extend((BASE - 0x1000 + at as u64).to_le_bytes());
        }
        walk(&AddressSpace::new(), Regs { ip: BASE - 0x2000, sp, bp: sp, lr: 0 }, &stack);
    }

    #[test]
    fn no_bytes_are_taken_for_an_image_by_mistake(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(code(bytes).is_err());
    }
}

/// Words of a stack on which a handler runs: it returns to the signal's frame, in which the kernel saved these registers.
#[cfg(target_arch = "x86_64")]
fn signal_stack(trampoline: u64, [ip, sp, bp]: [u64; 3], below: &[u64]) -> Vec<u8> {
    let mut words = vec![0; 40];
    words[0] = trampoline;
    // After the return, the stack pointer is behind the first word.
    (words[1 + 168 / 8], words[1 + 160 / 8], words[1 + 120 / 8]) = (ip, sp, bp);
    words.extend(below);
    words.iter().flat_map(|word: &u64| word.to_le_bytes()).collect()
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_signals_frame_leads_to_the_interrupted_instruction_and_its_callers() {
    let signal = b"\x01zRS\0\x01\x78\x10\x01\x1b\x0c\x07\x08\x90\x01\0";
    // As glibc has it: the frame's address is that of a word in memory, as no other function's is.
    let reads_memory = [0x0f, 4, 0x77, 0xa0, 0x01, 0x06];
    for sorted in [true, false] {
        let [plain, trampoline] = [image(&[0], sorted), image_of(signal, &reads_memory, sorted)];
        let there = BASE + 0x10_0000;
        let mut space = AddressSpace::new();
        space.map(BASE, BASE + plain.len() as u64, 0, &code(plain).unwrap());
        space.map(there, there + trampoline.len() as u64, 0, &code(trampoline).unwrap());
        let sp = 0x7ffc_0000_0000;
        let (handler, called, back) = (BASE + FUNCTION + 8, BASE + FUNCTION, there + FUNCTION + 1);
        let walked = |saved: [u64; 3], below: &[u64]| {
            let mut out = Vec::new();
            let regs = Regs { ip: handler, sp, bp: 0, lr: 0 };
            let stack = signal_stack(back, saved, below);
            (space.unwind(&mut Cache::default(), &regs, &stack, &mut out), out)
        };
        // Interrupted at its first instruction, behind the 40 words of the signal's frame.
        let (end, out) = walked([called, sp + 320, 0], &[BASE + FUNCTION + 0x20, 0]);
        assert_eq!(out, [handler, back - 1, called, BASE + FUNCTION + 0x1f], "{sorted}");
        assert_eq!(end, StackEnd::Whole);
        // On a stack of its own: the interrupted function is known, and no more of that stack was copied.
        let (end, out) = walked([called, 0x5500_0000_0000, 0], &[]);
        assert_eq!((end, out), (StackEnd::Truncated, vec![handler, back - 1, called]), "{sorted}");
        assert_eq!(walked([0, sp + 320, 0], &[]).0, StackEnd::Broken, "no code was interrupted");
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_walk_goes_on_where_a_measured_function_returns_to() {
    const TRAMPOLINE: u64 = 0x7fff_ffff_e000;
    let there = BASE + 0x10_0000;
    let (get, set, caller) = (BASE + FUNCTION + 0x10, there + FUNCTION + 0x10, there + FUNCTION + 0x20);
    let mut space = AddressSpace::new();
    for at in [BASE, there] {
        let image = image(&[0], true);
        space.map(at, at + image.len() as u64, 0, &code(image).unwrap());
    }
    let regs = Regs { ip: BASE + FUNCTION + 8, sp: 0x7ffc_0000_0000, bp: 0, lr: 0 };
    let walked = |space: &AddressSpace, ip: u64, words: &[u64]| {
        let stack: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut out = Vec::new();
        let walked = space.walk(&mut Cache::default(), &Regs { ip, ..regs }, &stack, &mut out);
        (walked.end, walked.lack, out)
    };
    let stack = [TRAMPOLINE, caller, 0];
    assert_eq!(walked(&space, regs.ip, &stack).1, None, "it is an address like any other");
    space.measured.set_trampoline(TRAMPOLINE);
    let cut = (StackEnd::Broken, Some(Lack::Sites), vec![regs.ip, TRAMPOLINE - 1]);
    assert_eq!(walked(&space, regs.ip, &stack), cut);
    space.measured.set_sites(vec![0x1234, set, TRAMPOLINE].into());
    let whole = |site: u64| (StackEnd::Whole, None, vec![regs.ip, site - 1, caller - 1]);
    assert_eq!(walked(&space, regs.ip, &stack), whole(set));
    let returned = walked(&space, TRAMPOLINE, &stack[1..]);
    assert_eq!(returned.2, [set - 1, caller - 1], "it has returned, and the kernel is at work");
    space.measured.set_sites(vec![get, set].into());
    let nested = walked(&space, regs.ip, &[TRAMPOLINE, TRAMPOLINE, caller, 0]);
    assert_eq!(nested.2[..2], [regs.ip, get - 1], "it calls itself, as only it returns to the trampoline");
    // Both have frames of one size.
    space.measured.set_sites(vec![get, set].into());
    assert_eq!(walked(&space, regs.ip, &stack).1, Some(Lack::Call(caller)));
    space.measured.set_callee(caller, Some(BASE + FUNCTION));
    assert_eq!(walked(&space, regs.ip, &stack), whole(get));
}
