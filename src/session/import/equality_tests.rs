//! Remembered chains give the same stacks as walking every chain, whatever happens to the mappings in between.

use super::files::LocalFiles;
use super::objects::Objects;
use super::stacks::{StackContext, Stacks};
use super::tasks::Tasks;
use crate::abi::Words;
use crate::abi::perf::{CommRecord, MmapRecord, Mode, Registers, TaskRecord, context};
use crate::collect::sampler::EventQueue;
use crate::model::HostFacts;
use crate::store::perfdata::{Attr, KernelSymbol, Sample};
use crate::units::Nanos;
use proptest::prelude::*;

/// What may come between two samples.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// Process, slot of the address range, file.
    Map(u32, u64, usize),
    Exec(u32),
    /// Parent, child, whether perf synthesized the child's mappings.
    Fork(u32, u32, bool),
    Exit(u32),
    /// Generated code at this slot of the kernel.
    Kernel(u64),
    /// Process, whether in the kernel, the chain by number, event.
    Sample(u32, bool, usize, usize),
}

const FILES: [&str; 4] = ["/bin/a", "/lib/b", "//anon", "[vdso]"];

/// Chains over the slots of user and kernel, some alike but for one frame.
const CHAINS: [&[u64]; 8] = [
    &[context::KERNEL, 0xffff_8010, 0xffff_9010, context::USER, 0x1010, 0x2021, 0x3031],
    &[context::KERNEL, 0xffff_8010, context::USER, 0x1010, 0x2021, 0x3031],
    &[context::USER, 0x1010, 0x2021, 0x3031],
    &[context::USER, 0x1010, 0x2021, 0x3032],
    &[context::USER, 0x1011, 0x2021],
    &[context::USER, 0x2021],
    &[],
    &[0x3031, 0x1010, 0x1010, 0x1010],
];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let (process, slot) = (1..4u32, 1..4u64);
    let step = prop_oneof![
        2 => (process.clone(), slot.clone(), 0..FILES.len()).prop_map(|(pid, slot, file)| Step::Map(pid, slot, file)),
        1 => process.clone().prop_map(Step::Exec),
        1 => (process.clone(), process.clone(), any::<bool>()).prop_map(|(a, b, own)| Step::Fork(a, b, own)),
        1 => process.clone().prop_map(Step::Exit),
        1 => (8..10u64).prop_map(Step::Kernel),
        8 => (process, any::<bool>(), 0..CHAINS.len(), 0..2usize)
            .prop_map(|(pid, kernel, chain, event)| Step::Sample(pid, kernel, chain, event)),
    ];
    prop::collection::vec(step, 0..120)
}

/// One import, as far as its stacks go.
struct Side {
    stacks: Stacks,
    out: EventQueue,
}

struct World {
    tasks: Tasks,
    objects: Objects,
    sides: [Side; 2],
}

impl World {
    fn new() -> World {
        let side = || Side { stacks: Stacks::new(std::env::consts::ARCH), out: EventQueue::default() };
        let local = LocalFiles::new(None, &HostFacts::default(), &HostFacts::default());
        let objects = Objects::new(local, &[], false, &mut EventQueue::default());
        World { tasks: Tasks::default(), objects, sides: [side(), side()] }
    }

    fn take(&mut self, step: Step) {
        let ignored = &mut EventQueue::default();
        match step {
            Step::Map(pid, slot, file) => {
                let (start, length, path) = (slot << 12, 0x1800, FILES[file].as_bytes());
                let (offset, device, inode, build_id, mode) = (0, (0, 0), None, None, Mode::User);
                let mapping = MmapRecord { pid, start, length, offset, device, inode, build_id, path, mode };
                let placed = self.objects.place(&mapping, ignored);
                self.tasks.mapped(pid, start, start + length, &placed);
            }
            Step::Exec(pid) => {
                self.tasks.named(Some(Nanos(1)), &CommRecord { pid, tid: pid, comm: b"new", exec: true });
            }
            Step::Fork(parent_pid, pid, own_mappings) => {
                let record = TaskRecord { pid, tid: pid, parent_pid, parent_tid: parent_pid, own_mappings };
                self.tasks.born(Some(Nanos(1)), &record);
            }
            Step::Exit(pid) => drop(self.tasks.ended(Nanos(1), pid, pid)),
            Step::Kernel(slot) => {
                let start = 0xffff_0000 | slot << 12;
                let symbol = KernelSymbol { start, length: 0x800, name: b"bpf_prog", removed: false };
                self.objects.map_generated(&symbol, ignored);
            }
            Step::Sample(pid, kernel, chain, event) => self.sample(pid, kernel, CHAINS[chain], event),
        }
    }

    fn sample(&mut self, pid: u32, kernel: bool, chain: &[u64], event: usize) {
        let bytes: Vec<u8> = chain.iter().flat_map(|word| word.to_le_bytes()).collect();
        let sample = Sample {
            mode: if kernel { Mode::Kernel } else { Mode::User },
            ip: chain.iter().copied().find(|word| *word < context::MAX),
            pid: Some(pid),
            tid: Some(pid),
            period: None,
            reads: None,
            chain: Words::new(&bytes, false),
            branches: Words::default(),
            registers: Registers::default(),
            stack: &[],
            access: Default::default(),
            cgroup: None,
        };
        // The second event has no chains: the same bytes end otherwise.
        let attr = Attr { sample: if event == 0 { 1 << 5 } else { 0 }, ..Attr::default() };
        let around = StackContext { event, space: self.tasks.space(pid), objects: &self.objects, guest: None };
        let [a, b] = &mut self.sides;
        let remembered = a.stacks.build(&sample, &attr, around, &mut a.out);
        let walked = b.stacks.build_anew(&sample, &attr, around, &mut b.out);
        assert_eq!(remembered, walked);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_remembered_chain_has_the_stack_of_one_that_is_walked(steps in steps()) {
        let mut world = World::new();
        steps.into_iter().for_each(|step| world.take(step));
        let [a, b] = &mut world.sides;
        prop_assert_eq!(a.out.take(), b.out.take());
        prop_assert_eq!(a.stacks.unknown_ends(), b.stacks.unknown_ends());
    }
}
