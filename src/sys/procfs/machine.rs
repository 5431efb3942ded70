//! Parses the machine-wide files of /proc: CPU time, pressure, CPU model, memory.
//! Times stay in the file's own unit; only the caller knows the length of a clock tick.

use super::{fields, number, parse};
use std::io::BufRead;
use std::ops::Range;

/// One `cpu` line of `/proc/stat`, in clock ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// The CPU; `None` for the sum of all.
    pub cpu: Option<u32>,
    /// User mode, guests included, at normal and at low priority.
    pub user: u64,
    /// Kernel mode, interrupts included.
    pub system: u64,
    /// Idle.
    pub idle: u64,
    /// Idle while a task of this CPU waited for storage; the kernel documents that it may even decrease.
    pub iowait: u64,
    /// Taken by the hypervisor for other guests.
    pub steal: u64,
}

impl CpuTimes {
    /// Sum of all times.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.busy().saturating_add(self.idle).saturating_add(self.iowait)
    }

    /// Neither idle nor waiting for storage; stolen time counts as busy.
    #[must_use]
    pub fn busy(&self) -> u64 {
        self.user.saturating_add(self.system).saturating_add(self.steal)
    }
}

/// The `cpu` lines of `/proc/stat`, the sum of all first.
pub fn cpu_times(text: &[u8]) -> impl Iterator<Item = CpuTimes> + '_ {
    text.split(|&byte| byte == b'\n').map_while(|line| line.strip_prefix(b"cpu")).filter_map(|line| {
        let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let mut rest = fields(&line[digits..]);
        let mut next = || number::<u64>(&mut rest);
        let [user, nice, system, idle, iowait, irq, softirq] =
            [next()?, next()?, next()?, next()?, next()?, next()?, next()?];
        Some(CpuTimes {
            cpu: parse(&line[..digits]),
            user: user.saturating_add(nice),
            system: system.saturating_add(irq).saturating_add(softirq),
            idle,
            iowait,
            steal: next().unwrap_or(0),
        })
    })
}

/// Totals of a pressure file: microseconds in which tasks waited for the resource.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pressure {
    /// Some task waited.
    pub some_us: u64,
    /// All tasks that were not idle waited; `None` where the kernel does not report it.
    pub full_us: Option<u64>,
}

/// Parses `/proc/pressure/*` or a cgroup's `*.pressure`.
#[must_use]
pub fn pressure(text: &[u8]) -> Option<Pressure> {
    let total = |key: &[u8]| {
        let line = text.split(|&byte| byte == b'\n').find_map(|line| line.strip_prefix(key))?;
        fields(line).find_map(|field| parse(field.strip_prefix(b"total=")?))
    };
    Some(Pressure { some_us: total(b"some ")?, full_us: total(b"full ") })
}

/// The CPU's name from `/proc/cpuinfo`: `model name`, else on Arm its implementer and part numbers.
#[must_use]
pub fn cpu_model(text: &str) -> Option<String> {
    let value = |key: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim().to_string())
    };
    let part = || Some(format!("implementer {} part {}", value("CPU implementer")?, value("CPU part")?));
    value("model name").filter(|name| !name.is_empty()).or_else(part)
}

/// Whether the CPU reports that it runs under a hypervisor; x86 only.
#[must_use]
pub fn hypervisor_flag(cpuinfo: &str) -> bool {
    let flags = cpuinfo.lines().find_map(|line| line.strip_prefix("flags"));
    flags.is_some_and(|flags| flags.split_ascii_whitespace().any(|flag| flag == "hypervisor"))
}

/// Physical memory from `/proc/meminfo`, bytes.
#[must_use]
pub fn memory_total(text: &str) -> Option<u64> {
    memory(text, "MemTotal:")
}

/// Memory available without swapping, bytes.
#[must_use]
pub fn memory_available(text: &str) -> Option<u64> {
    memory(text, "MemAvailable:")
}

fn memory(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// What this process can read in `kallsyms`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum KernelSymbols {
    /// Names with their addresses.
    Readable,
    /// Names only: the addresses are zeros.
    Hidden,
    /// No such file.
    #[default]
    Absent,
}

/// Parses the beginning of `kallsyms`. Symbols of per-CPU data lie near address zero, so one nonzero address suffices.
#[must_use]
pub fn kernel_symbols(head: &[u8]) -> KernelSymbols {
    let addresses = || head.split(|&byte| byte == b'\n').filter_map(|line| fields(line).next());
    let shown = addresses().any(|address| address.iter().any(|&digit| digit != b'0'));
    match (shown, addresses().next()) {
        (true, _) => KernelSymbols::Readable,
        (false, Some(_)) => KernelSymbols::Hidden,
        (false, None) => KernelSymbols::Absent,
    }
}

