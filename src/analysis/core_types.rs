//! IPC by core type, because sums over all cores hide that one type is slower. Counts are not scaled: time on another
//! core type is not missing.

use super::counters::Counters;
use super::time::Window;
use crate::model::KIND_MARK;

/// IPC on each core type in words, the most common type first; `None` where all cores are alike.
pub(super) fn ipc_by_core_type(counters: &Counters, window: Window) -> Option<String> {
    let law = |mark: &str| {
        let counted = |role: &str| counters.unscaled(&format!("{role}{mark}"), window);
        Some((counted("instructions")?, counted("cycles")?))
    };
    let whole = law("")?;
    let types = counters.names().filter_map(|name| name.strip_prefix("cycles")?.strip_prefix(KIND_MARK));
    let mut types: Vec<(&str, (f64, f64))> =
        types.filter_map(|core_type| Some((core_type, law(&format!("{KIND_MARK}{core_type}"))?))).collect();
    types.sort_by_key(|(core_type, _)| *core_type);
    let apart = types.iter().fold((0.0, 0.0), |sum, (_, law)| (sum.0 + law.0, sum.1 + law.1));
    if types.is_empty() {
        return None;
    }
    types.insert(0, (counters.most_common_core_type(), (whole.0 - apart.0, whole.1 - apart.1)));
    let text = |(core_type, (instructions, cycles)): &(&str, (f64, f64))| match *cycles > 0.0 {
        true => format!("{:.2} on {core_type} ({:.0}% of the cycles)", instructions / cycles, 100.0 * cycles / whole.1),
        false => format!("{core_type} was not used"),
    };
    Some(types.iter().map(text).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{Synthetic, ms};
    use crate::model::{HardwarePlan, Scope};

    fn told(counted: &[(&str, u64)]) -> Option<String> {
        let mut synthetic = Synthetic::new();
        for (name, value) in counted {
            synthetic.multiplexed(name, Scope::Target, 1000, *value, (1000, 400));
        }
        synthetic.meta.hardware = HardwarePlan { pmu: "cpu_core".into(), ..HardwarePlan::default() };
        ipc_by_core_type(&Counters::of(&synthetic.finish()), Window { from: ms(0), to: ms(1000) })
    }

    #[test]
    fn the_most_common_core_type_is_what_the_others_leave() {
        let law = [("cycles", 1000), ("instructions", 1600)];
        let apart = [("cycles@cpu_atom", 400), ("instructions@cpu_atom", 400)];
        let text = told(&[law, apart].concat());
        assert_eq!(text.as_deref(), Some("2.00 on cpu_core (60% of the cycles), 1.00 on cpu_atom (40% of the cycles)"));
        let idle = [("cycles@cpu_atom", 0), ("instructions@cpu_atom", 0)];
        assert!(told(&[law, idle].concat()).is_some_and(|text| text.ends_with("cpu_atom was not used")));
        assert_eq!((told(&law), told(&[])), (None, None));
    }
}
