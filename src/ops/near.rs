//! Names that look like one that was not found, for the message that says so.
//! It never decides that one of them was meant.

/// At most this many names are worth reading.
const SHOWN: usize = 4;

/// The names nearest to `wanted`, nearest first: those that hold it or are held by it, then those a few letters away.
pub(super) fn near<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let farthest = wanted.len() / 3 + 1;
    let mut found: Vec<(usize, &str)> = names
        .into_iter()
        .filter_map(|name| {
            let within = !name.is_empty() && (name.contains(wanted) || wanted.contains(name));
            let apart = if within { name.len().abs_diff(wanted.len()).min(farthest) } else { distance(wanted, name) };
            (apart <= farthest).then_some((apart, name))
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(|(_, name)| name).take(SHOWN).collect()
}

/// Letters to add, drop or change to make one of the other (Levenshtein), by bytes.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, to) in b.bytes().enumerate() {
            let change = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_nearest_first() {
        let names = ["http_requests_total", "http_request_seconds", "go_gc", "http_requests", "process_cpu"];
        for (wanted, expected) in [
            ("http_requests_totl", &["http_requests_total", "http_requests", "http_request_seconds"][..]),
            ("requests", &["http_requests", "http_requests_total"]),
            ("nothing_like_it", &[]),
        ] {
            assert_eq!(near(wanted, names), expected, "{wanted}");
        }
        assert_eq!((distance("kitten", "sitting"), distance("", "abc"), distance("same", "same")), (3, 3, 0));
    }
}
