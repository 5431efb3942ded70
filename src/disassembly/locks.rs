//! Recognises the code of locks by its instructions, so that names do not matter: an atomic change that takes what another
//! thread may hold, decides about a branch, and a way to wait behind that branch. An atomic counter has neither.

use super::steps::{Change, Operand, Step, StepKind};
use super::{aarch64, x86};
use crate::model::{Architecture, FunctionCode, LockRole};
use std::ops::Range;

/// Instructions behind a branch in which a way to wait must begin. The slow path of a lock is short.
const NEAR: usize = 40;

/// A jump forwards by at most so many bytes stays within its function.
const WITHIN: u64 = 256;

/// The longest loop that does nothing but take a lock, instructions.
const LOOP: u64 = 24;

/// The longest function that does nothing but take or release a lock, bytes. glibc's longest has 2,400.
const LONGEST: u64 = 4096;

/// The code of one function that takes or releases locks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockShape {
    /// Whether it does other work as well.
    inline: bool,
    /// Its addresses that take or release a lock, calls that wait among them.
    sites: Vec<Range<u64>>,
    /// Loops that pause.
    spins: Vec<Range<u64>>,
    /// Calls to functions that do not wait.
    others: Vec<Range<u64>>,
    code: Range<u64>,
}

impl LockShape {
    /// The locks in a function's code; `None` without any. `waits` returns whether the function at an address waits for
    /// another thread.
    #[must_use]
    pub fn of(code: &FunctionCode, mut waits: impl FnMut(u64) -> bool) -> Option<LockShape> {
        let steps = steps(code);
        let end = code.address.saturating_add(code.bytes.len() as u64);
        let function = Function { steps: &steps, code: code.address..end };
        let locking: Vec<usize> = (0..steps.len()).filter(|at| function.locks(*at, &mut waits)).collect();
        if locking.is_empty() {
            return None;
        }
        let spins: Vec<Range<u64>> = function.loops().filter_map(|within| function.spin(within)).collect();
        let mut sites: Vec<Range<u64>> = locking.iter().map(|at| function.with_skid(*at)).collect();
        let makes =
            |step: &&Step| matches!(step.kind, StepKind::Call { futex: true, .. } | StepKind::Kernel { futex: true });
        sites.extend(steps.iter().filter(makes).map(range));
        for within in function.loops() {
            let short = function.steps_in(&within).count() as u64 <= LOOP;
            let locked = locking.iter().any(|at| within.contains(&steps[*at].address));
            if short && (locked || function.spin(within.clone()).is_some()) {
                sites.push(within);
            }
        }
        let mut others = Vec::new();
        for (step, target) in steps.iter().filter_map(|step| Some((step, function.callee(step)?))) {
            let list = if target.is_some_and(&mut waits) { &mut sites } else { &mut others };
            list.push(range(step));
        }
        let inline = end - code.address > LONGEST || function.works();
        Some(LockShape { inline, sites, spins, others, code: code.address..end })
    }

    /// What the code at an address does for a lock.
    #[must_use]
    pub fn at(&self, address: u64) -> Option<LockRole> {
        let within = |ranges: &[Range<u64>]| ranges.iter().any(|range| range.contains(&address));
        let locks = within(&self.sites) || !self.inline && self.code.contains(&address) && !within(&self.others);
        locks.then(|| LockRole { inline: self.inline, spins: within(&self.spins) })
    }
}

/// Whether the function that begins with this code waits for another thread: it pauses, or makes the system call of a
/// futex. The code may go on behind the function's end. `callee` returns the same of the functions that it calls.
#[must_use]
pub fn waits(code: &FunctionCode, mut callee: impl FnMut(u64) -> bool) -> bool {
    let mut furthest = code.address;
    for step in steps(code) {
        match step.kind {
            StepKind::Pause | StepKind::Kernel { futex: true } | StepKind::Call { futex: true, .. } => return true,
            StepKind::Call { target: Some(target), .. } if callee(target) => return true,
            StepKind::Jump { target: Some(target), conditional: true } => furthest = furthest.max(target),
            // Loops are often entered in their middle.
            StepKind::Jump { target: Some(target), .. }
                if (1..=WITHIN).contains(&target.wrapping_sub(step.address)) =>
            {
                furthest = furthest.max(target);
            }
            StepKind::Jump { .. } | StepKind::Return if step.address >= furthest => {
                let tail = match step.kind {
                    StepKind::Jump { target: Some(target), .. } => !(code.address..=step.address).contains(&target),
                    _ => false,
                };
                return tail && matches!(step.kind, StepKind::Jump { target: Some(target), .. } if callee(target));
            }
            _ => {}
        }
    }
    false
}

