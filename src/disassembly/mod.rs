//! Machine code to instructions: their text, and their class.

mod aarch64;
mod x86;

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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_are_decoded_to_their_end_and_classified_alike(bytes in prop::collection::vec(any::<u8>(), 0..300), arm in any::<bool>()) {
            let architecture = if arm { Architecture::Aarch64 } else { Architecture::X86_64 };
            let code = FunctionCode { architecture, address: 0x1000, slide: 0, bytes: bytes.clone().into() };
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
