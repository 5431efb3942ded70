//! x86-64.

use super::steps::{Change, Operand, Step, StepKind};
use crate::model::{DecodedInstruction, InstructionClass, Syntax};
use iced_x86::{
    ConditionCode, Decoder, DecoderOptions, FlowControl, Formatter, GasFormatter, Instruction, InstructionInfoFactory,
    IntelFormatter, Mnemonic, OpAccess, OpKind, Register,
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

/// The number of the futex system call.
const FUTEX: u64 = 202;

/// Instructions before a use among which a register's value is looked for, and behind an atomic change among which it may
/// decide about a branch.
const BEFORE: usize = 64;
const BEHIND: usize = 12;

/// Registers that a call may change.
const VOLATILE: [Register; 9] = [
    Register::RAX,
    Register::RCX,
    Register::RDX,
    Register::RSI,
    Register::RDI,
    Register::R8,
    Register::R9,
    Register::R10,
    Register::R11,
];

/// The instructions, reduced to what makes a lock.
pub(super) fn steps(bytes: &[u8], address: u64) -> Vec<Step> {
    let all: Vec<Instruction> = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE).iter().collect();
    let mut values = Values { all: &all, atomic: all.iter().any(is_atomic), info: InstructionInfoFactory::new() };
    let step = |at: usize| Step { address: all[at].ip(), length: all[at].len() as u32, kind: values.kind(at) };
    (0..all.len()).map(step).collect()
}

/// Follows the values of registers through neighbouring instructions, in the order of their addresses.
struct Values<'a> {
    all: &'a [Instruction],
    /// Whether any changes memory atomically: without, other stores do not matter.
    atomic: bool,
    info: InstructionInfoFactory,
}

