//! Calls of measured functions. To see a function return, the kernel puts the address of its own code, the trampoline, in
//! the place of the return address. A walk that arrives there knows the caller's frame, but not the caller's code. The
//! places that measured functions return to are few and known: the walk goes on at the one from which the stack leads to
//! the thread's start.

use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Return addresses that are tried for one call.
pub(super) const MOST_SITES: usize = 64;
/// Calls whose instruction is remembered, of one process.
const MOST_CALLS: usize = 4096;

/// What is known of the measured calls of one process.
#[derive(Debug, Clone, Default)]
pub struct MeasuredCalls {
    trampoline: Option<u64>,
    sites: Arc<[u64]>,
    /// By return address, the function that the call before it names; `None` if it names none.
    callees: FxHashMap<u64, Option<u64>>,
}

/// What a walk over a measured call lacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    /// None of the known return addresses fits.
    Sites,
    /// Several functions fit. The call before this return address names the one.
    Call(u64),
}

impl MeasuredCalls {
    /// Measured functions return to this address.
    pub fn set_trampoline(&mut self, address: u64) {
        self.trampoline = Some(address);
    }

    /// Whether measured functions return to this address.
    pub(super) fn is_trampoline(&self, address: u64) -> bool {
        self.trampoline == Some(address)
    }

    /// An address that stands for its call, as for other return addresses.
    pub(super) fn within(&self) -> u64 {
        self.trampoline.unwrap_or_default().wrapping_sub(1)
    }

    /// The known return addresses of measured functions.
    #[must_use]
    pub fn sites(&self) -> &Arc<[u64]> {
        &self.sites
    }

    /// Replaces them.
    pub fn set_sites(&mut self, sites: Arc<[u64]>) {
        self.sites = sites;
    }

    /// Sets the function that the call before a return address names. False if the table is full.
    pub fn set_callee(&mut self, back: u64, callee: Option<u64>) -> bool {
        let has_room = self.callees.len() < MOST_CALLS;
        has_room && self.callees.insert(back, callee).is_none()
    }
}

/// How far the stack leads from a return address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reach {
    /// To an end that other words of a stack may look like: through code without tables, or to an address of zero.
    Doubtful,
    /// As far as the stack was copied.
    Cut,
    /// To the thread's start, or to another measured call.
    Whole,
}

/// A return address from which the stack leads on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Candidate {
    pub site: u64,
    /// How far it leads.
    pub reach: Reach,
    /// The function that it lies in, if its tables tell.
    pub function: Option<u64>,
    /// The return address of that function.
    pub back: Option<u64>,
}

/// The one of several return addresses that is right.
pub(super) fn choose(candidates: &mut Vec<Candidate>, calls: &MeasuredCalls) -> Result<u64, Lack> {
    let furthest = candidates.iter().map(|it| it.reach).max();
    candidates.retain(|it| Some(it.reach) == furthest);
    let in_one_function = |all: &[Candidate]| match all {
        [] => None,
        [only] => Some(only.site),
        // Which of several calls in one function it is cannot be seen: its callers are the same.
        [first, rest @ ..] => {
            let same = first.function.is_some() && rest.iter().all(|it| it.function == first.function);
            same.then_some(first.site)
        }
    };
    if let Some(site) = in_one_function(candidates) {
        return Ok(site);
    }
    // Functions of equal frames. Their own caller's call names the one that runs, unless it goes by a pointer.
    let unread = candidates.iter().filter_map(|it| it.back).find(|back| !calls.callees.contains_key(back));
    if let Some(back) = unread {
        return Err(Lack::Call(back));
    }
    candidates.retain(|it| {
        let named = it.back.and_then(|back| calls.callees.get(&back).copied().flatten());
        named.is_some() && named == it.function
    });
    in_one_function(candidates).ok_or(Lack::Sites)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(site: u64, reach: Reach, function: Option<u64>, back: u64) -> Candidate {
        Candidate { site, reach, function, back: Some(back) }
    }

    #[test]
    fn of_several_return_addresses_the_one_is_taken_that_alone_can_be_right() {
        let mut calls = MeasuredCalls::default();
        let chosen = |calls: &MeasuredCalls, all: &[Candidate]| choose(&mut all.to_vec(), calls);
        let (get, set) =
            (candidate(0x110, Reach::Whole, Some(0x100), 0x900), candidate(0x210, Reach::Whole, Some(0x200), 0x900));
        assert_eq!(chosen(&calls, &[]), Err(Lack::Sites));
        assert_eq!(chosen(&calls, &[get]), Ok(0x110));
        assert_eq!(
            chosen(&calls, &[candidate(0x310, Reach::Cut, None, 0x905), set]),
            Ok(0x210),
            "the other is cut off"
        );
        assert_eq!(
            chosen(&calls, &[get, candidate(0x130, Reach::Whole, Some(0x100), 0x900)]),
            Ok(0x110),
            "one function"
        );
        assert_eq!(chosen(&calls, &[get, set]), Err(Lack::Call(0x900)));
        assert!(calls.set_callee(0x900, Some(0x200)));
        assert_eq!(chosen(&calls, &[get, set]), Ok(0x210), "that is what the caller calls");
        let mut calls = MeasuredCalls::default();
        assert!(calls.set_callee(0x900, None) && !calls.set_callee(0x900, None));
        assert_eq!(chosen(&calls, &[get, set]), Err(Lack::Sites), "called by a pointer");
        let unknown = [candidate(0x110, Reach::Whole, None, 0x900), candidate(0x120, Reach::Whole, None, 0x900)];
        assert_eq!(chosen(&calls, &unknown), Err(Lack::Sites), "nothing says that they are one function");
    }
}
