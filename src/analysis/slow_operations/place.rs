//! The code in which a cost of slow operations lies: the deepest function that most of the cost is in or below.

use crate::analysis::findings::wait_targets::requester;
use crate::analysis::names::Names;
use crate::analysis::offcpu::user;
use crate::model::StackId;
use crate::model::profile::Profile;
use rustc_hash::FxHashMap;

/// A function is the place if it has at least this share of the cost.
const MOST: f64 = 0.5;
/// Functions of a place: itself and its callers.
const DEPTH: usize = 3;

/// Costs by the stack at which they came up.
pub(super) type Costs = FxHashMap<Option<StackId>, f64>;

/// What the stacks of costs stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CostKind {
    /// The code that ran.
    Samples,
    /// Waits: the place is who requested them, not how the C library waits.
    Waits,
}

/// The place, innermost function first, with its callers; empty if no function has most of the cost.
pub(super) fn place(profile: &Profile, names: &Names, costs: &Costs, kind: CostKind) -> Vec<String> {
    let all: f64 = costs.values().sum();
    let mut paths: Vec<_> = costs.iter().map(|(stack, cost)| (path(profile, names, *stack, kind), *cost)).collect();
    let mut found = Vec::new();
    loop {
        let mut below: FxHashMap<u32, f64> = FxHashMap::default();
        for (path, cost) in &paths {
            if let Some(function) = path.get(found.len()) {
                *below.entry(*function).or_default() += cost;
            }
        }
        let most = below.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        let Some((function, _)) = most.filter(|(_, cost)| *cost > 0.0 && *cost >= all * MOST) else { break };
        paths.retain(|(path, _)| path.get(found.len()) == Some(&function));
        found.push(function);
    }
    found.iter().rev().take(DEPTH).map(|function| names.functions[*function as usize].name.clone()).collect()
}

/// The named functions of the program, outermost first.
fn path(profile: &Profile, names: &Names, stack: Option<StackId>, kind: CostKind) -> Vec<u32> {
    // A measured function's return address is another one meanwhile: its caller has no name.
    let named = user(profile, names, stack).take_while(|call| !call.faceless);
    let mut path: Vec<u32> = named.map(|call| call.function).collect();
    if kind == CostKind::Waits {
        path.drain(..requester(path.iter().map(|function| &names.functions[*function as usize])));
    }
    path.reverse();
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::Synthetic;

    #[test]
    fn a_place_is_the_deepest_function_with_most_of_the_cost() {
        let mut synthetic = Synthetic::new();
        let lock = "app!main;app!serve;app!take;libc.so.6!pthread_mutex_lock;[kernel]!futex_wait";
        let stacks = ["app!main;app!serve;app!copy", "app!main;app!serve;app!scan;libc.so.6!memchr", "app!main", lock];
        let ids = stacks.map(|stack| synthetic.stack(stack));
        let profile = synthetic.finish();
        let names = Names::of(&profile);
        let of = |costs: [f64; 4], kind| {
            let costs: Costs = ids.into_iter().zip(costs).filter(|(_, cost)| *cost > 0.0).collect();
            place(&profile, &names, &costs, kind).join(" < ")
        };
        assert_eq!(of([6.0, 3.0, 1.0, 0.0], CostKind::Samples), "copy < serve < main");
        assert_eq!(of([4.0, 4.0, 2.0, 0.0], CostKind::Samples), "serve < main");
        assert_eq!(of([1.0, 8.0, 1.0, 0.0], CostKind::Samples), "memchr < scan < serve");
        assert_eq!(of([0.0, 0.0, 0.0, 1.0], CostKind::Waits), "take < serve < main");
        let costs: Costs = [(None, 9.0), (ids[0], 1.0)].into_iter().collect();
        assert_eq!(place(&profile, &names, &costs, CostKind::Samples), [""; 0], "most has no stack");
        assert_eq!(place(&profile, &names, &Costs::default(), CostKind::Samples), [""; 0]);
    }
}
