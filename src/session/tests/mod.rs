#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
//! The threads of a session and their ends: what is recorded, what is reported, and who waits for whom.

mod counting;
mod naming;
mod recorder;
pub(in crate::session) mod support;
