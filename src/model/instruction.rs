//! Machine instructions, decoded.

use super::FrameId;
use rustc_hash::FxHashMap;
use serde::Serialize;

/// What was read of a recording's code.
#[derive(Debug, Clone, Default)]
pub struct ReadCode {
    /// The instructions at the hottest frames.
    pub instructions: SampledCode,
    /// The locks on all stacks.
    pub locks: LockCode,
}

/// The instructions that samples stand for, by frame. Frames whose code cannot be read are absent.
pub type SampledCode = FxHashMap<FrameId, SampledInstruction>;

/// What rules ask about a sampled instruction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SampledInstruction {
    /// Whether samples there stand for a locked instruction: they fell on one, or right behind it.
    pub locked: bool,
    /// Whether it works on 512 bits.
    pub wide: bool,
}

/// The frames at code that takes or releases a lock. Other frames, and those whose code cannot be read, are absent.
pub type LockCode = FxHashMap<FrameId, LockRole>;

/// How the code at a frame takes part in taking or releasing a lock, by its instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockRole {
    /// Whether its function does other work as well: then the function itself takes the lock, else its caller does.
    pub inline: bool,
    /// Whether it runs only while another thread holds the lock: a loop that pauses.
    pub spins: bool,
}

/// The architectures whose code can be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Architecture {
    /// 64-bit x86.
    X86_64,
    /// 64-bit Arm, A64.
    Aarch64,
}

/// How x86 instructions are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Syntax {
    /// `mov eax, [rdi+8]`.
    #[default]
    Intel,
    /// `mov 8(%rdi),%eax`, as objdump and perf write it by default.
    Att,
}

/// What an instruction does, as far as it tells what limits the code. Where several apply, the first does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InstructionClass {
    /// It locks a cache line: a `lock` prefix, `xchg` with memory, exclusive loads and stores, LSE atomics.
    Locked,
    /// AES, SHA, carry-less multiplication.
    Crypto,
    /// Intel's matrix tiles.
    Amx,
    /// AVX-512 of any vector length.
    Avx512,
    /// AVX, AVX2, FMA.
    Avx,
    /// SSE and MMX; scalar floating point on x86-64 too.
    Sse,
    /// Arm's scalable vectors.
    Sve,
    /// Arm's vectors and floating point.
    Neon,
    /// The floating point unit before SSE.
    X87,
    /// A jump, call, return or system call.
    Branch,
    /// Another one that reads or writes memory.
    LoadStore,
    /// Another one.
    Scalar,
    /// Bytes that are no instruction known here.
    Unknown,
}

impl InstructionClass {
    /// Its name.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            InstructionClass::Locked => "locked",
            InstructionClass::Crypto => "crypto",
            InstructionClass::Amx => "AMX",
            InstructionClass::Avx512 => "AVX-512",
            InstructionClass::Avx => "AVX",
            InstructionClass::Sse => "SSE",
            InstructionClass::Sve => "SVE",
            InstructionClass::Neon => "NEON, FP",
            InstructionClass::X87 => "x87",
            InstructionClass::Branch => "branch",
            InstructionClass::LoadStore => "load, store",
            InstructionClass::Scalar => "scalar",
            InstructionClass::Unknown => "unknown",
        }
    }
}

/// An instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodedInstruction {
    /// Its address as the file states it.
    pub address: u64,
    /// Its length, bytes.
    pub length: u32,
    /// Its text.
    pub text: String,
    /// What it does.
    pub class: InstructionClass,
}

/// The code of one function, as its file holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionCode {
    /// What it is written for.
    pub architecture: Architecture,
    /// The address of its first byte, as the file states it.
    pub address: u64,
    /// What to add to an offset in the file for an address in this function.
    pub slide: u64,
    /// Its bytes.
    pub bytes: Box<[u8]>,
}
