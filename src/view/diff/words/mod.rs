//! Describes a comparison in words that are the same in every format.

mod conditions;
mod headline;
mod outcome;
mod same_code;
mod values;

pub use conditions::{
    code_cost, group_kind, label, mismatch, per, program, renamed, settings, severity, shown_code, subgroup_text,
};
pub(super) use conditions::{load, no_code};
pub(super) use headline::headline;
pub use outcome::{amount, expectation, factors, gate};
pub use values::{
    change, cost, factor_value, growth, half, interval, own_change, probability, relative, shown, value, verdict,
};
pub(super) use values::{factor_label, factor_name, part_label, part_name};
