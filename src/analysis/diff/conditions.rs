//! The conditions a recording was made under: all that must be alike for a comparison to be about the program.

use crate::model::profile::Profile;
use crate::model::{
    CallGraph, EventKind, HostFacts, LatencySpec, ModuleId, ModuleKind, OpsSpec, ProcessConditions, Rate, StackId,
    Target,
};
use rustc_hash::FxHashMap;

/// The conditions of one recording.
#[derive(Debug, Clone, PartialEq)]
pub struct Conditions {
    /// The recording's name, as the user gave it.
    pub name: String,
    /// The machine.
    pub host: HostFacts,
    /// What was profiled.
    pub target: String,
    /// The CPUs it was confined to, by the target or a sweep; empty if not confined.
    pub cpus: Vec<u32>,
    /// The CPUs that its own affinity and its control group allowed; empty means all. `None` if unknown, or confined
    /// otherwise.
    pub allowed: Option<Vec<u32>>,
    /// The conditions of its process that used the most CPU time, if known.
    pub process: Option<ProcessConditions>,
    /// Threads or CPUs of a sweep's run.
    pub width: Option<u32>,
    /// Names of the sampled events.
    pub events: Vec<String>,
    /// The program most samples were taken in.
    pub program: Option<Program>,
    /// How operations were counted.
    pub ops: Option<OpsSpec>,
    /// How the latency of operations was measured.
    pub latency: Option<LatencySpec>,
    /// The smallest share of the time that an event was counted, 0 to 1.
    pub coverage: f64,
    /// Length of the compared part, seconds.
    pub seconds: f64,
    /// Start, nanoseconds since the Unix epoch.
    pub started_unix_ns: u64,
    /// Lost records over lost records plus samples.
    pub lost_share: f64,
    /// How stacks were captured.
    pub call_graph: CallGraph,
    /// How often samples were taken.
    pub rate: Rate,
}

/// A program file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its path as the target saw it.
    pub path: String,
    /// The name it was started by, if that is another name of the same file.
    pub called: Option<String>,
    /// Its build-id in hexadecimal; `None` if it has none.
    pub build_id: Option<String>,
}

impl Program {
    /// The name that users know.
    #[must_use]
    pub fn shown(&self) -> &str {
        self.called.as_deref().unwrap_or(&self.path)
    }

    /// The file's name.
    #[must_use]
    pub fn file(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }
}

impl Conditions {
    /// Reads the conditions from a recording; `cpus` and `width` are those of a sweep's run.
    #[must_use]
    pub fn of(profile: &Profile, name: &str, seconds: f64, cpus: &[u32], width: Option<u32>) -> Conditions {
        let meta = &profile.meta;
        let cpus = match &meta.plan.target {
            Target::Cpus { cpus } if !cpus.is_empty() => cpus.clone(),
            _ => cpus.to_vec(),
        };
        let lost = profile.lost.iter().filter(|lost| lost.kind.is_samples()).map(|lost| lost.count);
        let lost = lost.fold(0, u64::saturating_add);
        let all = (profile.samples.len() as u64).saturating_add(lost);
        Conditions {
            name: name.to_string(),
            host: meta.host.clone(),
            target: meta.plan.target.label(),
            allowed: meta.target.allowed_cpus.clone().filter(|_| cpus.is_empty()),
            cpus,
            process: meta.target.conditions.clone(),
            width,
            events: meta.events.iter().map(|event| event.name.clone()).collect(),
            program: program(profile),
            ops: meta.plan.ops.clone(),
            latency: meta.plan.latency.clone(),
            coverage: coverage(profile),
            seconds,
            started_unix_ns: meta.started_unix_ns,
            lost_share: if all > 0 { lost as f64 / all as f64 } else { 0.0 },
            call_graph: meta.plan.call_graph,
            rate: meta.plan.rate,
        }
    }

    /// When it ended, nanoseconds since the Unix epoch.
    #[must_use]
    pub fn ended_unix_ns(&self) -> u64 {
        self.started_unix_ns.saturating_add((self.seconds * 1e9) as u64)
    }
}

