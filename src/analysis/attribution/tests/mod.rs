//! Sessions made by hand: every quantity of every window is given, so the expected result is known.
#![expect(clippy::unwrap_used, reason = "tests")]

mod alarms;
mod calibration;
mod causes;
mod culprits;
mod loads;
mod session;
mod starved;

use super::functions::FunctionShift;
use super::types::{NeighbourActivity, WindowObservation};
use super::*;
use crate::analysis::Window;
use crate::analysis::baseline::{Expected, Level, Levels, LoadAxis, Strength};
use crate::analysis::diff::{PRIMARY, Quantity, RATE, RatioCell, Reading, WITHOUT_OPERATIONS};
use crate::analysis::finding::Confidence;
use crate::analysis::testing::ms;
use crate::model::{CpuTopology, HostFacts, Measure, MetricId, NeighbourDef, NeighbourId, NeighbourKind, Why};
use session::*;
