//! A minimal HTTP/1.1 server for metrics scrapers: a page or two, one thread, everything bounded.
//! A connection serves one request without a body, and a slow client does not delay another.

mod request;

use crate::error::{Context, Error, ErrorKind, Result};
use crate::sys::clock::monotonic_ns;
use crate::sys::signals::StopToken;
use request::{MAX_HEAD, ParsedRequest, parse_request};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{ErrorKind as Io, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::thread::JoinHandle;
use std::time::Duration;

/// Connections served at once; others wait in the kernel's queue.
const MOST: usize = 16;
/// Maximum lifetime of a connection, nanoseconds.
const TIMEOUT: u64 = 2_000_000_000;
/// Pause before the next `accept` where the kernel refuses one.
const BREATH: Duration = Duration::from_millis(100);
/// A client may keep sending after the response. This much is read, so that closing does not discard the response.
const MOST_IGNORED: usize = 64 << 10;

/// A page to serve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The value of `Content-Type`.
    pub content_type: &'static str,
    /// The body.
    pub body: Vec<u8>,
}

/// Returns the page at a path; `None` where there is none. Runs on the server's thread.
type Pages = Box<dyn FnMut(&str) -> Option<Page> + Send>;

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
            Ok(listener) => return Ok(listener),
            Err(error) if error.kind() == Io::AddrInUse => _ = taken.get_or_insert(*address),
            Err(error) => return Err(Error::from(error).context(format!("cannot listen at {address}"))),
        }
    }
    let what =
        taken.map_or_else(|| "no address to listen at".to_string(), |first| format!("port {} is taken", first.port()));
    Err(Error::new(ErrorKind::Exhausted, what).hint("Give another one, e.g. --listen 127.0.0.1:9500, or --listen off."))
}

struct ServerLoop {
    listener: TcpListener,
    open: Vec<Connection>,
    pages: Pages,
}

impl ServerLoop {
    fn run(&mut self, stop: &StopToken) {
        while !stop.is_stopped() {
            let patience = self.open.iter().map(|it| it.deadline.saturating_sub(monotonic_ns())).min();
            if !self.wait(stop, patience) {
                return;
            }
            self.accept();
            for connection in &mut self.open {
                connection.go_on(&mut self.pages);
            }
            let now = monotonic_ns();
            self.open.retain(|connection| connection.step != Step::Done && now < connection.deadline);
        }
    }

    /// Waits for something to do, at most `patience` nanoseconds; false when the kernel refuses to wait.
    fn wait(&self, stop: &StopToken, patience: Option<u64>) -> bool {
        let listening = if self.open.len() < MOST { PollFlags::IN } else { PollFlags::empty() };
        let mut fds = vec![PollFd::new(stop, PollFlags::IN), PollFd::new(&self.listener, listening)];
        fds.extend(self.open.iter().map(|connection| {
            let flags = if connection.step == Step::HttpServer { PollFlags::OUT } else { PollFlags::IN };
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
        while self.open.len() < MOST {
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

/// State of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Asking,
    HttpServer,
    /// Answered; waiting for the client to close.
    Leaving,
    Done,
}

struct Connection {
    stream: TcpStream,
    deadline: u64,
    step: Step,
    /// The request so far, then the response.
    bytes: Vec<u8>,
    /// Bytes of the response sent, then bytes ignored after it.
    passed: usize,
}

impl Connection {
    fn new(stream: TcpStream) -> Connection {
        let deadline = monotonic_ns().saturating_add(TIMEOUT);
        Connection { stream, deadline, step: Step::Asking, bytes: Vec::new(), passed: 0 }
    }

    /// Does everything that is possible without waiting.
    fn go_on(&mut self, pages: &mut Pages) {
        if self.step == Step::Asking {
            self.read(pages);
        }
        if self.step == Step::HttpServer {
            self.write();
        }
        if self.step == Step::Leaving {
            self.ignore();
        }
    }

    fn read(&mut self, pages: &mut Pages) {
        let mut buffer = [0; 2048];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => return self.step = Step::Done,
                Ok(length) => self.bytes.extend_from_slice(&buffer[..length]),
                Err(error) => return self.failed(&error),
            }
            let answer = match parse_request(&self.bytes) {
                ParsedRequest::More if self.bytes.len() > MAX_HEAD => refusal(431, "Request Header Fields Too Large"),
                ParsedRequest::More => continue,
                ParsedRequest::Refused(status, reason) => refusal(status, reason),
                ParsedRequest::Page(path) => match pages(&path) {
                    Some(page) => response(200, "OK", page.content_type, &page.body),
                    None => refusal(404, "Not Found"),
                },
            };
            self.bytes = answer;
            return self.step = Step::HttpServer;
        }
    }

    fn write(&mut self) {
        while self.passed < self.bytes.len() {
            match self.stream.write(&self.bytes[self.passed..]) {
                Ok(length) => self.passed += length,
                Err(error) => return self.failed(&error),
            }
        }
        self.passed = 0;
        // The client may be gone; then there is nothing to shut down.
        let _ = self.stream.shutdown(Shutdown::Write);
        self.step = Step::Leaving;
    }

    fn ignore(&mut self) {
        let mut buffer = [0; 4096];
        while self.passed < MOST_IGNORED {
            match self.stream.read(&mut buffer) {
                Ok(0) => return self.step = Step::Done,
                Ok(length) => self.passed += length,
                Err(error) => return self.failed(&error),
            }
        }
        self.step = Step::Done;
    }

    fn failed(&mut self, error: &std::io::Error) {
        if !matches!(error.kind(), Io::WouldBlock | Io::Interrupted) {
            self.step = Step::Done;
        }
    }
}

fn refusal(status: u16, reason: &str) -> Vec<u8> {
    response(status, reason, "text/plain; charset=utf-8", format!("{status} {reason}\n").as_bytes())
}

fn response(status: u16, reason: &str, content_type: &str, body: &[u8]) -> Vec<u8> {
    let allow = if status == 405 { "Allow: GET\r\n" } else { "" };
    let length = body.len();
    let mut bytes = format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n{allow}\
         Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
    )
    .into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

#[cfg(test)]
mod tests;
