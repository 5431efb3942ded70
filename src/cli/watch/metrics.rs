//! The metrics page: its address, and its contents on request. The watch and the page do not wait for each other.

use super::otlp::MetricsPusher;
use crate::cli::args::{Collector, Listen, METRICS_PORT};
use crate::error::Result;
use crate::export::openmetrics;
use crate::sys::clock;
use crate::sys::http_server::{HttpServer, Page};
use crate::sys::procfs::{ProcFs, resident_bytes};
use crate::view::watch::{Gauges, Message};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Number of ports tried in sequence.
const PORTS: u16 = 10;

/// The gauges and their server.
#[derive(Debug)]
pub(super) struct Metrics {
    gauges: Arc<Mutex<Gauges>>,
    server: Option<HttpServer>,
    note: Option<Message>,
    pusher: Option<MetricsPusher>,
}

impl Metrics {
    /// Serves the gauges. If the default ports cannot be used, this is a note, not an error.
    ///
    /// # Errors
    /// The given address cannot be bound.
    pub(super) fn start(listen: Option<Listen>, gauges: Gauges) -> Result<Metrics> {
        let gauges = Arc::new(Mutex::new(gauges));
        let shown = gauges.clone();
        let pages = move |path: &str| page(path, &shown);
        let local = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
        let (server, note) = match listen {
            Some(Listen::Off) => (None, None),
            Some(Listen::At(address)) => (Some(HttpServer::start(&[address], pages)?), None),
            None => {
                let usual: Vec<_> = (METRICS_PORT..METRICS_PORT + PORTS).map(local).collect();
                served(HttpServer::start(&usual, pages), usual[0])
            }
        };
        Ok(Metrics { gauges, server, note, pusher: None })
    }

    /// Also pushes the gauges from now on. `tell` gets what goes wrong.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub(super) fn push(&mut self, to: Collector, tell: impl FnMut(Message) + Send + 'static) -> Result<()> {
        let gauges = self.gauges.clone();
        self.pusher = Some(MetricsPusher::start(to, move || current(&gauges), tell)?);
        Ok(())
    }

    /// Pushes the last values, if they are pushed.
    pub(super) fn finish_pushing(&mut self) {
        self.pusher.take().into_iter().for_each(MetricsPusher::finish);
    }

    /// The address of the page.
    pub(super) fn address(&self) -> Option<String> {
        self.server.as_ref().map(|server| format!("http://{}/metrics", server.address()))
    }

    /// A note about the address, if any.
    pub(super) fn note(&self) -> Option<Message> {
        self.note.clone()
    }

    /// The gauges, for updates.
    pub(super) fn gauges(&self) -> MutexGuard<'_, Gauges> {
        lock(&self.gauges)
    }
}

/// The numbers stay valid even if a thread panicked while it held the lock.
fn lock(gauges: &Mutex<Gauges>) -> MutexGuard<'_, Gauges> {
    gauges.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The result if no address was given: a watch continues without metrics, because they were not requested.
fn served(started: Result<HttpServer>, usual: SocketAddr) -> (Option<HttpServer>, Option<Message>) {
    match started {
        Ok(server) => {
            let text = || format!("port {} is taken: metrics are on the next free one", usual.port());
            let note = (server.address() != usual).then(|| Message::plain(text()));
            (Some(server), note)
        }
        Err(error) => {
            let fix = "Give --listen off, or an address that can be listened at, e.g. --listen 127.0.0.1:9500.";
            (None, Some(Message::of(&error.context("metrics are not served").hint(fix))))
        }
    }
}

/// The gauges, with what ironlaw uses itself.
fn current(gauges: &Mutex<Gauges>) -> Gauges {
    let mut now = lock(gauges).clone();
    now.cpu_seconds = clock::process_cpu().seconds();
    now.resident_bytes = ProcFs::new("/proc").read("self/statm").ok().and_then(|statm| resident_bytes(&statm));
    now
}

fn page(path: &str, gauges: &Mutex<Gauges>) -> Option<Page> {
    match path {
        "/metrics" => Some(Page { content_type: openmetrics::CONTENT_TYPE, body: openmetrics::page(&current(gauges)) }),
        "/" => {
            let body = b"ironlaw watch: its metrics are at /metrics\n".to_vec();
            Some(Page { content_type: "text/plain; charset=utf-8", body })
        }
        _ => None,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::error::{Error, ErrorKind};

    #[test]
    fn metrics_that_nobody_asked_for_never_fail() {
        let usual = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), METRICS_PORT);
        for kind in [ErrorKind::Exhausted, ErrorKind::NotPermitted, ErrorKind::Io, ErrorKind::Unsupported] {
            let (none, note) = served(Err(Error::new(kind, "cannot listen at 127.0.0.1:9464")), usual);
            let note = note.unwrap();
            assert!(none.is_none() && note.text.contains("metrics are not served: cannot listen"), "{note:?}");
            assert!(note.fix.unwrap().contains("--listen off"));
        }
    }
}
