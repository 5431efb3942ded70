//! Parses the head of an HTTP request, strictly. Pure: bytes in, a path or a refusal out.
//! Paths are not decoded: the few that are served need no escapes.
//! A page of the web can point a name of its own at this machine and have the browser ask here under it ("DNS rebinding").
//! So only requests for a loopback name or address, or for the address they arrived at, are answered.

use crate::model::limits::HTTP_HEAD;
use std::net::{IpAddr, Ipv6Addr};

/// Result of parsing the bytes received so far.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ParsedRequest {
    /// The head is still incomplete.
    More,
    /// This path, without its query.
    Page(String),
    /// An invalid or unsupported request: status and reason.
    Refused(u16, &'static str),
}

const BAD: ParsedRequest = ParsedRequest::Refused(400, "Bad Request");

const MISDIRECTED: ParsedRequest = ParsedRequest::Refused(421, "Misdirected Request");

/// Parses the head of a request that arrived at the address `local`.
pub(crate) fn parse_request(bytes: &[u8], local: Option<IpAddr>) -> ParsedRequest {
    let searched = &bytes[..bytes.len().min(HTTP_HEAD)];
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
    let hosts: Vec<&str> =
        headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("host")).map(|(_, value)| *value).collect();
    let is_method = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_version = version == "HTTP/1.1" && hosts.len() == 1 || version == "HTTP/1.0" && hosts.len() <= 1;
    let is_target = target.starts_with('/') && target.bytes().all(|byte| byte.is_ascii_graphic());
    match (is_method && is_version && is_target, method) {
        (false, _) => BAD,
        _ if !hosts.iter().all(|host| is_own(host, local)) => MISDIRECTED,
        (true, "GET") => ParsedRequest::Page(target.split('?').next().unwrap_or_default().to_string()),
        (true, _) => ParsedRequest::Refused(405, "Method Not Allowed"),
    }
}

/// Whether the first line may still become a valid one: all its bytes so far are printable.
fn begins(bytes: &[u8]) -> bool {
    let line = bytes.split(|byte| *byte == b'\r').next().unwrap_or_default();
    line.iter().all(|byte| matches!(byte, b' '..=b'~'))
}

/// Whether a `Host` names this machine in a way that no foreign name server decides. The port may be a forwarded one.
fn is_own(host: &str, local: Option<IpAddr>) -> bool {
    let (name, port) = match host.rfind(':') {
        Some(colon) if !host.ends_with(']') => (&host[..colon], &host[colon + 1..]),
        _ => (host, ""),
    };
    let address = match name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(address) => address.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
        None => name.parse().ok().filter(IpAddr::is_ipv4),
    };
    let of_this_machine = |address: IpAddr| address.is_loopback() || Some(address) == local;
    // No browser leaves it empty.
    host.is_empty()
        || port.bytes().all(|byte| byte.is_ascii_digit())
            && (name.eq_ignore_ascii_case("localhost") || address.is_some_and(of_this_machine))
}

