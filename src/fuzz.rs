//! What each fuzz target feeds to which reader of untrusted data. The targets of `tests/fuzz` call these with what
//! libFuzzer makes of a corpus, the tests here with random bytes. A target fails by a panic, by memory or by time.

mod documents;
mod recordings;
mod records;

pub use documents::{baseline, config, sweep};
pub use recordings::{recording, report};
pub use records::perf_records;

use crate::error::{Error, ErrorKind, Result};
use crate::model::{BuildId, ModuleId, ObjectFile};
use crate::session::{self, import};
use crate::symbols::{self, FileTail, Files, ModuleSource, Options, Symbolizer};
use crate::sys::http_server::parse_request;
use crate::sys::{cgroupfs, procfs};
use crate::tables::Values;
use crate::unwind::{AddressSpace, Cache, Regs, UnwindTables};
use crate::{abi, collect, ops, pmu};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Addresses that are looked up in each file.
const ADDRESSES: u64 = 24;

/// A perf.data file, to a profile.
pub fn perf_data(data: &[u8]) {
    imported(data, import::Format::Perf);
}

/// Folded stacks, to a profile.
pub fn folded(data: &[u8]) {
    imported(data, import::Format::Folded);
}

/// The text of perf script, to a profile.
pub fn perf_script(data: &[u8]) {
    imported(data, import::Format::Script);
}

/// No file of this machine stands in for a recorded one.
const NOWHERE: &str = "/nonexistent";

