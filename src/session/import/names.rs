//! Puts names to the frames of an import once all of them are known: runtimes and kernels are named by what was seen last.
//! It never names a frame of code that is not at hand.

use super::files::Recorded;
use super::kernel::KernelNames;
use super::objects::Objects;
use crate::collect::sampler::KERNEL;
use crate::error::Result;
use crate::model::{Definition, Event, FrameDef, ModuleId, Note, Symbol};
use crate::symbols::{ModuleSource, Options, Symbolizer};
use rustc_hash::FxHashSet;

/// Names a recording's frames.
pub(super) struct Names<'a> {
    symbolizer: Symbolizer,
    objects: &'a Objects,
    added: FxHashSet<ModuleId>,
    /// What is added to a kernel's address to find it in the list; `None` if it cannot be found there.
    moved: Option<u64>,
    notes: Vec<Note>,
}

impl<'a> Names<'a> {
    pub(super) fn new(objects: &'a Objects, files: Recorded, kernel: &KernelNames) -> Names<'a> {
        let (symbol, address) = objects.reference().unwrap_or_default();
        let moved = if kernel.text.is_some() { kernel.moved(symbol, address) } else { Some(0) };
        let mut notes: Vec<Note> = kernel.why_not.clone().into_iter().collect();
        if moved.is_none() {
            notes.push(Note {
                topic: "kernel-symbols-foreign".into(),
                text: format!("the kernel's symbols do not list {symbol}, by which its addresses are placed: they stay without names"),
                fix: Some("Give /proc/kallsyms of the recorded machine, from the same boot and read as root, with --kallsyms.".into()),
            });
        }
        let symbolizer = Symbolizer::new(Options::default(), Box::new(files));
        Names { symbolizer, objects, added: FxHashSet::default(), moved, notes }
    }

    /// Hands the names of these frames on, those that have any.
    pub(super) fn name(&mut self, frames: &[FrameDef], mut to: impl FnMut(Event) -> Result<()>) -> Result<()> {
        for frame in frames {
            let symbols = self.symbols(frame);
            if !symbols.is_empty() {
                to(Event::Define(Definition::Names { frame: frame.id, symbols }))?;
            }
        }
        Ok(())
    }

    /// What the reader should know of names.
    pub(super) fn notes(mut self) -> Vec<Note> {
        self.notes.extend(self.symbolizer.notes());
        self.notes
    }

    fn symbols(&mut self, frame: &FrameDef) -> Vec<Symbol> {
        let object = frame.module.and_then(|module| Some((module, self.objects.get(module)?)));
        let Some((module, object)) = object else { return Vec::new() };
        if let Some(only) = &object.only {
            return vec![Symbol { function: only.clone(), file: None, line: None, inlined: false }];
        }
        let Some(source) = &object.source else { return Vec::new() };
        if self.added.insert(module) {
            self.symbolizer.add(module, source.clone());
        }
        if !matches!(source, ModuleSource::Kernel) {
            return self.symbolizer.names(Some(module), frame.address);
        }
        // The kernel's modules do not move with its image.
        let Some(moved) = self.moved.filter(|moved| *moved == 0 || module == KERNEL) else { return Vec::new() };
        let mut symbols = self.symbolizer.names(Some(module), frame.address.wrapping_add(moved));
        if module != KERNEL {
            // The module is the frame's own: its name need not stand in the function's as well.
            for symbol in &mut symbols {
                if let Some((function, _)) = symbol.function.split_once(" [") {
                    symbol.function = function.to_string();
                }
            }
        }
        symbols
    }
}
