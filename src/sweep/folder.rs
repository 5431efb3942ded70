//! A sweep on disk: `NAME.sweep` with the runs' recordings and `sweep.json`.

use crate::model::SweepMeta;
use crate::session::run_folder::{RUNS, RunFolder, RunsMeta};

/// A sweep's directory.
pub type Folder = RunFolder<SweepMeta>;

impl RunsMeta for SweepMeta {
    const KIND: &'static str = "sweep";
    const FORMAT: (u16, u16) = (1, 0);

    fn written_by(&self) -> ((u16, u16), &str) {
        (self.format, &self.tool)
    }
}

/// Path of a run's recording, relative to the folder.
#[must_use]
pub fn recording_name(n: u32, repeat: u32) -> String {
    format!("{RUNS}/n{n:04}-r{repeat:02}.ironlaw")
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::sweep::testing::meta;

    #[test]
    fn a_sweep_is_read_back_with_its_recordings_within() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::create(&Folder::name(&dir.path().join("x")), false).unwrap();
        folder.write(&meta()).unwrap();
        let (again, read) = Folder::open(&dir.path().join("x.sweep")).unwrap();
        assert_eq!((&again, &read), (&folder, &meta()));
        assert_eq!(again.recording(&read.runs[1].recording).unwrap(), folder.path().join("runs/n0002-r01.ironlaw"));
    }
}
