//! The running kernel's symbols from /proc/kallsyms. Returns no names if the kernel hides its addresses.

use super::files::Files;
use crate::model::{Note, Symbol};
use std::path::Path;

/// Symbols by address.
#[derive(Debug, Default)]
pub(super) struct Kernel {
    /// The text of the file. Names are ranges of it: a hundred thousand separate strings would cost more than the read.
    text: String,
    /// Sorted by address: address, start of the name in `text`, end of the line.
    functions: Vec<(u64, u32, u32)>,
    hidden: bool,
}

impl Kernel {
    pub(super) fn open(files: &dyn Files, proc_root: &Path) -> Kernel {
        let text = files.text(&proc_root.join("kallsyms"));
        text.map_or_else(|_| Kernel { hidden: true, ..Kernel::default() }, parse)
    }

    pub(super) fn name(&self, address: u64) -> Option<Symbol> {
        let after = self.functions.partition_point(|(start, _, _)| *start <= address);
        let &(_, start, end) = self.functions.get(after.checked_sub(1)?)?;
        // In kallsyms, a tab separates a function from its module.
        let function = self.text.get(start as usize..end as usize)?.trim().replace('\t', " ");
        Some(Symbol { function, file: None, line: None, inlined: false })
    }

    pub(super) fn note(&self) -> Option<Note> {
        self.hidden.then(|| Note {
            topic: "kernel-symbols-hidden".into(),
            text: "the kernel hides its symbols: kernel functions are shown by address".into(),
            fix: Some("sysctl kernel.kptr_restrict=0 (or run as root)".into()),
        })
    }
}

/// Parses kallsyms text. Keeps only code (`t`, `T`, `w`, `W`). All-zero addresses mean that the kernel hides them.
fn parse(text: String) -> Kernel {
    let mut functions = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        functions.extend(function(line, at));
        at += line.len();
    }
    functions.sort_by_key(|function| function.0);
    let hidden = functions.iter().all(|(address, _, _)| *address == 0);
    if hidden {
        functions.clear();
    }
    Kernel { text, functions, hidden }
}

/// Parses one line, which begins at byte `at`, into a function.
fn function(line: &str, at: usize) -> Option<(u64, u32, u32)> {
    let (address, rest) = line.split_once(' ')?;
    let (kind, _) = rest.split_once(' ')?;
    let code = matches!(kind, "t" | "T" | "w" | "W");
    let start = address.len() + 1 + kind.len() + 1;
    let place = |within: usize| u32::try_from(at + within).ok();
    if code { Some((u64::from_str_radix(address, 16).ok()?, place(start)?, place(line.len())?)) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_function_below_the_address_is_the_one() {
        let kernel = parse("ffff0010 T b\nffff0000 t a\nffff0020 d data\nffff0030 t c\t[ext4]\nrubbish\n".into());
        let name = |address| kernel.name(address).map(|symbol| symbol.function);
        assert_eq!(name(0xffff_0008).as_deref(), Some("a"));
        assert_eq!(name(0xffff_0024).as_deref(), Some("b"));
        assert_eq!(name(0xffff_0030).as_deref(), Some("c [ext4]"));
        assert_eq!(name(0xfffe_0000), None);
        assert_eq!(kernel.note(), None);
    }

    #[test]
    fn zero_addresses_are_hidden_symbols_not_names() {
        let kernel = parse("0000000000000000 T a\n0000000000000000 T b\n".into());
        assert_eq!(kernel.name(5), None);
        assert!(kernel.note().is_some_and(|note| note.fix.is_some_and(|fix| fix.contains("kptr_restrict"))));
    }
}
