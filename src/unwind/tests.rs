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
