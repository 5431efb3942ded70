//! Defines a probe on the function whose calls are counted: its files, its place in each, and the cost of a hit here.

use super::modules::build_id;
use super::{probe_file, probe_point};
use crate::error::{Context, Result};
use crate::model::Note;
use crate::sys::files;
use crate::sys::perf::uprobe::Uprobe;
use crate::sys::perf::uprobe_cost::{Entry, measure};
use std::ffi::OsStr;
use std::fs::File;
use std::path::Path;

/// A defined probe.
#[derive(Debug)]
pub struct Probe {
    defined: Uprobe,
    name: String,
    cost: Result<f64>,
}

impl Probe {
    /// Finds the function and defines the probe, which costs nothing until an event is opened on it. The cost of a hit
    /// is measured on ironlaw itself. `pids` are the target's processes; see [`probe_file::find`].
    ///
    /// # Errors
    /// `NotFound` for the file or the function; as [`probe_point::find`] and [`Uprobe::define`].
    pub fn define(binary: &Path, symbol: &str, pids: &[u32], search: &OsStr, root: &Path) -> Result<Probe> {
        let mut places: Vec<(File, u64)> = Vec::new();
        let mut entry = Entry::Other;
        for found in probe_file::find(binary, pids, search, root)? {
            let label = || format!("cannot count calls in {}", found.path.display());
            let image = files::object(found.file.try_clone().context(label)?).context(label)?;
            let debug = build_id(&image).flatten().and_then(|id| probe_file::debug_file(&id, root));
            let point = probe_point::find(&image, debug.as_ref(), symbol).context(label)?;
            entry = point.entry;
            places.push((found.file, point.offset));
        }
        let places: Vec<(&File, u64)> = places.iter().map(|(file, offset)| (file, *offset)).collect();
        let file = binary.file_name().unwrap_or(binary.as_os_str()).to_string_lossy();
        let name = format!("{file}:{symbol}");
        let defined = Uprobe::define(root, &places).context(|| format!("cannot count calls of {name}"))?;
        Ok(Probe { defined, name, cost: measure(entry, root) })
    }

    /// The `config` of tracepoint events on it.
    pub fn id(&self) -> u64 {
        self.defined.id
    }

    /// The file and the function.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The cost of each call to the target, if it could be measured.
    pub fn cost_ns(&self) -> Option<f64> {
        self.cost.as_ref().ok().copied()
    }

    /// A note on what is counted, and at what cost.
    pub fn note(&self) -> Note {
        let name = &self.name;
        let text = match &self.cost {
            Ok(cost) => format!("Calls of {name} are counted at {} each (measured).", each(*cost)),
            Err(error) => format!("Calls of {name} are counted; what each costs could not be measured: {error}."),
        };
        Note { topic: "ops-probe".to_string(), text, fix: None }
    }
}

/// Formats a cost in its most readable unit.
pub fn each(cost_ns: f64) -> String {
    if cost_ns < 1_000.0 { format!("{cost_ns:.0} ns") } else { format!("{:.1} us", cost_ns / 1_000.0) }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::probe_point::testing::{CODE, FUNC, elf};
    use super::*;

    #[test]
    fn a_cost_is_read_in_its_own_unit() {
        for (cost, said) in [(0.0, "0 ns"), (873.4, "873 ns"), (1_449.0, "1.4 us"), (15_900.0, "15.9 us")] {
            assert_eq!(each(cost), said);
        }
    }

    #[test]
    fn the_file_is_named_when_the_function_is_not_in_it_or_no_probe_can_be_defined() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("bin")).unwrap();
        let image = elf(0x90, &[("serve", CODE.1, FUNC)]);
        std::fs::write(root.path().join("bin/tool"), image).unwrap();
        let define =
            |symbol| Probe::define(Path::new("tool"), symbol, &[], OsStr::new("/bin"), root.path()).unwrap_err();
        let error = define("no_such_function_here");
        assert!(
            error.to_string().contains("bin/tool") && error.to_string().contains("no_such_function_here"),
            "{error}"
        );
        let error = define("serve");
        assert!(error.remedy().unwrap().contains("mount -t tracefs") && error.to_string().contains("tool:"), "{error}");
    }
}
