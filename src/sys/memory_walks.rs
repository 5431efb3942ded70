//! Times walks through our own memory for the latency of caches, address translation and memory; and streams.
//! native/probes.c describes how a walk is laid out and why it disturbs little.

use super::clock::monotonic_ns;
use crate::abi::mappings;
use crate::error::{Context, Error, ErrorKind, Result};
use std::ffi::{c_int, c_void};
use std::io;
use std::ptr::NonNull;

/// Bytes of a cache line on nearly every machine. Where lines are a multiple of it, each is walked in halves.
pub const LINE: u64 = 64;

unsafe extern "C" {
    fn ironlaw_probe_map(bytes: usize, huge: c_int, node: c_int) -> *mut c_void;
    fn ironlaw_probe_unmap(base: *mut c_void, bytes: usize);
    fn ironlaw_probe_collapse(base: *mut c_void, bytes: usize);
    fn ironlaw_probe_link(base: *mut c_void, bytes: usize, places: *mut u32, lines: u32, seed: u64) -> *mut c_void;
    fn ironlaw_probe_walk(from: *mut c_void, loads: u64) -> *mut c_void;
    fn ironlaw_probe_flush(from: *mut c_void, loads: u64) -> c_int;
    fn ironlaw_probe_cpu(node: *mut c_int) -> c_int;
    fn ironlaw_probe_read(base: *const c_void, bytes: usize) -> u64;
    fn ironlaw_probe_write(base: *mut c_void, bytes: usize, value: c_int);
    fn ironlaw_probe_copy(to: *mut c_void, from: *const c_void, bytes: usize);
}

/// Page size of a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pages {
    /// The machine's smallest: 4 KiB on most.
    Small,
    /// Transparent huge pages, where the kernel grants them.
    Huge,
}

/// Memory of our own; unmapped when dropped.
#[derive(Debug)]
pub struct Region {
    base: NonNull<c_void>,
    bytes: usize,
}

// SAFETY: the memory belongs to the region alone, and no method shares it between threads without `&mut`, but reading.
unsafe impl Send for Region {}

impl Region {
    /// Maps a region, on memory node `node` if given.
    ///
    /// # Errors
    /// The kernel's refusal: no memory, no such node, a seccomp policy without `mbind`.
    pub fn map(bytes: u64, pages: Pages, node: Option<u32>) -> Result<Region> {
        let size = usize::try_from(bytes).ok().filter(|size| *size > 0);
        let bytes = size.ok_or_else(|| Error::new(ErrorKind::Usage, "a region needs a size"))?;
        let on = node.map_or(-1, |node| c_int::try_from(node).unwrap_or(c_int::MAX));
        // SAFETY: the function maps new memory and changes nothing else.
        let base = unsafe { ironlaw_probe_map(bytes, c_int::from(pages == Pages::Huge), on) };
        let refused = || Error::from(io::Error::last_os_error());
        let place = || node.map(|node| format!(" on memory node {node}")).unwrap_or_default();
        let base =
            NonNull::new(base).ok_or_else(refused).context(|| format!("cannot map {} KiB{}", bytes >> 10, place()))?;
        Ok(Region { base, bytes })
    }

    /// Length in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes as u64
    }

    /// Whether the region lies in huge pages according to `smaps` of this process; `None` where `smaps` does not show
    /// it. Call it after the region has been touched.
    #[must_use]
    pub fn has_huge_pages(&self, smaps: &str) -> Option<bool> {
        huge_share(smaps, self.base.as_ptr() as u64).map(|share| share > 0.9)
    }

    /// Requests huge pages again, after the region has been touched.
    pub fn collapse(&mut self) {
        // SAFETY: the mapping is this region's own; its contents stay.
        unsafe { ironlaw_probe_collapse(self.base.as_ptr(), self.bytes) };
    }

    /// Reads the whole region in order. Returning the sum keeps the compiler from dropping the reads.
    #[must_use]
    pub fn read(&self) -> u64 {
        // SAFETY: reads within the region.
        unsafe { ironlaw_probe_read(self.base.as_ptr(), self.bytes) }
    }

    /// Writes the whole region in order.
    pub fn write(&mut self, value: u8) {
        // SAFETY: writes within the region, which nothing else points into.
        unsafe { ironlaw_probe_write(self.base.as_ptr(), self.bytes, c_int::from(value)) };
    }

    /// Copies as much of `from` as fits.
    pub fn copy(&mut self, from: &Region) {
        // SAFETY: two regions never overlap, and the shorter one bounds the copy.
        unsafe { ironlaw_probe_copy(self.base.as_ptr(), from.base.as_ptr(), self.bytes.min(from.bytes)) };
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the mapping is this region's own, and nothing points into it any more.
        unsafe { ironlaw_probe_unmap(self.base.as_ptr(), self.bytes) };
    }
}

