//! Unwinds code that has neither unwind tables nor frame pointers, where all that it does after a call is to give up its
//! frame and return: the size of the frame follows from these instructions. Runtimes make such functions to name the code
//! that they interpret (CPython with `-X perf`).

use super::code::UnwindTables;

/// Bytes of instructions behind a call that are looked at.
pub const EPILOGUE: usize = 32;
/// Where the table's code begins: any place will do.
const START: u64 = 0x1000;
/// DWARF's numbers of the registers: frame pointer, stack pointer, return address.
const BP: u8 = 6;
const SP: u8 = 7;
const RETURN: u8 = 16;

/// What an instruction does to the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    /// Moves the stack pointer up.
    Drop(u32),
    /// Takes a register from the stack.
    Pop {
        frame_pointer: bool,
    },
    /// Moves the stack pointer to where the frame pointer points.
    ToFramePointer,
    /// Both.
    Leave,
    /// Nothing.
    Nothing,
    Return,
}

/// The instruction at the start of these bytes, and its length; `None` unless it belongs to an epilogue of x86-64.
fn decoded(code: &[u8]) -> Option<(Op, usize)> {
    Some(match *code {
        [0x48, 0x83, 0xc4, bytes, ..] if bytes < 0x80 => (Op::Drop(u32::from(bytes)), 4),
        [0x48, 0x81, 0xc4, a, b, c, d, ..] if d < 0x80 => (Op::Drop(u32::from_le_bytes([a, b, c, d])), 7),
        [0x5c, ..] => return None,
        [register @ 0x58..=0x5f, ..] => (Op::Pop { frame_pointer: register == 0x5d }, 1),
        [0x41, 0x58..=0x5f, ..] => (Op::Pop { frame_pointer: false }, 2),
        [0x48, 0x89, 0xec, ..] => (Op::ToFramePointer, 3),
        [0xc9, ..] => (Op::Leave, 1),
        [0xc5, 0xf8, 0x77, ..] => (Op::Nothing, 3),
        [0xc3, ..] => (Op::Return, 1),
        [0xf3, 0xc3, ..] => (Op::Return, 2),
        _ => return None,
    })
}

/// The frame before an instruction.
#[derive(Debug, Clone, Copy)]
struct State {
    /// Where the instruction begins.
    at: usize,
    /// Bytes given up so far: since the call, or since the stack pointer was taken from the frame pointer.
    given_up: u64,
    /// Whether it was.
    moved: bool,
    /// Whether the frame pointer is the caller's already.
    restored: bool,
}

/// The tables of the code from a return address on, and its length; `None` if it does anything but return.
///
/// The tables begin one byte before the return address, within the call, where unwinders look for a caller.
#[must_use]
pub fn tables_of_epilogue(code: &[u8]) -> Option<(UnwindTables, usize)> {
    let mut states = Vec::new();
    let mut now = State { at: 0, given_up: 0, moved: false, restored: false };
    // Where the caller's frame pointer lies, as `given_up` counts.
    let mut saved = None;
    loop {
        states.push(now);
        let (op, length) = decoded(code.get(now.at..)?)?;
        now.at += length;
        match op {
            Op::Return => break,
            Op::Nothing => {}
            Op::Drop(bytes) => now.given_up += u64::from(bytes),
            Op::Pop { frame_pointer } => {
                if frame_pointer {
                    saved = Some(now.given_up);
                    now.restored = true;
                }
                now.given_up += 8;
            }
            Op::ToFramePointer | Op::Leave if now.restored || now.moved => return None,
            Op::ToFramePointer => (now.given_up, now.moved) = (0, true),
            Op::Leave => {
                saved = Some(0);
                now = State { at: now.at, given_up: 8, moved: true, restored: true };
            }
        }
    }
    let frame = Frame { end: now, saved };
    Some((UnwindTables::of_function(START..START + now.at as u64 + 1, frame.table(&states)?), now.at))
}

/// What an epilogue gives up.
struct Frame {
    /// Before it returns: `at` is behind the return.
    end: State,
    /// Where the caller's frame pointer lies.
    saved: Option<u64>,
}

impl Frame {
    /// The rules before each instruction in the form of `.eh_frame`, whose addresses are absolute.
    fn table(&self, states: &[State]) -> Option<Vec<u8>> {
        const CFA: u8 = 0x0c;
        const ADVANCE: u8 = 0x02;
        const OFFSET: u8 = 0x80;
        const SAME: u8 = 0x08;
        // Behind the return address, which is the last word.
        let whole = self.end.given_up + 8;
        let mut rules = Vec::new();
        let mut at = 0;
        for state in states {
            // The table begins a byte earlier.
            if state.at > 0 {
                rules.extend([ADVANCE, u8::try_from(state.at + 1 - at).ok()?]);
                at = state.at + 1;
            }
            let by_frame_pointer = self.end.moved && !state.moved;
            let distance = if by_frame_pointer { whole } else { whole - state.given_up };
            rules.extend([CFA, if by_frame_pointer { BP } else { SP }]);
            rules.extend(uleb(distance));
            match self.saved {
                Some(place) if !state.restored => {
                    let words = Some((whole - place) / 8).filter(|words| words * 8 == whole - place)?;
                    rules.push(OFFSET | BP);
                    rules.extend(uleb(words));
                }
                _ => rules.extend([SAME, BP]),
            }
        }
        let version_and_factors = [1, 0, 1, 0x78, RETURN];
        let common = entry(&[&[0; 4][..], &version_and_factors, &[OFFSET | RETURN, 1]].concat());
        let to_common = (common.len() as u32 + 4).to_le_bytes();
        let range = [START.to_le_bytes(), (self.end.at as u64 + 1).to_le_bytes()].concat();
        let function = entry(&[&to_common[..], &range, &rules].concat());
        Some([common, function, vec![0; 4]].concat())
    }
}

