//! Tests of the views of baselines.

mod verdict;