/// Lines of a region linked into one random cycle, and the current position of the walk.
#[derive(Debug)]
pub struct PointerChase {
    region: Region,
    at: NonNull<c_void>,
    lines: u32,
}

// SAFETY: it points into the region that it owns.
unsafe impl Send for PointerChase {}

/// Result of a timed walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedWalk {
    /// Nanoseconds.
    pub nanos: u64,
    /// Loads.
    pub loads: u64,
    /// Whether the walk was undisturbed as far as the kernel reports: no preemption, no change of CPU.
    pub undisturbed: bool,
}

impl PointerChase {
    /// Links `lines` lines, spread evenly over the first `span` bytes of the region.
    ///
    /// # Errors
    /// `Usage` when they do not fit.
    pub fn link(region: Region, span: u64, lines: u32, seed: u64) -> Result<PointerChase> {
        let span = usize::try_from(span).unwrap_or(usize::MAX).min(region.bytes);
        if lines < 2 || (span as u64) / LINE < u64::from(lines) {
            return Err(Error::new(ErrorKind::Usage, format!("{lines} lines do not fit into {span} bytes")));
        }
        let mut places = vec![0u32; lines as usize];
        // SAFETY: `places` has room for the lines, and the function writes only within the span inside the region.
        let at = unsafe { ironlaw_probe_link(region.base.as_ptr(), span, places.as_mut_ptr(), lines, seed) };
        Ok(PointerChase { at: NonNull::new(at).unwrap_or(region.base), region, lines })
    }

    /// The memory of the cycle.
    #[must_use]
    pub fn region(&self) -> &Region {
        &self.region
    }

    /// Requests huge pages again; the cycle stays as it is.
    pub fn collapse(&mut self) {
        self.region.collapse();
    }

    /// Number of lines in the cycle.
    #[must_use]
    pub fn lines(&self) -> u64 {
        u64::from(self.lines)
    }

    /// Continues the walk.
    pub fn walk(&mut self, loads: u64) {
        // SAFETY: every line of the cycle points to another one of the same region.
        let at = unsafe { ironlaw_probe_walk(self.at.as_ptr(), loads) };
        self.at = NonNull::new(at).unwrap_or(self.at);
    }

    /// Continues the walk and times it.
    pub fn burst(&mut self, loads: u64) -> TimedWalk {
        let (switches, place) = (involuntary_switches(), current_cpu());
        let start = monotonic_ns();
        self.walk(loads);
        let nanos = monotonic_ns().saturating_sub(start);
        let undisturbed = switches.is_some() && switches == involuntary_switches() && place == current_cpu();
        TimedWalk { nanos, loads, undisturbed }
    }

    /// Like `burst`, and flushes the visited lines from every cache afterwards; the flush is not timed.
    pub fn burst_and_flush(&mut self, loads: u64) -> TimedWalk {
        let from = self.at;
        let burst = self.burst(loads);
        // SAFETY: the walk began within the cycle; flushing changes no contents.
        unsafe { ironlaw_probe_flush(from.as_ptr(), loads) };
        burst
    }

    /// Flushes all lines of the cycle from every cache. False where a program may not flush.
    #[must_use]
    pub fn flush(&self) -> bool {
        // SAFETY: as above.
        unsafe { ironlaw_probe_flush(self.at.as_ptr(), self.lines()) == 0 }
    }
}

/// The CPU and memory node of the calling thread; `None` where the kernel does not report them.
#[must_use]
pub fn current_cpu() -> Option<(u32, u32)> {
    let mut node = -1;
    // SAFETY: `node` is a valid place for the duration of the call.
    let cpu = unsafe { ironlaw_probe_cpu(&raw mut node) };
    Some((u32::try_from(cpu).ok()?, u32::try_from(node).ok()?))
}

