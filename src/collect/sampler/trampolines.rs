//! Just-in-time code that calls one function and returns, as CPython makes it for each Python function (`-X perf`): its
//! frame is read from the instructions behind the call. Such code has neither tables nor, on x86-64, frame pointers.

use super::proc_source::ProcSource;
use crate::unwind::{EPILOGUE, UnwindTables, tables_of_epilogue};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::sync::Arc;

/// Calls of one process that are looked at.
const LOOKED_AT: usize = 1 << 14;
/// Kinds of such code that are remembered: a runtime copies one of them for each function.
const KINDS: usize = 64;

/// The trampolines of one process.
#[derive(Debug, Default)]
pub struct Trampolines {
    looked_at: FxHashSet<u64>,
    /// By the instructions behind the call.
    kinds: FxHashMap<Box<[u8]>, Arc<UnwindTables>>,
}

impl Trampolines {
    /// The code behind a call at an address, and its tables, if all it does is to return. Each call is looked at once.
    pub fn behind(
        &mut self,
        call: u64,
        pid: u32,
        proc: &mut impl ProcSource,
    ) -> Option<(Range<u64>, Arc<UnwindTables>)> {
        if cfg!(not(target_arch = "x86_64")) || self.looked_at.len() >= LOOKED_AT || !self.looked_at.insert(call) {
            return None;
        }
        // A caller's address is the return address minus one.
        let start = call.checked_add(1)?;
        let mut memory = [0; EPILOGUE];
        let length = proc.memory(pid, start, &mut memory);
        let (tables, length) = tables_of_epilogue(memory.get(..length)?)?;
        let code = call..start.checked_add(length as u64)?;
        let instructions = &memory[..length];
        if let Some(known) = self.kinds.get(instructions) {
            return Some((code, known.clone()));
        }
        let tables = Arc::new(tables);
        if self.kinds.len() < KINDS {
            self.kinds.insert(instructions.into(), tables.clone());
        }
        Some((code, tables))
    }

    /// The mappings were read anew, without what was found.
    pub fn look_again(&mut self) {
        self.looked_at.clear();
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::collect::sampler::proc_source::fake::Tables;

    #[test]
    fn copies_of_one_trampoline_share_its_tables_and_each_call_is_looked_at_once() {
        // Two of them: sub $8, %rsp; call *%rcx; add $8, %rsp; ret. The calls end at 0x7006 and 0x7016.
        let one = [0x48, 0x83, 0xec, 8, 0xff, 0xd1, 0x48, 0x83, 0xc4, 8, 0xc3, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc];
        let mut proc = Tables { memory: (0x7000, [one, one].concat()), ..Tables::default() };
        let mut trampolines = Trampolines::default();
        let Some((first, tables)) = trampolines.behind(0x7005, 7, &mut proc) else { panic!("the first") };
        let Some((second, same)) = trampolines.behind(0x7015, 7, &mut proc) else { panic!("the second") };
        assert_eq!((first, second), (0x7005..0x700b, 0x7015..0x701b));
        assert!(Arc::ptr_eq(&tables, &same));
        assert!(trampolines.behind(0x7005, 7, &mut proc).is_none(), "looked at before");
        trampolines.look_again();
        assert!(trampolines.behind(0x7005, 7, &mut proc).is_some());
        for call in [0x6fff, 0x700a, 0x9000, u64::MAX] {
            assert!(trampolines.behind(call, 7, &mut proc).is_none(), "{call:#x}: no epilogue, or no memory");
        }
    }
}
