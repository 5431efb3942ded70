//! A session whose capture runs on another machine: `ssh HOST ironlaw stream ...` captures and names there, and sends the
//! stream of events over its standard output; the terminal's side draws. Nothing listens, and neither side trusts the
//! other's bytes.
//!
//! The host's side ends when its standard input does, when nothing came from there for [`REMOTE_SILENCE`], or when the
//! target ends. Its capture never waits for the link: what does not fit into a bounded queue is dropped and counted as lost.
//!
//! [`REMOTE_SILENCE`]: crate::model::limits::REMOTE_SILENCE

mod checked;
mod connection;
mod outbox;
mod sender;
mod stream;
mod wire;

pub use connection::{RemoteCapture, RemoteCommand};
pub use sender::StreamSender;
