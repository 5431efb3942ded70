//! One connection: reads a request, writes the response, and reads what the client still sends.

use super::request::{ParsedRequest, parse_request};
use crate::model::limits::{HTTP_CROWDED_MS, HTTP_HEAD, HTTP_IGNORED, HTTP_MS};
use crate::sys::clock::monotonic_ns;
use std::io::{ErrorKind as Io, Read, Write};
use std::net::{IpAddr, Shutdown, TcpStream};

/// A page to serve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The value of `Content-Type`.
    pub content_type: &'static str,
    /// The body.
    pub body: Vec<u8>,
}

/// Returns the page at a path; `None` where there is none. Runs on the server's thread.
pub(super) type Pages = Box<dyn FnMut(&str) -> Option<Page> + Send>;

/// State of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Reading,
    Writing,
    /// Answered; waiting for the client to close.
    Draining,
    Done,
}

pub(super) struct Connection {
    pub(super) stream: TcpStream,
    accepted: u64,
    local: Option<IpAddr>,
    pub(super) step: Step,
    /// The request so far, then the response.
    bytes: Vec<u8>,
    /// Bytes of the response sent, then bytes ignored after it.
    passed: usize,
}

impl Connection {
    pub(super) fn new(stream: TcpStream) -> Connection {
        let local = stream.local_addr().ok().map(|address| address.ip().to_canonical());
        Connection { stream, accepted: monotonic_ns(), local, step: Step::Reading, bytes: Vec::new(), passed: 0 }
    }

    /// When it is closed if it is not done by then, on the monotonic clock.
    pub(super) fn deadline(&self, crowded: bool) -> u64 {
        self.accepted.saturating_add(1_000_000 * if crowded { HTTP_CROWDED_MS } else { HTTP_MS })
    }

    /// Does everything that is possible without waiting.
    pub(super) fn go_on(&mut self, pages: &mut Pages) {
        if self.step == Step::Reading {
            self.read(pages);
        }
        if self.step == Step::Writing {
            self.write();
        }
        if self.step == Step::Draining {
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
            let answer = match parse_request(&self.bytes, self.local) {
                ParsedRequest::More if self.bytes.len() > HTTP_HEAD => refusal(431, "Request Header Fields Too Large"),
                ParsedRequest::More => continue,
                ParsedRequest::Refused(status, reason) => refusal(status, reason),
                ParsedRequest::Page(path) => match pages(&path) {
                    Some(page) => response(200, "OK", page.content_type, &page.body),
                    None => refusal(404, "Not Found"),
                },
            };
            self.bytes = answer;
            return self.step = Step::Writing;
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
        self.step = Step::Draining;
    }

    /// Closing before the client has sent everything would discard the response.
    fn ignore(&mut self) {
        let mut buffer = [0; 4096];
        while self.passed < HTTP_IGNORED {
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
    let hint = if status == 421 { ": ask for localhost, or by the address that is listened at" } else { "" };
    response(status, reason, "text/plain; charset=utf-8", format!("{status} {reason}{hint}\n").as_bytes())
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
