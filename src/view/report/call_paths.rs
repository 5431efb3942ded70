//! The call paths of a row: to its callers or its callees, as far as they have a share, as `perf report -g` shows them.

use crate::analysis::{Branch, BranchKind, Butterfly, Names, TRUNCATED};
use serde::Serialize;

/// Which call paths are shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathOptions {
    /// To callees instead of callers.
    pub callees: bool,
    /// The least share of the selection, 0 to 1.
    pub min_share: f64,
}

/// A step of a path, after the step that it continues.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PathStep {
    /// Its depth among the paths that part: a step has that of the one before, or one more after paths have parted.
    pub level: usize,
    /// Share of samples that pass it on this path.
    pub share: f64,
    /// The function.
    pub name: String,
}

impl PathStep {
    /// The paths of a function, heaviest first. Shares are of `whole`.
    pub(super) fn of(butterfly: &Butterfly, names: &Names, whole: u64, options: PathOptions) -> Vec<PathStep> {
        let branches = if options.callees { &butterfly.callees } else { &butterfly.callers };
        let share = |branch: &Branch| if whole == 0 { 0.0 } else { branch.weight as f64 / whole as f64 };
        let mut next: Vec<Vec<usize>> = vec![Vec::new(); branches.len() + 1];
        for (at, branch) in branches.iter().enumerate() {
            // The end of a path is not a step: it is the rest of the share, without a call.
            if share(branch) >= options.min_share && name(branch, names).is_some() {
                next[branch.parent.map_or(branches.len(), |parent| parent as usize)].push(at);
            }
        }
        let mut steps = Vec::new();
        // Place of a branch, level of its step, and whether other paths begin beside it.
        let mut open = vec![(branches.len(), 0, false)];
        while let Some((at, level, is_one_of_several)) = open.pop() {
            let branch = branches.get(at);
            if let Some(branch) = branch {
                let name = name(branch, names).unwrap_or_default().to_string();
                steps.push(PathStep { level, share: share(branch), name });
            }
            let mut follow = std::mem::take(&mut next[at]);
            follow.sort_by_key(|at| branches[*at].weight);
            let part = follow.len() > 1;
            let deeper = branch.is_some() && (part || is_one_of_several);
            open.extend(follow.into_iter().map(|at| (at, level + usize::from(deeper), part)));
        }
        steps
    }
}

/// The name of a step; `None` for the end of a path.
fn name<'a>(branch: &Branch, names: &'a Names) -> Option<&'a str> {
    match branch.kind {
        BranchKind::Function(at) => {
            Some(names.functions.get(at as usize).map_or("", |function| function.name.as_str()))
        }
        BranchKind::Truncated => Some(TRUNCATED),
        BranchKind::Own | BranchKind::Outermost | BranchKind::NotTaken => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::Synthetic;
    use crate::analysis::{Selection, StackCounts, Tasks};

    #[test]
    fn paths_part_where_callers_differ_and_small_ones_are_left_out() {
        let mut synthetic = Synthetic::new();
        synthetic
            .samples(0, 41, "app!main;app!parse;app!read;app!copy", 60)
            .samples(0, 41, "app!main;app!serve;app!read;app!copy", 35)
            .samples(0, 41, "app!main;app!rare;app!copy", 4)
            .samples(0, 41, "app!main", 1);
        let profile = synthetic.finish();
        let (names, tasks) = (Names::of(&profile), Tasks::of(&profile));
        let counts = StackCounts::of(&profile, &tasks, &Selection::default());
        let paths = |function: &str, callees| {
            let butterfly = Butterfly::of(&profile, &names, &counts, (function, "app"));
            let steps = PathStep::of(&butterfly, &names, counts.weight, PathOptions { callees, min_share: 0.05 });
            steps
                .iter()
                .map(|step| format!("{} {:.0} {}", step.level, step.share * 100.0, step.name))
                .collect::<Vec<_>>()
        };
        assert_eq!(paths("copy", false), ["0 95 read", "1 60 parse", "2 60 main", "1 35 serve", "2 35 main"]);
        assert_eq!(
            paths("main", true),
            ["0 60 parse", "1 60 read", "1 60 copy", "0 35 serve", "1 35 read", "1 35 copy"]
        );
        assert_eq!(paths("copy", true), [""; 0]);
    }
}
