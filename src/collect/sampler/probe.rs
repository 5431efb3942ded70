//! Defines a probe on what is counted in programs, the calls of a function or a probe that the program has: its files,
//! its places in each, and the cost of a hit here.

use super::modules::build_id;
use super::probe_file::{self, ProbeFile};
use super::{probe_point, usdt};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::{Note, ObjectFile};
use crate::pmu::nearest;
use crate::sys::files;
use crate::sys::perf::uprobe::{HitAt, ProbePlace, Uprobe};
use crate::sys::perf::uprobe_cost::{Entry, measure};
use std::ffi::OsStr;
use std::fs::File;
use std::path::Path;
use std::sync::OnceLock;

/// Maximum number of probes that a message lists.
const MOST_NAMED: usize = 5;

/// What is counted in a file.
#[derive(Debug, Clone, Copy)]
pub enum Wanted<'a> {
    /// Calls of a function.
    Calls(&'a str),
    /// Returns from it.
    Returns(&'a str),
    /// Hits of a probe that the program has, by its provider, if that is given, and its name.
    Hits(Option<&'a str>, &'a str),
}

/// Where processes and files are looked for.
#[derive(Debug, Clone, Copy)]
pub struct Search<'a> {
    /// The target's processes; see [`probe_file::find`].
    pub pids: &'a [u32],
    /// As in `PATH`.
    pub path: &'a OsStr,
    /// Everything lies below it.
    pub root: &'a Path,
}

/// The symbols of a stripped file, beyond its own and those of its debug file on this machine.
pub type MoreSymbols = fn(&ObjectFile) -> Option<ObjectFile>;

static MORE_SYMBOLS: OnceLock<MoreSymbols> = OnceLock::new();

/// Finds functions without a symbol in the symbols that `more` returns. The first call counts.
pub fn find_more_symbols(more: MoreSymbols) {
    let _ = MORE_SYMBOLS.set(more);
}

/// A defined probe.
#[derive(Debug)]
pub struct Probe {
    defined: Uprobe,
    counted: &'static str,
    name: String,
    entry: Entry,
    cost: Result<f64>,
}

/// Offset and semaphore of each place of a probe in a file, and how the first one's code begins.
type Places = (Vec<(u64, Option<u64>)>, Entry);

impl Probe {
    /// Finds the function or probe and defines the probe, which costs nothing until an event is opened on it. The cost
    /// of a hit is measured on ironlaw itself.
    ///
    /// # Errors
    /// `NotFound` for the file, the function or the probe; as [`probe_point::find`] and [`Uprobe::define`].
    pub fn define(binary: &Path, wanted: Wanted<'_>, search: &Search<'_>) -> Result<Probe> {
        let mut places: Vec<(File, (u64, Option<u64>))> = Vec::new();
        let mut entry = Entry::Other;
        for found in probe_file::find(binary, search.pids, search.path, search.root)? {
            let (in_file, first) = wanted.places(&found, search.root)?;
            entry = first;
            for place in in_file {
                places.push((found.file.try_clone().context(|| "cannot keep a file open")?, place));
            }
        }
        let place = |(file, (offset, semaphore))| ProbePlace { file, offset, semaphore };
        let places: Vec<ProbePlace<'_>> = places.iter().map(|(file, at)| place((file, *at))).collect();
        let file = binary.file_name().unwrap_or(binary.as_os_str()).to_string_lossy();
        let (counted, name) = match wanted {
            Wanted::Calls(function) => ("Calls", format!("{file}:{function}")),
            Wanted::Returns(function) => ("Returns", format!("{file}:{function}")),
            Wanted::Hits(provider, name) => {
                ("Hits", [Some(&*file), provider, Some(name)].into_iter().flatten().collect::<Vec<_>>().join(":"))
            }
        };
        let label = || format!("cannot count {} of {name}", counted.to_lowercase());
        let at = if let Wanted::Returns(_) = wanted { HitAt::Return } else { HitAt::Place };
        let defined = Uprobe::define(search.root, at, &places).context(label)?;
        Ok(Probe { defined, counted, name, entry, cost: measure(entry, search.root) })
    }

    /// The `config` of tracepoint events on it.
    pub fn id(&self) -> u64 {
        self.defined.id
    }

