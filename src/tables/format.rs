//! Numbers by which Parquet names types, encodings and codecs, and the error of a file that breaks its rules.

use crate::error::{Error, ErrorKind};
use std::fmt;

pub(super) const MAGIC: &[u8; 4] = b"PAR1";

pub(super) const BOOLEAN: i32 = 0;
pub(super) const INT32: i32 = 1;
pub(super) const INT64: i32 = 2;
pub(super) const BYTE_ARRAY: i32 = 6;

pub(super) const AS_TEXT: i32 = 0;
pub(super) const AS_UINT32: i32 = 13;
pub(super) const AS_UINT64: i32 = 14;

pub(super) const PLAIN: i32 = 0;
pub(super) const RLE: i32 = 3;
pub(super) const DELTA_BINARY_PACKED: i32 = 5;
pub(super) const RLE_DICTIONARY: i32 = 8;

pub(super) const CODEC_NONE: i32 = 0;
pub(super) const CODEC_ZSTD: i32 = 6;

pub(super) const DATA_PAGE: i32 = 0;
pub(super) const DICTIONARY_PAGE: i32 = 2;

pub(super) fn corrupt(error: &dyn fmt::Display) -> Error {
    Error::new(ErrorKind::Corrupt, error.to_string())
}
