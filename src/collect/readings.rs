//! Counters of /proc, /sys and control groups, read once per interval.