    /// The file and the function.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How the code at its first place begins.
    pub fn entry(&self) -> Entry {
        self.entry
    }

    /// The cost of each call to the target, if it could be measured.
    pub fn cost_ns(&self) -> Option<f64> {
        self.cost.as_ref().ok().copied()
    }

    /// A note on what is counted, and at what cost.
    pub fn note(&self) -> Note {
        let Probe { counted, name, .. } = self;
        let text = match &self.cost {
            Ok(cost) => format!("{counted} of {name} are counted at {} each (measured).", each(*cost)),
            Err(error) => format!("{counted} of {name} are counted; what each costs could not be measured: {error}."),
        };
        Note { topic: "ops-probe".to_string(), text, fix: None }
    }
}

impl Wanted<'_> {
    fn places(self, found: &ProbeFile, root: &Path) -> Result<Places> {
        let what = match self {
            Wanted::Calls(_) | Wanted::Returns(_) => "calls",
            Wanted::Hits(..) => "hits",
        };
        let label = || format!("cannot count {what} in {}", found.path.display());
        let image = files::object(found.file.try_clone().context(label)?).context(label)?;
        match self {
            Wanted::Calls(function) | Wanted::Returns(function) => {
                let debug = build_id(&image).flatten().and_then(|id| probe_file::debug_file(&id, root));
                let mut point = probe_point::find(&image, debug.as_ref(), function);
                let absent = point.as_ref().is_err_and(|error| error.kind() == ErrorKind::NotFound);
                if let (true, None, Some(more)) = (absent, &debug, MORE_SYMBOLS.get().and_then(|more| more(&image))) {
                    point = probe_point::find(&image, Some(&more), function);
                }
                let point = point.context(label)?;
                Ok((vec![(point.offset, None)], point.entry))
            }
            Wanted::Hits(provider, name) => hits(&image, provider, name).context(label),
        }
    }
}

fn hits(image: &ObjectFile, provider: Option<&str>, name: &str) -> Result<Places> {
    let probes = usdt::probes(image)?;
    let called: Vec<_> = probes.iter().filter(|probe| probe.is_called(provider, name)).collect();
    let full = |probe: &usdt::UsdtProbe| format!("{}:{}", probe.provider, probe.name);
    match called.as_slice() {
        [probe] => {
            let places: Vec<_> = probe.places.iter().map(|place| (place.offset, place.semaphore)).collect();
            let first = places.first().map_or(0, |(offset, _)| *offset);
            Ok((places, probe_point::entry(image, first)))
        }
        [] => {
            let error = Error::new(ErrorKind::NotFound, format!("no USDT probe {name}"));
            let names: Vec<String> = probes.iter().map(|probe| probe.name.clone()).collect();
            Err(match nearest(name, &names, MOST_NAMED).as_slice() {
                _ if probes.is_empty() => error.hint("The file has no USDT probes: it was built without sys/sdt.h."),
                [] => error.hint("`ironlaw list usdt FILE` lists those that it has."),
                near => error.hint(format!("Names like it: {}.", near.join(", "))),
            })
        }
        several => {
            let names: Vec<String> = several.iter().take(MOST_NAMED).map(|probe| full(probe)).collect();
            let text = format!("{} probes are called {name}: {}", several.len(), names.join(", "));
            Err(Error::new(ErrorKind::Usage, text).hint("Give the provider as well: usdt:FILE:PROVIDER:PROBE."))
        }
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
        let search = Search { pids: &[], path: OsStr::new("/bin"), root: root.path() };
        let define = |wanted| Probe::define(Path::new("tool"), wanted, &search).unwrap_err();
        let error = define(Wanted::Hits(None, "start"));
        assert!(error.to_string().contains("bin/tool: no USDT probe start"), "{error}");
        assert!(error.remedy().unwrap().contains("sys/sdt.h"), "{error:?}");
        let error = define(Wanted::Calls("no_such_function_here"));
        assert!(
            error.to_string().contains("bin/tool") && error.to_string().contains("no_such_function_here"),
            "{error}"
        );
        let error = define(Wanted::Calls("serve"));
        assert!(error.remedy().unwrap().contains("mount -t tracefs") && error.to_string().contains("tool:"), "{error}");
    }
}
