//! 64-bit Arm. Every instruction is a word; its class is read off the bits that the architecture groups encodings by
//! ("Top-level encodings for A64" in the Arm architecture reference manual).

use crate::model::{DecodedInstruction, InstructionClass};
use yaxpeax_arch::{Decoder, U8Reader};
use yaxpeax_arm::armv8::a64::InstDecoder;

/// All instructions, the first at `address`.
pub(super) fn disassemble(bytes: &[u8], address: u64) -> Vec<DecodedInstruction> {
    let decoder = InstDecoder::default();
    let text = |word: &[u8]| match decoder.decode(&mut U8Reader::new(word)) {
        Ok(instruction) => instruction.to_string(),
        // Among them the scalable vectors, which this decoder does not know.
        Err(_) if word.len() == 4 => format!(".inst {:#010x}", value(word)),
        Err(_) => "(bad)".to_string(),
    };
    let decode = |(nth, word): (usize, &[u8])| DecodedInstruction {
        address: address.wrapping_add(nth as u64 * 4),
        length: word.len() as u32,
        text: text(word),
        class: classify(word),
    };
    bytes.chunks(4).enumerate().map(decode).collect()
}

fn value(word: &[u8]) -> u32 {
    word.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte))
}

pub(super) fn classify(bytes: &[u8]) -> InstructionClass {
    let Some(word) = bytes.get(..4).map(value) else { return InstructionClass::Unknown };
    let bits = |from: u32, count: u32| word >> from & ((1 << count) - 1);
    match bits(25, 4) {
        0b0010 => InstructionClass::Sve,
        0b1000 | 0b1001 | 0b0101 | 0b1101 => InstructionClass::Scalar,
        // Hints and barriers share their place with jumps.
        0b1010 | 0b1011 if bits(22, 10) == 0b11_0101_0100 => InstructionClass::Scalar,
        0b1010 | 0b1011 => InstructionClass::Branch,
        0b0111 | 0b1111 if is_crypto(word) => InstructionClass::Crypto,
        0b0111 | 0b1111 => InstructionClass::Neon,
        0b0100 | 0b0110 | 0b1100 | 0b1110 => {
            // Loads that acquire and stores that release share the encoding, and lock nothing.
            let exclusive = bits(24, 6) == 0b00_1000 && (bits(23, 1), bits(21, 1)) != (1, 0);
            let atomic = bits(24, 6) == 0b11_1000 && bits(21, 1) == 1 && bits(10, 2) == 0;
            match (bits(26, 1), exclusive || atomic) {
                (1, _) => InstructionClass::Neon,
                (_, true) => InstructionClass::Locked,
                _ => InstructionClass::LoadStore,
            }
        }
        _ => InstructionClass::Unknown,
    }
}

/// AES, SHA-1, SHA-256, SHA-512 and SHA-3, and polynomial multiplication.
fn is_crypto(word: u32) -> bool {
    let high = |mask: u32| word & mask;
    high(0xff3e_0c00) == 0x4e28_0800
        || high(0xff20_8c00) == 0x5e00_0000
        || high(0xff3e_0c00) == 0x5e28_0800
        || high(0xbf20_fc00) == 0x0e20_e000
        || matches!(high(0xff00_0000), 0xce00_0000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_have_their_text_and_the_class_of_their_encoding() {
        use InstructionClass::{Branch, Crypto, LoadStore, Locked, Neon, Scalar, Sve, Unknown};
        for (word, begins, class) in [
            (0x8b01_0000_u32, "add x0, x0, x1", Scalar),
            (0x9100_4000, "add x0, x0, #0x10", Scalar),
            (0xf940_0420, "ldr x0, [x1, #0x8]", LoadStore),
            (0xa9bf_7bfd, "stp x29, x30, [sp, #-0x10]!", LoadStore),
            (0xc85f_7c20, "ldxr x0, [x1]", Locked),
            (0xc8df_fc20, "ldar x0, [x1]", LoadStore),
            (0xf820_0041, "ldadd x0, x1, [x2]", Locked),
            (0x9400_0004, "bl ", Branch),
            (0xd65f_03c0, "ret", Branch),
            (0x5400_0040, "b.eq ", Branch),
            (0xd503_201f, "nop", Scalar),
            (0x4e22_1c20, "and v0.16b, v1.16b, v2.16b", Neon),
            (0x1e62_2820, "fadd d0, d1, d2", Neon),
            (0x3dc0_0020, "ldr q0, [x1]", Neon),
            (0x4e28_4820, "aese v0.16b, v1.16b", Crypto),
            (0x0420_0000, ".inst ", Sve),
            (0x0000_0000, "", Unknown),
        ] {
            let all = disassemble(&word.to_le_bytes(), 0x1000);
            assert_eq!(all.len(), 1);
            assert!(all[0].text.starts_with(begins), "{word:#x}: {}", all[0].text);
            assert_eq!(all[0].class, class, "{}", all[0].text);
        }
    }

    #[test]
    fn half_a_word_is_none() {
        let all = disassemble(&[0x1f, 0x20, 0x03, 0xd5, 0x1f, 0x20], 0);
        assert_eq!((all.len(), all[1].text.as_str(), all[1].length), (2, "(bad)", 2));
    }
}
