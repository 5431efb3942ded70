//! What the tests of imported texts share.

use super::{Options, Source};
use crate::model::profile::Profile;
use std::sync::Arc;

/// The profile of a text.
pub(super) fn profile(text: &str) -> Profile {
    let bytes = Arc::new(text.as_bytes().to_vec());
    let source = Source { name: "x".into(), bytes, file: None, written_unix_ns: None };
    super::profile(&source, &Options::default()).unwrap_or_else(|error| panic!("{error}"))
}
