//! Parses `/proc/PID/numa_maps`: the pages of each mapping of a process by NUMA node.

/// The pages of one mapping on one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodePages {
    /// The node.
    pub node: u32,
    /// What the mapping is of.
    pub kind: MappingKind,
    /// Bytes of its pages that are on that node.
    pub bytes: u64,
}

/// What a mapping is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MappingKind {
    /// No file: heap, stacks, private memory.
    Anonymous,
    /// A file or shared memory.
    File,
    /// Pages of hugetlbfs.
    Huge,
}

/// Parses `numa_maps`; invalid lines and fields are skipped. A page that several mappings map counts for each.
pub fn numa_maps(text: &[u8]) -> impl Iterator<Item = NodePages> + '_ {
    text.split(|&byte| byte == b'\n').flat_map(line)
}

/// `7f0c... default file=/usr/lib/libc.so.6 mapped=30 mapmax=8 N0=20 N1=10 kernelpagesize_kB=4`. The name of a file is
/// escaped: it has no blanks.
fn line(text: &[u8]) -> impl Iterator<Item = NodePages> + '_ {
    let fields = || text.split(|&byte| byte == b' ').skip(2);
    let value = |name: &'static [u8]| fields().find_map(move |field| field.strip_prefix(name));
    let page = value(b"kernelpagesize_kB=").and_then(number).and_then(|kib| kib.checked_mul(1024));
    let kind = match value(b"file=") {
        _ if fields().any(|field| field == b"huge") => MappingKind::Huge,
        Some(_) => MappingKind::File,
        None => MappingKind::Anonymous,
    };
    fields().filter_map(move |field| {
        let (node, pages) = std::str::from_utf8(field.strip_prefix(b"N")?).ok()?.split_once('=')?;
        let bytes = number(pages.as_bytes())?.checked_mul(page?)?;
        Some(NodePages { node: node.parse().ok()?, kind, bytes })
    })
}

fn number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_those_of_each_node_and_kind() {
        let text = b"55d0c000 default file=/usr/bin/N9=4\\040x mapped=30 mapmax=8 N0=20 N1=10 kernelpagesize_kB=4\n\
            55d0d000 default heap anon=10 dirty=10 active=0 N1=10 kernelpagesize_kB=4\n\
            7f000000 bind:0-1 file=/dev/hugepages/x huge anon=2 dirty=2 N0=2 kernelpagesize_kB=2048\n\
            7f100000 default\n\
            7f200000 default anon=1 N0=1\n\
            7f300000 prefer:1 anon=1 N1=18446744073709551615 kernelpagesize_kB=4\n\
            rubbish N0=1 N2=x kernelpagesize_kB=4";
        use MappingKind::{Anonymous, File, Huge};
        let found: Vec<_> = numa_maps(text).map(|it| (it.node, it.kind, it.bytes)).collect();
        // Without a page size the number of bytes is unknown.
        let expected = [(0, File, 80 << 10), (1, File, 40 << 10), (1, Anonymous, 40 << 10), (0, Huge, 4 << 20)];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_process_of_this_machine_has_memory_on_a_node() {
        // Kernels without NUMA have no such file.
        if let Ok(text) = std::fs::read("/proc/self/numa_maps") {
            assert!(numa_maps(&text).any(|it| it.kind == MappingKind::Anonymous && it.bytes > 0));
        }
    }
}
