//! Placeholder until the table lands.
use ratatui::crossterm::event::KeyEvent;
/// An action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "placeholder")]
pub enum Action {
    Help,
    Notes,
    Quit,
    Back,
    Up,
    Down,
    Left,
    Right,
    HalfPageUp,
    HalfPageDown,
    PageUp,
    PageDown,
    Top,
    Bottom,
    NextScreen,
    PreviousScreen,
    Screen(u8),
    Enter,
    Search,
    SearchNext,
    SearchPrevious,
    Sort,
    SortReverse,
    Palette,
    Pause,
    StepBack,
    StepForward,
    StepBackMuch,
    StepForwardMuch,
    RangeStart,
    Window,
    Live,
    Mark,
    CompareMark,
    Record,
    Export,
    Copy,
    Invert,
    OffCpu,
    Who,
    Colours,
    Less,
    More,
    Filter,
    Detail,
    PickTarget,
    Redraw,
    Suspend,
}
/// The table.
#[derive(Debug, Clone, Default)]
pub struct KeyTable;
impl KeyTable {
    /// Placeholder.
    pub fn action(&self, _: KeyEvent) -> Option<Action> {
        None
    }
    /// Placeholder.
    pub fn first(&self, _: Action) -> String {
        String::new()
    }
    /// Placeholder.
    pub fn keys_for(&self, _: Action) -> Vec<String> {
        vec![]
    }
    /// Placeholder.
    pub fn actions(&self) -> impl Iterator<Item = (Action, &'static str, &'static str)> + '_ {
        std::iter::empty()
    }
    /// Placeholder.
    pub fn help(&self) -> Vec<(&'static str, Vec<(String, &'static str)>)> {
        vec![]
    }
}
