//! Demangles linker symbols: Rust (both schemes, without the hash) and C++. Unrecognised names stay unchanged.

/// Longer names are truncated: a reader cannot use more, and a hostile file may contain a name of any length.
const LONGEST: usize = 4096;

/// The demangled form of a linker symbol without its version suffix (`@GLIBC_2.2`).
#[must_use]
pub fn demangle(linker: &str) -> String {
    // A leading `@` does not start a version, and Rust v0 names contain no `@`.
    let linker = linker.split_once('@').map_or(linker, |(name, _)| if name.is_empty() { linker } else { name });
    let mut name = rust(linker).or_else(|| cpp(linker)).unwrap_or_else(|| linker.to_string());
    if name.len() > LONGEST {
        let end = (0..=LONGEST).rev().find(|at| name.is_char_boundary(*at)).unwrap_or(0);
        name.truncate(end);
        name.push('…');
    }
    name
}

fn rust(linker: &str) -> Option<String> {
    rustc_demangle::try_demangle(linker).ok().map(|name| format!("{name:#}"))
}

fn cpp(linker: &str) -> Option<String> {
    let mangled = linker.starts_with("_Z") || linker.starts_with("__Z");
    let symbol = mangled.then(|| cpp_demangle::Symbol::new(linker).ok()).flatten()?;
    symbol.demangle().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linker_names_become_readable() {
        for (linker, readable) in [
            ("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt"),
            ("_RNvC6_123foo3bar", "123foo::bar"),
            ("_ZN7rocksdb5Stats11FinishedOpsEv", "rocksdb::Stats::FinishedOps()"),
            ("_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector<int, std::allocator<int> >::push_back(int&&)"),
            ("memcpy@@GLIBC_2.14", "memcpy"),
            ("main", "main"),
            ("_Z", "_Z"),
            ("_ZN", "_ZN"),
            ("@plt", "@plt"),
            ("", ""),
        ] {
            assert_eq!(demangle(linker), readable, "{linker}");
        }
    }

    #[test]
    fn a_name_of_any_length_stays_short_and_whole() {
        let name = demangle(&"ä".repeat(5000));
        assert!(name.len() <= LONGEST + '…'.len_utf8() && name.ends_with('…'));
    }
}
