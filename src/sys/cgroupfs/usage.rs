//! Parses what a control group used, in the file formats of both versions: CPU time, throttling and storage traffic.
//! A controller that is not enabled leaves its fields out; they stay `None`.

/// CPU time and bandwidth of a group: nanoseconds and counts since it was created.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuUsage {
    /// CPU time.
    pub usage_ns: Option<u64>,
    /// CPU time in user mode.
    pub user_ns: Option<u64>,
    /// CPU time in the kernel.
    pub system_ns: Option<u64>,
    /// Bandwidth periods in which it was runnable; `None` without the cpu controller.
    pub periods: Option<u64>,
    /// Bandwidth periods in which it was throttled.
    pub throttled_periods: Option<u64>,
    /// Time it was throttled.
    pub throttled_ns: Option<u64>,
}

impl CpuUsage {
    /// The sums of two groups; what one of them does not report is what the other does.
    #[must_use]
    pub fn plus(self, other: CpuUsage) -> CpuUsage {
        let sum = |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| a.saturating_add(b)).or(a).or(b);
        CpuUsage {
            usage_ns: sum(self.usage_ns, other.usage_ns),
            user_ns: sum(self.user_ns, other.user_ns),
            system_ns: sum(self.system_ns, other.system_ns),
            periods: sum(self.periods, other.periods),
            throttled_periods: sum(self.throttled_periods, other.throttled_periods),
            throttled_ns: sum(self.throttled_ns, other.throttled_ns),
        }
    }
}

/// Parses version 2's `cpu.stat`, whose times are microseconds; `None` without its first field.
#[must_use]
pub fn cpu_stat_v2(text: &[u8]) -> Option<CpuUsage> {
    let micros = |key| value(text, key)?.checked_mul(1000);
    Some(CpuUsage {
        usage_ns: Some(micros("usage_usec")?),
        user_ns: micros("user_usec"),
        system_ns: micros("system_usec"),
        periods: value(text, "nr_periods"),
        throttled_periods: value(text, "nr_throttled"),
        throttled_ns: micros("throttled_usec"),
    })
}

/// Joins version 1's `cpuacct.usage` and `cpu.stat`, both in nanoseconds; `None` where neither exists.
#[must_use]
pub fn cpu_stat_v1(usage: Option<&[u8]>, stat: Option<&[u8]>) -> Option<CpuUsage> {
    let usage_ns = usage.and_then(|text| std::str::from_utf8(text).ok()?.trim().parse().ok());
    let field = |key| value(stat?, key);
    let read = CpuUsage {
        usage_ns,
        periods: field("nr_periods"),
        throttled_periods: field("nr_throttled"),
        throttled_ns: field("throttled_time"),
        ..CpuUsage::default()
    };
    (read != CpuUsage::default()).then_some(read)
}

/// The value of a `key value` line.
fn value(text: &[u8], key: &str) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok())
}

/// Bytes read and written on all devices, from version 2's `io.stat`. An empty file is a group without traffic.
#[must_use]
pub fn io_stat_v2(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    let bytes = |field: &str| {
        let value = field.strip_prefix("rbytes=").or_else(|| field.strip_prefix("wbytes="))?;
        value.parse::<u64>().ok()
    };
    Some(text.split_ascii_whitespace().filter_map(bytes).fold(0, u64::saturating_add))
}

/// Bytes read and written, from version 1's `blkio.throttle.io_service_bytes`: its last line is the sum.
#[must_use]
pub fn io_stat_v1(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    let bytes = |line: &str| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        matches!(fields.next()?, "Read" | "Write").then_some(())?;
        fields.next()?.parse::<u64>().ok()
    };
    text.lines().any(|line| line.starts_with("Total")).then_some(())?;
    Some(text.lines().filter_map(bytes).fold(0, u64::saturating_add))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn microseconds_become_nanoseconds_and_missing_fields_stay_unknown() {
        let text =
            b"usage_usec 5\nuser_usec 3\nsystem_usec 2\nnice_usec 0\nnr_periods 4\nnr_throttled 1\nthrottled_usec 9\n";
        let read = cpu_stat_v2(text).unwrap_or_default();
        assert_eq!((read.usage_ns, read.user_ns, read.system_ns), (Some(5000), Some(3000), Some(2000)));
        assert_eq!((read.periods, read.throttled_periods, read.throttled_ns), (Some(4), Some(1), Some(9000)));
        let bare = cpu_stat_v2(b"usage_usec 5\nuser_usec 3\n").unwrap_or_default();
        assert_eq!((bare.system_ns, bare.periods), (None, None));
        let both = read.plus(bare);
        assert_eq!((both.usage_ns, both.system_ns, both.periods), (Some(10_000), Some(2000), Some(4)));
        assert_eq!(cpu_stat_v2(b"nr_periods 4\n"), None);
        assert_eq!(cpu_stat_v1(None, Some(b"")), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "((usage|throttled)_usec|nr_periods)? ?[0-9\\PC\n]{0,30}") {
            let _ = (cpu_stat_v2(text.as_bytes()), cpu_stat_v1(Some(text.as_bytes()), Some(text.as_bytes())));
        }
    }

    #[test]
    fn devices_are_added_up_in_both_versions() {
        let v2 = b"254:0 rbytes=4096 wbytes=100 rios=1 wios=2 dbytes=7 dios=1\n8:0 rbytes=1 wbytes=2 rios=1 wios=1\n";
        assert_eq!(io_stat_v2(v2), Some(4199));
        assert_eq!(io_stat_v2(b""), Some(0), "no traffic");
        let v1 = b"254:0 Read 4096\n254:0 Write 100\n254:0 Sync 4000\n254:0 Async 196\n254:0 Total 4196\nTotal 4196\n";
        assert_eq!(io_stat_v1(v1), Some(4196));
        assert_eq!(io_stat_v1(b"Total 0\n"), Some(0));
        assert_eq!(io_stat_v1(b""), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_a_parser_panic(text in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = (io_stat_v1(&text), io_stat_v2(&text));
        }
    }
}
