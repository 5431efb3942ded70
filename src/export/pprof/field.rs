//! Field numbers of `Profile`.

pub(super) const SAMPLE_TYPE: u32 = 1;
pub(super) const SAMPLE: u32 = 2;
pub(super) const MAPPING: u32 = 3;
pub(super) const LOCATION: u32 = 4;
pub(super) const FUNCTION: u32 = 5;
pub(super) const STRING: u32 = 6;
pub(super) const TIME_NANOS: u32 = 9;
pub(super) const DURATION_NANOS: u32 = 10;
pub(super) const PERIOD_TYPE: u32 = 11;
pub(super) const PERIOD: u32 = 12;
pub(super) const COMMENT: u32 = 13;
pub(super) const DEFAULT_SAMPLE_TYPE: u32 = 14;