fn steps(code: &FunctionCode) -> Vec<Step> {
    match code.architecture {
        Architecture::X86_64 => x86::steps(&code.bytes, code.address),
        Architecture::Aarch64 => aarch64::steps(&code.bytes, code.address),
    }
}

fn range(step: &Step) -> Range<u64> {
    step.address..step.address.saturating_add(u64::from(step.length))
}

struct Function<'a> {
    steps: &'a [Step],
    code: Range<u64>,
}

impl Function<'_> {
    /// Whether an instruction takes or releases a lock.
    fn locks(&self, at: usize, waits: &mut impl FnMut(u64) -> bool) -> bool {
        let StepKind::Atomic { change, decides: true, .. } = self.steps[at].kind else { return false };
        // One who takes a lock may try again without any sign of waiting.
        change == Change::Take || self.waits_behind(at, waits)
    }

    /// Whether a way to wait begins shortly behind an instruction, or where a branch right behind it leads.
    fn waits_behind(&self, at: usize, waits: &mut impl FnMut(u64) -> bool) -> bool {
        let branches = self.steps[at..].iter().take(NEAR / 4).filter_map(|step| match step.kind {
            StepKind::Jump { target: Some(target), conditional: true } => self.index(target),
            _ => None,
        });
        let starts: Vec<usize> = branches.chain([at + 1]).collect();
        starts.into_iter().any(|start| self.waits_from(start, waits))
    }

    fn waits_from(&self, mut at: usize, waits: &mut impl FnMut(u64) -> bool) -> bool {
        for _ in 0..NEAR {
            let Some(step) = self.steps.get(at) else { return false };
            at += 1;
            match step.kind {
                StepKind::Pause | StepKind::Kernel { futex: true } | StepKind::Call { futex: true, .. } => return true,
                StepKind::Call { target: Some(target), .. } if waits(target) => return true,
                StepKind::Jump { target: Some(target), conditional: false } => match self.index(target) {
                    Some(next) => at = next,
                    None => return !self.code.contains(&target) && waits(target),
                },
                StepKind::Jump { conditional: false, .. } | StepKind::Return => return false,
                _ => {}
            }
        }
        false
    }

    /// The step at an address.
    fn index(&self, address: u64) -> Option<usize> {
        self.steps.binary_search_by_key(&address, |step| step.address).ok()
    }

    /// The loops: from the target of a jump backwards to the jump.
    fn loops(&self) -> impl Iterator<Item = Range<u64>> {
        self.steps.iter().filter_map(|step| match step.kind {
            StepKind::Jump { target: Some(target), .. } if target <= step.address && self.code.contains(&target) => {
                Some(target..range(step).end)
            }
            _ => None,
        })
    }

    fn steps_in<'a>(&'a self, within: &'a Range<u64>) -> impl Iterator<Item = &'a Step> + 'a {
        self.steps.iter().filter(|step| within.contains(&step.address))
    }

    /// The part of a short loop that runs only while another thread has the lock; `None` for a loop that does not pause. A loop
    /// that also tries to take the lock waits from its pause to the next instruction, on which the sample falls.
    fn spin(&self, within: Range<u64>) -> Option<Range<u64>> {
        let steps: Vec<&Step> = self.steps_in(&within).collect();
        let pause = steps.iter().find(|step| step.kind == StepKind::Pause).filter(|_| steps.len() as u64 <= LOOP)?;
        let tries = steps.iter().any(|step| matches!(step.kind, StepKind::Atomic { .. }));
        let next = self.index(pause.address).and_then(|at| self.steps.get(at + 1)).unwrap_or(pause);
        Some(if tries { pause.address..range(next).end } else { within })
    }

    /// An instruction and the two behind it, on one of which the sample falls.
    fn with_skid(&self, at: usize) -> Range<u64> {
        let last = self.steps.get(at + 2).unwrap_or(&self.steps[at]);
        self.steps[at].address..range(last).end
    }

    /// The target of a call, where known; `None` for other instructions, and for the wait itself, which is one of the sites.
    fn callee(&self, step: &Step) -> Option<Option<u64>> {
        match step.kind {
            StepKind::Call { target, futex: false } => Some(target),
            _ => None,
        }
    }

    /// Whether the work under a lock is in it: it changes other data beside a lock that has an address of its own, or releases
    /// the lock that it takes.
    fn works(&self) -> bool {
        let mut locks = self.steps.iter().filter_map(|step| match step.kind {
            StepKind::Atomic { operand, decides: true, .. } => Some(operand),
            _ => None,
        });
        let stores = self.steps.iter().any(|step| matches!(step.kind, StepKind::Store { .. }));
        stores && locks.any(|operand| operand.absolute) || self.releases_what_it_takes()
    }

    fn releases_what_it_takes(&self) -> bool {
        let taken = self.steps.iter().filter_map(|step| match step.kind {
            StepKind::Atomic { change: Change::Take, operand, .. } => Some(operand),
            _ => None,
        });
        let released = |operand: Operand| {
            self.steps.iter().any(|step| match step.kind {
                StepKind::Atomic { change: Change::Release, operand: other, .. } => other == operand,
                StepKind::Clear { operand: other } => other == operand,
                _ => false,
            })
        };
        { taken }.any(released)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Code at 0x1000.
    fn code(architecture: Architecture, bytes: &[u8]) -> FunctionCode {
        FunctionCode { architecture, address: 0x1000, slide: 0, bytes: bytes.into() }
    }

    /// Whether the code locks, and whether it does so among other work; functions at `waiting` wait.
    fn locks(bytes: &[u8], waiting: &[u64]) -> Option<bool> {
        shape(bytes, waiting).map(|shape| shape.inline)
    }

    fn shape(bytes: &[u8], waiting: &[u64]) -> Option<LockShape> {
        LockShape::of(&code(Architecture::X86_64, bytes), |target| waiting.contains(&target))
    }

    /// xor eax, eax; mov edx, 1; lock cmpxchg [rdi], edx; jne +1; ret; call 0x2000; ret.
    const MUTEX: &[u8] =
        &[0x31, 0xc0, 0xba, 1, 0, 0, 0, 0xf0, 0x0f, 0xb1, 0x17, 0x75, 0x01, 0xc3, 0xe8, 0xed, 0x0f, 0, 0, 0xc3];

    #[test]
    fn what_takes_a_lock_is_told_from_what_counts() {
        // mov eax, 1; xchg [rdi], eax; test eax, eax; jne back; ret.
        let swap = &[0xb8, 1, 0, 0, 0, 0x87, 0x07, 0x85, 0xc0, 0x75, 0xf5, 0xc3];
        // The same without a look at what was there.
        let store = &[0xb8, 1, 0, 0, 0, 0x87, 0x07, 0xc3];
        // lock dec [rdi]; jne +1; ret; pause; cmp dword [rdi], 0; jg back; jmp to the pause: glibc's spin lock.
        let spin = &[0xf0, 0xff, 0x0f, 0x75, 0x01, 0xc3, 0xf3, 0x90, 0x83, 0x3f, 0, 0x7f, 0xf3, 0xeb, 0xf7];
        // mov eax, 1; lock xadd [rdi], eax; pause; cmp [rsi], eax; jne to the pause; ret: a ticket lock.
        let ticket = &[0xb8, 1, 0, 0, 0, 0xf0, 0x0f, 0xc1, 0x07, 0xf3, 0x90, 0x39, 0x06, 0x75, 0xfa, 0xc3];
        // mov edx, 1; lock xadd [rdi], edx; jmp to the load; pause; mov eax, [rsi]; cmp edx, eax; jne to the pause; ret.
        let jumps = &[
            0xba, 1, 0, 0, 0, 0xf0, 0x0f, 0xc1, 0x17, 0xeb, 0x02, 0xf3, 0x90, 0x8b, 0x06, 0x39, 0xc2, 0x75, 0xf8, 0xc3,
        ];
        // lock inc qword [rdi]; ret.
        let counter = &[0xf0, 0x48, 0xff, 0x07, 0xc3];
        // mov rax, [rdi]; lea rdx, [rax+rsi]; lock cmpxchg [rdi], rdx; jne to the lea; ret.
        let add = &[0x48, 0x8b, 0x07, 0x48, 0x8d, 0x14, 0x30, 0xf0, 0x48, 0x0f, 0xb1, 0x17, 0x75, 0xf5, 0xc3];
        // lock dec [rdi]; jne +5; call 0x2000; ret: the last reference.
        let reference = &[0xf0, 0xff, 0x0f, 0x75, 0x05, 0xe8, 0xf6, 0x0f, 0, 0, 0xc3];
        for (name, bytes, waiting, expected) in [
            ("mutex", MUTEX, &[0x2000][..], Some(false)),
            ("swap", swap, &[], Some(false)),
            ("spin", spin, &[], Some(false)),
            ("ticket", ticket, &[], Some(false)),
            ("ticket, entered in its middle", jumps, &[], Some(false)),
            ("store", store, &[], None),
            ("counter", counter, &[], None),
            ("compare and add", add, &[], None),
            ("reference", reference, &[], None),
            ("unlock", reference, &[0x2000], Some(false)),
            ("nothing", &[], &[], None),
        ] {
            assert_eq!(locks(bytes, waiting), expected, "{name}");
        }
    }

    #[test]
    fn a_function_with_the_work_under_its_lock_takes_the_lock_itself() {
        // The swap lock, then inc qword [rsi]; mov dword [rdi], 0; ret.
        let bytes =
            &[0xb8, 1, 0, 0, 0, 0x87, 0x07, 0x85, 0xc0, 0x75, 0xf5, 0x48, 0xff, 0x06, 0xc7, 0x07, 0, 0, 0, 0, 0xc3];
        let shape = shape(bytes, &[]).unwrap_or_else(|| panic!("it is a lock"));
        assert_eq!(shape.at(0x1005), Some(LockRole { inline: true, spins: false }));
        assert_eq!(shape.at(0x1009).map(|role| role.inline), Some(true), "the branch behind the swap");
        assert_eq!((shape.at(0x100e), shape.at(0x1014), shape.at(0x2000)), (None, None, None), "the work under it");
    }

    #[test]
    fn a_lock_spins_where_it_pauses_and_waits_where_it_calls() {
        let spin = &[0xf0, 0xff, 0x0f, 0x75, 0x01, 0xc3, 0xf3, 0x90, 0x83, 0x3f, 0, 0x7f, 0xf3, 0xeb, 0xf7];
        let spins = |at| shape(spin, &[]).and_then(|shape| shape.at(at)).map(|role| role.spins);
        assert_eq!([0x1005, 0x1006, 0x1008].map(spins), [Some(false), Some(true), Some(true)]);
        let call = |waiting: &[u64]| shape(MUTEX, waiting).and_then(|shape| shape.at(0x100f));
        assert!(call(&[0x2000]).is_some() && call(&[]).is_none(), "a call to what does not wait lies outside the lock");
    }

    #[test]
    fn a_function_waits_by_a_futex_a_pause_or_what_it_calls() {
        let x86 = |bytes: &[u8], callee: u64| waits(&code(Architecture::X86_64, bytes), |target| target == callee);
        // mov eax, 202; syscall; ret.
        assert!(x86(&[0xb8, 0xca, 0, 0, 0, 0x0f, 0x05, 0xc3], 0));
        // mov eax, 1; syscall; ret; pause behind the end.
        assert!(!x86(&[0xb8, 1, 0, 0, 0, 0x0f, 0x05, 0xc3, 0xf3, 0x90], 0));
        // mov edi, 202; call 0x2000; ret: syscall(SYS_futex).
        assert!(x86(&[0xbf, 0xca, 0, 0, 0, 0xe8, 0xf6, 0x0f, 0, 0, 0xc3], 0));
        // call 0x2000; ret. jmp 0x2000.
        let (call, jump) = (&[0xe8, 0xfb, 0x0f, 0, 0, 0xc3], &[0xe9, 0xfb, 0x0f, 0, 0]);
        assert!(x86(call, 0x2000) && !x86(call, 0x3000) && x86(jump, 0x2000) && !x86(jump, 0x3000));
        // jmp +2; ret; nop; pause; ret: so it is behind a jump.
        assert!(x86(&[0xeb, 0x02, 0xc3, 0x90, 0xf3, 0x90, 0xc3], 0));
        // jne +1; ret; pause; ret: the end is behind the branch.
        assert!(x86(&[0x75, 0x01, 0xc3, 0xf3, 0x90, 0xc3], 0));
    }

    #[test]
    fn arm_takes_locks_by_swaps_and_exclusive_pairs() {
        let arm = |words: &[u32]| {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            LockShape::of(&code(Architecture::Aarch64, &bytes), |_| false).is_some()
        };
        // mov w1, #1; swpa w1, w2, [x0]; cbnz w2, back; ret.
        assert!(arm(&[0x5280_0021, 0x38a1_8002 | 0x8000_0000, 0x35ff_ffe2, 0xd65f_03c0]));
        // mov w2, #1; ldaxr w1, [x0]; cbnz w1, +3; stxr w3, w2, [x0]; cbnz w3, back; ret.
        let pair = [0x5280_0022, 0x885f_fc01, 0x3500_0061, 0x8803_7c02, 0x35ff_ffa3, 0xd65f_03c0];
        assert!(arm(&pair));
        // ldxr x1, [x0]; add x1, x1, #1; stxr w2, x1, [x0]; cbnz w2, back; ret: a counter.
        assert!(!arm(&[0xc85f_7c01, 0x9100_0421, 0xc802_7c01, 0x35ff_ffa2, 0xd65f_03c0]));
        // ldadd x0, x1, [x2]; ret.
        assert!(!arm(&[0xf820_0041, 0xd65f_03c0]));
    }
}
