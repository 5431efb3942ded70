//! Samples in functions that a runtime interprets, where nothing names these functions.

use super::stack_counts::StackCounts;
use crate::model::profile::Profile;
use crate::model::{FrameDef, ModuleKind, Runtime};
use std::collections::BTreeMap;

/// What one runtime interprets without names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interpreted {
    /// The runtime.
    pub runtime: &'static Runtime,
    /// The path of the program or library that interprets.
    pub path: String,
    /// Samples below its interpreter and below no function that the runtime has named.
    pub samples: u64,
}

/// What a frame says about a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// An interpreter in this module.
    Interpreter(u32),
    /// A function that a runtime made and named.
    Named,
}

/// The runtime that interprets most of the counted samples, if there is one.
pub(super) fn interpreted(profile: &Profile, counts: &StackCounts) -> Option<Interpreted> {
    let runtimes: Vec<_> = profile.modules.iter().map(|module| Runtime::of_file(&module.path)).collect();
    // Most profiles have none: nothing is counted then.
    if !runtimes.iter().flatten().any(|runtime| !runtime.interpreters.is_empty()) {
        return None;
    }
    let role = |frame: &FrameDef| {
        let module = frame.module?;
        let names = profile.names_at(frame.id);
        if profile.module(module)?.kind == ModuleKind::Jit {
            return (!names.is_empty()).then_some(Role::Named);
        }
        let runtime = runtimes.get(module.0 as usize).copied().flatten()?;
        let interprets = names.iter().any(|symbol| runtime.interpreters.contains(&symbol.function.as_str()));
        interprets.then_some(Role::Interpreter(module.0))
    };
    let roles: Vec<_> = profile.frames.iter().map(role).collect();
    let mut samples: BTreeMap<u32, u64> = BTreeMap::new();
    for row in &counts.rows {
        let mut interpreter = None;
        for role in profile.walk(row.stack).filter_map(|frame| *roles.get(frame.0 as usize)?) {
            match role {
                Role::Named => {
                    interpreter = None;
                    break;
                }
                Role::Interpreter(module) => interpreter = Some(module),
            }
        }
        if let Some(module) = interpreter {
            *samples.entry(module).or_default() += row.samples;
        }
    }
    let (module, samples) = samples.into_iter().max_by_key(|(_, samples)| *samples)?;
    let runtime = runtimes.get(module as usize).copied().flatten()?;
    Some(Interpreted { runtime, path: profile.modules.get(module as usize)?.path.clone(), samples })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::Synthetic;
    use crate::analysis::{Selection, Tasks};

    fn of(stacks: &[(&str, u64)]) -> Option<(&'static str, String, u64)> {
        let mut synthetic = Synthetic::new();
        for (at, (stack, samples)) in stacks.iter().enumerate() {
            synthetic.samples(at as u64, 41, stack, *samples);
        }
        let profile = synthetic.finish();
        let counts = StackCounts::of(&profile, &Tasks::of(&profile), &Selection::default());
        interpreted(&profile, &counts).map(|found| (found.runtime.name, found.path, found.samples))
    }

    #[test]
    fn samples_below_an_interpreter_count_unless_the_runtime_named_what_it_runs() {
        let path = "/usr/lib/libpython3.13.so.1.0";
        let eval = format!("{path}!_PyEval_EvalFrameDefault");
        let (plain, deep) =
            (format!("python3!main;{eval}"), format!("python3!main;{eval};{path}!x_mul;[kernel]!page_fault"));
        let (named, none) =
            (format!("python3!main;[jit]!py::serve:/srv/app.py;{eval}"), format!("{path}!PyObject_Malloc"));
        let nameless = format!("{eval};[jit]!+0x40");
        let stacks = [(&*plain, 3), (&deep, 4), (&named, 50), (&none, 9), (&nameless, 1)];
        assert_eq!(of(&stacks), Some(("Python", path.to_string(), 8)));
        assert_eq!(of(&[(&named, 50), (&none, 9)]), None);
        assert_eq!(of(&[("app!_PyEval_EvalFrameDefault", 5)]), None, "a function of that name in another program");
    }

    #[test]
    fn of_two_runtimes_the_one_with_more_samples_counts() {
        let (ruby, php) = ("libruby-3.1.so.3.1.2!rb_vm_exec", "php8.2!execute_ex");
        assert_eq!(of(&[(ruby, 5), (php, 6)]), Some(("PHP", "php8.2".to_string(), 6)));
        assert_eq!(of(&[(ruby, 7), (php, 6)]), Some(("Ruby", "libruby-3.1.so.3.1.2".to_string(), 7)));
    }
}
