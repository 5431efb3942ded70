//! Control groups: where they are mounted, what is in them, what they report.
