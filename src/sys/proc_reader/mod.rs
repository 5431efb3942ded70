//! Reads of tasks what may wait for other processes: below `/proc/ID`, their memory and the files that they map. A lock that
//! a process holds, a page or a file that it serves holds up whoever touches it, in the kernel, where nothing can be
//! cancelled. So a helper does it, with some threads for each user, and who asks waits only as long as it can afford.

mod connect;
mod patience;
mod perform;
mod pool;
mod reader;
mod wire;

pub use connect::serve_readers;
pub use patience::Patience;
pub use reader::{Looked, ProcReader, Unanswered};
pub use wire::LookUp;