impl Values<'_> {
    fn kind(&mut self, at: usize) -> StepKind {
        let one = self.all[at];
        let near = || Some(one.near_branch_target());
        match (one.mnemonic(), one.flow_control()) {
            (Mnemonic::Pause, _) => StepKind::Pause,
            (Mnemonic::Syscall, _) => StepKind::Kernel { futex: self.constant(at, Register::RAX) == Some(FUTEX) },
            (_, FlowControl::Return | FlowControl::Interrupt | FlowControl::Exception) => StepKind::Return,
            (_, FlowControl::UnconditionalBranch) => StepKind::Jump { target: near(), conditional: false },
            (_, FlowControl::IndirectBranch) => StepKind::Jump { target: None, conditional: false },
            (_, FlowControl::ConditionalBranch) => StepKind::Jump { target: near(), conditional: true },
            (_, FlowControl::Call) => StepKind::Call { target: near(), futex: self.passes_futex(at) },
            (_, FlowControl::IndirectCall) => StepKind::Call { target: None, futex: self.passes_futex(at) },
            _ if is_atomic(&one) => {
                StepKind::Atomic { change: self.change(at), operand: operand(&one), decides: self.decides(at) }
            }
            _ if !self.atomic => StepKind::Other,
            (Mnemonic::Mov, _) if one.op0_kind() == OpKind::Memory && self.stored(at) == Some(0) => {
                StepKind::Clear { operand: operand(&one) }
            }
            _ if one.is_ip_rel_memory_operand() && self.info.info(&one).op0_access() != OpAccess::Read => {
                match one.op0_kind() {
                    OpKind::Memory => StepKind::Store { operand: operand(&one) },
                    _ => StepKind::Other,
                }
            }
            _ => StepKind::Other,
        }
    }

    fn passes_futex(&mut self, at: usize) -> bool {
        self.constant(at, Register::RDI) == Some(FUTEX)
    }

    /// What a plain move stores, if it is constant.
    fn stored(&mut self, at: usize) -> Option<u64> {
        let one = self.all[at];
        match one.op1_kind() {
            OpKind::Register => self.constant(at, one.op1_register()),
            kind => is_immediate(kind).then(|| one.immediate(1)),
        }
    }

    fn change(&mut self, at: usize) -> Change {
        let one = self.all[at];
        let new = match one.op1_kind() {
            OpKind::Register => self.constant(at, one.op1_register()),
            _ => None,
        };
        match one.mnemonic() {
            Mnemonic::Cmpxchg | Mnemonic::Xchg if new == Some(0) => Change::Release,
            Mnemonic::Xchg if new.is_some() => Change::Take,
            // Who owns a lock may be any number, and who does not is always the same.
            Mnemonic::Cmpxchg if new.is_some() || self.constant(at, Register::RAX).is_some() => Change::Take,
            Mnemonic::Bts => Change::Take,
            Mnemonic::Btr => Change::Release,
            _ => Change::Update,
        }
    }

    /// The value that a register has before an instruction, if one of those before sets it to a constant.
    fn constant(&mut self, at: usize, register: Register) -> Option<u64> {
        let mut register = register.full_register();
        for before in (at.saturating_sub(BEFORE)..at).rev() {
            let one = self.all[before];
            let calls = matches!(one.flow_control(), FlowControl::Call | FlowControl::IndirectCall);
            if calls && VOLATILE.contains(&register) {
                return None;
            }
            if !self.used(&one, writes).contains(&register) {
                continue;
            }
            let own = one.op0_kind() == OpKind::Register && one.op0_register().full_register() == register;
            let source = (one.op1_kind() == OpKind::Register).then(|| one.op1_register().full_register());
            match one.mnemonic() {
                Mnemonic::Mov if own && is_immediate(one.op1_kind()) => return Some(one.immediate(1)),
                Mnemonic::Mov if own => register = source?,
                Mnemonic::Xor | Mnemonic::Sub if own && source == Some(register) => return Some(0),
                _ => return None,
            }
        }
        None
    }

    /// Whether a branch or a flag depends on what an atomic change found.
    fn decides(&mut self, at: usize) -> bool {
        let one = self.all[at];
        let mut flags = one.mnemonic() != Mnemonic::Xchg;
        let mut found: Vec<Register> = match one.mnemonic() {
            Mnemonic::Cmpxchg => vec![Register::RAX],
            Mnemonic::Xchg | Mnemonic::Xadd => vec![one.op1_register().full_register()],
            _ => Vec::new(),
        };
        let all = self.all;
        let mut at = at;
        for _ in 0..BEHIND {
            at += 1;
            let Some(next) = all.get(at) else { return false };
            if next.flow_control() == FlowControl::UnconditionalBranch {
                let Ok(target) = all.binary_search_by_key(&next.near_branch_target(), Instruction::ip) else {
                    return false;
                };
                // The step above leads to the target.
                let Some(before) = target.checked_sub(1) else { return false };
                at = before;
                continue;
            }
            if next.condition_code() != ConditionCode::None {
                if flags {
                    return true;
                }
                continue;
            }
            if next.flow_control() != FlowControl::Next {
                return false;
            }
            let reads = self.used(next, reads).iter().any(|register| found.contains(register));
            for register in self.used(next, writes) {
                found.retain(|known| *known != register);
                found.extend(reads.then_some(register));
            }
            if next.rflags_modified() != 0 {
                flags = reads;
            }
        }
        false
    }

    /// The whole registers that an instruction uses in a way.
    fn used(&mut self, one: &Instruction, way: fn(OpAccess) -> bool) -> Vec<Register> {
        let used = self.info.info(one).used_registers().iter();
        used.filter(|used| way(used.access())).map(|used| used.register().full_register()).collect()
    }
}

fn writes(access: OpAccess) -> bool {
    matches!(access, OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite)
}

fn reads(access: OpAccess) -> bool {
    matches!(access, OpAccess::Read | OpAccess::CondRead | OpAccess::ReadWrite | OpAccess::ReadCondWrite)
}

fn is_immediate(kind: OpKind) -> bool {
    use OpKind::{
        Immediate8, Immediate8to16, Immediate8to32, Immediate8to64, Immediate16, Immediate32, Immediate32to64,
        Immediate64,
    };
    matches!(
        kind,
        Immediate8
            | Immediate8to16
            | Immediate8to32
            | Immediate8to64
            | Immediate16
            | Immediate32
            | Immediate32to64
            | Immediate64
    )
}

fn operand(one: &Instruction) -> Operand {
    Operand { absolute: one.is_ip_rel_memory_operand(), offset: one.memory_displacement64() }
}

fn is_atomic(instruction: &Instruction) -> bool {
    let memory = instruction.op_kinds().any(|kind| kind == OpKind::Memory);
    instruction.has_lock_prefix() || instruction.mnemonic() == Mnemonic::Xchg && memory
}

fn class(instruction: &Instruction) -> InstructionClass {
    if instruction.is_invalid() {
        return InstructionClass::Unknown;
    }
    let memory = instruction.op_kinds().any(|kind| kind == OpKind::Memory);
    if is_atomic(instruction) {
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
