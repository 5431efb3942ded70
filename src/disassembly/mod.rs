//! Machine code to instructions: their text, and their class.

mod aarch64;
mod locks;
mod steps;
mod x86;

pub use locks::{LockShape, waits};

use crate::model::{Architecture, DecodedInstruction, FunctionCode, InstructionClass, Syntax};

/// All instructions of a function. What is none ends as [`InstructionClass::Unknown`], and decoding goes on behind it.
#[must_use]
pub fn disassemble(code: &FunctionCode, syntax: Syntax) -> Vec<DecodedInstruction> {
    match code.architecture {
        Architecture::X86_64 => x86::disassemble(&code.bytes, code.address, syntax),
        Architecture::Aarch64 => aarch64::disassemble(&code.bytes, code.address),
    }
}

/// The class of the instruction that the bytes begin with.
#[must_use]
pub fn classify(architecture: Architecture, bytes: &[u8]) -> InstructionClass {
    match architecture {
        Architecture::X86_64 => x86::classify(bytes),
        Architecture::Aarch64 => aarch64::classify(bytes),
    }
}

/// Whether the instruction that the bytes begin with works on 512 bits.
#[must_use]
pub fn is_wide(architecture: Architecture, bytes: &[u8]) -> bool {
    architecture == Architecture::X86_64 && x86::is_wide(bytes)
}

/// Whether a locked instruction may end where the bytes end. On x86-64, whose instructions begin anywhere, only the whole
/// function tells for sure.
#[must_use]
pub fn may_end_locked(architecture: Architecture, bytes: &[u8]) -> bool {
    let locked = |length: usize| {
        let code = bytes.len().checked_sub(length).and_then(|start| bytes.get(start..));
        code.is_some_and(|code| match architecture {
            Architecture::X86_64 => x86::is_locked(code),
            Architecture::Aarch64 => classify(architecture, code) == InstructionClass::Locked,
        })
    };
    match architecture {
        Architecture::X86_64 => (2..=15).any(locked),
        Architecture::Aarch64 => locked(4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_locked_instruction_is_seen_from_behind_it() {
        let x86 = |bytes: &[u8]| may_end_locked(Architecture::X86_64, bytes);
        // nop; lock add qword ptr [rdi], 1. xchg [rdi], eax. mov eax, 0x2710. lea rdx, [rsi+rax].
        assert!(x86(&[0x90, 0xf0, 0x48, 0x83, 0x07, 0x01]) && x86(&[0x90, 0x87, 0x07]));
        assert!(!x86(&[0xf0, 0x48, 0x83, 0x07, 0x01, 0x90]), "one instruction further");
        assert!(!x86(&[0xb8, 0x10, 0x27, 0, 0]) && !x86(&[0x48, 0x8d, 0x14, 0x06]) && !x86(&[]));
        let arm = |words: &[u32]| {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            may_end_locked(Architecture::Aarch64, &bytes)
        };
        assert!(arm(&[0xd503_201f, 0xf820_0041]) && !arm(&[0xf820_0041, 0xd503_201f]) && !arm(&[]));
    }

    proptest! {
        #[test]
        fn any_bytes_are_decoded_to_their_end_and_classified_alike(bytes in prop::collection::vec(any::<u8>(), 0..300), arm in any::<bool>()) {
            let architecture = if arm { Architecture::Aarch64 } else { Architecture::X86_64 };
            let code = FunctionCode { architecture, address: 0x1000, slide: 0, bytes: bytes.clone().into() };
            let shape = LockShape::of(&code, |target| target & 1 == 0);
            prop_assert!(shape.is_none_or(|shape| shape.at(0x1000 + bytes.len() as u64).is_none()), "beyond the end");
            let callees = std::cell::Cell::new(0);
            let waiting = waits(&code, |_| { callees.set(callees.get() + 1); false });
            prop_assert!(waiting || callees.get() <= bytes.len());
            for syntax in [Syntax::Intel, Syntax::Att] {
                let all = disassemble(&code, syntax);
                let mut at = 0x1000;
                for one in &all {
                    prop_assert_eq!(one.address, at);
                    prop_assert!(one.length > 0 && !one.text.is_empty());
                    let rest = &bytes[(at - 0x1000) as usize..];
                    prop_assert_eq!(one.class, classify(architecture, rest), "{}", one.text);
                    at += u64::from(one.length);
                }
                prop_assert_eq!(at, 0x1000 + bytes.len() as u64);
            }
        }
    }
}
