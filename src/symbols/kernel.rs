//! The running kernel's symbols from /proc/kallsyms.
//! It never claims a name where the kernel hides its addresses.

use super::Files;
use crate::model::{Note, Symbol};
use std::path::Path;

/// Symbols by address.
#[derive(Debug, Default)]
pub(super) struct Kernel {
    /// Sorted by address; modules' functions carry theirs as `name [module]`.
    functions: Vec<(u64, Box<str>)>,
    hidden: bool,
}

impl Kernel {
    pub(super) fn open(files: &dyn Files, proc_root: &Path) -> Kernel {
        files
            .text(&proc_root.join("kallsyms"))
            .map_or_else(|_| Kernel { hidden: true, ..Kernel::default() }, |text| parse(&text))
    }

    pub(super) fn name(&self, address: u64) -> Option<Symbol> {
        let after = self.functions.partition_point(|(start, _)| *start <= address);
        let (_, name) = self.functions.get(after.checked_sub(1)?)?;
        Some(Symbol { function: name.to_string(), file: None, line: None, inlined: false })
    }

    pub(super) fn note(&self) -> Option<Note> {
        self.hidden.then(|| Note {
            topic: "kernel-symbols-hidden".into(),
            text: "the kernel hides its symbols: kernel functions are shown by address".into(),
            fix: Some("sysctl kernel.kptr_restrict=0 (or run as root)".into()),
        })
    }
}

/// Reads kallsyms text. Only code is kept (`t`, `T`, `w`, `W`); addresses that are all zero mean they are hidden.
fn parse(text: &str) -> Kernel {
    let mut functions: Vec<(u64, Box<str>)> = text.lines().filter_map(function).collect();
    functions.sort_unstable_by_key(|function| function.0);
    let hidden = functions.iter().all(|(address, _)| *address == 0);
    if hidden {
        functions.clear();
    }
    Kernel { functions, hidden }
}

fn function(line: &str) -> Option<(u64, Box<str>)> {
    let mut fields = line.split_ascii_whitespace();
    let address = u64::from_str_radix(fields.next()?, 16).ok()?;
    let code = matches!(fields.next()?, "t" | "T" | "w" | "W");
    let name = fields.next()?;
    let module = fields.next();
    code.then(|| (address, module.map_or_else(|| name.into(), |module| format!("{name} {module}").into())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_function_below_the_address_is_the_one() {
        let kernel = parse("ffff0010 T b\nffff0000 t a\nffff0020 d data\nffff0030 t c\t[ext4]\nrubbish\n");
        let name = |address| kernel.name(address).map(|symbol| symbol.function);
        assert_eq!(name(0xffff_0008).as_deref(), Some("a"));
        assert_eq!(name(0xffff_0024).as_deref(), Some("b"));
        assert_eq!(name(0xffff_0030).as_deref(), Some("c [ext4]"));
        assert_eq!(name(0xfffe_0000), None);
        assert_eq!(kernel.note(), None);
    }

    #[test]
    fn zero_addresses_are_hidden_symbols_not_names() {
        let kernel = parse("0000000000000000 T a\n0000000000000000 T b\n");
        assert_eq!(kernel.name(5), None);
        assert!(kernel.note().is_some_and(|note| note.fix.is_some_and(|fix| fix.contains("kptr_restrict"))));
    }
}
