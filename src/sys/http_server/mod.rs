//! A minimal HTTP/1.1 server for metrics scrapers: a page or two, one thread, everything bounded.
//! A connection serves one request without a body, and a slow client does not delay another.

mod connection;
mod request;
mod server;

pub use connection::Page;
#[cfg(any(test, fuzzing))]
pub(crate) use request::parse_request;
pub use server::HttpServer;

#[cfg(test)]
mod tests;
