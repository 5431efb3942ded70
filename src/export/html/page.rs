//! Inserts parts into a page at `{{name}}`; all pages share one style.
//! Inserted text is not searched for names, so no part can include another.

/// The style of all pages.
pub(super) const STYLE: &str = include_str!("../../../assets/html/style.css");

/// The page with its parts; a name without a part is removed.
pub(super) fn fill(page: &str, parts: &[(&str, String)]) -> String {
    let mut out = String::with_capacity(page.len() + parts.iter().map(|(_, part)| part.len()).sum::<usize>());
    let mut rest = page;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let Some((name, beyond)) = after.split_once("}}") else { break };
        if let Some((_, part)) = parts.iter().find(|(known, _)| *known == name) {
            out.push_str(part);
        }
        rest = beyond;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_cannot_call_for_another() {
        let parts = [("a", "<{{b}}>".to_string()), ("b", "secret".to_string())];
        assert_eq!(fill("x {{a}} {{c}} y", &parts), "x <{{b}}>  y");
    }
}