fn imported(data: &[u8], format: import::Format) {
    let source =
        import::Source { name: "fuzz".into(), bytes: Arc::new(data.to_vec()), file: None, written_unix_ns: None };
    // A recording of this host would have its whole list read, each time.
    let kallsyms = Some(PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz/kallsyms")));
    let options = import::Options {
        format: Some(format),
        symfs: Some(PathBuf::from(NOWHERE)),
        kallsyms,
        ..import::Options::default()
    };
    let _ = import::profile(&source, &options);
}

/// Files that all have the same contents.
struct Same(Vec<u8>);

impl Files for Same {
    fn open(&self, path: &Path) -> Option<ObjectFile> {
        // A file whose debug file is itself would be no different from one without.
        path.extension().is_some_and(|end| end == "dump").then(|| ObjectFile::new(self.0.clone()))
    }

    fn text(&self, path: &Path) -> Result<String> {
        match path.file_name().and_then(|name| name.to_str()) {
            Some("maps") => Ok("1000-2000 r-xp 00000000 08:01 5 /tmp/jit-7.dump\n".to_string()),
            Some("kallsyms") => Ok(String::from_utf8_lossy(&self.0).into_owned()),
            _ => Err(Error::new(ErrorKind::NotFound, "no such file")),
        }
    }

    fn fetch(&self, _: &BuildId) -> Option<ObjectFile> {
        None
    }

    fn grown(&self, path: &Path, from: u64) -> Option<FileTail> {
        let is_map = path.extension().is_some_and(|end| end == "map");
        let bytes = self.0.get(usize::try_from(from).ok()?..).unwrap_or(&[]).to_vec();
        is_map.then_some(FileTail { length: self.0.len() as u64, stamp: None, bytes })
    }
}

fn named(data: &[u8], source: ModuleSource, addresses: impl Iterator<Item = u64>) {
    let module = ModuleId(1);
    let mut symbolizer = Symbolizer::new(Options { debug_dirs: vec![] }, Box::new(Same(data.to_vec())));
    symbolizer.add(module, source);
    for address in addresses.chain([u64::MAX, 1 << 63, 0]) {
        let _ = symbolizer.names(Some(module), address);
    }
    symbolizer.release();
}

/// An ELF file with its symbols, debug information and unwind tables, to names; and its probes.
pub fn object_file(data: &[u8]) {
    let step = (data.len() as u64 / ADDRESSES).max(1);
    let source = ModuleSource::Vdso { image: ObjectFile::new(data.to_vec()) };
    let _ = collect::sampler::usdt_probes(&ObjectFile::new(data.to_vec()));
    let _ = symbols::debug_data(&ObjectFile::new(data.to_vec()));
    named(data, source, (0..ADDRESSES).map(|nth| nth * step));
}

/// A perf map, and the same bytes as a jitdump, to names.
pub fn jit(data: &[u8]) {
    named(
        data,
        ModuleSource::Jit { pid: 7, root: PathBuf::from("/none"), dump: None },
        (0..ADDRESSES).map(|nth| nth << 7),
    );
}

/// The kernel's list of symbols, to names.
pub fn kallsyms(data: &[u8]) {
    named(data, ModuleSource::Kernel, (0..ADDRESSES).map(|nth| 0xffff_ffff_8100_0000 + (nth << 7)));
}

/// An ELF file's unwind tables, and a stack, which is the end of the data, to return addresses.
pub fn unwind(data: &[u8]) {
    const BASE: u64 = 0x7000_0000_0000;
    let (image, stack) = data.split_at(data.len() - data.len().min(256));
    let Ok(tables) = UnwindTables::parse(&ObjectFile::new(image.to_vec())) else { return };
    let (tables, mut space, mut cache) = (Arc::new(tables), AddressSpace::new(), Cache::default());
    space.map(BASE, BASE + (image.len() as u64).next_multiple_of(4096), 0, &tables);
    let step = (image.len() as u64 / ADDRESSES).max(1);
    for ip in (0..ADDRESSES).map(|nth| BASE + nth * step) {
        let regs = Regs { ip, sp: 0x7fff_0000, bp: 0x7fff_0040, lr: ip };
        space.unwind(&mut cache, &regs, stack, &mut Vec::new());
        space.starts_thread(&mut cache, ip);
    }
}

/// Text of /proc and of control groups.
pub fn proc_text(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    abi::mappings(data).for_each(|mapping| drop((mapping.path(), mapping.is_deleted())));
    abi::numa_maps(data).for_each(drop);
    let _ = procfs::resident_kinds(data);
    procfs::cpu_times(data).for_each(drop);
    let _ = (procfs::status(data), procfs::task_stat(data), procfs::sched_stat(data), procfs::switches(data));
    let _ = (procfs::sched_details(data), procfs::storage_bytes(data), procfs::children(data).count());
    let _ = (procfs::pressure(data), procfs::cpu_model(&text), procfs::memory_total(&text));
    let _ = (cgroupfs::cpu_stat_v2(data), cgroupfs::io_stat_v2(data), cgroupfs::io_stat_v1(data));
    for hierarchy in cgroupfs::hierarchies(&text) {
        let _ = cgroupfs::membership(&text, &hierarchy);
    }
    let _ = abi::parse_cpu_list(&text);
}

/// A page of metrics in Prometheus's text format, to the values of a metric.
pub fn metrics_page(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (name, page) = text.split_once('\n').unwrap_or(("requests_total", &text));
    let _ = ops::counters(page, name, &[]);
    let _ = ops::counters(page, name, &[("code".into(), "200".into())]);
    let _ = ops::parse(name);
}

/// What load generators print or write, and histograms in Prometheus's text format, to latencies.
pub fn latencies(data: &[u8]) {
    ops::parse_anything(data);
    let _ = ops::parse_latency(&String::from_utf8_lossy(data));
}

/// What a client asks of the endpoint of a watch, and what the server of a metrics page answers, in two pieces.
pub fn http(data: &[u8]) {
    let _ = parse_request(data, Some([10, 1, 2, 3].into()));
    let cut = data.first().map_or(0, |at| usize::from(*at).min(data.len()));
    let mut pieces = [&data[..cut], &data[cut..]].into_iter();
    let _ = ops::receive(|buffer| {
        let mut piece = pieces.find(|piece| !piece.is_empty()).unwrap_or_default();
        Ok(piece.read(buffer))
    });
}

/// What the process that makes names and the one that asks for them say to each other.
pub fn messages(data: &[u8]) {
    session::hear(data);
}

/// Event names in perf's syntax, and the kernel's description of a PMU.
pub fn event_names(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (names, description) = text.split_once('\n').unwrap_or((&text, "event=0x3c,umask=1"));
    let _ = pmu::parse(names, &Described(description));
}

/// A user's table of events.
pub fn event_table(data: &[u8]) {
    static OWN: OnceLock<Option<pmu::Table>> = OnceLock::new();
    // Merged into a table of two: all the others would only be copied.
    let own = || pmu::Table::built_in().map(|table| pmu::Table { uarchs: table.uarchs.into_iter().take(2).collect() });
    if let Some(table) = OWN.get_or_init(|| own().ok()) {
        let _ = table.clone().with(&String::from_utf8_lossy(data), "fuzz");
    }
}

/// A PMU whose files all say the same.
struct Described<'a>(&'a str);