/// A number in the form of DWARF.
fn uleb(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    loop {
        let low = (value & 0x7f) as u8;
        value >>= 7;
        if value == 0 {
            out.push(low);
            return out;
        }
        out.push(low | 0x80);
    }
}

/// An entry with its length before it, filled up with instructions that do nothing.
fn entry(body: &[u8]) -> Vec<u8> {
    let length = body.len().next_multiple_of(4);
    let mut out = (length as u32).to_le_bytes().to_vec();
    out.extend(body);
    out.resize(4 + length, 0);
    out
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
    use super::*;
    use crate::model::StackEnd;
    use crate::unwind::{AddressSpace, Cache, Regs};
    use std::sync::Arc;

    const ADD_8: [u8; 4] = [0x48, 0x83, 0xc4, 8];
    const RET: u8 = 0xc3;
    const AT: u64 = 0x7000;

    /// The callers that a walk finds from an address behind the return address `AT`, and the end. The stack begins at
    /// 0x100; each word in it is its own address, but for those given.
    fn walked(code: &[u8], behind: u64, bp: u64, words: &[(u64, u64)]) -> (Vec<u64>, StackEnd) {
        let (tables, length) = tables_of_epilogue(code).unwrap();
        let mut space = AddressSpace::new();
        space.map(AT - 1, AT + length as u64, 0, &Arc::new(tables));
        let word = |address: u64| words.iter().find(|(at, _)| *at == address).map_or(address, |(_, value)| *value);
        let stack: Vec<u8> = (0x100..0x400).step_by(8).flat_map(|address| word(address).to_le_bytes()).collect();
        let mut out = Vec::new();
        let end =
            space.unwind(&mut Cache::default(), &Regs { ip: AT + behind, sp: 0x100, bp, lr: 0 }, &stack, &mut out);
        (out[1..].to_vec(), end)
    }

    #[test]
    fn the_frame_is_what_is_given_up_before_the_return_whatever_the_frame_pointer_holds() {
        // CPython 3.12 and 3.13: add $8, %rsp; ret.
        let code = [&ADD_8[..], &[RET]].concat();
        for bp in [1, 0x7fff_0000, 0xdead_0000_0000] {
            assert_eq!(walked(&code, 0, bp, &[(0x108, 0x5001)]).0, [0x5000], "at the return address");
            assert_eq!(walked(&code, 4, bp, &[(0x100, 0x5001)]).0, [0x5000], "before the return");
        }
    }

    #[test]
    fn registers_that_are_taken_from_the_stack_count_and_the_frame_pointer_is_the_callers() {
        // add $8; vzeroupper; pop %rbx; pop %rbp; pop %r12; ret
        let code = [&ADD_8[..], &[0xc5, 0xf8, 0x77, 0x5b, 0x5d, 0x41, 0x5c, RET]].concat();
        // The caller's code is not known, so that the next step is by its frame pointer.
        let words = [(0x110, 0x200), (0x120, 0x5001), (0x208, 0x6001)];
        assert_eq!(walked(&code, 0, 1, &words).0[..2], [0x5000, 0x6000]);
        // Behind both adds and pops of eight bytes.
        assert_eq!(walked(&code, 9, 0x200, &[(0x108, 0x5001), (0x208, 0x6001)]).0[..2], [0x5000, 0x6000]);
    }

    #[test]
    fn a_frame_that_the_frame_pointer_marks_is_found_by_it() {
        for code in [[0xc9, RET].as_slice(), &[0x48, 0x89, 0xec, 0x5d, RET]] {
            let words = [(0x180, 0x300), (0x188, 0x5001), (0x308, 0x6001)];
            assert_eq!(walked(code, 0, 0x180, &words).0[..2], [0x5000, 0x6000], "{code:x?}");
        }
    }

    #[test]
    fn code_that_does_more_than_return_is_left() {
        let long = [&[0x5b; EPILOGUE][..]].concat();
        for (name, code) in [
            ("nothing", &[][..]),
            ("no return within the bytes", &long),
            ("half an instruction", &[0x48, 0x83, 0xc4]),
            ("a branch", &[0xeb, 0x02, RET]),
            ("another call", &[0xff, 0xd1, RET]),
            ("a stack pointer from the stack", &[0x5c, RET]),
            ("a frame that grows", &[0x48, 0x83, 0xc4, 0xf8, RET]),
            ("a frame pointer that is the caller's already", &[0x5d, 0xc9, RET]),
            ("arguments that the callee drops", &[0xc2, 8, 0]),
        ] {
            assert!(tables_of_epilogue(code).is_none(), "{name}");
        }
        assert!(tables_of_epilogue(&[0x48, 0x81, 0xc4, 0, 1, 0, 0, 0xf3, RET]).is_some_and(|(_, length)| length == 9));
    }
}
