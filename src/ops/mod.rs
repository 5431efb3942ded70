//! What counts a program's operations, apart from the kernel's own probes: its output, a server's metrics, a file, a page
//! it shares, or a rate that its user knows. It never tells one operation from another.

mod http;
mod output;
mod page;
mod prometheus;
mod spec;
mod total;

pub use output::{Line, Output};
pub use spec::parse;

use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::OpsSpec;
use crate::units::{Nanos, Ops};
use page::Page;
use total::Total;

/// A source that is asked now and then.
#[derive(Debug)]
pub struct Polled {
    spec: OpsSpec,
    page: Option<Page>,
    total: Total,
    began: Nanos,
}

impl Polled {
    /// Asks for the first time: what was counted before does not belong to the session. `None` for sources that are not
    /// asked: those in the output, and those that the kernel counts.
    ///
    /// # Errors
    /// The source is not there, or holds no number.
    pub fn open(spec: &OpsSpec, at: Nanos) -> Result<Option<Polled>> {
        let polled = Polled {
            page: if let OpsSpec::Page { name } = spec { Some(Page::open(name)?) } else { None },
            spec: spec.clone(),
            total: Total::default(),
            began: at,
        };
        match spec {
            OpsSpec::Output { .. } | OpsSpec::Uprobe { .. } | OpsSpec::Tracepoint { .. } => Ok(None),
            OpsSpec::Http { .. } | OpsSpec::File { .. } | OpsSpec::Page { .. } | OpsSpec::Rate { .. } => {
                let first = polled.value(at)?;
                let mut polled = polled;
                polled.total.begin(first);
                Ok(Some(polled))
            }
        }
    }

    /// The total by now.
    ///
    /// # Errors
    /// The source does not answer, or has gone.
    pub fn read(&mut self, at: Nanos) -> Result<Ops> {
        self.total.reach(self.value(at)?);
        Ok(self.total.ops())
    }

    fn value(&self, at: Nanos) -> Result<f64> {
        match &self.spec {
            OpsSpec::Http { authority, path, metric, labels } => {
                let text = http::get(authority, path)?;
                prometheus::sum(&text, metric, labels).ok_or_else(|| {
                    let near = prometheus::near(&text, metric);
                    let missing = format!("http://{authority}{path} has no value of {metric} with these labels");
                    let error = Error::new(ErrorKind::NotFound, missing);
                    if near.is_empty() { error } else { error.hint(format!("It has: {}.", near.join(", "))) }
                })
            }
            OpsSpec::File { path } => {
                let place = || format!("cannot read a count of operations from {}", path.display());
                let text = std::fs::read_to_string(path).context(place)?;
                let word = text.split_whitespace().find_map(|word| word.parse::<f64>().ok());
                word.filter(|value| value.is_finite())
                    .ok_or_else(|| Error::new(ErrorKind::Corrupt, "there is no number in it").context(place()))
            }
            OpsSpec::Rate { per_second } => Ok(per_second * (at - self.began).seconds()),
            OpsSpec::Page { .. } => self.page.as_ref().map_or(Ok(0.0), Page::total),
            OpsSpec::Output { .. } | OpsSpec::Uprobe { .. } | OpsSpec::Tracepoint { .. } => Ok(0.0),
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_files_number_counts_from_the_first_look_on() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("n");
        let spec = OpsSpec::File { path: path.clone() };
        assert_eq!(Polled::open(&spec, Nanos(0)).unwrap_err().kind(), ErrorKind::NotFound);
        std::fs::write(&path, "done: 100\n").unwrap();
        let mut polled = Polled::open(&spec, Nanos(0)).unwrap().unwrap();
        for (text, total) in [("done: 130", 30), ("done: 5", 35), ("7", 37)] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(polled.read(Nanos(0)).unwrap(), Ops(total), "{text}");
        }
        std::fs::write(&path, "none").unwrap();
        assert!(polled.read(Nanos(0)).is_err());
    }

    #[test]
    fn a_known_rate_counts_time() {
        let mut polled = Polled::open(&OpsSpec::Rate { per_second: 10.0 }, Nanos(1_000_000_000)).unwrap().unwrap();
        assert_eq!(polled.read(Nanos(3_500_000_000)).unwrap(), Ops(25));
    }
}