/// Involuntary context switches of the calling thread.
fn involuntary_switches() -> Option<i64> {
    // SAFETY: rusage is plain numbers, for which zeros are a valid value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a valid rusage for the duration of the call.
    (unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) } == 0).then_some(usage.ru_nivcsw)
}

/// Fraction of the touched memory around `address` that lies in huge pages.
fn huge_share(smaps: &str, address: u64) -> Option<f64> {
    let holds = |line: &str| Some(mappings(line.as_bytes()).next()?.contains(address));
    let mut lines = smaps.lines().skip_while(|line| holds(line) != Some(true)).skip(1);
    let mut resident = None;
    let kib = |line: &str| line.split_ascii_whitespace().nth(1)?.parse::<f64>().ok();
    let mut own = lines.by_ref().take_while(|line| holds(line).is_none());
    own.find_map(|line| {
        if line.starts_with("Rss:") {
            resident = kib(line);
        }
        line.starts_with("AnonHugePages:").then(|| kib(line)).flatten()
    })
    .zip(resident)
    .and_then(|(huge, resident)| (resident > 0.0).then(|| huge / resident))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn a_cycle_visits_every_line_once_before_it_comes_back() {
        for lines in [2u32, 3, 1000] {
            let region = Region::map(2 * MIB, Pages::Small, None).unwrap();
            let mut cycle = PointerChase::link(region, MIB, lines, 7).unwrap();
            let start = cycle.at;
            let (first, last) =
                (cycle.region.base.as_ptr() as usize, cycle.region.base.as_ptr() as usize + MIB as usize);
            let mut seen = std::collections::BTreeSet::new();
            for _ in 0..lines {
                let at = cycle.at.as_ptr() as usize;
                assert!(at >= first && at < last && seen.insert(at));
                cycle.walk(1);
            }
            assert_eq!(cycle.at, start);
            cycle.walk(u64::from(lines) * 5 + 1);
            assert_ne!(cycle.at, start);
        }
    }

    #[test]
    fn a_burst_counts_what_it_walks_and_a_flush_stays_where_it_is() {
        let region = Region::map(2 * MIB, Pages::Huge, None).unwrap();
        let mut cycle = PointerChase::link(region, 2 * MIB, 500, 1).unwrap();
        let before = cycle.at;
        assert_eq!((cycle.burst(300).loads, cycle.burst_and_flush(200).loads), (300, 200));
        assert_eq!(cycle.flush(), cfg!(any(target_arch = "x86_64", target_arch = "aarch64")));
        assert_eq!(cycle.at, before);
    }

    #[test]
    fn streams_stay_within_their_regions() {
        let mut from = Region::map(MIB, Pages::Small, None).unwrap();
        let mut to = Region::map(MIB / 2, Pages::Huge, None).unwrap();
        from.write(1);
        to.copy(&from);
        assert_eq!(to.read(), (MIB / 2 / 8).wrapping_mul(0x0101_0101_0101_0101));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(Region::map(0, Pages::Small, None).is_err());
        let absent = Region::map(MIB, Pages::Small, Some(900)).unwrap_err();
        assert!(absent.to_string().contains("memory node 900"), "{absent}");
        let region = Region::map(MIB, Pages::Small, None).unwrap();
        assert!(PointerChase::link(region, MIB, 20_000, 1).is_err());
    }

    #[test]
    fn huge_pages_are_told_by_the_mapping_the_region_lies_in() {
        let smaps = "1000-2000 rw-p 0 00:00 0\nSize: 4 kB\nRss: 4 kB\nAnonHugePages: 0 kB\n\
            200000-600000 rw-p 0 00:00 0\nSize: 4096 kB\nRss: 4096 kB\nAnonHugePages:    4096 kB\nVmFlags: rd\n\
            700000-800000 rw-p 0 00:00 0\nSize: 1024 kB\n";
        for (address, share) in [(0x1000, Some(0.0)), (0x5f_ffff, Some(1.0)), (0x60_0000, None), (0x70_0000, None)] {
            assert_eq!(huge_share(smaps, address), share, "{address:x}");
        }
    }
}