impl pmu::EventSources for Described<'_> {
    fn read(&self, _: &str) -> Option<String> {
        Some(self.0.trim().to_string())
    }

    fn list(&self, _: &str) -> Vec<String> {
        ["cpu", "event", "config1:0-7", "cycles"].map(str::to_string).into()
    }

    fn tracepoints(&self) -> Result<Vec<String>> {
        Ok((0..99).map(|number| format!("sched:sched_{number}")).collect())
    }
}

/// Values from data: small numbers take a byte, others nine.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> u8 {
        let (byte, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *byte
    }
}

impl Values for Input<'_> {
    fn number(&mut self) -> u64 {
        const SMALL: u8 = 0xf0;
        match self.byte() {
            u8::MAX => u64::MAX,
            byte if byte >= SMALL => (0..8).fold(0, |number, _| number << 8 | u64::from(self.byte())),
            byte => u64::from(byte),
        }
    }

    /// Most columns of text hold words.
    fn text(&mut self) -> String {
        const WORDS: [&str; 44] = [
            "whole",
            "truncated",
            "broken",
            "not_taken",
            "runnable",
            "sleeping",
            "disk_sleep",
            "other",
            "ring",
            "samples",
            "throttled",
            "off_cpu",
            "file",
            "kernel",
            "vdso",
            "jit",
            "process",
            "cgroup",
            "resctrl",
            "rest",
            "count",
            "nanos",
            "cycles",
            "instructions",
            "s",
            "share",
            "cores",
            "born",
            "alive",
            "renamed",
            "exec",
            "ended",
            "target",
            "thread",
            "cpu",
            "host",
            "tool",
            "task-clock",
            "cycles:u",
            "LLC-load-misses",
            "load",
            "l3",
            "modified",
            "hit",
        ];
        let first = usize::from(self.byte());
        WORDS.get(first).map_or_else(
            || {
                let (text, rest) = self.0.split_at(self.0.len().min(first - WORDS.len()));
                self.0 = rest;
                String::from_utf8_lossy(text).into_owned()
            },
            |word| (*word).to_string(),
        )
    }
}

/// Reads data.
pub type Target = fn(&[u8]);

/// All targets by name.
pub const TARGETS: [(&str, Target); 20] = [
    ("baseline", baseline),
    ("config", config),
    ("event_names", event_names),
    ("event_table", event_table),
    ("folded", folded),
    ("http", http),
    ("jit", jit),
    ("kallsyms", kallsyms),
    ("latencies", latencies),
    ("messages", messages),
    ("metrics_page", metrics_page),
    ("object_file", object_file),
    ("perf_data", perf_data),
    ("perf_records", perf_records),
    ("perf_script", perf_script),
    ("proc_text", proc_text),
    ("recording", recording),
    ("report", report),
    ("sweep", sweep),
    ("unwind", unwind),
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn vdso() -> Vec<u8> {
        crate::sys::files::own_vdso().unwrap_or_default()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn random_bytes_end_no_reader(data in prop::collection::vec(any::<u8>(), 0..400)) {
            TARGETS.iter().for_each(|(_, target)| target(&data));
        }

        #[test]
        fn a_damaged_image_ends_no_reader(
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..9),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut image = vdso();
            if image.is_empty() { return Ok(()) }
            for (place, byte) in damage {
                let place = place.index(image.len());
                image[place] ^= byte;
            }
            object_file(&image);
            unwind(&image);
            image.truncate(cut.index(image.len()));
            object_file(&image);
            unwind(&image);
        }
    }

    /// Inputs that once ended a reader, by target.
    #[test]
    fn what_was_found_ends_no_reader_again() {
        let found = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/found");
        let mut read = 0;
        for (name, target) in TARGETS {
            for file in std::fs::read_dir(found.join(name)).into_iter().flatten().flatten() {
                target(&std::fs::read(file.path()).unwrap_or_default());
                read += 1;
            }
        }
        assert!(read > 0, "{} is empty", found.display());
    }

    /// `tests/fuzz` has a program for each target.
    #[test]
    fn every_target_is_in_the_manifest() {
        let manifest = include_str!("../tests/fuzz/Cargo.toml");
        for (name, _) in TARGETS {
            assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
        }
    }
}
