//! More symbols of a stripped file that a probe goes into: those it carries, and those of its debug file elsewhere.

use super::client::NameClient;
use super::host_files::{FileSource, HostFiles};
use crate::collect::sampler;
use crate::model::ObjectFile;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether downloads are allowed.
static FETCH: AtomicBool = AtomicBool::new(false);

/// Lets probes be found by these symbols, downloaded ones only with `fetch`.
pub(in crate::session) fn find_probes(fetch: bool) {
    FETCH.store(fetch, Ordering::Relaxed);
    sampler::find_more_symbols(more_symbols);
}

/// The symbols: first those that name every function.
fn more_symbols(file: &ObjectFile) -> Option<ObjectFile> {
    let files = HostFiles::of_user(FETCH.load(Ordering::Relaxed));
    let fetched = sampler::build_id(file).flatten().and_then(|id| {
        let found = files.fetch(&id)?;
        (sampler::build_id(&found).flatten() == Some(id)).then_some(found)
    });
    fetched.or_else(|| NameClient::new(files).debug_data(file))
}
