//! Finds names similar to one that was not found, for the error message.

/// Maximum number of names shown.
const SHOWN: usize = 4;

/// The names most similar to `wanted`, best first: those that contain it or are part of it, then by edit distance.
pub(super) fn near<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let farthest = wanted.len() / 3 + 1;
    let mut found: Vec<(usize, &str)> = names
        .into_iter()
        .filter_map(|name| {
            let within = !name.is_empty() && (name.contains(wanted) || wanted.contains(name));
            let apart = if within {
                name.len().abs_diff(wanted.len()).min(farthest)
            } else {
                strsim::levenshtein(wanted, name)
            };
            (apart <= farthest).then_some((apart, name))
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(|(_, name)| name).take(SHOWN).collect()
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
    }
}