/// The coverage of hardware counters, the only ones that are multiplexed.
fn coverage(profile: &Profile) -> f64 {
    let meta = &profile.meta;
    let software =
        |name: &str| meta.events.iter().any(|event| event.name == name && matches!(event.kind, EventKind::Software(_)));
    meta.coverage.iter().filter(|event| !software(&event.event)).map(|event| event.share).fold(1.0, f64::min)
}

/// The file that most samples have on their stack, without libraries.
fn program(profile: &Profile) -> Option<Program> {
    let mut by_stack: FxHashMap<Option<StackId>, u64> = FxHashMap::default();
    for stack in &profile.samples.stack {
        *by_stack.entry(*stack).or_default() += 1;
    }
    let mut by_module: FxHashMap<ModuleId, u64> = FxHashMap::default();
    for (stack, count) in by_stack {
        let mut seen: Vec<ModuleId> = profile.walk(stack).filter_map(|frame| profile.frame(frame)?.module).collect();
        seen.sort_unstable();
        seen.dedup();
        for module in seen {
            *by_module.entry(module).or_default() += count;
        }
    }
    let files = by_module.into_iter().filter_map(|(id, count)| Some((profile.module(id)?, count)));
    let programs = files.filter(|(module, _)| module.kind == ModuleKind::File && !is_library(&module.path));
    let (module, _) = programs.max_by_key(|(module, count)| (*count, std::cmp::Reverse(module.id)))?;
    let alias = profile.meta.target.aliases.iter().find(|alias| alias.file == module.path);
    Some(Program {
        path: module.path.clone(),
        called: alias.map(|alias| alias.called.clone()),
        build_id: module.build_id.as_ref().map(ToString::to_string),
    })
}

/// Matches `libz.so`, `libz.so.1.3.1`, `ld-linux-x86-64.so.2`.
pub(super) fn is_library(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.ends_with(".so") || file.contains(".so.")
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::testing::Synthetic;
    use crate::model::Alias;

    #[test]
    fn the_program_is_the_file_that_most_samples_pass_through() {
        let mut synthetic = Synthetic::new();
        synthetic.samples(0, 41, "/bin/app!main;/lib/libz.so.1.3!deflate", 90);
        synthetic.samples(0, 41, "/bin/sh!main", 20).samples(0, 41, "[kernel]!schedule", 500);
        let conditions = Conditions::of(&synthetic.finish(), "a", 1.0, &[0], None);
        let program = conditions.program.unwrap();
        assert_eq!((program.path.as_str(), program.file()), ("/bin/app", "app"));
        assert_eq!(program.shown(), "/bin/app");
        assert_eq!(
            (conditions.target.as_str(), conditions.events.as_slice()),
            ("pid 41", &["cpu-clock".to_string()][..])
        );
    }

    #[test]
    fn a_recording_without_samples_has_no_program() {
        assert_eq!(Conditions::of(&Synthetic::new().finish(), "a", 0.0, &[], None).program, None);
    }

    #[test]
    fn a_program_is_shown_by_the_name_it_was_started_by_and_known_by_its_file() {
        let mut synthetic = Synthetic::new();
        synthetic.samples(0, 41, "/usr/bin/redis-check-rdb!main", 9);
        let mut profile = synthetic.finish();
        let (file, called) = ("/usr/bin/redis-check-rdb".to_string(), "/usr/bin/redis-server".to_string());
        profile.meta.target.aliases =
            vec![Alias { file: "/bin/x".into(), called: "/y".into() }, Alias { file, called }];
        let program = Conditions::of(&profile, "a", 1.0, &[], None).program.unwrap();
        assert_eq!((program.path.as_str(), program.shown()), ("/usr/bin/redis-check-rdb", "/usr/bin/redis-server"));
    }

    #[test]
    fn the_cpus_it_was_allowed_on_count_where_it_was_not_confined_otherwise() {
        let mut profile = Synthetic::new().finish();
        profile.meta.target.allowed_cpus = Some(vec![0, 2]);
        let allowed = |cpus: &[u32]| Conditions::of(&profile, "a", 1.0, cpus, None).allowed;
        assert_eq!((allowed(&[]), allowed(&[1])), (Some(vec![0, 2]), None));
    }
}
