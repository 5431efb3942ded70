//! Fetches a page from an HTTP server or posts one to it, within a time and a size limit. Redirects and TLS are not supported.

use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::limits::{OPS_HEAD_BYTES, OPS_PAGE_BYTES};
use crate::sys::clock::monotonic_ns;
use std::io::{ErrorKind as Io, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// The body of `GET path` from `host:port`, fetched within `patience`; name resolution is not included.
///
/// # Errors
/// `NotFound` for a missing name or server; `Unsupported` if the answer is not a plain page; else what failed.
pub(super) fn get(authority: &str, path: &str, patience: Duration) -> Result<Vec<u8>> {
    let deadline = Deadline::after(patience);
    let mut stream = connect(authority, &deadline)?;
    let version = env!("CARGO_PKG_VERSION");
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {authority}\r\nUser-Agent: ironlaw/{version}\r\n\
         Accept: text/plain;version=0.0.4, text/plain;q=0.5, */*;q=0.1\r\nAccept-Encoding: identity\r\n\
         Connection: close\r\n\r\n"
    );
    stream.set_write_timeout(Some(deadline.left()?))?;
    stream.write_all(request.as_bytes())?;
    receive(|buffer| {
        stream.set_read_timeout(Some(deadline.left()?))?;
        Ok(stream.read(buffer))
    })
}

/// The answer to what was posted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Posted {
    /// The status code.
    pub status: u16,
    /// Seconds after which the server wants to be asked again.
    pub retry_after: Option<u32>,
}

/// Posts `body` to `host:port`, within `patience`; name resolution is not included.
///
/// # Errors
/// The server is missing or does not answer in HTTP. Any status is an answer.
pub fn post(authority: &str, path: &str, content_type: &str, body: &[u8], patience: Duration) -> Result<Posted> {
    let deadline = Deadline::after(patience);
    let mut stream = connect(authority, &deadline)?;
    let (version, length) = (env!("CARGO_PKG_VERSION"), body.len());
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {authority}\r\nUser-Agent: ironlaw/{version}\r\nContent-Type: {content_type}\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    let request = [head.as_bytes(), body].concat();
    let mut rest = &request[..];
    while !rest.is_empty() {
        stream.set_write_timeout(Some(deadline.left()?))?;
        match stream.write(rest) {
            Ok(written) => rest = &rest[written..],
            Err(error) if error.kind() == Io::Interrupted => {}
            Err(error) if matches!(error.kind(), Io::WouldBlock | Io::TimedOut) => return Err(late()),
            Err(error) => return Err(error.into()),
        }
    }
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        stream.set_read_timeout(Some(deadline.left()?))?;
        match stream.read(&mut buffer) {
            Ok(0) => return Err(no_http()),
            Ok(length) => bytes.extend_from_slice(&buffer[..length]),
            Err(error) if error.kind() == Io::Interrupted => continue,
            Err(error) if matches!(error.kind(), Io::WouldBlock | Io::TimedOut) => return Err(late()),
            Err(error) => return Err(error.into()),
        }
        // What follows the head says nothing that the status does not.
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            return posted(&String::from_utf8_lossy(&bytes[..end])).ok_or_else(no_http);
        }
        if bytes.len() >= OPS_HEAD_BYTES {
            return Err(no_http());
        }
    }
}

fn posted(head: &str) -> Option<Posted> {
    let mut lines = head.split("\r\n");
    let status = lines.next()?.strip_prefix("HTTP/1.")?.split_ascii_whitespace().nth(1)?.parse().ok()?;
    let named = |line: &str| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("retry-after").then(|| value.trim().parse().ok())?
    };
    Some(Posted { status, retry_after: lines.find_map(named) })
}

/// The body of the answer that `read` receives, piece by piece.
pub(crate) fn receive(mut read: impl FnMut(&mut [u8]) -> Result<std::io::Result<usize>>) -> Result<Vec<u8>> {
    let mut answer = Answer::default();
    let mut buffer = vec![0; 64 << 10];
    while !answer.is_whole()? {
        match read(&mut buffer)? {
            Ok(0) => return answer.at_end(),
            Ok(length) => answer.bytes.extend_from_slice(&buffer[..length]),
            Err(error) if error.kind() == Io::Interrupted => {}
            Err(error) if matches!(error.kind(), Io::WouldBlock | Io::TimedOut) => return Err(late()),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(answer.into_body())
}

struct Deadline(u64);

impl Deadline {
    fn after(patience: Duration) -> Deadline {
        Deadline(monotonic_ns().saturating_add(u64::try_from(patience.as_nanos()).unwrap_or(u64::MAX)))
    }

    fn left(&self) -> Result<Duration> {
        match self.0.saturating_sub(monotonic_ns()) {
            0 => Err(late()),
            left => Ok(Duration::from_nanos(left)),
        }
    }
}

fn late() -> Error {
    Error::new(ErrorKind::Io, "the server did not answer in time")
}

fn connect(authority: &str, deadline: &Deadline) -> Result<TcpStream> {
    let unknown = || Error::new(ErrorKind::NotFound, format!("unknown host '{authority}'"));
    let addresses = authority.to_socket_addrs().map_err(|_| unknown())?;
    let mut failure = unknown();
    for address in addresses {
        match TcpStream::connect_timeout(&address, deadline.left()?) {
            Ok(stream) => return Ok(stream),
            Err(error) if matches!(error.kind(), Io::WouldBlock | Io::TimedOut) => failure = late(),
            Err(error) => failure = error.into(),
        }
    }
    Err(failure.hint("Is the server running, and is this the port it offers its metrics on?"))
}

/// The answer received so far.
#[derive(Debug, Default)]
struct Answer {
    bytes: Vec<u8>,
    /// Known once the whole head has arrived.
    head: Option<Head>,
    /// Body decoded from chunks, and how far they are consumed.
    unchunked: Vec<u8>,
    taken: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Head {
    length: usize,
    body: Body,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Body {
    Length(usize),
    Chunked,
    /// Until the server closes the connection.
    Rest,
}

impl Answer {
    fn is_whole(&mut self) -> Result<bool> {
        let Some(head) = self.head()? else { return Ok(false) };
        let come = self.bytes.len() - head.length;
        let whole = match head.body {
            Body::Length(length) => come >= length,
            Body::Chunked => self.take_chunks(head.length)?,
            Body::Rest => false,
        };
        let most = if let Body::Length(length) = head.body { length.max(come) } else { come };
        if most > OPS_PAGE_BYTES {
            return Err(Error::new(ErrorKind::Exhausted, "the page is larger than 64 MiB"));
        }
        Ok(whole)
    }

    fn head(&mut self) -> Result<Option<Head>> {
        if self.head.is_none() {
            let searched = &self.bytes[..self.bytes.len().min(OPS_HEAD_BYTES)];
            match searched.windows(4).position(|window| window == b"\r\n\r\n") {
                Some(end) => self.head = Some(parse_head(&searched[..end + 4])?),
                None if self.bytes.len() >= OPS_HEAD_BYTES => return Err(no_http()),
                None => {}
            }
        }
        Ok(self.head)
    }

    /// Decodes the chunks that are complete; true after the last.
    fn take_chunks(&mut self, from: usize) -> Result<bool> {
        self.taken = self.taken.max(from);
        loop {
            let rest = &self.bytes[self.taken..];
            let Some(end) = rest.windows(2).take(1024).position(|window| window == b"\r\n") else {
                return if rest.len() > 1024 { Err(no_http()) } else { Ok(false) };
            };
            let size = std::str::from_utf8(&rest[..end]).ok().and_then(|line| line.split(';').next());
            let size = size.and_then(|size| usize::from_str_radix(size.trim(), 16).ok()).ok_or_else(no_http)?;
            if size > OPS_PAGE_BYTES {
                return Err(Error::new(ErrorKind::Exhausted, "the page is larger than 64 MiB"));
            }
            if size == 0 {
                return Ok(true);
            }
            let chunk = end + 2;
            if rest.len() < chunk + size + 2 {
                return Ok(false);
            }
            self.unchunked.extend_from_slice(&rest[chunk..chunk + size]);
            self.taken += chunk + size + 2;
        }
    }

    /// The server has closed the connection.
    fn at_end(mut self) -> Result<Vec<u8>> {
        match self.head()?.map(|head| head.body) {
            Some(Body::Rest) => Ok(self.into_body()),
            _ => Err(Error::new(ErrorKind::Corrupt, "the server closed the connection within its answer")),
        }
    }

    fn into_body(mut self) -> Vec<u8> {
        match self.head {
            Some(Head { body: Body::Chunked, .. }) | None => self.unchunked,
            Some(Head { length, body }) => {
                if let Body::Length(most) = body {
                    self.bytes.truncate(length + most);
                }
                self.bytes.split_off(length)
            }
        }
    }
}

fn no_http() -> Error {
    Error::new(ErrorKind::Unsupported, "the server does not answer in HTTP/1")
}

/// Checks the status line and determines how the body is sent.
fn parse_head(bytes: &[u8]) -> Result<Head> {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.split("\r\n");
    let status = lines.next().unwrap_or_default();
    let code = status.strip_prefix("HTTP/1.").and_then(|rest| rest.split_ascii_whitespace().nth(1));
    let mut head = Head { length: bytes.len(), body: Body::Rest };
    let mut moved = None;
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "content-length" if head.body != Body::Chunked => {
                head.body = Body::Length(value.parse().map_err(|_| no_http())?);
            }
            "transfer-encoding" if value.eq_ignore_ascii_case("chunked") => head.body = Body::Chunked,
            "content-encoding" if !value.eq_ignore_ascii_case("identity") => {
                return Err(Error::new(ErrorKind::Unsupported, format!("the page is compressed ({value})")));
            }
            "location" => moved = Some(value.to_string()),
            _ => {}
        }
    }
    match code.and_then(|code| code.parse::<u16>().ok()).ok_or_else(no_http)? {
        200 => Ok(head),
        code @ 300..=399 => Err(Error::new(ErrorKind::Unsupported, format!("the server redirects (status {code})"))
            .hint(format!("Give the address it points to: {}.", moved.unwrap_or_else(|| "it names none".into())))),
        code @ (401 | 403) => Err(Error::new(ErrorKind::NotPermitted, format!("the server refuses (status {code})"))),
        404 => Err(Error::new(ErrorKind::NotFound, "the server has no such page (status 404)")),
        code => Err(Error::new(ErrorKind::Io, format!("the server answers with status {code}"))),
    }
    .context(|| status.chars().filter(|c| !c.is_control()).take(60).collect::<String>())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// Serves one answer, in pieces of `piece` bytes.
    fn served(answer: Vec<u8>, piece: usize, hang_up: bool) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let authority = listener.local_addr().unwrap().to_string();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            let mut byte = [0; 1];
            while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() > 0 {
                request.push(byte[0]);
            }
            for piece in answer.chunks(piece) {
                stream.write_all(piece).unwrap();
                stream.flush().unwrap();
            }
            if !hang_up {
                let _ = stream.read(&mut byte);
            }
        });
        authority
    }

    fn check(answer: &str, expected: Result<&str, &str>) {
        let hang_up = expected.is_err() || !answer.contains("ength") && !answer.contains("hunked");
        for piece in [1, 7, 4096] {
            let authority = served(answer.into(), piece, hang_up);
            match (get(&authority, "/metrics", Duration::from_secs(20)), expected) {
                (Ok(body), Ok(expected)) => assert_eq!(body, expected.as_bytes(), "{answer:?} by {piece}"),
                (Err(error), Err(expected)) => {
                    assert!(format!("{error} {:?}", error.remedy()).contains(expected), "{answer:?}: {error}");
                }
                other => panic!("{answer:?} by {piece}: {other:?}"),
            }
        }
    }

    #[test]
    fn bodies_come_in_each_of_the_three_ways() {
        check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello and more", Ok("hello"));
        check("HTTP/1.0 200 OK\r\nA: b\r\n\r\nall of it", Ok("all of it"));
        check(
            "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n4\r\nab\r\n\r\n3;x=y\r\ncde\r\n0\r\n\r\n",
            Ok("ab\r\ncde"),
        );
        check("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", Ok(""));
    }

    #[test]
    fn anything_but_a_plain_page_is_refused_with_the_reason() {
        for (answer, expected) in [
            ("HTTP/1.1 302 Found\r\nLocation: https://x/y\r\n\r\n", "https://x/y"),
            ("HTTP/1.1 404 Not Found\r\n\r\n", "no such page"),
            ("HTTP/1.1 401 No\r\n\r\n", "refuses"),
            ("HTTP/1.1 500 Oops\r\n\r\n", "status 500"),
            ("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", "compressed"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nshort", "closed the connection"),
            ("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "HTTP/1"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", "64 MiB"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "HTTP/1"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffff\r\n", "64 MiB"),
            ("SSH-2.0-OpenSSH\r\n\r\n", "HTTP/1"),
            ("", "closed the connection"),
        ] {
            check(answer, Err(expected));
        }
    }

    #[test]
    fn any_status_is_an_answer_to_what_is_posted() {
        for (answer, expected) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", Some((200, None))),
            ("HTTP/1.1 503 Busy\r\nRetry-After: 7\r\n\r\n", Some((503, Some(7)))),
            ("HTTP/1.1 429 Slow\r\nretry-after: Wed, 21 Oct 2015 07:28:00 GMT\r\n\r\n", Some((429, None))),
            ("SSH-2.0\r\n\r\n", None),
            ("", None),
        ] {
            for piece in [1, 4096] {
                let authority = served(answer.into(), piece, true);
                let answered = post(&authority, "/v1/metrics", "text/plain", b"", Duration::from_secs(20)).ok();
                assert_eq!(answered.map(|answer| (answer.status, answer.retry_after)), expected, "{answer:?}");
            }
        }
    }

    #[test]
    fn a_server_that_stalls_or_is_not_there_is_given_up() {
        let authority = served(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhal".to_vec(), 99, false);
        let error = get(&authority, "/", Duration::from_millis(50)).unwrap_err();
        assert!(error.to_string().contains("in time"), "{error}");
        let unused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let error = get(&unused, "/", Duration::from_secs(5)).unwrap_err();
        assert!(error.to_string().contains("refused") && error.remedy().is_some(), "{error}");
    }
}
