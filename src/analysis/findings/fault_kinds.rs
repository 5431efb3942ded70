//! The kinds of page faults, by the kernel functions that serve them. Names are those of Linux 5.4 to 6.18; which of them a
//! stack shows depends on what the compiler inlined.

use super::families::begins;

/// What a page fault does. A path that shows several has the first of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum FaultKind {
    /// The kernel took the page away for a moment to see which NUMA node uses it.
    NumaHint,
    /// The page was swapped out.
    Swap,
    /// The page belongs to a mapped file or to shared memory.
    File,
    /// The page may be read and is written: of private memory, it is shared with another process until then.
    Copy,
    /// Memory of a huge page is touched for the first time.
    Huge,
    /// Private memory is touched for the first time.
    Fresh,
}

impl FaultKind {
    /// All of them, in the order in which they count.
    pub const ALL: [FaultKind; 6] =
        [FaultKind::NumaHint, FaultKind::Swap, FaultKind::File, FaultKind::Copy, FaultKind::Huge, FaultKind::Fresh];

    /// The kind that a kernel function shows, by its bare name.
    pub fn of(name: &str) -> Option<FaultKind> {
        FaultKind::ALL.into_iter().find(|kind| kind.names().contains(&name) || begins(kind.beginnings(), name))
    }

    fn names(self) -> &'static [&'static str] {
        match self {
            FaultKind::NumaHint => &["do_numa_page", "do_huge_pmd_numa_page"],
            FaultKind::Swap => &["do_swap_page", "read_swap_cache_async", "zswap_load", "zswap_frontswap_load"],
            FaultKind::File => &[
                "do_fault",
                "do_fault_around",
                "do_read_fault",
                "do_cow_fault",
                "do_shared_fault",
                "finish_fault",
                "shmem_fault",
                "do_page_mkwrite",
                "wp_page_shared",
                "wp_pfn_shared",
                "fault_dirty_shared_page",
            ],
            FaultKind::Copy => &["do_wp_page", "cow_user_page", "wp_can_reuse_anon_folio", "hugetlb_wp", "hugetlb_cow"],
            FaultKind::Huge => &["create_huge_pmd", "vma_alloc_anon_folio_pmd", "hugetlb_fault", "hugetlb_no_page"],
            FaultKind::Fresh => &[
                "do_anonymous_page",
                "alloc_anon_folio",
                "clear_page",
                "clear_highpage",
                "clear_user_highpage",
                "folio_zero_user",
            ],
        }
    }

    fn beginnings(self) -> &'static [&'static str] {
        match self {
            FaultKind::NumaHint => &["numa_migrate_", "migrate_misplaced_"],
            FaultKind::Swap => &["swapin_", "swap_cluster_readahead", "swap_vma_readahead", "swap_read"],
            FaultKind::File => &["filemap_fault", "filemap_map_"],
            FaultKind::Copy => &["wp_page_copy", "wp_page_reuse", "do_huge_pmd_wp_page", "wp_huge_pmd"],
            FaultKind::Huge => &["do_huge_pmd_anonymous_page"],
            FaultKind::Fresh => &[
                "clear_page_erms",
                "clear_page_rep",
                "clear_page_orig",
                "clear_huge_page",
                "alloc_zeroed_user_highpage",
                "vma_alloc_zeroed_movable",
            ],
        }
    }

    /// What such faults are, as the end of a sentence.
    pub fn words(self) -> &'static str {
        match self {
            FaultKind::NumaHint => "the kernel's search for the NUMA node that uses each page",
            FaultKind::Swap => "reading pages back from swap",
            FaultKind::File => "mapping pages of files and shared memory",
            FaultKind::Copy => "first writes to write-protected pages, as fork leaves them",
            FaultKind::Huge => "the first touch of huge pages",
            FaultKind::Fresh => "the first touch of fresh memory",
        }
    }

    /// The name of the share of the CPU time that they take.
    pub fn label(self) -> &'static str {
        match self {
            FaultKind::NumaHint => "NUMA hints",
            FaultKind::Swap => "from swap",
            FaultKind::File => "of files and shared memory",
            FaultKind::Copy => "writes to write-protected pages",
            FaultKind::Huge => "first touch of huge pages",
            FaultKind::Fresh => "first touch",
        }
    }

    /// What looks the same and is not to blame.
    pub fn refuted_by(self) -> &'static str {
        match self {
            FaultKind::NumaHint => "moved pages save more remote accesses than the faults cost",
            FaultKind::Swap => "the program wakes from a long sleep, and reads its memory back once",
            FaultKind::File => "the program has just started and reads its files for the first time",
            FaultKind::Copy => "neither this process nor its parent forks: the pages are protected for another reason",
            FaultKind::Huge | FaultKind::Fresh => {
                "the program has just started and touches its memory for the first time"
            }
        }
    }

    /// What makes them fewer or cheaper.
    pub fn next_step(self) -> &'static str {
        match self {
            FaultKind::NumaHint => {
                "Place the program and its memory on one node (numactl --cpunodebind --membind), or switch \
                 kernel.numa_balancing off where placement is right already."
            }
            FaultKind::Swap => "Memory is short: use less, allow the program more, or keep it from being swapped out.",
            FaultKind::File => {
                "Map once and keep the mapping; fill it ahead (MAP_POPULATE, madvise MADV_POPULATE_READ), or read the \
                 file instead."
            }
            FaultKind::Copy => {
                "Fork less often, and from a process with less memory; write to fewer pages after a fork, as each page \
                 faults once per fork. Huge pages make fewer faults, each with a much larger copy. To start a \
                 program, use posix_spawn or vfork, which protect nothing."
            }
            FaultKind::Huge => {
                "Keep memory instead of returning it (malloc's trim threshold, pools), or touch it before it is needed \
                 (MAP_POPULATE)."
            }
            FaultKind::Fresh => {
                "Keep memory instead of returning it (malloc's trim threshold, pools), or use huge pages."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_known_by_its_path() {
        use FaultKind::{Copy, File, Fresh, Huge, NumaHint, Swap};
        for (name, expected) in [
            ("do_wp_page", Some(Copy)),
            ("wp_page_copy_user", Some(Copy)),
            ("wp_page_shared", Some(File)),
            ("do_huge_pmd_wp_page", Some(Copy)),
            ("do_huge_pmd_anonymous_page", Some(Huge)),
            ("do_huge_pmd_numa_page", Some(NumaHint)),
            ("migrate_misplaced_folio", Some(NumaHint)),
            ("do_anonymous_page", Some(Fresh)),
            ("clear_page_erms", Some(Fresh)),
            ("filemap_map_pages", Some(File)),
            ("swapin_readahead", Some(Swap)),
            ("handle_mm_fault", None),
            ("clear_page_dirty_for_io", None),
            ("do_faults_of_others", None),
        ] {
            assert_eq!(FaultKind::of(name), expected, "{name}");
        }
    }
}
