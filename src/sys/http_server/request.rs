//! Parses the head of an HTTP request, strictly. Pure: bytes in, a path or a refusal out.
//! Paths are not decoded: the few that are served need no escapes.

/// Bytes of the largest head accepted: more than any scraper sends.
pub(super) const MAX_HEAD: usize = 8 << 10;

/// Result of parsing the bytes received so far.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ParsedRequest {
    /// The head is still incomplete.
    More,
    /// This path, without its query.
    Page(String),
    /// An invalid or unsupported request: status and reason.
    Refused(u16, &'static str),
}

const BAD: ParsedRequest = ParsedRequest::Refused(400, "Bad Request");

/// Parses a request's head.
pub(super) fn parse_request(bytes: &[u8]) -> ParsedRequest {
    let searched = &bytes[..bytes.len().min(MAX_HEAD)];
    let Some(end) = searched.windows(4).position(|window| window == b"\r\n\r\n") else {
        // Waiting is pointless if these bytes cannot become a request.
        return if begins(searched) { ParsedRequest::More } else { BAD };
    };
    let Ok(head) = std::str::from_utf8(&searched[..end]) else { return BAD };
    let mut lines = head.split("\r\n");
    let first: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
    let [method, target, version] = first[..] else { return BAD };
    let headers: Option<Vec<_>> = lines.map(header).collect();
    let Some(headers) = headers else { return BAD };
    let hosts = headers.iter().filter(|name| name.eq_ignore_ascii_case("host")).count();
    let is_method = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_version = version == "HTTP/1.1" && hosts == 1 || version == "HTTP/1.0" && hosts <= 1;
    let is_target = target.starts_with('/') && target.bytes().all(|byte| byte.is_ascii_graphic());
    match (is_method && is_version && is_target, method) {
        (false, _) => BAD,
        (true, "GET") => ParsedRequest::Page(target.split('?').next().unwrap_or_default().to_string()),
        (true, _) => ParsedRequest::Refused(405, "Method Not Allowed"),
    }
}

/// Whether the first line may still become a valid one: all its bytes so far are printable.
fn begins(bytes: &[u8]) -> bool {
    let line = bytes.split(|byte| *byte == b'\r').next().unwrap_or_default();
    line.iter().all(|byte| matches!(byte, b' '..=b'~'))
}

/// A header's name; `None` for an invalid header. Folded lines are refused, as the standard requires of servers.
fn header(line: &str) -> Option<&str> {
    let (name, value) = line.split_once(':')?;
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let sound =
        !name.is_empty() && name.bytes().all(token) && !value.bytes().any(|byte| matches!(byte, 0 | b'\n' | b'\r'));
    sound.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_a_page_or_a_refusal_and_nothing_in_between() {
        let page = |path: &str| ParsedRequest::Page(path.to_string());
        let long = format!("GET /metrics HTTP/1.1\r\nHost: x\r\nA: {}\r\n\r\n", "y".repeat(MAX_HEAD));
        for (text, expected) in [
            ("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", page("/metrics")),
            ("GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: */*\r\n\r\nand more", page("/metrics")),
            ("GET /?a=b HTTP/1.0\r\n\r\n", page("/")),
            ("GET /%6detrics HTTP/1.0\r\n\r\n", page("/%6detrics")),
            ("HEAD /metrics HTTP/1.1\r\nHost: x\r\n\r\n", ParsedRequest::Refused(405, "Method Not Allowed")),
            (
                "POST / HTTP/1.1\r\nhost: x\r\nContent-Length: 5\r\n\r\n",
                ParsedRequest::Refused(405, "Method Not Allowed"),
            ),
            ("", ParsedRequest::More),
            ("GET /met", ParsedRequest::More),
            ("GET / HTTP/1.1\r\nHost: x\r\n", ParsedRequest::More),
            (&long, ParsedRequest::More),
            ("GET / HTTP/1.1\r\n\r\n", BAD),
            ("GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", BAD),
            ("GET / HTTP/2.0\r\nHost: x\r\n\r\n", BAD),
            ("GET /\r\n\r\n", BAD),
            ("GET  / HTTP/1.1\r\nHost: x\r\n\r\n", BAD),
            ("GET http://x/metrics HTTP/1.1\r\nHost: x\r\n\r\n", BAD),
            ("GET / HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n", BAD),
            ("GET / HTTP/1.1\r\nHost : x\r\n\r\n", BAD),
            ("GET / HTTP/1.1\r\nHost: x\r\nA: b\nC: d\r\n\r\n", BAD),
            ("G\u{e9}T / HTTP/1.0\r\n\r\n", BAD),
            ("\u{16}\u{3}\u{1}", BAD),
            ("\n", BAD),
        ] {
            assert_eq!(parse_request(text.as_bytes()), expected, "{text:.80?}");
        }
    }
}
