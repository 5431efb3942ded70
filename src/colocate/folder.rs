//! A colocation on disk: `NAME.colocate` with the runs' recordings and `colocate.json`.

use crate::model::{ColocateMeta, ColocateRun};
use crate::session::run_folder::{RUNS, RunFolder, RunsMeta};

/// A colocation's directory.
pub type Folder = RunFolder<ColocateMeta>;

impl RunsMeta for ColocateMeta {
    const KIND: &'static str = "colocate";
    const FORMAT: (u16, u16) = (1, 0);

    fn written_by(&self) -> ((u16, u16), &str) {
        (self.format, &self.tool)
    }

    /// Runs name programs by their place, which must exist.
    fn fault(&self) -> Option<String> {
        let exists = |at: Option<usize>, count: usize| at.is_none_or(|at| at < count);
        let is_sound = |run: &ColocateRun| {
            let known = exists(run.victim, self.victims.len()) && exists(run.neighbour, self.neighbours.len());
            known && run.load.is_finite()
        };
        let at = self.runs.iter().position(|run| !is_sound(run))?;
        Some(format!("run {at} names a program that is not listed"))
    }
}

/// Path of a run's recording, relative to the folder.
pub(super) fn recording_name(at: usize) -> String {
    format!("{RUNS}/r{at:04}.ironlaw")
}

#[cfg(test)]
pub(in crate::colocate) mod testing {
    use crate::model::{ColocateMeta, ColocatedProgram, HostFacts};
    use crate::session::run_folder::RunsMeta;
    use crate::units::Nanos;

    pub fn meta(victims: &[&str], neighbours: &[&str], loads: &[f64], repeats: u32) -> ColocateMeta {
        let program = |name: &&str| ColocatedProgram {
            name: (*name).to_string(),
            command: vec![(*name).to_string()],
            ops: None,
            latency: None,
            full_rate: None,
            busy_cpus: None,
        };
        ColocateMeta {
            format: ColocateMeta::FORMAT,
            tool: "0.1.0".to_string(),
            host: HostFacts::default(),
            victims: victims.iter().map(program).collect(),
            neighbours: neighbours.iter().map(program).collect(),
            loads: loads.to_vec(),
            repeats,
            seed: 7,
            duration: Nanos(1_000_000_000),
            settle: Nanos(0),
            leave_out: Nanos(0),
            measure: None,
            controls: vec![],
            started_unix_ns: 1,
            runs: vec![],
            notes: vec![],
            stopped: false,
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::run_plan::cell_runs;
    use super::*;

    #[test]
    fn a_colocation_is_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::create(&dir.path().join("x.colocate"), false).unwrap();
        let meta = testing::meta(&["a"], &["x"], &[1.0], 1);
        folder.write(&meta).unwrap();
        assert_eq!(Folder::open(folder.path()).unwrap(), (folder, meta));
    }

    #[test]
    fn programs_that_are_not_listed_are_a_fault() {
        let meta = testing::meta(&["a"], &["x"], &[1.0], 1);
        let meta = ColocateMeta { runs: cell_runs(&meta), ..meta };
        assert_eq!(meta.fault(), None);
        let unknown = ColocateMeta { neighbours: vec![], ..meta };
        assert!(unknown.fault().is_some_and(|fault| fault.contains("not listed")));
    }
}
