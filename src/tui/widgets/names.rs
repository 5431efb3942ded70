//! Shortens function names: keeps the distinguishing part and first drops the parts that many names share.

use super::text::{end, width};

/// The name in at most `columns`: whole, else without arguments and template parameters, else its last part, else cut.
#[must_use]
pub fn short(name: &str, columns: usize, ellipsis: &str) -> String {
    if width(name) <= columns {
        return name.to_string();
    }
    // An address in a file without symbols: its parts alone have no meaning.
    if name.contains("+0x") {
        return end(name, columns, ellipsis);
    }
    let plain = without_parameters(name);
    let plain = without_clone(plain.trim());
    if width(plain) <= columns {
        return plain.to_string();
    }
    end(last_part(plain), columns, ellipsis)
}

/// Removes all kinds of brackets and a compiler's hash; keeps a name that consists of brackets only.
fn without_parameters(name: &str) -> String {
    let mut depth = 0_usize;
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '<' | '(' | '{' => depth += 1,
            '>' | ')' | '}' => depth = depth.saturating_sub(1),
            c if depth == 0 => out.push(c),
            _ => {}
        }
    }
    let out = out.trim_end_matches("::").trim();
    let hash =
        |part: &str| part.len() == 17 && part.starts_with('h') && part[1..].bytes().all(|b| b.is_ascii_hexdigit());
    match out.rsplit_once("::") {
        Some((rest, part)) if hash(part) => rest.to_string(),
        _ if out.is_empty() => name.to_string(),
        _ => out.to_string(),
    }
}

/// Removes the suffixes that compilers append to function clones.
fn without_clone(name: &str) -> &str {
    const CLONES: [&str; 6] = [".isra.", ".constprop.", ".part.", ".cold", ".lto_priv.", ".llvm."];
    CLONES.iter().filter_map(|clone| name.find(clone)).min().map_or(name, |at| &name[..at])
}

/// The part after the last namespace or package separator; a method keeps its class if the class is short.
fn last_part(name: &str) -> &str {
    let after = |separator: &str| name.rfind(separator).map(|at| at + separator.len());
    let at = after("::").or_else(|| after("/")).or_else(|| after(".").filter(|_| !name.contains(' '))).unwrap_or(0);
    match name.get(at..) {
        Some(part) if !part.is_empty() => part,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_name_says_what_it_is() {
        for (name, columns, expected) in [
            ("main", 10, "main"),
            ("std::vector<int, std::allocator<int>>::push_back(int&&)", 30, "std::vector::push_back"),
            ("std::vector<int, std::allocator<int>>::push_back(int&&)", 12, "push_back"),
            ("std::vector<int>::push_back(int&&)", 6, "push_…"),
            ("ironlaw::unwind::Cache::find::h0123456789abcdef", 40, "ironlaw::unwind::Cache::find"),
            ("ironlaw::unwind::Cache::find::h0123456789abcdef", 10, "find"),
            ("github.com/org/pkg/server.Serve", 14, "server.Serve"),
            ("finish_task_switch.isra.0", 20, "finish_task_switch"),
            ("libjemalloc.so.2+0x7ddb0", 12, "libjemalloc…"),
            ("<unknown>", 4, "<un…"),
            ("", 4, ""),
            ("::", 1, "…"),
        ] {
            assert_eq!(short(name, columns, "…"), expected, "{name} {columns}");
        }
    }
}
