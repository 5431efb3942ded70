//! The table of actions with their names, descriptions and default keys.

/// An action that a key can trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    Help,
    Notes,
    Palette,
    Quit,
    Suspend,
    Redraw,
    Back,
    PickTarget,
    Screen(u8),
    NextScreen,
    PreviousScreen,
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
    Enter,
    Detail,
    Zoom,
    Mix,
    Search,
    SearchNext,
    SearchPrevious,
    Filter,
    Sort,
    SortReverse,
    Who,
    OffCpu,
    Invert,
    Colours,
    Per,
    Less,
    More,
    Pause,
    Live,
    StepBack,
    StepForward,
    StepBackMuch,
    StepForwardMuch,
    RangeStart,
    Window,
    Mark,
    CompareMark,
    AgainstBaseline,
    Record,
    Export,
    Copy,
}

impl Action {
    /// Whether it moves the selection: at an end, or with nothing to select, it has no effect.
    #[must_use]
    pub fn moves(self) -> bool {
        use Action::{Bottom, Down, HalfPageDown, HalfPageUp, Left, PageDown, PageUp, Right, Top, Up};
        matches!(self, Up | Down | Left | Right | HalfPageUp | HalfPageDown | PageUp | PageDown | Top | Bottom)
    }

    /// Whether it changes the shown time.
    #[must_use]
    pub fn is_of_time(self) -> bool {
        TABLE.iter().any(|row| row.action == self && row.section == Section::Time)
    }

    /// Whether it steps to a neighbour: a window, a point of a sweep, a side of a comparison.
    #[must_use]
    pub fn is_a_step(self) -> bool {
        matches!(self, Action::StepBack | Action::StepForward | Action::StepBackMuch | Action::StepForwardMuch)
    }
}

/// A section of the help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// Screens.
    Screens,
    /// Moving within one.
    Moving,
    /// What the screen shows.
    Showing,
    /// The shown time.
    Time,
    /// Output: recordings, images, the clipboard.
    Record,
    /// The session itself.
    Session,
}

impl Section {
    /// Its heading.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Section::Screens => "Screens",
            Section::Moving => "Moving",
            Section::Showing => "What is shown",
            Section::Time => "Time",
            Section::Record => "Keeping it",
            Section::Session => "Session",
        }
    }
}

/// One action.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The action.
    pub action: Action,
    /// Its name in the config file and the palette.
    pub name: &'static str,
    /// Its section in the help.
    pub section: Section,
    /// A short description.
    pub text: &'static str,
    /// Its default keys.
    pub keys: &'static [&'static str],
}

const fn row(
    action: Action,
    name: &'static str,
    section: Section,
    text: &'static str,
    keys: &'static [&'static str],
) -> Row {
    Row { action, name, section, text, keys }
}

use Action as A;
use Section::{Moving, Record, Screens, Session, Showing, Time};

