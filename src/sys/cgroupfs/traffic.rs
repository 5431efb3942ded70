//! Parses a control group's storage traffic, in the file formats of both versions.
//! Devices are summed; a device without values adds nothing.

/// Bytes read and written, from version 2's `io.stat`. An empty file is a group without traffic.
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
