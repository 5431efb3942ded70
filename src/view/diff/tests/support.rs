//! A comparison for the tests of its formats.

use super::DiffView;
use crate::analysis::diff::testing::{cost, side};
use crate::analysis::diff::{Expectation, Gate, Settings, Side};

/// Three repeats compared with three that cost 12% more, in `parse`.
pub(crate) fn costlier() -> DiffView {
    let (base, new) = sides();
    let gates = ["cpu_ns_per_op > +5%", "path_length > +1%"].map(|text| Gate::parse(text).expect("it is a gate"));
    let expected = ["cpu_ns_per_op up", "ops_per_core_second up", "cpi down"];
    let expect = expected.map(|text| Expectation::parse(text).expect("it expects something")).to_vec();
    DiffView::of(&base, &[new], &Settings { expect, ..Settings::default() }, &gates, false)
}

pub(crate) fn sides() -> (Side, Side) {
    let with = |costs: &[f64], parse: f64| {
        let mut side = side(costs);
        for run in &mut side.runs {
            run.run.cpu = cost(&[("app!main;app!parse<&str>|\x1b[31m", parse), ("app!main;app!send", 1.2e10)]);
        }
        side
    };
    let (mut base, mut new) = (with(&[5000.0, 5020.0, 4980.0], 8e9), with(&[5600.0, 5620.0, 5580.0], 1.04e10));
    (base.label, new.label) = ("main".into(), "a|b\x1b[31m".into());
    new.runs[0].conditions.name = "a|b\x1b[31m".into();
    new.runs.iter_mut().for_each(|run| run.conditions.host.kernel = "6.9".into());
    (base, new)
}
