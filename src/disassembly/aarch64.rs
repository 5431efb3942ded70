//! 64-bit Arm. Every instruction is a word; its class is read off the bits that the architecture groups encodings by
//! ("Top-level encodings for A64" in the Arm architecture reference manual).

use super::steps::{Change, Operand, Step, StepKind};
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

/// The number of the futex system call.
const FUTEX: u64 = 98;

/// Words before a use among which a register's value is looked for, and behind an atomic change among which a branch
/// depends on it.
const BEFORE: usize = 32;
const BEHIND: usize = 6;

/// The register that reads as zero.
const ZERO: u32 = 31;

/// The instructions, reduced to what makes a lock.
pub(super) fn steps(bytes: &[u8], address: u64) -> Vec<Step> {
    let words: Vec<u32> = bytes.chunks_exact(4).map(value).collect();
    let at = |nth: usize| address.wrapping_add(nth as u64 * 4);
    let step = |nth: usize| Step { address: at(nth), length: 4, kind: kind(&words, nth, at(nth)) };
    (0..words.len()).map(step).collect()
}

fn kind(words: &[u32], nth: usize, address: u64) -> StepKind {
    let word = words[nth];
    // The offset of a jump: `count` bits from `from` on, in words.
    let to = |from: u32, count: u32| {
        let offset = (word << (32 - from - count)) as i32 >> (32 - count);
        Some(address.wrapping_add_signed(i64::from(offset) * 4))
    };
    let is = |mask: u32, bits: u32| word & mask == bits;
    let constant = |register: u32| constant(words, nth, register);
    match word {
        // `yield`, `wfe` and `isb`, by which loops wait.
        0xd503_203f | 0xd503_205f | 0xd503_3fdf => StepKind::Pause,
        0xd400_0001 => StepKind::Kernel { futex: constant(8) == Some(FUTEX) },
        _ if is(0xfc00_0000, 0x1400_0000) => StepKind::Jump { target: to(0, 26), conditional: false },
        _ if is(0xfc00_0000, 0x9400_0000) => StepKind::Call { target: to(0, 26), futex: constant(0) == Some(FUTEX) },
        _ if is(0xff00_0010, 0x5400_0000) || is(0x7e00_0000, 0x3400_0000) => {
            StepKind::Jump { target: to(5, 19), conditional: true }
        }
        _ if is(0x7e00_0000, 0x3600_0000) => StepKind::Jump { target: to(5, 14), conditional: true },
        _ if is(0xffff_fc1f, 0xd65f_0000) => StepKind::Return,
        _ if is(0xffff_fc1f, 0xd61f_0000) => StepKind::Jump { target: None, conditional: false },
        _ if is(0xffff_fc1f, 0xd63f_0000) => StepKind::Call { target: None, futex: constant(0) == Some(FUTEX) },
        _ => match changed(word) {
            Some(Written { new, old, swaps }) => StepKind::Atomic {
                change: match (swaps, constant(new)) {
                    (true, Some(0)) => Change::Release,
                    (true, Some(_)) => Change::Take,
                    _ => Change::Update,
                },
                operand: Operand { absolute: false, offset: 0 },
                decides: old != Some(ZERO) && decides(words, nth),
            },
            // A store of `wzr` at its base, releasing or not.
            None if is(0xbfff_fc1f, 0x889f_fc1f) || is(0xbfc0_001f, 0xb900_001f) => {
                let offset = if is(0xbfc0_001f, 0xb900_001f) { u64::from(word >> 10 & 0xfff) * 4 } else { 0 };
                StepKind::Clear { operand: Operand { absolute: false, offset } }
            }
            None => StepKind::Other,
        },
    }
}

/// What an atomic change writes and where it leaves what it found.
struct Written {
    new: u32,
    /// `None` where a load before it has that.
    old: Option<u32>,
    /// Whether it writes its register as it is.
    swaps: bool,
}

/// The stores of exclusive pairs, compare-and-swap, swaps and the other atomics of LSE.
fn changed(word: u32) -> Option<Written> {
    let field = |from: u32| word >> from & ZERO;
    let is = |mask: u32, bits: u32| word & mask == bits;
    if is(0x3fa0_7c00, 0x08a0_7c00) {
        return Some(Written { new: field(0), old: Some(field(16)), swaps: true });
    }
    if is(0x3fe0_7c00, 0x0800_7c00) {
        return Some(Written { new: field(0), old: None, swaps: true });
    }
    if is(0x3f20_0c00, 0x3820_0000) {
        return Some(Written { new: field(16), old: Some(field(0)), swaps: is(0xfc00, 0x8000) });
    }
    None
}

/// Whether a branch depends on what an atomic change found: one between the exclusive load and its store, or one shortly
/// behind it that is not the retry of the store itself.
fn decides(words: &[u32], nth: usize) -> bool {
    let word = words[nth];
    let branch =
        |word: u32| word & 0xff00_0010 == 0x5400_0000 || matches!(word & 0x7e00_0000, 0x3400_0000 | 0x3600_0000);
    let exclusive = word & 0x3fe0_7c00 == 0x0800_7c00;
    let status = word >> 16 & ZERO;
    let loaded = |word: &u32| *word & 0x3fe0_7c00 == 0x0840_7c00;
    let before = || words[nth.saturating_sub(BEHIND)..nth].iter().rev().take_while(|word| !loaded(word));
    let between = exclusive && before().any(|word| branch(*word));
    let behind = words.iter().skip(nth + 1).take(BEHIND).filter(|word| branch(**word));
    let retries = |word: u32| exclusive && word & 0x7e00_0000 == 0x3400_0000 && word & ZERO == status;
    between || { behind }.any(|word| !retries(*word))
}

/// The value that a register has before a word, if one of those before sets it to a constant.
fn constant(words: &[u32], nth: usize, register: u32) -> Option<u64> {
    if register == ZERO {
        return Some(0);
    }
    for word in words[nth.saturating_sub(BEFORE)..nth].iter().rev() {
        let writes = !matches!(word >> 25 & 0b1111, 0b1010 | 0b1011) && word & ZERO == register;
        // Stores name the register that they read in the same place.
        let stores = word & 0x0a00_0000 == 0x0800_0000 && word & 0x0040_0000 == 0;
        if word & 0x7f80_0000 == 0x5280_0000 && writes {
            return Some(u64::from(word >> 5 & 0xffff));
        }
        if word & 0x7fe0_ffe0 == 0x2a00_03e0 && writes {
            let from = word >> 16 & ZERO;
            return (from == ZERO).then_some(0);
        }
        if writes && !stores {
            return None;
        }
    }
    None
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
