//! Finds what of a stack in the kernel is ironlaw's own. Stacks of waits lose the program that the kernel ran to take the
//! stack, and how it came to run it: what stays ends where the thread waited. Samples in own code count as own cost.

use crate::sys::bpf::WaitSums;
use crate::sys::procfs::ProcFs;
use std::ops::Range;
use std::path::Path;

/// Kernel functions between a tracepoint and the programs attached to it begin so.
const DISPATCHERS: [&str; 3] = ["__traceiter_", "__bpf_trace_", "bpf_trace_run"];

/// Where the kernel serves a probe in user code: the traps that a probe causes, and the calls that replace them.
const PROBE_SERVICES: [&str; 10] = [
    "asm_exc_int3",
    "asm_exc_debug",
    "exc_int3",
    "exc_debug",
    "uprobe_notify_resume",
    "__x64_sys_uretprobe",
    "__x64_sys_uprobe",
    "uprobe_breakpoint_handler",
    "uprobe_single_step_handler",
    "uprobe_handle_trampoline",
];

/// What of ironlaw runs in the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnCode {
    /// A program that sees waits.
    Waits,
    /// A probe in the target's code.
    Probes,
}

/// Where the own programs and the functions that call them lie in the kernel.
#[derive(Debug, Default)]
pub struct OwnFrames {
    programs: Vec<Range<u64>>,
    /// In the order of addresses.
    dispatchers: Vec<Range<u64>>,
    /// What serves probes, in the order of addresses; empty if there are none.
    probe_services: Vec<Range<u64>>,
}

impl OwnFrames {
    /// Those of the programs that sum waits, and with `probes` what serves these. Without permission to see kernel
    /// addresses, stacks stay as they are.
    pub fn of(sums: Option<&WaitSums>, probes: bool, root: &Path) -> OwnFrames {
        let functions = |wanted: &dyn Fn(&str) -> bool| {
            let mut found = ProcFs::new(root.join("proc")).kernel_functions(wanted);
            found.sort_unstable_by_key(|range| range.start);
            found
        };
        let programs = sums.map(WaitSums::machine_code).unwrap_or_default();
        let is_dispatcher = |name: &str| DISPATCHERS.iter().any(|start| name.starts_with(start));
        let dispatchers = if programs.is_empty() { Vec::new() } else { functions(&is_dispatcher) };
        let probe_services = if probes { functions(&|name| PROBE_SERVICES.contains(&name)) } else { Vec::new() };
        OwnFrames { programs, dispatchers, probe_services }
    }

    /// Whether samples in the kernel show where probes are served.
    pub fn knows_probes(&self) -> bool {
        !self.probe_services.is_empty()
    }

    /// Removes them from a kernel stack, innermost first, which an own program has taken. Frames of other programs stay.
    pub fn trim(&self, kernel: &mut Vec<u64>) {
        let is_own = |address: &u64| self.programs.iter().any(|code| code.contains(address));
        let Some(own) = kernel.iter().position(is_own) else { return };
        let above = kernel[own + 1..].iter().take_while(|address| self.dispatches(**address)).count();
        kernel.drain(..=own + above);
    }

    /// The own code that runs in this kernel stack.
    pub fn runs(&self, kernel: &[u64]) -> Option<OwnCode> {
        let serves_probes = |address: &u64| holds(&self.probe_services, *address);
        if self.programs.iter().any(|code| kernel.iter().any(|address| code.contains(address))) {
            return Some(OwnCode::Waits);
        }
        (self.knows_probes() && kernel.iter().any(serves_probes)).then_some(OwnCode::Probes)
    }

    fn dispatches(&self, address: u64) -> bool {
        holds(&self.dispatchers, address)
    }
}

/// Whether one of these ranges, which are in order, holds the address.
fn holds(ranges: &[Range<u64>], address: u64) -> bool {
    let after = ranges.partition_point(|range| range.start <= address);
    after > 0 && ranges[after - 1].contains(&address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_ends_where_the_thread_waited_and_other_programs_stay() {
        let frames = OwnFrames {
            programs: vec![100..200, 300..340],
            dispatchers: vec![1000..1100, 2000..2200],
            probe_services: vec![],
        };
        for (stack, trimmed) in [
            (&[120, 1050, 2100, 5000, 6000][..], &[5000, 6000][..]),
            (&[7000, 310, 2199, 5000], &[5000]),
            // Another's program that a function above a dispatcher called, and a dispatcher that called none of ours.
            (&[150, 1000, 500, 1050, 5000], &[500, 1050, 5000]),
            (&[500, 1050, 2100, 5000], &[500, 1050, 2100, 5000]),
            (&[200, 1050, 5000], &[200, 1050, 5000]),
            (&[150, 1099, 1100, 5000], &[1100, 5000]),
            (&[150], &[]),
            (&[], &[]),
        ] {
            let mut kernel = stack.to_vec();
            frames.trim(&mut kernel);
            assert_eq!(kernel, trimmed, "{stack:?}");
            assert_eq!(frames.runs(stack), (kernel != stack).then_some(OwnCode::Waits), "{stack:?}");
        }
        let mut kernel = vec![120, 1050];
        OwnFrames::default().trim(&mut kernel);
        assert_eq!(kernel, [120, 1050], "nothing is known to be own");
    }

    #[test]
    fn a_sample_where_a_probe_is_served_counts_for_probes_and_one_in_a_program_for_waits() {
        let probe_services = vec![500..600, 700..800];
        let frames = OwnFrames { programs: vec![100..200, 300..340], dispatchers: vec![], probe_services };
        for (stack, expected) in [
            (&[9000, 550, 9001][..], Some(OwnCode::Probes)),
            (&[799], Some(OwnCode::Probes)),
            (&[150, 550], Some(OwnCode::Waits)),
            (&[600, 699, 800], None),
            (&[], None),
        ] {
            assert_eq!(frames.runs(stack), expected, "{stack:?}");
        }
        assert_eq!(OwnFrames::default().runs(&[550]), None, "there are no probes");
    }
}
