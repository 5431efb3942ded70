//! x86-64.

use crate::model::{DecodedInstruction, InstructionClass, Syntax};
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Formatter, GasFormatter, Instruction, IntelFormatter, Mnemonic, OpKind,
};

/// All instructions, the first at `address`.
pub(super) fn disassemble(bytes: &[u8], address: u64, syntax: Syntax) -> Vec<DecodedInstruction> {
    let mut formatter: Box<dyn Formatter> = match syntax {
        Syntax::Intel => Box::new(IntelFormatter::new()),
        Syntax::Att => Box::new(GasFormatter::new()),
    };
    let options = formatter.options_mut();
    options.set_hex_prefix("0x");
    options.set_hex_suffix("");
    options.set_uppercase_hex(false);
    options.set_branch_leading_zeros(false);
    options.set_small_hex_numbers_in_decimal(true);
    options.set_show_branch_size(false);
    options.set_space_after_operand_separator(true);
    let mut decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
    let mut all = Vec::new();
    let mut instruction = Instruction::default();
    while decoder.can_decode() {
        decoder.decode_out(&mut instruction);
        let mut text = String::new();
        match instruction.is_invalid() {
            true => text.push_str("(bad)"),
            false => formatter.format(&instruction, &mut text),
        }
        all.push(DecodedInstruction {
            address: instruction.ip(),
            length: instruction.len() as u32,
            text,
            class: class(&instruction),
        });
    }
    all
}

pub(super) fn classify(bytes: &[u8]) -> InstructionClass {
    class(&Decoder::with_ip(64, bytes, 0, DecoderOptions::NONE).decode())
}

/// Whether the bytes are one locked instruction, all of them.
pub(super) fn is_locked(bytes: &[u8]) -> bool {
    let instruction = Decoder::with_ip(64, bytes, 0, DecoderOptions::NONE).decode();
    instruction.len() == bytes.len() && class(&instruction) == InstructionClass::Locked
}

/// Whether a register of 512 bits is an operand, or the index of one. AVX-512 has instructions of 128 and 256 bits too.
pub(super) fn is_wide(bytes: &[u8]) -> bool {
    let instruction = Decoder::with_ip(64, bytes, 0, DecoderOptions::NONE).decode();
    let operands = (0..instruction.op_count()).map(|operand| instruction.op_register(operand));
    !instruction.is_invalid() && operands.chain([instruction.memory_index()]).any(|register| register.is_zmm())
}

fn class(instruction: &Instruction) -> InstructionClass {
    if instruction.is_invalid() {
        return InstructionClass::Unknown;
    }
    let memory = instruction.op_kinds().any(|kind| kind == OpKind::Memory);
    if instruction.has_lock_prefix() || instruction.mnemonic() == Mnemonic::Xchg && memory {
        return InstructionClass::Locked;
    }
    // Each instruction names the CPU features that it needs, the widest among them.
    let features: Vec<String> = instruction.cpuid_features().iter().map(|feature| format!("{feature:?}")).collect();
    let needs =
        |prefixes: &[&str]| features.iter().any(|feature| prefixes.iter().any(|prefix| feature.starts_with(prefix)));
    const UNITS: [(InstructionClass, &[&str]); 6] = [
        (InstructionClass::Crypto, &["AES", "SHA", "PCLMULQDQ", "VAES", "VPCLMULQDQ", "GFNI", "PADLOCK", "SM3", "SM4"]),
        (InstructionClass::Amx, &["AMX"]),
        (InstructionClass::Avx512, &["AVX512", "AVX10"]),
        (InstructionClass::Avx, &["AVX", "FMA", "F16C", "XOP"]),
        (InstructionClass::Sse, &["SSE", "SSSE", "MMX", "D3NOW"]),
        (InstructionClass::X87, &["FPU"]),
    ];
    if let Some((class, _)) = UNITS.iter().find(|(_, prefixes)| needs(prefixes)) {
        // Prefetches, fences and non-temporal stores of integers came with SSE and compute nothing.
        let moves = features.iter().any(|feature| feature.starts_with("SSE"))
            && !instruction.op_kinds().any(|kind| kind == OpKind::Register)
            && *class == InstructionClass::Sse;
        return if moves { InstructionClass::LoadStore } else { *class };
    }
    match instruction.flow_control() {
        FlowControl::Next => {}
        _ => return InstructionClass::Branch,
    }
    let is_address_only = matches!(instruction.mnemonic(), Mnemonic::Lea | Mnemonic::Nop);
    let stack = instruction.is_stack_instruction();
    if memory && !is_address_only || stack { InstructionClass::LoadStore } else { InstructionClass::Scalar }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_have_their_text_and_the_class_of_the_unit_they_need() {
        use InstructionClass::{Avx, Avx512, Branch, Crypto, LoadStore, Locked, Scalar, Sse, Unknown, X87};
        for (bytes, wide) in [
            (&[0x62, 0xf1, 0xfd, 0x48, 0x58, 0xc1][..], true),
            // vaddpd ymm0, ymm0, ymm17: AVX-512 of 256 bits.
            (&[0x62, 0xb1, 0xfd, 0x28, 0x58, 0xc1], false),
            (&[0xc5, 0xfd, 0x58, 0xc1], false),
            (&[0x48, 0x01, 0xf8], false),
            (&[0x06], false),
        ] {
            assert_eq!(is_wide(bytes), wide, "{bytes:x?}");
        }
        for (bytes, intel, att, class) in [
            (&[0x8b, 0x47, 0x08][..], "mov eax, [rdi+8]", "mov 8(%rdi), %eax", LoadStore),
            (&[0x48, 0x8d, 0x04, 0x37], "lea rax, [rdi+rsi]", "lea (%rdi,%rsi), %rax", Scalar),
            (&[0x48, 0x01, 0xf8], "add rax, rdi", "add %rdi, %rax", Scalar),
            (&[0xf0, 0x48, 0xff, 0x07], "lock inc qword ptr [rdi]", "lock incq (%rdi)", Locked),
            (&[0x87, 0x07], "xchg [rdi], eax", "xchg %eax, (%rdi)", Locked),
            (&[0xc3], "ret", "ret", Branch),
            (&[0x0f, 0x05], "syscall", "syscall", Branch),
            (&[0x66, 0x0f, 0x58, 0xc1], "addpd xmm0, xmm1", "addpd %xmm1, %xmm0", Sse),
            (&[0xc5, 0xfd, 0x58, 0xc1], "vaddpd ymm0, ymm0, ymm1", "vaddpd %ymm1, %ymm0, %ymm0", Avx),
            (&[0x62, 0xf1, 0xfd, 0x48, 0x58, 0xc1], "vaddpd zmm0, zmm0, zmm1", "vaddpd %zmm1, %zmm0, %zmm0", Avx512),
            (&[0x66, 0x0f, 0x38, 0xdc, 0xc1], "aesenc xmm0, xmm1", "aesenc %xmm1, %xmm0", Crypto),
            (&[0xd9, 0xe8], "fld1", "fld1", X87),
            (&[0x0f, 0x18, 0x0f], "prefetcht0 [rdi]", "prefetcht0 (%rdi)", LoadStore),
            (&[0x06], "(bad)", "(bad)", Unknown),
        ] {
            for (syntax, text) in [(Syntax::Intel, intel), (Syntax::Att, att)] {
                let all = disassemble(bytes, 0x1000, syntax);
                assert_eq!(all.len(), 1, "{intel}");
                assert_eq!((all[0].text.as_str(), all[0].class), (text, class), "{intel}");
            }
        }
    }
}
