//! View model of the screen NUMA: memory and threads by node, and sampled memory accesses.

use super::context::ViewContext;
use super::memory::MemoryView;
use super::places::PlacesView;
use super::sockets::SocketsView;

/// Shared cache lines on the screen: of more, a report is easier to read.
const SHARED_LINES: usize = 50;

/// The screen NUMA.
#[derive(Debug, Clone, PartialEq)]
pub struct NumaView {
    /// Where memory is and threads run; `None` if nothing is known of nodes.
    pub places: Option<PlacesView>,
    /// What memory controllers and links between sockets move.
    pub sockets: SocketsView,
    /// Sampled accesses; `None` if the hardware sampled none.
    pub accesses: Option<MemoryView>,
}

impl NumaView {
    /// The screen of a view context.
    #[must_use]
    pub fn of(context: &ViewContext<'_>) -> NumaView {
        let ViewContext { profile, selection, tasks, names, .. } = context;
        NumaView {
            places: PlacesView::of(profile, tasks, selection),
            sockets: SocketsView::of(context),
            accesses: MemoryView::of(profile, names, tasks, selection, SHARED_LINES),
        }
    }
}
