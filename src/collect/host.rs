//! Facts of this machine for the recording.
