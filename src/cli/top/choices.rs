//! Stopgap.
use crate::error::Result;
use crate::tui::msg::Msg;
use std::sync::mpsc::Sender;
/// Stopgap.
#[derive(Debug)]
pub(super) struct Chooser;
impl Chooser {
    pub(super) fn start(sender: Sender<Msg>) -> Result<Chooser> {
        let _ = sender;
        Ok(Chooser)
    }
}
pub(super) fn words(line: &str) -> Result<Vec<String>> {
    Ok(line.split_whitespace().map(str::to_string).collect())
}
