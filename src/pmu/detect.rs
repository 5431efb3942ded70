//! Identifies the CPU from the text of /proc/cpuinfo or from an Arm core's identification register in sysfs.

/// The identity of a core's design.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Processor {
    /// x86, identified by CPUID.
    X86(X86),
    /// Arm, identified by the main ID register.
    Arm(Arm),
    /// Neither, or nothing is reported.
    Unknown,
}

/// Identity of an x86 CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct X86 {
    /// `vendor_id`.
    pub vendor: String,
    /// `cpu family`.
    pub family: u32,
    /// `model`.
    pub model: u32,
    /// `stepping`; 0 if not reported.
    pub stepping: u32,
}

/// Identity of an Arm core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arm {
    /// The implementer; 0x41 is Arm itself.
    pub implementer: u8,
    /// The part number of the design.
    pub part: u16,
    /// The `r` of `r0p2`.
    pub variant: u8,
    /// The `p` of `r0p2`.
    pub revision: u8,
}

impl Processor {
    /// Parses the text of the register, e.g. `0x00000000410fd490`.
    #[must_use]
    pub fn from_midr(text: &str) -> Option<Processor> {
        let digits = text.trim().strip_prefix("0x")?;
        let midr = u64::from_str_radix(digits, 16).ok()?;
        let arm = Arm {
            implementer: (midr >> 24) as u8,
            part: (midr >> 4 & 0xfff) as u16,
            variant: (midr >> 20 & 0xf) as u8,
            revision: (midr & 0xf) as u8,
        };
        Some(Processor::Arm(arm))
    }

    /// The first CPU of /proc/cpuinfo.
    #[must_use]
    pub fn from_cpuinfo(text: &str) -> Processor {
        x86(text).map(Processor::X86).or_else(|| arm(text).map(Processor::Arm)).unwrap_or(Processor::Unknown)
    }
}

/// The value of a key in the block of the first CPU.
fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let mut pairs = text.lines().filter_map(|line| line.split_once(':'));
    pairs.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim())
}

fn x86(text: &str) -> Option<X86> {
    let number = |key: &str| value(text, key)?.parse().ok();
    Some(X86 {
        vendor: value(text, "vendor_id")?.to_string(),
        family: number("cpu family")?,
        model: number("model")?,
        stepping: number("stepping").unwrap_or(0),
    })
}

/// A kernel without the register in sysfs prints the register's fields in /proc/cpuinfo.
fn arm(text: &str) -> Option<Arm> {
    let hex = |key: &str| u16::from_str_radix(value(text, key)?.strip_prefix("0x")?, 16).ok();
    Some(Arm {
        implementer: hex("CPU implementer")?.try_into().ok()?,
        part: hex("CPU part")?,
        variant: hex("CPU variant").and_then(|variant| variant.try_into().ok()).unwrap_or(0),
        revision: value(text, "CPU revision").and_then(|text| text.parse().ok()).unwrap_or(0),
    })
}

/// Whether CPUID reports a hypervisor.
#[must_use]
pub fn is_virtual(cpuinfo: &str) -> bool {
    value(cpuinfo, "flags").is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_x86_cpu_is_read_from_its_first_block() {
        let text = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n\
                    model name\t: Intel(R) Xeon(R)\nstepping\t: 8\nflags\t\t: fpu hypervisor vme\n\n\
                    processor\t: 1\nvendor_id\t: Other\nmodel\t: 1\n";
        let expected = X86 { vendor: "GenuineIntel".into(), family: 6, model: 143, stepping: 8 };
        assert_eq!(Processor::from_cpuinfo(text), Processor::X86(expected));
        assert!(is_virtual(text) && !is_virtual("flags : fpu\nBugs: hypervisor"));
    }

    #[test]
    fn an_arm_core_is_read_from_its_register_and_else_from_its_parts() {
        let n2 = Processor::Arm(Arm { implementer: 0x41, part: 0xd49, variant: 1, revision: 3 });
        assert_eq!(Processor::from_midr("0x00000000411fd493\n"), Some(n2.clone()));
        let text = "processor: 0\nBogoMIPS: 1\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x1\n\
                    CPU part\t: 0xd49\nCPU revision\t: 3\n";
        assert_eq!(Processor::from_cpuinfo(text), n2);
    }

    #[test]
    fn what_is_neither_is_unknown() {
        for text in ["", "processor : 0\nhart : 1\nisa : rv64gc", "vendor_id : GenuineIntel\ncpu family : x"] {
            assert_eq!(Processor::from_cpuinfo(text), Processor::Unknown, "{text}");
        }
        for text in ["", "410fd490", "0x", "0xzz", "0x12345678901234567"] {
            assert_eq!(Processor::from_midr(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[a-z_ CPU:0-9xX\n\t]{0,120}") {
            let _ = (Processor::from_cpuinfo(&text), Processor::from_midr(&text));
        }
    }
}
