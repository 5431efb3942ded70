//! Reads the kernel's descriptions of its PMUs and tracepoints, file by file as event names need them.

use super::perf::tracefs;
use crate::error::Result;
use crate::pmu::EventSources;
use std::path::{Path, PathBuf};

/// The files below `/sys/bus/event_source/devices`, and those of tracefs.
#[derive(Debug, Clone)]
pub struct EventSourceFiles {
    sys: PathBuf,
    root: PathBuf,
}

impl EventSourceFiles {
    /// The event sources of the /sys mounted at `sys`.
    #[must_use]
    pub fn open(sys: &Path) -> Self {
        EventSourceFiles { sys: sys.to_path_buf(), root: sys.join("bus/event_source/devices") }
    }
}

impl EventSources for EventSourceFiles {
    fn read(&self, path: &str) -> Option<String> {
        let text = std::fs::read_to_string(self.root.join(path)).ok()?;
        Some(text.trim().to_string())
    }

    fn list(&self, folder: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.root.join(folder)) else { return Vec::new() };
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect()
    }

    fn tracepoints(&self) -> Result<Vec<String>> {
        tracefs::names(&self.sys)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
    use super::*;

    #[test]
    fn reads_below_its_root_and_what_is_missing_is_absent() {
        let sys = tempfile::tempdir().unwrap();
        let pmu = sys.path().join("bus/event_source/devices/cpu");
        std::fs::create_dir_all(&pmu).unwrap();
        std::fs::write(pmu.join("type"), "4\n").unwrap();
        let sources = EventSourceFiles::open(sys.path());
        assert_eq!(sources.read("cpu/type").as_deref(), Some("4"));
        assert_eq!(sources.list(""), ["cpu"]);
        assert_eq!((sources.read("cpu/format/event"), sources.list("gpu")), (None, vec![]));
    }

    #[test]
    fn every_event_this_kernel_describes_can_be_read_by_its_name() {
        let sources = EventSourceFiles::open(Path::new("/sys"));
        for pmu in sources.list("") {
            for name in sources.list(&format!("{pmu}/events")) {
                let asks = sources.read(&format!("{pmu}/events/{name}")).is_none_or(|text| text.contains('?'));
                if !asks && !name.contains('.') {
                    crate::pmu::parse(&format!("{pmu}/{name}/"), &sources).unwrap();
                }
            }
        }
    }
}
