//! The code in which a cost of slow operations lies: the deepest function that most of the cost is in or below.

use crate::analysis::findings::wait_targets::{is_c_library, requester};
use crate::analysis::names::Names;
use crate::analysis::offcpu::{kernel, user};
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

/// The place, innermost function first, with its callers; empty if no function has most of the cost. Where most of the cost
/// of samples is in the kernel below it, the kernel's function comes first, and of the C library on the way there only what the
/// program called.
pub(super) fn place(profile: &Profile, names: &Names, costs: &Costs, kind: CostKind) -> Vec<String> {
    let all: f64 = costs.values().sum();
    let paths = costs.iter().map(|(stack, cost)| (path(profile, names, *stack, kind), *cost)).collect();
    let found = deepest(paths, all);
    let name = |function: &u32| names.functions[*function as usize].name.clone();
    if found.is_empty() || kind == CostKind::Waits {
        return found.iter().rev().take(DEPTH).map(name).collect();
    }
    let below = costs.iter().filter(|(stack, _)| path(profile, names, **stack, kind).starts_with(&found));
    let service = deepest(below.map(|(stack, cost)| (kernel_path(profile, names, *stack), *cost)).collect(), all);
    let library = found.iter().rev().take_while(|function| is_c_library(&names.functions[**function as usize])).count();
    let passed = if service.is_empty() { 0 } else { library.saturating_sub(1) };
    service.last().into_iter().chain(found.iter().rev().skip(passed).take(DEPTH)).map(name).collect()
}

/// The path from the outermost function to the deepest one that most of the cost is in or below.
fn deepest(mut paths: Vec<(Vec<u32>, f64)>, all: f64) -> Vec<u32> {
    let mut found = Vec::new();
    loop {
        let mut below: FxHashMap<u32, f64> = FxHashMap::default();
        for (path, cost) in &paths {
            if let Some(function) = path.get(found.len()) {
                *below.entry(*function).or_default() += cost;
            }
        }
        let most = below.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        let Some((function, _)) = most.filter(|(_, cost)| *cost > 0.0 && *cost >= all * MOST) else { return found };
        paths.retain(|(path, _)| path.get(found.len()) == Some(&function));
        found.push(function);
    }
}

/// The named functions of the kernel, outermost first.
fn kernel_path(profile: &Profile, names: &Names, stack: Option<StackId>) -> Vec<u32> {
    let mut path: Vec<u32> = kernel(profile, names, stack).map(|call| call.function).collect();
    path.reverse();
    path
}

/// The named functions of the program, outermost first.
fn path(profile: &Profile, names: &Names, stack: Option<StackId>, kind: CostKind) -> Vec<u32> {
    // Where a walk went astray, what follows is not code.
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

    fn of_stacks(costs: &[(&str, f64)]) -> String {
        let mut synthetic = Synthetic::new();
        let costs: Costs = costs.iter().map(|(stack, cost)| (synthetic.stack(stack), *cost)).collect();
        let profile = synthetic.finish();
        place(&profile, &Names::of(&profile), &costs, CostKind::Samples).join(" < ")
    }

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
        let service = "app!main;app!serve;app!fill;[kernel]!exc_page_fault;[kernel]!clear_page_erms";
        assert_eq!(of_stacks(&[(service, 8.0), (stacks[0], 3.0)]), "clear_page_erms < fill < serve < main");
        assert_eq!(of_stacks(&[(service, 4.0), (stacks[0], 5.0)]), "copy < serve < main");
        let costs: Costs = [(None, 9.0), (ids[0], 1.0)].into_iter().collect();
        assert_eq!(place(&profile, &names, &costs, CostKind::Samples), [""; 0], "most has no stack");
        assert_eq!(place(&profile, &names, &Costs::default(), CostKind::Samples), [""; 0]);
    }
}