/// A header's name and value; `None` for an invalid header. Folded lines are refused, as the standard requires of servers.
fn header(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(':')?;
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let sound =
        !name.is_empty() && name.bytes().all(token) && !value.bytes().any(|byte| matches!(byte, 0 | b'\n' | b'\r'));
    sound.then_some((name, value.trim_matches([' ', '\t'])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(bytes: &[u8]) -> ParsedRequest {
        parse_request(bytes, Some("10.1.2.3".parse().expect("an address")))
    }

    #[test]
    fn a_request_is_a_page_or_a_refusal_and_nothing_in_between() {
        let page = |path: &str| ParsedRequest::Page(path.to_string());
        let long = format!("GET /metrics HTTP/1.1\r\nHost: localhost\r\nA: {}\r\n\r\n", "y".repeat(HTTP_HEAD));
        for (text, expected) in [
            ("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", page("/metrics")),
            ("GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\nand more", page("/metrics")),
            ("GET /?a=b HTTP/1.0\r\n\r\n", page("/")),
            ("GET /%6detrics HTTP/1.0\r\n\r\n", page("/%6detrics")),
            ("HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", ParsedRequest::Refused(405, "Method Not Allowed")),
            (
                "POST / HTTP/1.1\r\nhost: localhost\r\nContent-Length: 5\r\n\r\n",
                ParsedRequest::Refused(405, "Method Not Allowed"),
            ),
            ("", ParsedRequest::More),
            ("GET /met", ParsedRequest::More),
            ("GET / HTTP/1.1\r\nHost: localhost\r\n", ParsedRequest::More),
            (&long, ParsedRequest::More),
            ("GET / HTTP/1.1\r\n\r\n", BAD),
            ("GET / HTTP/1.1\r\nHost: localhost\r\nHost: y\r\n\r\n", BAD),
            ("GET / HTTP/2.0\r\nHost: localhost\r\n\r\n", BAD),
            ("GET /\r\n\r\n", BAD),
            ("GET  / HTTP/1.1\r\nHost: localhost\r\n\r\n", BAD),
            ("GET http://localhost/metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", BAD),
            ("GET / HTTP/1.1\r\nHost: localhost\r\n folded\r\n\r\n", BAD),
            ("GET / HTTP/1.1\r\nHost : x\r\n\r\n", BAD),
            ("GET / HTTP/1.1\r\nHost: localhost\r\nA: b\nC: d\r\n\r\n", BAD),
            ("G\u{e9}T / HTTP/1.0\r\n\r\n", BAD),
            ("\u{16}\u{3}\u{1}", BAD),
            ("\n", BAD),
        ] {
            assert_eq!(parse(text.as_bytes()), expected, "{text:.80?}");
        }
    }

    #[test]
    fn hostile_heads_are_refused_for_what_they_are() {
        let host = "Host: localhost\r\n\r\n";
        for (why, head) in [
            ("a request without a line", "\r\n\r\n".to_string()),
            ("a tab for a blank", format!("GET\t/ HTTP/1.1\r\n{host}")),
            ("a version in small letters", format!("GET / http/1.1\r\n{host}")),
            ("a version with more behind it", format!("GET / HTTP/1.1x\r\n{host}")),
            ("a fourth word", format!("GET / / HTTP/1.1\r\n{host}")),
            ("a method that is no word", format!("G-T / HTTP/1.1\r\n{host}")),
            ("a path that is not absolute", format!("GET metrics HTTP/1.1\r\n{host}")),
            ("a proxy's request", format!("CONNECT x:80 HTTP/1.1\r\n{host}")),
            ("a request for the server itself", format!("OPTIONS * HTTP/1.1\r\n{host}")),
            ("a control character in the path", format!("GET /\u{7f} HTTP/1.1\r\n{host}")),
            ("a path beyond ASCII", format!("GET /\u{e9} HTTP/1.1\r\n{host}")),
            ("a header without a colon", format!("GET / HTTP/1.1\r\nrubbish\r\n{host}")),
            ("a header without a name", format!("GET / HTTP/1.1\r\n: a\r\n{host}")),
            ("a blank in a header's name", format!("GET / HTTP/1.1\r\nA B: a\r\n{host}")),
            ("a bare carriage return in a value", format!("GET / HTTP/1.1\r\nA: b\rC: d\r\n{host}")),
            ("a zero in a value", format!("GET / HTTP/1.1\r\nA: b\0\r\n{host}")),
            ("two hosts in an old request", "GET / HTTP/1.0\r\nHost: localhost\r\nhost: y\r\n\r\n".to_string()),
        ] {
            assert_eq!(parse(head.as_bytes()), BAD, "{why}");
        }
        for (why, head) in [
            ("headers in any order and of any number", format!("GET / HTTP/1.1\r\n{}{host}", "A: b\r\n".repeat(500))),
            ("a header without a value", format!("GET / HTTP/1.1\r\nA:\r\n{host}")),
            ("a host that is empty", "GET / HTTP/1.1\r\nHost:\r\n\r\n".to_string()),
            ("a value beyond ASCII", format!("GET / HTTP/1.1\r\nA: \u{e9}\r\n{host}")),
        ] {
            assert_eq!(parse(head.as_bytes()), ParsedRequest::Page("/".to_string()), "{why}");
        }
    }

    #[test]
    fn only_names_that_no_foreign_name_server_decides_are_answered() {
        for (host, own) in [
            ("localhost", true),
            ("LocalHost:9469", true),
            ("127.0.0.1", true),
            ("127.8.8.8:9469", true),
            ("[::1]:9469", true),
            ("[::1]", true),
            ("\t 127.0.0.1:1 ", true),
            ("10.1.2.3:9469", true),
            ("localhost:", true),
            ("", true),
            (":9469", false),
            ("10.1.2.4:9469", false),
            ("0.0.0.0:9469", false),
            ("[::]", false),
            ("x", false),
            ("localhost.evil.example:9469", false),
            ("evil.example", false),
            ("127.0.0.1.evil.example", false),
            ("localhost:9469:80", false),
            ("localhost:x", false),
            ("127.0.0.1@evil.example", false),
            ("evil.example@127.0.0.1", false),
            ("::1", false),
            ("[127.0.0.1]", false),
            ("[::1", false),
            ("[::1]x", false),
            ("2130706433", false),
            ("0x7f.1", false),
            ("127.1", false),
            ("localhost, evil.example", false),
        ] {
            let head = format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n");
            let expected = if own { ParsedRequest::Page("/".to_string()) } else { MISDIRECTED };
            assert_eq!(parse(head.as_bytes()), expected, "{host:?}");
        }
        let foreign = b"GET / HTTP/1.0\r\nHost: 10.1.2.3\r\n\r\n";
        assert_eq!(parse_request(foreign, None), MISDIRECTED, "where the own address is not known");
        assert_eq!(parse(b"POST / HTTP/1.1\r\nHost: evil.example\r\n\r\n"), MISDIRECTED);
    }

    #[test]
    fn a_head_is_read_up_to_the_limit_and_not_a_byte_further() {
        let frame = "GET / HTTP/1.0\r\nA: \r\n\r\n".len();
        let head = |length: usize| format!("GET / HTTP/1.0\r\nA: {}\r\n\r\n", "y".repeat(length - frame));
        assert_eq!(parse(head(HTTP_HEAD).as_bytes()), ParsedRequest::Page("/".to_string()));
        assert_eq!(parse(head(HTTP_HEAD + 1).as_bytes()), ParsedRequest::More, "the server refuses it by size");
    }

    #[test]
    fn every_beginning_of_a_request_may_still_become_one() {
        let whole = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n";
        for length in 0..whole.len() {
            assert_eq!(parse(&whole[..length]), ParsedRequest::More, "{length} bytes");
        }
        assert_eq!(parse(whole), ParsedRequest::Page("/metrics".to_string()));
    }
}
