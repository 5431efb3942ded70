//! One GET of plain HTTP/1.1, as little as an exporter on this machine needs: no redirects, no encryption, no reuse.
//! It never waits longer than its patience and never reads more than a bounded answer.

use crate::error::{Context, Error, ErrorKind, Result};
use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_millis(1500);
const LARGEST: u64 = 64 << 20;

/// The body of the answer.
///
/// # Errors
/// Nobody answers there, in time, with a page.
pub fn get(authority: &str, path: &str) -> Result<String> {
    let place = || format!("cannot read http://{authority}{path}");
    let address = authority.to_socket_addrs().context(place)?.next();
    let address = address.ok_or_else(|| Error::new(ErrorKind::NotFound, "the host has no address").context(place()))?;
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE).context(place)?;
    stream.set_read_timeout(Some(PATIENCE)).and_then(|()| stream.set_write_timeout(Some(PATIENCE))).context(place)?;
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: {authority}\r\nUser-Agent: ironlaw\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).context(place)?;
    let mut answer = Vec::new();
    stream.take(LARGEST).read_to_end(&mut answer).context(place)?;
    body(&answer).map_err(|error| error.context(place()))
}

/// The body of a whole answer.
fn body(answer: &[u8]) -> Result<String> {
    let wrong = |why: String| Error::new(ErrorKind::Corrupt, why);
    let end = answer.windows(4).position(|part| part == b"\r\n\r\n");
    let end = end.ok_or_else(|| wrong("the answer is no HTTP".to_string()))?;
    let head = String::from_utf8_lossy(&answer[..end]);
    let status = head.split(' ').nth(1).unwrap_or_default();
    if !head.starts_with("HTTP/") || status != "200" {
        let first = head.lines().next().unwrap_or_default();
        return Err(wrong(format!("the answer is '{first}'")));
    }
    let is_chunked = head.lines().any(|line| {
        let (name, value) = line.split_once(':').unwrap_or_default();
        name.eq_ignore_ascii_case("transfer-encoding") && value.trim().eq_ignore_ascii_case("chunked")
    });
    let rest = &answer[end + 4..];
    let bytes = if is_chunked {
        unchunk(rest).ok_or_else(|| wrong("the answer breaks off".to_string()))?
    } else {
        rest.to_vec()
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn unchunk(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(rest.len());
    loop {
        let end = rest.windows(2).position(|part| part == b"\r\n")?;
        let size = std::str::from_utf8(&rest[..end]).ok()?.split(';').next()?;
        let size = usize::from_str_radix(size.trim(), 16).ok()?;
        if size == 0 {
            return Some(bytes);
        }
        let chunk = rest.get(end + 2..end.checked_add(2)?.checked_add(size)?)?;
        bytes.extend_from_slice(chunk);
        rest = rest.get(end + 2 + size + 2..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_whole_or_in_chunks() {
        for (answer, expected) in [
            ("HTTP/1.0 200 OK\r\nX: y\r\n\r\nm 1\n", Some("m 1\n")),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nm 1\r\n1;x\r\n\n\r\n0\r\n\r\n", Some("m 1\n")),
            ("HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\nffffffffffffffff\r\nm", None),
            ("HTTP/1.1 404 Not Found\r\n\r\n", None),
            ("HTTP/1.1 302 Found\r\nLocation: /x\r\n\r\n", None),
            ("SSH-2.0-OpenSSH\r\n", None),
        ] {
            assert_eq!(body(answer.as_bytes()).ok().as_deref(), expected, "{answer}");
        }
    }

    #[test]
    fn nobody_there_is_said_with_the_address() {
        let error = get("127.0.0.1:1", "/metrics").err().map(|error| error.to_string());
        assert!(error.as_deref().is_some_and(|text| text.contains("http://127.0.0.1:1/metrics")), "{error:?}");
    }
}
