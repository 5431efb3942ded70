//! Processes of this program that do one thing for the one that started them, with nothing but a socket between the two.
//! One that reads what others wrote is confined: it has no privileges and bounded memory, and reaches only the socket.

mod channel;
mod confine;
mod enter;
mod process;

pub use channel::Channel;
pub use enter::{can_start, enter, enter_confined};
pub use process::{Helper, cpu, pids};