/// The addresses of the functions in `kallsyms` whose names are `wanted`. A function ends where the next symbol begins.
#[must_use]
pub fn kernel_functions(mut list: impl BufRead, wanted: impl Fn(&str) -> bool) -> Vec<Range<u64>> {
    let (mut found, mut open) = (Vec::new(), None);
    let mut line = String::new();
    loop {
        line.clear();
        if !list.read_line(&mut line).is_ok_and(|read| read > 0) {
            return found;
        }
        let mut fields = line.split_ascii_whitespace();
        let (Some(address), Some(kind), Some(name)) = (fields.next(), fields.next(), fields.next()) else { continue };
        let Ok(address) = u64::from_str_radix(address, 16) else { continue };
        if let Some(start) = open.take_if(|start| *start != address) {
            found.extend((start < address).then_some(start..address));
        }
        if address > 0 && matches!(kind, "t" | "T") && wanted(name) {
            open = Some(address);
        }
    }
}

/// The soft and hard limit of that name in `/proc/PID/limits`, e.g. `Max open files`; each is `None` when unlimited.
#[must_use]
pub fn limit(text: &str, name: &str) -> Option<(Option<u64>, Option<u64>)> {
    let mut values = text.lines().find_map(|line| line.strip_prefix(name))?.split_ascii_whitespace();
    let mut next = || values.next().map(|value| value.parse().ok());
    Some((next()?, next()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn busy_time_leaves_out_idle_and_waiting() {
        let text =
            b"cpu  10 2 3 100 7 1 1 5 0 0\ncpu0 10 2 3 100 7 1 1 5 0 0\ncpu12 1 0 0 1 0 0 0\nintr 5 cpu9\ncpu3 1\n";
        let read: Vec<_> = cpu_times(text).collect();
        assert_eq!(read.iter().map(|times| times.cpu).collect::<Vec<_>>(), [None, Some(0), Some(12)]);
        assert_eq!((read[0].busy(), read[0].total(), read[0].steal), (22, 129, 5));
        assert_eq!((read[2].busy(), read[2].steal), (1, 0), "kernels before steal print fewer fields");
    }

    #[test]
    fn pressure_totals_are_found_with_and_without_the_full_line() {
        let both =
            b"some avg10=9.11 avg60=6.34 avg300=4.25 total=125\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
        assert_eq!(pressure(both), Some(Pressure { some_us: 125, full_us: Some(7) }));
        assert_eq!(pressure(&both[..49]), Some(Pressure { some_us: 125, full_us: None }));
        assert_eq!(pressure(b""), None);
    }

    #[test]
    fn a_cpu_is_named_by_model_or_by_part() {
        assert_eq!(cpu_model("processor\t: 0\nmodel name\t: AMD EPYC\n").as_deref(), Some("AMD EPYC"));
        let arm = "processor: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
        assert_eq!(cpu_model(arm).as_deref(), Some("implementer 0x41 part 0xd0c"));
        assert_eq!(cpu_model(""), None);
        assert!(hypervisor_flag("flags\t\t: fpu hypervisor lahf_lm\n"));
        assert!(!hypervisor_flag("flags\t\t: fpu\nmodel name: hypervisor\n"));
    }

    #[test]
    fn a_kernel_function_ends_where_the_next_symbol_begins() {
        let list = "0000000000000000 A first\n1000 T bpf_run1\n1000 T alias\n1080 t other\n2000 D bpf_run_data\n\
                    3000 t bpf_run2\nno line\n3040 t bpf_run3 [module]\n3050 b end\n4000 t bpf_run4\n";
        assert_eq!(
            kernel_functions(list.as_bytes(), |name| name.starts_with("bpf_run")),
            [0x1000..0x1080, 0x3000..0x3040, 0x3040..0x3050]
        );
        let hidden = "0000000000000000 T bpf_run1\n0000000000000000 t other\n";
        assert_eq!(kernel_functions(hidden.as_bytes(), |_| true), []);
    }

    #[test]
    fn addresses_of_zero_are_hidden_ones() {
        let rows: [(&[u8], KernelSymbols); 3] = [
            (b"0000000000000000 A fixed\nffffffff81000000 T _text\n", KernelSymbols::Readable),
            (b"0000000000000000 A fixed\n0000000000000000 T _text\n", KernelSymbols::Hidden),
            (b"", KernelSymbols::Absent),
        ];
        for (text, expected) in rows {
            assert_eq!(kernel_symbols(text), expected);
        }
    }

    #[test]
    fn limits_are_a_soft_and_a_hard_one() {
        let text = "Limit   Soft Limit  Hard Limit  Units\nMax open files     1024      unlimited     files\n";
        assert_eq!(limit(text, "Max open files"), Some((Some(1024), None)));
        assert_eq!(limit(text, "Max locked memory"), None);
    }

    #[test]
    fn memory_is_in_bytes() {
        assert_eq!(memory_total("MemTotal:       16 kB\nMemFree: 1 kB\n"), Some(16_384));
        assert_eq!(memory_available("MemTotal: 16 kB\nMemAvailable:  4 kB\n"), Some(4096));
        assert_eq!(memory_total("MemTotal: 99999999999999999999 kB"), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_a_parser_panic(text in "(cpu[0-9]{0,12}|some|full|flags|MemTotal:)?[ \\PC\n]{0,60}") {
            let _ = (cpu_times(text.as_bytes()).map(|times| times.total()).max(), pressure(text.as_bytes()));
            let _ = (cpu_model(&text), hypervisor_flag(&text), memory_total(&text));
        }
    }
}
