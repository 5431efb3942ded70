#![expect(clippy::unwrap_used, reason = "tests")]
use super::*;
use crate::error::ErrorKind;
use crate::model::limits::{HTTP_CONNECTIONS, HTTP_HEAD};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

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

const GOOD: &[u8] = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";

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
    let silent: Vec<_> = (0..2 * HTTP_CONNECTIONS).map(|_| TcpStream::connect(server.address()).unwrap()).collect();
    assert!(ask(server.address(), GOOD).contains(" 200 "), "answered after the silent ones were given up");
    drop(silent);
}

/// Every other one of them sent a piece of a request, or a whole one whose answer it does not read.
#[test]
fn five_hundred_half_open_connections_delay_a_scrape_by_less_than_a_second() {
    let server = serve();
    crate::sys::limits::raise_open_files();
    for begun in [b"GET /metr".as_slice(), GOOD] {
        let mut half_open: Vec<_> = (0..500).map(|_| TcpStream::connect(server.address()).unwrap()).collect();
        for stream in half_open.iter_mut().step_by(2) {
            // Those that waited for a place may have lost it already.
            let _ = stream.write_all(begun);
        }
        for scrape in 0..4 {
            let asked = Instant::now();
            assert!(ask(server.address(), GOOD).contains(" 200 "), "scrape {scrape}");
            assert!(asked.elapsed() < Duration::from_secs(1), "scrape {scrape} took {:?}", asked.elapsed());
        }
    }
}

#[test]
fn a_request_for_a_name_of_another_machine_is_refused_with_what_to_ask_for() {
    let (server, asked) = counting_server();
    let answer = ask(server.address(), b"GET /empty HTTP/1.1\r\nHost: evil.example:9469\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 421 ") && answer.contains("ask for localhost"), "{answer}");
    assert!(asked.lock().unwrap().is_empty());
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

/// A server whose pages are counted, and the paths that were asked for.
fn counting_server() -> (HttpServer, Arc<Mutex<Vec<String>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let pages = move |path: &str| {
        seen.lock().unwrap().push(path.to_string());
        (path == "/empty").then(|| Page { content_type: "text/plain", body: Vec::new() })
    };
    (HttpServer::start(&["127.0.0.1:0".parse().unwrap()], pages).unwrap(), asked)
}

/// Sends the pieces one by one, each on its own, and reads the answer.
fn ask_in_pieces(address: SocketAddr, pieces: &[&[u8]]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    for piece in pieces {
        stream.write_all(piece).unwrap();
    }
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_request_may_arrive_in_pieces_cut_anywhere() {
    let server = serve();
    for cut in 1..GOOD.len() {
        let (first, rest) = GOOD.split_at(cut);
        assert!(ask_in_pieces(server.address(), &[first, rest]).ends_with("\r\n\r\na 1\n"), "cut at {cut}");
    }
    let bytes: Vec<&[u8]> = GOOD.chunks(1).collect();
    assert!(ask_in_pieces(server.address(), &bytes).ends_with("\r\n\r\na 1\n"), "byte by byte");
}

#[test]
fn a_client_that_sends_no_more_still_gets_its_page() {
    let server = serve();
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.write_all(GOOD).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("\r\n\r\na 1\n"), "{answer}");
}

#[test]
fn clients_that_leave_in_the_middle_cost_the_next_one_nothing() {
    let server = serve();
    for left_after in [0, 1, 5, GOOD.len() - 1, GOOD.len()] {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.write_all(&GOOD[..left_after]).unwrap();
        drop(stream);
        assert!(ask(server.address(), GOOD).contains(" 200 "), "after one that left after {left_after} bytes");
    }
}

#[test]
fn what_follows_a_request_is_ignored_and_cannot_spoil_the_answer() {
    let (server, asked) = counting_server();
    let twice = [b"GET /empty?a=1 HTTP/1.1\r\nHost: localhost\r\n\r\n".as_slice(), GOOD].concat();
    let body = [b"GET /empty HTTP/1.1\r\nHost: localhost\r\nContent-Length: 40000\r\n\r\n".as_slice(), &[b'x'; 40_000]]
        .concat();
    for request in [&twice, &body] {
        let answer = ask(server.address(), request);
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{answer}");
        assert!(answer.contains("Content-Length: 0\r\n") && answer.ends_with("\r\n\r\n"), "{answer}");
    }
    assert_eq!(*asked.lock().unwrap(), ["/empty", "/empty"], "a path without its query, and nothing pipelined");
}

#[test]
fn what_is_refused_reaches_no_page() {
    let (server, asked) = counting_server();
    let long = [b"GET /empty HTTP/1.0\r\nA: ".as_slice(), &vec![b'y'; HTTP_HEAD]].concat();
    for (request, status) in [
        (b"POST /empty HTTP/1.0\r\n\r\n".as_slice(), "405"),
        (b"GET /empty HTTP/3.0\r\n\r\n", "400"),
        (b"GET /\xff\xfe HTTP/1.0\r\n\r\n", "400"),
        (b"GET /empty HTTP/1.0\r\nA: \0\r\n\r\n", "400"),
        (b"\r\n\r\n", "400"),
        (b"\x80\x80\x80", "400"),
        (&long, "431"),
    ] {
        let answer = ask(server.address(), request);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{answer}");
    }
    assert!(asked.lock().unwrap().is_empty());
}

#[test]
fn a_client_that_does_not_read_holds_up_nobody_else() {
    let server = serve();
    let mut slow = TcpStream::connect(server.address()).unwrap();
    slow.write_all(b"GET /large HTTP/1.0\r\n\r\n").unwrap();
    // Its answer is larger than the sockets' buffers, so it cannot be sent whole before it is read.
    let mut head = [0; 15];
    slow.read_exact(&mut head).unwrap();
    assert_eq!(&head, b"HTTP/1.1 200 OK");
    for _ in 0..3 {
        assert!(ask(server.address(), GOOD).contains(" 200 "));
    }
}

#[test]
fn more_clients_than_places_are_all_answered() {
    let server = serve();
    let mut clients: Vec<_> =
        (0..3 * HTTP_CONNECTIONS).map(|_| TcpStream::connect(server.address()).unwrap()).collect();
    clients.iter_mut().for_each(|client| client.write_all(GOOD).unwrap());
    for (number, client) in clients.iter_mut().enumerate() {
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        assert!(answer.ends_with("\r\n\r\na 1\n"), "client {number}: {answer}");
    }
}

#[test]
fn a_page_that_panics_ends_the_server_and_not_the_program() {
    let panics = |_: &str| -> Option<Page> { panic!("a page with a bug") };
    let server = HttpServer::start(&["127.0.0.1:0".parse().unwrap()], panics).unwrap();
    let address = server.address();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(GOOD).unwrap();
    let mut answer = Vec::new();
    // The connection may be reset instead of closed.
    let _ = stream.read_to_end(&mut answer);
    assert!(answer.is_empty(), "{}", String::from_utf8_lossy(&answer));
    drop(server);
    assert!(TcpStream::connect(address).is_err(), "nobody listens any more");
}

#[test]
fn an_address_that_cannot_be_had_is_named() {
    assert_eq!(HttpServer::start(&[], |_| None).unwrap_err().to_string(), "no address to listen at");
    // Documentation addresses belong to no machine.
    let foreign = "192.0.2.1:9500".parse().unwrap();
    let error = HttpServer::start(&[foreign], |_| None).unwrap_err();
    assert!(error.to_string().starts_with("cannot listen at 192.0.2.1:9500: "), "{error}");
}
