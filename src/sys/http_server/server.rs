//! The server's thread: accepts connections and serves each as far as it is ready.

use super::connection::{Connection, Page, Pages, Step};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::limits::{HTTP_CONNECTIONS, HTTP_QUEUE};
use crate::sys::clock::monotonic_ns;
use crate::sys::signals::StopToken;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::ErrorKind as Io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, AsRawFd};
use std::thread::JoinHandle;
use std::time::Duration;

/// Pause before the next `accept` where the kernel refuses one.
const BREATH: Duration = Duration::from_millis(100);

/// A server that runs until it is dropped.
#[derive(Debug)]
pub struct HttpServer {
    address: SocketAddr,
    stop: StopToken,
    thread: Option<JoinHandle<()>>,
}

impl HttpServer {
    /// Listens at the first of `addresses` that is free.
    ///
    /// # Errors
    /// `Exhausted` when none is free, `NotPermitted` for a port below 1024, otherwise the first other error.
    pub fn start(addresses: &[SocketAddr], pages: impl FnMut(&str) -> Option<Page> + Send + 'static) -> Result<Self> {
        let listener = listen(addresses)?;
        let address = listener.local_addr()?;
        listener.set_nonblocking(true)?;
        let stop = StopToken::new()?;
        let token = stop.clone();
        let mut serving = ServerLoop { listener, open: Vec::new(), pages: Box::new(pages) };
        let thread = std::thread::Builder::new().name("metrics".into()).spawn(move || serving.run(&token));
        Ok(HttpServer { address, stop, thread: Some(thread.context(|| "cannot start a thread")?) })
    }

    /// The address it listens at.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.stop.stop();
        // A panic of the thread has been printed already, and nothing depends on it.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn listen(addresses: &[SocketAddr]) -> Result<TcpListener> {
    let mut taken = None;
    for address in addresses {
        match TcpListener::bind(address) {
            Ok(listener) => {
                lengthen_queue(&listener);
                return Ok(listener);
            }
            Err(error) if error.kind() == Io::AddrInUse => _ = taken.get_or_insert(*address),
            Err(error) => return Err(Error::from(error).context(format!("cannot listen at {address}"))),
        }
    }
    let what =
        taken.map_or_else(|| "no address to listen at".to_string(), |first| format!("port {} is taken", first.port()));
    Err(Error::new(ErrorKind::Exhausted, what).hint("Give another one, e.g. --listen 127.0.0.1:9500, or --listen off."))
}

/// The standard library's own queue holds 128: beyond it a client tries again only after a second.
fn lengthen_queue(listener: &TcpListener) {
    // SAFETY: `listen` takes no pointers, and the descriptor is open while `listener` is borrowed.
    unsafe { libc::listen(listener.as_raw_fd(), HTTP_QUEUE) };
}

struct ServerLoop {
    listener: TcpListener,
    open: Vec<Connection>,
    pages: Pages,
}

impl ServerLoop {
    fn run(&mut self, stop: &StopToken) {
        while !stop.is_stopped() {
            let now = monotonic_ns();
            let crowded = self.open.len() >= HTTP_CONNECTIONS;
            let patience = self.open.iter().map(|it| it.deadline(crowded).saturating_sub(now)).min();
            if !self.wait(stop, patience) {
                return;
            }
            self.accept();
            for connection in &mut self.open {
                connection.go_on(&mut self.pages);
            }
            let (now, crowded) = (monotonic_ns(), self.open.len() >= HTTP_CONNECTIONS);
            self.open.retain(|connection| connection.step != Step::Done && now < connection.deadline(crowded));
        }
    }

    /// Waits for something to do, at most `patience` nanoseconds; false when the kernel refuses to wait.
    fn wait(&self, stop: &StopToken, patience: Option<u64>) -> bool {
        let listening = if self.open.len() < HTTP_CONNECTIONS { PollFlags::IN } else { PollFlags::empty() };
        let mut fds = vec![PollFd::new(stop, PollFlags::IN), PollFd::new(&self.listener, listening)];
        fds.extend(self.open.iter().map(|connection| {
            let flags = if connection.step == Step::Writing { PollFlags::OUT } else { PollFlags::IN };
            PollFd::from_borrowed_fd(connection.stream.as_fd(), flags)
        }));
        let timeout =
            patience.map(|ns| Timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as i64 });
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => true,
            Err(_) => false,
        }
    }

    fn accept(&mut self) {
        while self.open.len() < HTTP_CONNECTIONS {
            match self.listener.accept() {
                Ok((stream, _)) if stream.set_nonblocking(true).is_ok() => self.open.push(Connection::new(stream)),
                Ok(_) => {}
                Err(error) if matches!(error.kind(), Io::WouldBlock | Io::Interrupted | Io::ConnectionAborted) => {
                    return;
                }
                // Out of descriptors: the listener stays readable, so retrying at once would take a whole CPU.
                Err(_) => return std::thread::sleep(BREATH),
            }
        }
    }
}
