//! Demangles linker symbols: Rust (both schemes, without the hash) and C++. Unrecognised names stay unchanged.
//! A name stops where a reader stops reading: 480 bytes of C++ can stand for gigabytes.

use crate::model::ShortText;
use std::fmt::Write;

/// The demangled form of a linker symbol without its version suffix (`@GLIBC_2.2`).
#[must_use]
pub fn demangle(linker: &str) -> String {
    // A leading `@` does not start a version, and Rust v0 names contain no `@`.
    let linker = linker.split_once('@').map_or(linker, |(name, _)| if name.is_empty() { linker } else { name });
    rust(linker).or_else(|| cpp(linker)).unwrap_or_else(|| cut(linker))
}

/// A name as it is, cut where a reader stops reading.
pub(super) fn cut(name: &str) -> String {
    ShortText::of(|out| out.write_str(name)).unwrap_or_default()
}

fn rust(linker: &str) -> Option<String> {
    let name = rustc_demangle::try_demangle(linker).ok()?;
    ShortText::of(|out| write!(out, "{name:#}"))
}

fn cpp(linker: &str) -> Option<String> {
    let mangled = linker.starts_with("_Z") || linker.starts_with("__Z");
    let symbol = mangled.then(|| cpp_demangle::Symbol::new(linker).ok()).flatten()?;
    ShortText::of(|out| symbol.structured_demangle(out, &cpp_demangle::DemangleOptions::default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::limits::READABLE_NAME;

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
        assert!(name.len() <= READABLE_NAME + '…'.len_utf8() && name.ends_with('…'));
        for (length, cut) in [(READABLE_NAME, false), (READABLE_NAME + 1, true)] {
            let (plain, cpp) = ("a".repeat(length), format!("_Z{}{}", length - 2, "a".repeat(length - 2)) + "v");
            for name in [demangle(&plain), demangle(&cpp)] {
                assert_eq!((name.ends_with('…'), name.trim_end_matches('…').len()), (cut, READABLE_NAME), "{length}");
            }
        }
    }

    /// A type whose name is ten times the previous one's at each of `levels` levels.
    fn bomb(levels: usize) -> String {
        let digits: Vec<char> = ('0'..='9').chain('A'..='Z').collect();
        let levels = (1..=levels).map(|level| format!("S_I{}E", format!("S{}_", digits[level - 1]).repeat(10)));
        format!("_Z1f1AIiiE{}", levels.collect::<String>())
    }

    #[test]
    fn a_name_that_stands_for_gigabytes_is_cut_as_soon_as_it_is_long() {
        assert_eq!(demangle(&bomb(1)).matches("A<int, int>").count(), 11);
        let begun = std::time::Instant::now();
        for levels in [5, 11, 30] {
            let name = demangle(&bomb(levels));
            assert!(name.starts_with("f(A<int, int>, A<A<int, int>, ") && name.ends_with('…'), "{name}");
        }
        assert!(begun.elapsed() < std::time::Duration::from_secs(5));
    }
}
