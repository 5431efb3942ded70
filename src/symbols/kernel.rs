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
    /// Read when an address is not in `code`.
    list: Option<List>,
}

impl Kernel {
    pub(super) fn open(files: &dyn Files, proc_root: &Path) -> Kernel {
        let session = KernelSession::now(files, proc_root);
        let code = session.as_ref().and_then(|session| KernelCode::stored(files, session));
        Kernel { kallsyms: proc_root.join("kallsyms"), session, code, list: None }
    }

    pub(super) fn name(&mut self, files: &dyn Files, address: u64) -> Option<Symbol> {
        let function = match self.code.as_ref().and_then(|code| code.name(address)) {
            Some(name) => name,
            None => self.list(files).name(address)?,
        };
        Some(Symbol { function, file: None, line: None, inlined: false })
    }

    fn list(&mut self, files: &dyn Files) -> &List {
        self.list.get_or_insert_with(|| {
            let Ok(text) = files.text(&self.kallsyms) else { return List { hidden: true, ..List::default() } };
            let list = List::parse(text);
            if let (Some(session), None, false) = (&self.session, &self.code, list.hidden) {
                KernelCode::store(files, session, &list);
            }
            list
        })
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
