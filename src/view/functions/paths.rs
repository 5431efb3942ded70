//! The paths from the root of the call tree to callers and callees. The names of each stack are stored once.

use crate::analysis::{Branch, Butterfly};
use crate::view::context::ViewContext;
use rustc_hash::FxHashMap;

/// A path from the root of the call tree.
pub type Path = Vec<u32>;

/// Collects the paths.
pub(super) struct Paths<'a> {
    context: &'a ViewContext<'a>,
    butterfly: &'a Butterfly,
    known: FxHashMap<u32, u32>,
    paths: Vec<Path>,
    texts: Vec<String>,
    ids: FxHashMap<String, u32>,
}

impl<'a> Paths<'a> {
    pub fn new(context: &'a ViewContext<'a>, butterfly: &'a Butterfly) -> Paths<'a> {
        let (known, ids) = (FxHashMap::default(), FxHashMap::default());
        Paths { context, butterfly, known, paths: Vec::new(), texts: Vec::new(), ids }
    }

    /// The path to a branch: its index, and how many of its names to take.
    pub fn to(&mut self, branch: &Branch) -> (u32, u32) {
        let names = self.butterfly.headings(branch.stack) as u32 + branch.calls;
        if let Some(path) = self.known.get(&branch.stack) {
            return (*path, names);
        }
        let texts = self.butterfly.path(self.context.profile, &self.context.names, &self.context.tasks, branch.stack);
        let path = texts.into_iter().map(|text| self.text(text)).collect();
        self.paths.push(path);
        let path = self.paths.len() as u32 - 1;
        self.known.insert(branch.stack, path);
        (path, names)
    }

    fn text(&mut self, text: String) -> u32 {
        let next = self.texts.len() as u32;
        *self.ids.entry(text).or_insert_with_key(|text| {
            self.texts.push(text.clone());
            next
        })
    }

    pub fn finish(self) -> (Vec<String>, Vec<Path>) {
        (self.texts, self.paths)
    }
}
