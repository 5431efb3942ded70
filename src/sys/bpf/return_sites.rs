//! Where calls of a function return to. The program at its entry sees the return address, before the kernel replaces it to
//! see the call return.

use super::calls;
use super::code::{CONTEXT, Code, FRAME, MAP_UPDATE_ELEM, PROBE_READ_USER, R0, R1, R2, R3, R4, UNEQUAL};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// Return addresses, of all processes, that are remembered.
const MOST_SITES: u32 = 4096;

/// Where `struct pt_regs` has the return address itself: Arm keeps it in a register, x86-64 on the stack.
const LINK_REGISTER: Option<i16> = if cfg!(target_arch = "aarch64") { Some(240) } else { None };

/// Return addresses by their low half. Of two that have it in common, the second stays unknown: stacks end there.
#[derive(Debug)]
pub struct ReturnSites(OwnedFd);

impl ReturnSites {
    pub(super) fn create() -> io::Result<ReturnSites> {
        calls::create_map(calls::HASH, 8, MOST_SITES, 0).map(ReturnSites)
    }

    pub(super) fn try_clone(&self) -> io::Result<ReturnSites> {
        self.0.try_clone().map(ReturnSites)
    }

    /// All of them, in order.
    ///
    /// # Errors
    /// As `bpf(2)`.
    pub fn read(&self) -> io::Result<Vec<u64>> {
        let mut sites = Vec::new();
        calls::each(&self.0, |_, [site]: &[u64; 1]| sites.push(*site))?;
        sites.sort_unstable();
        sites.dedup();
        Ok(sites)
    }

    /// Adds the return address of the call that begins, whose stack pointer is in `stack`, by a word of the frame at `place`.
    pub(super) fn add(&self, code: &mut Code, stack: u8, place: i16) {
        match LINK_REGISTER {
            Some(register) => code.load(R1, CONTEXT, register).store(FRAME, place, R1),
            None => {
                code.address(R1, FRAME, place.into()).set(R2, 8).copy(R3, stack).call(PROBE_READ_USER);
                code.jump_if(UNEQUAL, R0, 0, "known site")
            }
        };
        // The key is the low half of the word itself.
        code.look_up(&self.0, place).jump_if(UNEQUAL, R0, 0, "known site");
        code.arguments(self.0.as_raw_fd(), place).address(R3, FRAME, place.into()).set(R4, 0).call(MAP_UPDATE_ELEM);
        code.label("known site");
    }
}
