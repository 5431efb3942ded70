//! What stacks need at calls of measured functions: where their kernel code lies, where they return to, what is called there.

use super::maps::{Mapping, Memory};
use super::proc_source::ProcSource;
use crate::units::Nanos;
use crate::unwind::AddressSpace;

/// Time between two readings of the return addresses for one process: a walk that fails for another reason reads in vain.
pub const SPACING: Nanos = Nanos(10_000_000);

/// A mapping may be that of the kernel's code for probes.
pub fn mapped(mapping: &Mapping<'_>, space: &mut AddressSpace) {
    if mapping.memory == Memory::Probes {
        space.measured.set_trampoline(mapping.start);
    }
}

/// The function that the call before a return address names: `call` with a distance on x86-64, `bl` on Arm.
pub fn callee(back: u64, pid: u32, proc: &mut impl ProcSource) -> Option<u64> {
    const LENGTH: usize = if cfg!(target_arch = "aarch64") { 4 } else { 5 };
    let mut code = [0_u8; LENGTH];
    let at = back.checked_sub(LENGTH as u64)?;
    (proc.memory(pid, at, &mut code) == LENGTH).then_some(())?;
    if cfg!(target_arch = "aarch64") {
        let word = u32::from_le_bytes(code.first_chunk().copied()?);
        // Its low 26 bits are a signed number of words.
        (word >> 26 == 0b10_0101).then(|| at.wrapping_add_signed(i64::from((word << 6) as i32 >> 4)))
    } else {
        let distance = i32::from_le_bytes(code.last_chunk().copied()?);
        (code[0] == 0xe8).then(|| back.wrapping_add_signed(i64::from(distance)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::sampler::proc_source::fake::Tables;

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn a_call_names_its_function_unless_it_goes_by_a_pointer() {
        // call -0x10; call *%rax, which ends at 0x700a.
        let code = vec![0xe8, 0xf0, 0xff, 0xff, 0xff, 0x90, 0x90, 0x90, 0xff, 0xd0];
        let mut proc = Tables { memory: (0x7000, code), ..Tables::default() };
        assert_eq!(callee(0x7005, 7, &mut proc), Some(0x6ff5));
        for back in [0x700a, 0x7004, 0x9000, 2] {
            assert_eq!(callee(back, 7, &mut proc), None, "{back:#x}");
        }
    }
}
