//! Packets between two processes, each with at most one descriptor.

use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::limits::NAMES_MESSAGE;
use crate::units::Nanos;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketFlags, SocketType, recv, recvmsg, send, sendmsg, socketpair,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// Bytes before a packet: its length.
const HEAD: usize = 8;

/// One end of a connection.
#[derive(Debug)]
pub struct Channel(OwnedFd);

/// What was received.
#[derive(Debug, Default)]
pub struct Packet {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The descriptor that came with them.
    pub descriptor: Option<OwnedFd>,
}

impl Channel {
    /// A connection to the process on the other side of a socket.
    pub(in crate::sys) fn new(socket: OwnedFd) -> Channel {
        Channel(socket)
    }

    /// A new connection: one end, and the socket of the other.
    pub(in crate::sys) fn pair() -> Result<(Channel, OwnedFd)> {
        let pair = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None);
        let (ours, theirs) = pair.map_err(io::Error::from).context(|| "cannot make a socket")?;
        Ok((Channel(ours), theirs))
    }

    /// Both ends of a new connection, for a thread in place of a process.
    ///
    /// # Errors
    /// As `socketpair(2)`.
    pub fn both() -> Result<(Channel, Channel)> {
        Channel::pair().map(|(one, other)| (one, Channel(other)))
    }

    /// Ends each wait of this end for the other one, in the middle of a packet too, after this time.
    pub(in crate::sys) fn limit_silence(&self, most: Duration) -> Result<()> {
        for direction in [Timeout::Recv, Timeout::Send] {
            set_socket_timeout(&self.0, direction, Some(most))
                .map_err(io::Error::from)
                .context(|| "cannot limit the waits of a socket")?;
        }
        Ok(())
    }

    /// Ends one direction: after what was sent, the other side finds the end.
    ///
    /// # Errors
    /// As `shutdown(2)`.
    #[cfg(any(test, fuzzing))]
    pub fn send_no_more(&self) -> Result<()> {
        Ok(rustix::net::shutdown(&self.0, rustix::net::Shutdown::Write).map_err(io::Error::from)?)
    }

    /// Sends a packet; waits while the other side does not read.
    ///
    /// # Errors
    /// The other side has ended.
    pub fn send(&self, bytes: &[u8], descriptor: Option<BorrowedFd<'_>>) -> Result<()> {
        let head = (bytes.len() as u64).to_le_bytes();
        self.send_head(&head, descriptor).and_then(|()| self.send_all(bytes)).map_err(|error| ended(&error))
    }

    fn send_head(&self, head: &[u8; HEAD], descriptor: Option<BorrowedFd<'_>>) -> Result<(), Errno> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        let descriptors = descriptor.as_slice();
        if !descriptors.is_empty() {
            ancillary.push(SendAncillaryMessage::ScmRights(descriptors));
        }
        let sent = retry_on_intr(|| sendmsg(&self.0, &[IoSlice::new(head)], &mut ancillary, SendFlags::NOSIGNAL))?;
        self.send_all(head.get(sent..).unwrap_or(&[]))
    }

    fn send_all(&self, mut bytes: &[u8]) -> Result<(), Errno> {
        while !bytes.is_empty() {
            let sent = retry_on_intr(|| send(&self.0, bytes, SendFlags::NOSIGNAL))?;
            bytes = bytes.get(sent..).unwrap_or(&[]);
        }
        Ok(())
    }

    /// Whether a packet comes, or the other side ends, within this time.
    #[must_use]
    pub fn is_ready(&self, within: Nanos) -> bool {
        let nanos = i64::try_from(within.0).unwrap_or(i64::MAX);
        let timeout = Timespec { tv_sec: nanos / 1_000_000_000, tv_nsec: nanos % 1_000_000_000 };
        poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&timeout)).is_ok_and(|ready| ready > 0)
    }

    /// Waits for a packet.
    ///
    /// # Errors
    /// The other side has ended; `Corrupt` for a packet of an impossible size.
    pub fn receive(&self) -> Result<Packet> {
        let (head, descriptor) = self.receive_head().map_err(|error| ended(&error))?;
        let length = usize::try_from(u64::from_le_bytes(head)).unwrap_or(usize::MAX);
        if length > NAMES_MESSAGE {
            return Err(Error::new(ErrorKind::Corrupt, format!("a packet of {length} bytes")));
        }
        let mut bytes = vec![0; length];
        self.fill(&mut bytes).map_err(|error| ended(&error))?;
        Ok(Packet { bytes, descriptor })
    }

    fn receive_head(&self) -> Result<([u8; HEAD], Option<OwnedFd>), Errno> {
        let mut head = [0; HEAD];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let into = &mut [IoSliceMut::new(&mut head)];
        let received = retry_on_intr(|| recvmsg(&self.0, into, &mut ancillary, RecvFlags::CMSG_CLOEXEC))?.bytes;
        let descriptor = ancillary.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
            _ => None,
        });
        if received == 0 {
            return Err(Errno::CONNRESET);
        }
        self.fill(head.get_mut(received..).unwrap_or(&mut []))?;
        Ok((head, descriptor))
    }

    fn fill(&self, mut bytes: &mut [u8]) -> Result<(), Errno> {
        while !bytes.is_empty() {
            let (received, _) = retry_on_intr(|| recv(&self.0, &mut *bytes, RecvFlags::empty()))?;
            if received == 0 {
                return Err(Errno::CONNRESET);
            }
            bytes = bytes.get_mut(received..).unwrap_or(&mut []);
        }
        Ok(())
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn ended(error: &Errno) -> Error {
    let what = if *error == Errno::AGAIN { "the other process is silent" } else { "the other process has ended" };
    Error::from(io::Error::from(*error)).context(what)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::{Read, Write};

    #[test]
    fn packets_come_whole_and_in_order_with_their_descriptors() {
        let (one, other) = Channel::both().unwrap();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"contents").unwrap();
        let large = vec![7; 3 << 20];
        let sender = std::thread::spawn(move || {
            one.send(b"first", None).unwrap();
            one.send(b"", Some(file.as_fd())).unwrap();
            one.send(&large, None).unwrap();
        });
        let first = other.receive().unwrap();
        assert!(first.bytes == b"first" && first.descriptor.is_none());
        let second = other.receive().unwrap();
        let mut received = File::from(second.descriptor.unwrap());
        let mut text = String::new();
        std::io::Seek::rewind(&mut received).unwrap();
        received.read_to_string(&mut text).unwrap();
        assert_eq!((text.as_str(), second.bytes.len()), ("contents", 0));
        assert!(other.receive().unwrap().bytes == vec![7; 3 << 20]);
        sender.join().unwrap();
        assert!(other.is_ready(Nanos(0)) && other.receive().is_err(), "the other end is gone");
    }

    #[test]
    fn a_process_that_stops_in_the_middle_of_a_packet_or_reads_nothing_is_not_waited_for() {
        let (one, other) = Channel::both().unwrap();
        other.limit_silence(Duration::from_millis(20)).unwrap();
        one.send_all(&100_u64.to_le_bytes()).unwrap();
        one.send_all(b"half").unwrap();
        assert!(other.receive().unwrap_err().to_string().contains("is silent"));
        assert!(other.send(&vec![0; 8 << 20], None).unwrap_err().to_string().contains("is silent"));
    }

    #[test]
    fn nothing_comes_from_a_silent_process_and_no_memory_is_taken_for_what_it_claims() {
        let (one, other) = Channel::both().unwrap();
        assert!(!other.is_ready(Nanos(1_000_000)));
        one.send_all(&u64::MAX.to_le_bytes()).unwrap();
        assert_eq!(other.receive().unwrap_err().kind(), ErrorKind::Corrupt);
    }
}
