//! Matches the functions of two recordings: programs are renamed between builds, libraries carry versions, and
//! compilers number their clones. Functions of different names are not matched.

use super::conditions::is_library;
use super::digest::Side;
use crate::analysis::sweep::{FunctionId, PathCost, Run};
use std::collections::{BTreeMap, BTreeSet};

/// Modules of the base that have another name in the other side.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModuleRenames {
    /// Name in the base, and name in the other side.
    pub modules: Vec<(String, String)>,
}

/// What compilers append to the name of a clone.
const CLONES: [&str; 6] = [".constprop.", ".isra.", ".part.", ".lto_priv.", ".llvm.", ".cold"];

impl ModuleRenames {
    /// Matches the program itself, whatever its name, and libraries that differ only in their version.
    pub(super) fn of(base: &Side, new: &Side) -> ModuleRenames {
        let (before, after) = (modules(base), modules(new));
        let (only_before, only_after): (Vec<_>, Vec<_>) =
            (before.difference(&after).collect(), after.difference(&before).collect());
        let program =
            |side: &Side| side.runs.first()?.conditions.program.as_ref().map(|program| program.file().to_string());
        let mut modules = Vec::new();
        if let (Some(a), Some(b)) = (program(base), program(new))
            && only_before.contains(&&a)
            && only_after.contains(&&b)
        {
            modules.push((a, b));
        }
        for library in only_before.iter().filter(|name| is_library(name)) {
            let mut fitting = only_after.iter().filter(|name| is_library(name) && stem(name) == stem(library));
            if let (Some(other), None) = (fitting.next(), fitting.next()) {
                modules.push(((*library).clone(), (*other).clone()));
            }
        }
        ModuleRenames { modules }
    }

    /// Renames modules of the base as in the other side, and removes the numbers of clones. If `base` is false, only
    /// removes the numbers.
    pub(super) fn apply(&self, run: &Run, base: bool) -> Run {
        let mut run = run.clone();
        let names: BTreeMap<&str, &str> =
            self.modules.iter().map(|(from, to)| (from.as_str(), to.as_str())).filter(|_| base).collect();
        let costs = std::iter::once(&mut run.cpu).chain(&mut run.blocked);
        for path in costs.flat_map(|cost| &mut cost.paths) {
            path.frames.iter_mut().for_each(|function| rename(function, &names));
        }
        run
    }
}

fn rename(function: &mut FunctionId, modules: &BTreeMap<&str, &str>) {
    if let Some(name) = modules.get(function.module.as_str()) {
        function.module = (*name).to_string();
    }
    if let Some(end) = CLONES.iter().filter_map(|mark| function.name.find(mark)).min() {
        function.name.truncate(end);
    }
}

/// `libz` of `libz.so.1.3.1`; `libc` of `libc-2.31.so`.
fn stem(library: &str) -> &str {
    let name = library.split(".so").next().unwrap_or(library);
    name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'))
}

fn modules(side: &Side) -> BTreeSet<String> {
    let costs = side.runs.iter().flat_map(|run| std::iter::once(&run.run.cpu).chain(&run.run.blocked));
    let frames = costs.flat_map(|cost| &cost.paths).flat_map(|path: &PathCost| &path.frames);
    frames.map(|function| function.module.clone()).filter(|name| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{cost, side};
    use super::*;

    fn with(program: &str, paths: &[(&str, f64)]) -> Side {
        let mut side = side(&[5000.0]);
        side.runs[0].run.cpu = cost(paths);
        if let Some(known) = &mut side.runs[0].conditions.program {
            known.path = format!("/opt/{program}");
        }
        side
    }

    #[test]
    fn a_renamed_program_and_a_newer_library_are_the_old_ones_under_another_name() {
        let base = with("app-1", &[("app-1!main;libz.so.1.2!deflate;libm-2.31.so!sin", 10.0), ("bash!main", 1.0)]);
        let new = with("app-2", &[("app-2!main;libz.so.1.3!deflate;libm.so.6!sin", 10.0), ("zsh!main", 1.0)]);
        let module_renames = ModuleRenames::of(&base, &new);
        let expected = [("app-1", "app-2"), ("libm-2.31.so", "libm.so.6"), ("libz.so.1.2", "libz.so.1.3")];
        assert_eq!(module_renames.modules, expected.map(|(a, b)| (a.to_string(), b.to_string())));
        let renamed = module_renames.apply(&base.runs[0].run, true);
        let frames = |run: &Run| run.cpu.paths.iter().map(|path| path.frames.clone()).collect::<BTreeSet<_>>();
        assert_eq!(frames(&renamed).intersection(&frames(&new.runs[0].run)).count(), 1);
    }

    #[test]
    fn a_program_that_is_on_both_sides_is_not_taken_for_another() {
        let base = with("app-1", &[("app-1!main", 10.0), ("app-2!main", 1.0)]);
        assert_eq!(ModuleRenames::of(&base, &with("app-2", &[("app-2!main", 10.0)])), ModuleRenames::default());
    }

    #[test]
    fn clones_are_the_function_they_were_made_from() {
        let base = with("app", &[("app!work.constprop.0.isra.3", 10.0), ("app!rest.cold", 1.0)]);
        let run = ModuleRenames::default().apply(&base.runs[0].run, false);
        let names: Vec<_> = run.cpu.paths.iter().map(|path| path.frames[0].name.as_str()).collect();
        assert_eq!(names, ["work", "rest"]);
    }
}
