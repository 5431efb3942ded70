//! The lines of /proc/kallsyms, and the functions by address.

/// The functions of a list.
#[derive(Debug, Default)]
pub(super) struct List {
    /// Their names, one after the other: a hundred thousand separate strings would cost more than the read.
    pub(super) names: String,
    /// Sorted by address.
    pub(super) functions: Vec<Function>,
    /// Whether the kernel hides its addresses.
    pub(super) hidden: bool,
}

/// A line of the list: address, start of the name in the text, end of the line.
pub(super) type Function = (u64, u32, u32);

impl List {
    /// Reads the functions whose address is wanted: code only (`t`, `T`, `w`, `W`). All-zero addresses mean that the
    /// kernel hides them. `read` passes on the lines. Errors are those of `read`.
    pub(super) fn read<E>(
        read: impl FnOnce(&mut dyn FnMut(&str)) -> Result<(), E>,
        wanted: impl Fn(u64) -> bool,
    ) -> Result<List, E> {
        let mut list = List { hidden: true, ..List::default() };
        read(&mut |line| {
            let Some((address, start, end)) = function(line, 0) else { return };
            list.hidden &= address == 0;
            if wanted(address) {
                list.add(address, line.get(start as usize..end as usize).unwrap_or(""));
            }
        })?;
        if list.hidden {
            list.functions.clear();
        }
        list.functions.sort_by_key(|function| function.0);
        list.functions.shrink_to_fit();
        list.names.shrink_to_fit();
        Ok(list)
    }

    /// Without the functions at some addresses.
    pub(super) fn without(&self, addresses: &std::ops::Range<u64>) -> List {
        let mut left = List::default();
        for (address, start, end) in self.functions.iter().filter(|function| !addresses.contains(&function.0)) {
            left.add(*address, self.names.get(*start as usize..*end as usize).unwrap_or(""));
        }
        left
    }

    fn add(&mut self, address: u64, name: &str) {
        let place = |length: usize| u32::try_from(length).ok();
        if let (Some(start), Some(end)) = (place(self.names.len()), place(self.names.len() + name.len())) {
            self.names += name;
            self.functions.push((address, start, end));
        }
    }

    /// The name of the last function that starts at or below the address.
    pub(super) fn name(&self, address: u64) -> Option<String> {
        let after = self.functions.partition_point(|(start, _, _)| *start <= address);
        name(&self.names, *self.functions.get(after.checked_sub(1)?)?)
    }

    /// The list in a text.
    #[cfg(test)]
    pub(super) fn parse(text: &str) -> List {
        let read = |to: &mut dyn FnMut(&str)| {
            text.split_inclusive('\n').for_each(to);
            Ok::<_, std::convert::Infallible>(())
        };
        List::read(read, |_| true).unwrap_or_default()
    }
}

/// The functions of a text in its order.
pub(super) fn functions(text: &str) -> impl Iterator<Item = Function> + '_ {
    let mut at = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        at += line.len();
        function(line, at - line.len())
    })
}

/// The name in a line. A tab separates a function from its module.
pub(super) fn name(text: &str, (_, start, end): Function) -> Option<String> {
    Some(text.get(start as usize..end as usize)?.trim().replace('\t', " "))
}

/// Parses one line, which begins at byte `at`, into a function.
fn function(line: &str, at: usize) -> Option<Function> {
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
        let list = List::parse("ffff0010 T b\nffff0000 t a\nffff0020 d data\nffff0030 t c\t[ext4]\nrubbish\n");
        assert_eq!(list.name(0xffff_0008).as_deref(), Some("a"));
        assert_eq!(list.name(0xffff_0024).as_deref(), Some("b"));
        assert_eq!(list.name(0xffff_0030).as_deref(), Some("c [ext4]"));
        assert_eq!(list.name(0xfffe_0000), None);
        assert!(!list.hidden);
    }

    #[test]
    fn zero_addresses_are_hidden_symbols_not_names() {
        let list = List::parse("0000000000000000 T a\n0000000000000000 T b\n");
        assert_eq!((list.name(5), list.hidden), (None, true));
    }
}
