//! A comparison in every output format.

mod csv;
mod json;
mod markdown;
mod text;

pub use csv::csv;
pub use json::json;
pub use markdown::markdown;
pub use text::text;

use crate::view::diff::CodeRow;

/// The changes beyond chance, up to `limit` (0: all), and how many more there are.
pub(in crate::export) fn real(rows: &[CodeRow], limit: usize) -> (Vec<&CodeRow>, usize) {
    let all: Vec<&CodeRow> = rows.iter().filter(|row| row.real).collect();
    let shown = if limit == 0 { all.len() } else { all.len().min(limit) };
    (all[..shown].to_vec(), all.len() - shown)
}

/// Inlined functions shown for a function.
const INLINED: usize = 3;

/// The rows with what stands before their names; the code inlined into a function follows it.
pub(in crate::export) fn with_inlined<'a>(rows: &[&'a CodeRow]) -> Vec<(&'static str, &'a CodeRow)> {
    let lines = |row: &&'a CodeRow| {
        let row = *row;
        std::iter::once(("", row)).chain(row.inlined.iter().take(INLINED).map(|part| ("inlined: ", part)))
    };
    rows.iter().flat_map(lines).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::text::Style;
    use crate::view::diff::testing::costlier;

    #[test]
    fn every_form_tells_the_answer_and_no_name_acts_in_any() {
        let view = costlier();
        let forms = [text(&view, Style::default(), 20), markdown(&view, 20), csv(&view)];
        for bytes in forms {
            let text = String::from_utf8(bytes).expect("it is UTF-8");
            assert!(text.contains("cpu_ns_per_op") || text.contains("CPU time per operation"), "{text}");
            assert!(!text.contains('\x1b'), "{text}");
        }
        let page = String::from_utf8(markdown(&view, 20)).expect("it is UTF-8");
        assert!(page.contains("`parse<&str>\\|␛[31m`"), "{page}");
    }

    #[test]
    fn text_and_markdown_are_as_published() {
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("../../../tests/golden/diff");
        settings.set_prepend_module_to_snapshot(false);
        let shown = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        settings.bind(|| {
            insta::assert_snapshot!("text", shown(text(&costlier(), Style::default(), 20)));
            insta::assert_snapshot!("markdown", shown(markdown(&costlier(), 20)));
            insta::assert_snapshot!("csv", shown(csv(&costlier())));
        });
    }

    #[test]
    fn without_a_terminal_names_are_whole_and_on_one_they_get_the_room_that_the_numbers_leave() {
        let mut view = costlier();
        let code = view.comparisons[0].code.as_mut().expect("code");
        let long = "rocksdb::lru_cache::LRUCacheShard::Lookup(rocksdb::Slice const&, unsigned int)";
        let row = code.functions.first_mut().expect("a function");
        (row.name, row.real) = (long.to_string(), true);
        for (width, expected) in [
            (None, long),
            (Some(100), "rocksdb::lru_cache::LRUCacheShard::Lookup  "),
            (Some(80), "LRUCacheShard::Lookup  "),
        ] {
            let text = String::from_utf8(text(&view, Style { width, colour: false }, 20)).expect("it is UTF-8");
            assert!(text.contains(&format!(" {expected}")), "{width:?}: {text}");
        }
    }

    #[test]
    fn inlined_code_follows_the_function_it_is_a_part_of() {
        let mut view = costlier();
        let code = view.comparisons[0].code.as_mut().expect("code");
        let row = code.functions.iter_mut().find(|row| row.real).expect("a function that changed");
        let own = row.name.clone();
        row.inlined = vec![CodeRow { name: "push_back".to_string(), ..row.clone() }];
        let page = String::from_utf8(text(&view, Style::default(), 20)).expect("it is UTF-8");
        let lines: Vec<&str> = page.lines().collect();
        let part = lines.iter().position(|line| line.contains("  inlined: push_back")).expect("it is listed");
        assert!(lines[part - 1].contains(&*crate::view::escape::visible(&own)), "{page}");
        for page in [markdown(&view, 20), crate::export::html::diff(&view)] {
            assert!(String::from_utf8_lossy(&page).contains("inlined: "));
        }
    }

    #[test]
    fn no_line_of_text_is_wider_than_the_terminal() {
        for width in [80, 100, 200] {
            let bytes = text(&costlier(), Style { width: Some(width), colour: false }, 20);
            for line in String::from_utf8_lossy(&bytes).lines() {
                assert!(line.chars().count() <= width, "{} columns: {line}", line.chars().count());
            }
        }
    }
}
