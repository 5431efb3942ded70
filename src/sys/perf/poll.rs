//! Waits for the descriptors of a capture: rings with data, a target's end, a request to stop.

use crate::error::{Context, Result};
use crate::units::Nanos;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// A set of descriptors with a token each.
pub struct Poll {
    fd: OwnedFd,
    ready: Vec<epoll::Event>,
}

impl std::fmt::Debug for Poll {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Poll").field("fd", &self.fd).finish_non_exhaustive()
    }
}

/// One descriptor that is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    /// The token it was added with.
    pub token: u64,
    /// No more data will come. Remove it from the set, or it stays ready.
    pub hung_up: bool,
}

impl Poll {
    /// An empty set.
    ///
    /// # Errors
    /// No descriptor is available.
    pub fn new() -> Result<Poll> {
        let fd = epoll::create(CreateFlags::CLOEXEC).map_err(io::Error::from).context(|| "cannot wait for events")?;
        Ok(Poll { fd, ready: Vec::with_capacity(64) })
    }

    /// Adds a descriptor.
    ///
    /// # Errors
    /// As `epoll_ctl(2)`.
    pub fn add(&self, fd: impl AsFd, token: u64) -> Result<()> {
        epoll::add(&self.fd, fd, EventData::new_u64(token), EventFlags::IN)
            .map_err(io::Error::from)
            .context(|| "cannot wait for an event")
    }

    /// Removes a descriptor.
    pub fn remove(&self, fd: impl AsFd) {
        // Fails only for a descriptor that is not in the set, which is the desired result.
        let _ = epoll::delete(&self.fd, fd);
    }

    /// Waits until something is ready or the time is over. A signal ends the wait early, with nothing ready.
    ///
    /// # Errors
    /// As `epoll_wait(2)`.
    pub fn wait(&mut self, at_most: Nanos) -> Result<impl Iterator<Item = Ready> + '_> {
        self.ready.clear();
        let millis = at_most.0.div_ceil(1_000_000).min(3_600_000) as i64;
        let timeout = Timespec { tv_sec: millis / 1000, tv_nsec: (millis % 1000) * 1_000_000 };
        match epoll::wait(&self.fd, rustix::buffer::spare_capacity(&mut self.ready), Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(io::Error::from(error)).context(|| "cannot wait for events"),
        }
        Ok(self.ready.iter().map(|event| {
            // Copied out: the kernel's structure is packed.
            let (flags, data) = (event.flags, event.data);
            Ready { token: data.u64(), hung_up: flags.intersects(EventFlags::HUP | EventFlags::ERR) }
        }))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use rustix::pipe::pipe;

    #[test]
    fn says_which_descriptor_is_ready_and_which_hung_up() {
        let mut poll = Poll::new().unwrap();
        let (read, write) = pipe().unwrap();
        poll.add(&read, 7).unwrap();
        assert_eq!(poll.wait(Nanos(0)).unwrap().count(), 0);
        rustix::io::write(&write, b"x").unwrap();
        assert_eq!(poll.wait(Nanos(0)).unwrap().collect::<Vec<_>>(), [Ready { token: 7, hung_up: false }]);
        drop(write);
        assert_eq!(poll.wait(Nanos(0)).unwrap().collect::<Vec<_>>(), [Ready { token: 7, hung_up: true }]);
        poll.remove(&read);
        assert_eq!(poll.wait(Nanos(0)).unwrap().count(), 0);
    }
}
