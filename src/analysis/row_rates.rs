//! Instructions per cycle and cache misses of the rows of a ranking: functions, threads, control groups.

use super::code_ipc::{CodeIpc, CodeRate, Rates};
use super::grouping::{Code, GroupKey, Keys};
use super::names::Names;
use super::ranking::Rank;
use super::tasks::Tasks;
use crate::model::StackId;
use crate::model::profile::Profile;
use rustc_hash::FxHashMap;

/// The rates of each row's own code.
#[derive(Debug, Clone, PartialEq)]
pub struct RowRates {
    whole: Rates,
    by_row: FxHashMap<(String, String), Rates>,
}

impl RowRates {
    /// Those of rows by keys.
    #[must_use]
    pub fn of(ipc: &CodeIpc<'_>, profile: &Profile, names: &Names, tasks: &Tasks, keys: &[GroupKey]) -> RowRates {
        let mut code = Code::of(names, keys);
        let mut keys = Keys::of(profile, tasks, keys);
        let mut own: FxHashMap<Option<StackId>, Option<u32>> = FxHashMap::default();
        let (samples, mut on_stack) = (&profile.samples, Vec::new());
        let found = ipc.by(|at| {
            let own = *own.entry(samples.stack[at]).or_insert_with_key(|stack| {
                code.on_stack(profile, *stack, &mut on_stack);
                on_stack.first().copied()
            });
            (keys.who([samples.pid[at], samples.tid[at], samples.cpu[at]], samples.at[at], None), own)
        });
        let named = |((by, at), rates)| {
            let (function, module) = code.row(at);
            ((keys.name(&by, function, module), module.to_string()), rates)
        };
        RowRates { whole: ipc.whole(), by_row: found.into_iter().map(named).collect() }
    }

    /// The rates of a row's own code.
    #[must_use]
    pub fn get(&self, row: &Rank) -> Rates {
        let name = row.id.map_or_else(|| row.name.clone(), |id| id.to_string());
        self.by_row.get(&(name, row.module.clone())).copied().unwrap_or(Rates::NONE)
    }

    /// The rate of each row's own code over that of all code, by name, where both are known. Rows that share a name
    /// have none.
    #[must_use]
    pub fn against_whole(&self, rate: CodeRate) -> FxHashMap<&str, f64> {
        let mut found: FxHashMap<&str, Option<f64>> = FxHashMap::default();
        for ((name, _), rates) in &self.by_row {
            let whole = self.whole.cost(rate).filter(|whole| *whole > 0.0);
            let ratio = whole.and_then(|whole| Some(rates.cost(rate)? / whole));
            found.entry(name).and_modify(|ratio| *ratio = None).or_insert(ratio);
        }
        found.into_iter().filter_map(|(name, ratio)| Some((name, ratio?))).collect()
    }
}
