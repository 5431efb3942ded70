//! Names of the running kernel's functions. Returns none if the kernel hides its addresses.
//!
//! The kernel takes longer to write its list of symbols than a short recording takes to make. Its own code keeps its
//! addresses until the next boot, so that part of the list is stored for later sessions. Modules and generated code
//! come and go: for them the list is read.

use super::files::Files;
use super::kallsyms::List;
use super::kernel_code::{KernelCode, KernelSession};
use crate::model::{Note, Symbol};
use std::path::{Path, PathBuf};

/// Functions by address.
#[derive(Debug)]
pub(super) struct Kernel {
    kallsyms: PathBuf,
    session: Option<KernelSession>,
    /// What an earlier session stored.
    code: Option<KernelCode>,
    /// The other functions, read when an address is not in `code`.
    list: Option<List>,
}

impl Kernel {
    pub(super) fn open(files: &dyn Files, proc_root: &Path) -> Kernel {
        let session = KernelSession::now(files, proc_root);
        let code = session.as_ref().and_then(|session| KernelCode::stored(files, session));
        Kernel { kallsyms: proc_root.join("kallsyms"), session, code, list: None }
    }

    pub(super) fn name(&mut self, files: &dyn Files, address: u64) -> Option<Symbol> {
        let function = match self.name_in_code(address) {
            Some(name) => name,
            None => {
                self.read_list(files);
                self.name_in_code(address).or_else(|| self.list.as_ref()?.name(address))?
            }
        };
        Some(Symbol::named(function))
    }

    /// Gives up code that is damaged: its own addresses all have names.
    fn name_in_code(&mut self, address: u64) -> Option<String> {
        let code = self.code.as_ref().filter(|code| code.addresses().contains(&address))?;
        let name = code.name(address);
        if name.is_none() {
            (self.code, self.list) = (None, None);
        }
        name
    }

    /// Reads what the stored code does not have. Stores the code if there is none yet, and then leaves it there.
    fn read_list(&mut self, files: &dyn Files) {
        if self.list.is_some() {
            return;
        }
        let known = self.code.as_ref().map(|code| code.addresses().clone()).unwrap_or_default();
        let lines = |to: &mut dyn FnMut(&str)| files.lines(&self.kallsyms, to);
        let list = List::read(lines, |address| !known.contains(&address));
        let mut list = list.unwrap_or_else(|_| List { hidden: true, ..List::default() });
        if let (Some(session), None, false) = (&self.session, &self.code, list.hidden) {
            KernelCode::store(files, session, &list);
            self.code = KernelCode::stored(files, session);
            if let Some(code) = &self.code {
                list = list.without(code.addresses());
            }
        }
        self.list = Some(list);
    }

    pub(super) fn note(&self) -> Option<Note> {
        let hidden = self.list.as_ref().is_some_and(|list| list.hidden);
        hidden.then(|| Note {
            topic: "kernel-symbols-hidden".into(),
            text: "the kernel hides its symbols: kernel functions are shown by address".into(),
            fix: Some("sysctl kernel.kptr_restrict=0 (or run as root)".into()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Error, ErrorKind, Result};
    use crate::model::{BuildId, Bytes, ObjectFile};
    use crate::symbols::FileTail;
    use std::cell::{Cell, RefCell};
    use std::sync::Arc;

    /// A machine's /proc and cache directory.
    #[derive(Default)]
    struct Machine {
        list: String,
        stored: RefCell<Option<Vec<u8>>>,
        full: bool,
        reads: Cell<usize>,
    }

    impl Files for Machine {
        fn open(&self, _: &Path) -> Option<ObjectFile> {
            None
        }

        fn text(&self, path: &Path) -> Result<String> {
            let here = path == Path::new("/proc/kallsyms");
            self.reads.set(self.reads.get() + 1);
            here.then(|| self.list.clone()).ok_or_else(|| Error::new(ErrorKind::NotFound, "no such file"))
        }

        fn head(&self, path: &Path) -> Option<Vec<u8>> {
            let id = b"01234567-89ab-cdef-0123-456789abcdef";
            Some(if path.ends_with("boot_id") { id.to_vec() } else { self.list.as_bytes().to_vec() })
        }

        fn stored(&self, _: &str) -> Option<Bytes> {
            self.stored.borrow().clone().map(|bytes| Arc::new(bytes) as Bytes)
        }

        fn store(&self, _: &str, bytes: &[u8]) {
            if !self.full {
                *self.stored.borrow_mut() = Some(bytes.to_vec());
            }
        }

        fn fetch(&self, _: &BuildId) -> Option<ObjectFile> {
            None
        }

        fn grown(&self, _: &Path, _: u64) -> Option<FileTail> {
            None
        }
    }

    fn list() -> String {
        let own: String = (0..2_000).map(|at| format!("{:x} t own_{at}\n", 0x1000 + 8 * at)).collect();
        format!("800 T early\n1000 T _stext\n{own}5000 T _etext\n5100 t init\n9000 t module\t[ext4]\n7000 t bpf_prog\n")
    }

    /// Names at all kinds of addresses, in an order in which the list is needed late.
    fn names(machine: &Machine) -> Vec<Option<String>> {
        let mut kernel = Kernel::open(machine, Path::new("/proc"));
        let addresses =
            (0x1000..0x5000).step_by(500).chain([0x10, 0x804, 0xfff, 0x5000, 0x50ff, 0x6fff, 0x7001, 0x9009]);
        let names = addresses.map(|address| kernel.name(machine, address).map(|symbol| symbol.function)).collect();
        assert!(kernel.note().is_none());
        names
    }

    #[test]
    fn names_are_the_same_with_and_without_what_is_stored() {
        let full = Machine { list: list(), full: true, ..Machine::default() };
        let plain = names(&full);
        let text = |name: &str| Some(name.to_string());
        assert_eq!(
            plain[33..],
            [
                None,
                text("early"),
                text("early"),
                text("_etext"),
                text("_etext"),
                text("init"),
                text("bpf_prog"),
                text("module [ext4]")
            ]
        );
        let machine = Machine { list: list(), ..Machine::default() };
        for session in 0..2 {
            assert_eq!(names(&machine), plain, "session {session}");
            assert_eq!(machine.reads.get(), session + 1, "one reading of the list each");
        }
        assert!(machine.stored.borrow().is_some());
    }

    #[test]
    fn a_damaged_block_costs_one_more_reading_and_no_name() {
        let machine = Machine { list: list(), ..Machine::default() };
        let plain = names(&machine);
        for place in [3_000, 20_000] {
            if let Some(byte) = machine.stored.borrow_mut().as_mut().and_then(|bytes| bytes.get_mut(place)) {
                *byte ^= 1;
            }
            assert_eq!(names(&machine), plain, "damage at {place}");
        }
    }
}
