//! The profile for `go tool pprof`, Pyroscope and other readers of `profile.proto`, compressed with gzip.
//! Names are resolved, so readers need not look up symbols. Addresses are those of the recording: offsets into files.

mod field;
mod profile;
mod tables;

pub use profile::write;
