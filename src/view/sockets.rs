//! View model: the bytes that memory controllers and links between sockets move.

use super::context::ViewContext;
use super::{Measured, number};
use crate::analysis::{SocketTraffic, socket_traffic};
use crate::model::Unit;

/// What the sockets of the machine move, whoever causes it.
#[derive(Debug, Clone, PartialEq)]
pub enum SocketsView {
    /// By socket.
    Counted(Vec<SocketView>),
    /// Nothing was counted; why, as a sentence.
    NotCounted(String),
}

/// One socket: bytes a second.
#[derive(Debug, Clone, PartialEq)]
pub struct SocketView {
    package: u32,
    nodes: Vec<u32>,
    read: Measured,
    written: Measured,
    all: Measured,
    link: Measured,
}

/// Captions of [`SocketView::cells`].
pub const CAPTIONS: [&str; 6] =
    ["socket", "nodes", "memory read", "written", "read + written", "sent to other sockets"];

/// Heading of the table, and its scope.
pub const HEADING: (&str, &str) = ("Memory bandwidth by socket", "of the whole machine, whoever uses it");

/// The topic of the note that says why units were not counted.
const TOPIC: &str = "uncore";

impl SocketsView {
    /// The sockets in the selected time.
    #[must_use]
    pub fn of(context: &ViewContext<'_>) -> SocketsView {
        let found = socket_traffic(context.profile, &context.counters, context.window);
        if !found.is_empty() {
            return SocketsView::Counted(found.into_iter().map(SocketView::of).collect());
        }
        let note = context.profile.meta.notes.iter().find(|note| note.topic == TOPIC);
        let why = match note {
            Some(note) => note.text.clone(),
            None if context.profile.meta.host.virtual_machine => {
                "not counted: this virtual machine sees no memory controllers (uncore_imc, amd_umc)".to_string()
            }
            None => "not counted: the kernel listed no uncore_imc, amd_umc or, of Zen 2 and 3, amd_df".to_string(),
        };
        SocketsView::NotCounted(why)
    }
}

impl SocketView {
    fn of(socket: SocketTraffic) -> SocketView {
        let SocketTraffic { package, nodes, read, written, all, link } = socket;
        let [read, written, all, link] = [read, written, all, link].map(Measured::from);
        SocketView { package, nodes, read, written, all, link }
    }

    /// Its row in a table.
    #[must_use]
    pub fn cells(&self) -> Vec<String> {
        let nodes: Vec<String> = self.nodes.iter().map(u32::to_string).collect();
        let shown = |value: &Measured| {
            value.value().map_or("-".to_string(), |bytes| number::quantity(bytes, Unit::BytesPerSecond).joined())
        };
        let names = [self.package.to_string(), nodes.join(",")];
        names.into_iter().chain([&self.read, &self.written, &self.all, &self.link].map(shown)).collect()
    }
}
