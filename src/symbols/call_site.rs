//! Reads from the instruction before a return address which function was called. A function that ends in a jump to another
//! one (a tail call) has no frame: only this instruction still names it.

use crate::model::Architecture;

/// Bytes that the longest direct call takes.
pub(super) const LONGEST: u64 = 5;

/// The address that a direct call names, given the last bytes of the call and the return address behind it. `None` for all
/// other instructions: where an indirect call leads is not in the code.
pub(super) fn target(architecture: Architecture, bytes: &[u8], back: u64) -> Option<u64> {
    match architecture {
        Architecture::X86_64 => {
            let [.., 0xe8, a, b, c, d] = *bytes else { return None };
            Some(back.wrapping_add_signed(i32::from_le_bytes([a, b, c, d]).into()))
        }
        Architecture::Aarch64 => {
            let word = u32::from_le_bytes(*bytes.last_chunk()?);
            // The lower 26 bits count instructions from this one on.
            let words = (word << 6).cast_signed() >> 6;
            (word >> 26 == 0b10_0101).then(|| back.wrapping_sub(4).wrapping_add_signed(i64::from(words) * 4))
        }
    }
}

/// Whether a function only leads to another one that its caller chose: for indirect calls, or where a call does not reach.
pub(super) fn is_thunk(function: &str) -> bool {
    const THUNKS: [&str; 4] =
        ["__x86_indirect_thunk", "__llvm_retpoline", "__AArch64ADRPThunk", "__AArch64AbsLongThunk"];
    THUNKS.iter().any(|start| function.starts_with(start)) || function.ends_with("_veneer")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_direct_call_names_its_function() {
        use Architecture::{Aarch64, X86_64};
        for (what, architecture, bytes, expected) in [
            ("call rel32", X86_64, &[0xe8, 0x10, 0, 0, 0][..], Some(0x1015)),
            ("call rel32 backwards", X86_64, &[0xe8, 0xfb, 0xff, 0xff, 0xff], Some(0x1000)),
            ("addr32 call, as linkers write it", X86_64, &[0x67, 0xe8, 0x10, 0, 0, 0], Some(0x1015)),
            ("jmp rel32", X86_64, &[0xe9, 0x10, 0, 0, 0], None),
            ("call *0x10(%rip)", X86_64, &[0xff, 0x15, 0x10, 0, 0, 0], None),
            ("call *%rax", X86_64, &[0x90, 0x90, 0x90, 0xff, 0xd0], None),
            ("too few bytes", X86_64, &[0x10, 0, 0, 0], None),
            ("bl", Aarch64, &[0x04, 0, 0, 0x94], Some(0x1011)),
            ("bl backwards", Aarch64, &[0xff, 0xff, 0xff, 0x97], Some(0xffd)),
            ("b", Aarch64, &[0x04, 0, 0, 0x14], None),
            ("blr x8", Aarch64, &[0x00, 0x01, 0x3f, 0xd6], None),
            ("too few bytes", Aarch64, &[0, 0, 0x94], None),
        ] {
            assert_eq!(target(architecture, bytes, 0x1005), expected, "{what}");
        }
    }
}
