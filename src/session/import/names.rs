//! Symbolizes the frames of an import once all frames are known, with the last known state of runtimes and kernel.
//! Frames of unavailable code stay without names.

use super::super::naming::{NameClient, by_module};
use super::files::Recorded;
use super::kernel::KernelNames;
use super::objects::Objects;
use crate::collect::sampler::KERNEL;
use crate::error::Result;
use crate::model::{Definition, FrameDef, ModuleId, Note, Progress, Symbol};
use crate::store::perfdata::RecordedSymbols;
use crate::symbols::ModuleSource;
use rustc_hash::FxHashSet;

/// Bytes of symbols and debug information in memory.
const MOST: usize = 24 << 20;

/// Frames that are named together.
const SPAN: usize = 4096;

/// Symbolizes a recording's frames.
pub(super) struct Names<'a> {
    client: NameClient<Recorded>,
    objects: &'a Objects,
    /// Symbols that the file itself holds.
    recorded: RecordedSymbols,
    added: FxHashSet<ModuleId>,
    /// Offset from a recorded kernel address to the address in the list; `None` if it cannot be found there.
    moved: Option<u64>,
    notes: Vec<Note>,
}

impl<'a> Names<'a> {
    pub(super) fn new(
        objects: &'a Objects,
        recorded: RecordedSymbols,
        files: Recorded,
        kernel: &KernelNames,
    ) -> Names<'a> {
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
        Names { client: NameClient::new(files), objects, recorded, added: FxHashSet::default(), moved, notes }
    }

    /// Emits the names of those frames that have any.
    pub(super) fn name(
        &mut self,
        frames: &[FrameDef],
        progress: &Progress,
        mut to: impl FnMut(Definition) -> Result<()>,
    ) -> Result<()> {
        for frames in frames.chunks(SPAN) {
            for (module, frames) in by_module(frames) {
                for (frame, symbols) in frames.iter().zip(self.symbols(module, &frames)) {
                    if !symbols.is_empty() {
                        to(Definition::Names { frame: frame.id, symbols })?;
                    }
                }
                progress.add(frames.len() as u64);
            }
            self.client.release(MOST);
        }
        Ok(())
    }

    /// Notes about the names, for the reader.
    pub(super) fn notes(mut self) -> Vec<Note> {
        self.notes.extend(self.client.finish());
        self.notes
    }

    /// The name in the file itself of code that is not here.
    fn recorded(&self, path: &str, address: u64) -> Vec<Symbol> {
        self.recorded.name(path, address).map(Symbol::named).into_iter().collect()
    }

    fn symbols(&mut self, module: ModuleId, frames: &[FrameDef]) -> Vec<Vec<Symbol>> {
        let none = || vec![Vec::new(); frames.len()];
        let Some(object) = self.objects.get(module) else { return none() };
        if let Some(only) = &object.only {
            return vec![vec![Symbol::named(only)]; frames.len()];
        }
        let Some(source) = &object.source else {
            return frames.iter().map(|frame| self.recorded(&object.path, frame.address)).collect();
        };
        if self.added.insert(module) {
            self.client.add(module, source.clone(), 0);
        }
        let addresses = |moved: u64| frames.iter().map(|frame| frame.address.wrapping_add(moved)).collect();
        if !matches!(source, ModuleSource::Kernel) {
            return self.client.names(module, addresses(0)).0;
        }
        // Kernel modules do not move with the kernel image.
        let Some(moved) = self.moved.filter(|moved| *moved == 0 || module == KERNEL) else { return none() };
        let (mut names, _) = self.client.names(module, addresses(moved));
        if module != KERNEL {
            // After a reboot the address may belong to another module. The list's suffix shows that, then it is cut.
            let own = object.path.strip_prefix('[');
            names.iter_mut().for_each(|symbols| {
                symbols.retain_mut(|symbol| {
                    let Some((function, whose)) = symbol.function.split_once(" [") else { return false };
                    let (same, function) = (own == Some(whose), function.to_string());
                    symbol.function = function;
                    same
                });
            });
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::perf::{MmapRecord, Mode};
    use crate::collect::sampler::EventQueue;
    use crate::model::{FrameId, HostFacts};
    use crate::session::import::files::LocalFiles;
    use crate::session::naming::HostFiles;
    use crate::store::perfdata::KernelSymbol;
    use rustc_hash::FxHashMap;

    /// The names at kernel addresses with the kernel image at `recorded`: in the image, in a module, in generated code.
    fn names(recorded: u64) -> Vec<Option<String>> {
        let text = "8000 T _text\n8010 T f\nc000 t g\t[ext4]\nd000 t h\t[xfs]\n";
        let kernel = KernelNames { text: Some(text.into()), why_not: None };
        let local = LocalFiles::new(None, &HostFacts::default(), &HostFacts::default());
        let mut out = EventQueue::default();
        let mut objects = Objects::new(local.clone(), &[], true, &mut out);
        let mapping = |path: &'static str, start, offset| {
            let (pid, length, device, inode, build_id) = (u32::MAX, 0x100, (0, 0), None, None);
            MmapRecord {
                pid,
                start,
                length,
                offset,
                device,
                inode,
                build_id,
                path: path.as_bytes(),
                mode: Mode::Kernel,
            }
        };
        objects.map_kernel(&mapping("[kernel.kallsyms]_text", recorded, recorded), true, &mut out);
        objects.map_kernel(&mapping("/lib/modules/6/ext4.ko", 0xc000, 0), true, &mut out);
        objects.map_kernel(&mapping("/lib/modules/6/nf.ko", 0xd000, 0), true, &mut out);
        objects
            .map_generated(&KernelSymbol { start: 0xe000, length: 16, name: b"bpf_prog_1", removed: false }, &mut out);
        let addresses = [recorded + 0x14, 0xc004, 0xd004, 0xe004].into_iter().zip(0..);
        let frames: Vec<_> = addresses
            .map(|(address, id)| FrameDef { id: FrameId(id), module: objects.in_kernel(address), address })
            .collect();
        let host = HostFiles::default();
        let files = Recorded { host, local, kallsyms: kernel.text.clone(), dumps: FxHashMap::default() };
        let mut names = vec![None; frames.len()];
        let done = Names::new(&objects, RecordedSymbols::default(), files, &kernel).name(
            &frames,
            &Progress::default(),
            |definition| {
                if let Definition::Names { frame, symbols } = definition {
                    names[frame.0 as usize] = symbols.first().map(|symbol| symbol.function.clone());
                }
                Ok(())
            },
        );
        assert!(done.is_ok());
        names
    }

    #[test]
    fn kernel_addresses_are_named_where_they_lay_and_modules_only_by_their_own_list() {
        let text = |name: &str| Some(name.to_string());
        assert_eq!(names(0x8000), [text("f"), text("g"), None, text("bpf_prog_1")]);
        assert_eq!(names(0x7000), [text("f"), None, None, text("bpf_prog_1")], "modules do not move with the image");
    }
}
