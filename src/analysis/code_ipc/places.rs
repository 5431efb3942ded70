//! Rates of a function's instructions and source lines.

use super::{CodeIpc, Rates};
use crate::analysis::butterfly::{Line, own_line};
use crate::analysis::names::Names;
use crate::model::FrameId;
use rustc_hash::FxHashMap;

impl<'a> CodeIpc<'a> {
    /// The innermost frame of a sample.
    fn frame(&self, at: usize) -> Option<FrameId> {
        self.profile.walk(self.profile.samples.stack[at]).next()
    }

    /// The rates of code by `key` of the frame it is in.
    #[must_use]
    pub fn frames<K: std::hash::Hash + Eq + Copy>(&self, key: impl Fn(FrameId) -> K) -> FxHashMap<Option<K>, Rates> {
        self.by(|at| self.frame(at).map(&key))
    }

    /// The rates of the lines of the function `name` in the module with path `module`.
    #[must_use]
    pub fn lines(&self, names: &Names, (name, module): (&str, &str)) -> FxHashMap<Line<'a>, Rates> {
        let line = |frame| {
            let function = names.functions.get(names.at(frame).first()?.function as usize)?;
            own_line(self.profile, frame).filter(|_| function.name == name && function.module == module)
        };
        let found = self.frames(line).into_iter();
        found.filter_map(|(line, rates)| Some((line??, rates))).collect()
    }
}