/// Every action, in the order of the help.
pub const TABLE: &[Row] = &[
    row(A::Screen(1), "overview", Screens, "overview: factors, rates, findings", &["1"]),
    row(A::Screen(2), "flame", Screens, "flame graph", &["2"]),
    row(A::Screen(3), "functions", Screens, "functions, their callers and callees", &["3"]),
    row(A::Screen(4), "threads", Screens, "threads and CPUs", &["4"]),
    row(A::Screen(5), "counters", Screens, "counters and metrics", &["5"]),
    row(A::Screen(6), "findings", Screens, "findings: bottlenecks, evidence", &["6"]),
    row(A::Screen(7), "scaling", Screens, "scaling: throughput against width", &["7"]),
    row(A::Screen(8), "baseline", Screens, "baseline: deviations and causes", &["8"]),
    row(A::Screen(9), "numa", Screens, "NUMA: memory and threads by node", &["9"]),
    row(A::Screen(0), "latency", Screens, "latency of operations, over time", &["0"]),
    row(A::NextScreen, "next-screen", Screens, "next screen", &["Tab"]),
    row(A::PreviousScreen, "previous-screen", Screens, "previous screen", &["Shift-Tab"]),
    row(A::Up, "up", Moving, "up", &["Up", "k"]),
    row(A::Down, "down", Moving, "down", &["Down", "j"]),
    row(A::Left, "left", Moving, "left", &["Left", "h"]),
    row(A::Right, "right", Moving, "right", &["Right", "l"]),
    row(A::HalfPageUp, "half-page-up", Moving, "half a page up", &["Ctrl-u"]),
    row(A::HalfPageDown, "half-page-down", Moving, "half a page down", &["Ctrl-d"]),
    row(A::PageUp, "page-up", Moving, "a page up", &["PageUp", "Ctrl-b"]),
    row(A::PageDown, "page-down", Moving, "a page down", &["PageDown", "Ctrl-f"]),
    row(A::Top, "top", Moving, "to the top", &["g", "Home"]),
    row(A::Bottom, "bottom", Moving, "to the bottom", &["G"]),
    row(A::Enter, "open", Moving, "open or zoom into the selection", &["Enter"]),
    row(A::Detail, "detail", Moving, "details of the selection", &["d"]),
    row(A::Zoom, "zoom", Moving, "show it in the flame graph", &["z"]),
    row(A::Back, "back", Moving, "undo: search, zoom, range, filter", &["Esc", "Backspace"]),
    row(A::Search, "search", Showing, "search", &["/"]),
    row(A::SearchNext, "search-next", Showing, "next match", &["n"]),
    row(A::SearchPrevious, "search-previous", Showing, "previous match", &["N"]),
    row(A::Filter, "filter", Showing, "show only what matches the search", &["&", "\\"]),
    row(A::Sort, "sort", Showing, "sort by the next column", &["s"]),
    row(A::SortReverse, "sort-reverse", Showing, "turn the order around", &["S"]),
    row(A::Mix, "mix", Showing, "classes of instructions", &["x"]),
    row(A::Who, "group", Showing, "by code, thread, process, cgroup", &["u"]),
    row(A::OffCpu, "off-cpu", Showing, "time running, or time waiting", &["o"]),
    row(A::Invert, "invert", Showing, "turn the flame graph upside down", &["i"]),
    row(A::Colours, "colours", Showing, "colour by kind, module or change", &["c"]),
    row(A::Per, "per", Showing, "costs per op, CPU second, share, all", &["p"]),
    row(A::AgainstBaseline, "against-baseline", Showing, "flame graph against the baseline", &["b"]),
    row(A::Less, "less", Showing, "fold, or show less", &["-"]),
    row(A::More, "more", Showing, "unfold, or show more", &["+", "="]),
    row(A::Pause, "pause", Time, "pause, and go on", &["Space", "f"]),
    row(A::StepBack, "step-back", Time, "back by a window", &["["]),
    row(A::StepForward, "step-forward", Time, "forward by a window", &["]"]),
    row(A::StepBackMuch, "step-back-much", Time, "back by ten windows", &["{"]),
    row(A::StepForwardMuch, "step-forward-much", Time, "forward by ten windows", &["}"]),
    row(A::Live, "live", Time, "back to now", &["End", "L"]),
    row(A::Window, "window", Time, "length of the window that is shown", &["t"]),
    row(A::RangeStart, "range", Time, "begin a range, or end it", &["v"]),
    row(A::Mark, "mark", Time, "mark now, compare with before", &["m"]),
    row(A::CompareMark, "compare", Time, "show changes, or not", &["M"]),
    row(A::Record, "record", Record, "save the history as a recording", &["w"]),
    row(A::Export, "export", Record, "write the flame graph as SVG", &["e"]),
    row(A::Copy, "copy", Record, "copy the selected name", &["y"]),
    row(A::Help, "help", Session, "these keys", &["?", "F1"]),
    row(A::Notes, "notes", Session, "notes on these numbers", &["!"]),
    row(A::Palette, "palette", Session, "every command by name", &[":"]),
    row(A::PickTarget, "pick", Session, "choose another target", &["P"]),
    row(A::Redraw, "redraw", Session, "draw everything anew", &["Ctrl-l"]),
    row(A::Suspend, "suspend", Session, "stop until the shell's fg", &["Ctrl-z"]),
    row(A::Quit, "quit", Session, "quit", &["q", "Ctrl-c"]),
];
