#![expect(clippy::unwrap_used, reason = "tests")]
use super::server::MOST;
use super::*;
use crate::error::ErrorKind;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

fn serve() -> HttpServer {
    let pages = |path: &str| {
        let page = |body: &str| Page { content_type: "text/plain", body: body.as_bytes().to_vec() };
        match path {
            "/metrics" => Some(page("a 1\n")),
            "/large" => Some(page(&"x".repeat(8 << 20))),
            _ => None,
        }
    };
    HttpServer::start(&["127.0.0.1:0".parse().unwrap()], pages).unwrap()
}

fn ask(address: SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

const GOOD: &[u8] = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";

#[test]
fn a_page_is_given_with_its_length_and_the_connection_closed() {
    let server = serve();
    let answer = ask(server.address(), GOOD);
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n"), "{answer}");
    assert!(answer.contains("Connection: close\r\n") && answer.ends_with("\r\n\r\na 1\n"), "{answer}");
    let large = ask(server.address(), b"GET /large HTTP/1.0\r\n\r\n");
    assert!(large.len() > 8 << 20, "a page larger than the socket's buffer comes whole: {}", large.len());
}

#[test]
fn everything_else_is_refused_and_the_next_client_is_served() {
    let server = serve();
    let huge = [b"GET / HTTP/1.1\r\nA: ".as_slice(), &vec![b'y'; 9000]].concat();
    for (request, status) in [
        (b"GET /none HTTP/1.0\r\n\r\n".as_slice(), "404"),
        (b"DELETE /metrics HTTP/1.0\r\n\r\n", "405"),
        (b"\x16\x03\x01\x02\x00", "400"),
        (&huge, "431"),
    ] {
        let answer = ask(server.address(), request);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        assert_eq!(answer.contains("Allow: GET"), status == "405");
    }
    assert!(ask(server.address(), GOOD).contains(" 200 "));
}

#[test]
fn silent_clients_hold_up_nobody_for_longer_than_their_time() {
    let server = serve();
    let silent: Vec<_> = (0..2 * MOST).map(|_| TcpStream::connect(server.address()).unwrap()).collect();
    assert!(ask(server.address(), GOOD).contains(" 200 "), "answered after the silent ones were given up");
    drop(silent);
}

#[test]
fn the_next_free_address_is_taken_and_none_is_an_error() {
    let server = serve();
    let free = "127.0.0.1:0".parse().unwrap();
    let second = HttpServer::start(&[server.address(), free], |_| None).unwrap();
    assert_ne!(second.address(), server.address());
    let error = HttpServer::start(&[server.address()], |_| None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Exhausted);
    assert!(error.to_string().contains("is taken") && error.remedy().is_some(), "{error}");
    let address = server.address();
    drop(server);
    assert!(TcpListener::bind(address).is_ok() || TcpStream::connect(address).is_err(), "nobody listens any more");
}
