//! The page of metrics: where it is offered, and what it says when it is asked for.
//! It never waits for the watch, and the watch never for it.

use crate::cli::args::{Listen, METRICS_PORT};
use crate::error::Result;
use crate::export::openmetrics;
use crate::sys::answering::{Answering, Page};
use crate::sys::clock;
use crate::sys::procfs::{ProcFs, resident_bytes};
use crate::view::watch::{Gauges, Said};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Ports that are tried one after the other.
const PORTS: u16 = 10;

/// The gauges, and who offers them.
#[derive(Debug)]
pub(super) struct Metrics {
    gauges: Arc<Mutex<Gauges>>,
    answering: Option<Answering>,
    note: Option<Said>,
}

impl Metrics {
    /// Offers the gauges. That it cannot be done at the usual ports is told, not an error.
    ///
    /// # Errors
    /// What keeps the address that was given from being listened at.
    pub(super) fn start(listen: Option<Listen>, gauges: Gauges) -> Result<Metrics> {
        let gauges = Arc::new(Mutex::new(gauges));
        let shown = gauges.clone();
        let pages = move |path: &str| page(path, &shown);
        let local = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
        let (answering, note) = match listen {
            Some(Listen::Off) => (None, None),
            Some(Listen::At(address)) => (Some(Answering::start(&[address], pages)?), None),
            None => {
                let usual: Vec<_> = (METRICS_PORT..METRICS_PORT + PORTS).map(local).collect();
                offered(Answering::start(&usual, pages), usual[0])
            }
        };
        Ok(Metrics { gauges, answering, note })
    }

    /// Where it is offered.
    pub(super) fn address(&self) -> Option<String> {
        self.answering.as_ref().map(|answering| format!("http://{}/metrics", answering.address()))
    }

    /// What is to be said about where it is offered.
    pub(super) fn note(&self) -> Option<Said> {
        self.note.clone()
    }

    /// The gauges, to be changed.
    pub(super) fn gauges(&self) -> MutexGuard<'_, Gauges> {
        held(&self.gauges)
    }
}

/// Numbers stay numbers whatever thread failed while it held them.
fn held(gauges: &Mutex<Gauges>) -> MutexGuard<'_, Gauges> {
    gauges.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What came of it where no address was given: a watch goes on without metrics that nobody asked for.
fn offered(started: Result<Answering>, usual: SocketAddr) -> (Option<Answering>, Option<Said>) {
    match started {
        Ok(answering) => {
            let text = || format!("port {} is taken: metrics are on the next free one", usual.port());
            let note = (answering.address() != usual).then(|| Said::plain(text()));
            (Some(answering), note)
        }
        Err(error) => {
            let fix = "Give --listen off, or an address that can be listened at, e.g. --listen 127.0.0.1:9500.";
            (None, Some(Said::of(&error.context("no metrics are offered").hint(fix))))
        }
    }
}

fn page(path: &str, gauges: &Mutex<Gauges>) -> Option<Page> {
    match path {
        "/metrics" => {
            let mut now = held(gauges).clone();
            now.cpu_seconds = clock::process_cpu().seconds();
            now.resident_bytes = ProcFs::new("/proc").read("self/statm").ok().and_then(|statm| resident_bytes(&statm));
            Some(Page { content_type: openmetrics::CONTENT_TYPE, body: openmetrics::page(&now) })
        }
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
            let (none, note) = offered(Err(Error::new(kind, "cannot listen at 127.0.0.1:9464")), usual);
            let note = note.unwrap();
            assert!(none.is_none() && note.text.contains("no metrics are offered: cannot listen"), "{note:?}");
            assert!(note.fix.unwrap().contains("--listen off"));
        }
    }
}
