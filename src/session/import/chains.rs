//! Finds the stack of a call chain that was seen before by one hash of its bytes, instead of frame by frame.

use crate::abi::Words;
use crate::model::{StackEnd, StackId};
use rustc_hash::FxHashMap;
use std::hash::{BuildHasher, RandomState};

/// Limit of remembered chains, some 13 MB; beyond it, all are forgotten.
const MOST_CHAINS: usize = 7 << 16;

/// A numbered stack and how it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Built {
    pub stack: Option<StackId>,
    pub end: StackEnd,
    /// Why it is unknown whether it is complete, if it is.
    pub unknown_end: Option<UnknownEnd>,
    /// Whether its inner frames were dropped, for there are too many different stacks.
    pub cut: bool,
}

/// Why it is unknown whether a stack is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnknownEnd {
    /// Its end lies in code that is not here.
    NotHere,
    /// Its end lies in code that says nothing of its callers.
    Mute,
}

/// Identifies a call chain together with everything else that its stack depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ChainKey([u64; 2]);

/// The stacks of known chains. Chains are compared by 128 bits of a hash with a secret key, so neither chance nor a
/// forged file makes two of them equal.
#[derive(Debug)]
pub(super) struct Chains {
    secret: [u64; 2],
    known: FxHashMap<ChainKey, Built>,
}

impl Default for Chains {
    fn default() -> Self {
        let random = RandomState::new();
        Chains { secret: [0, 1].map(|lane: u8| random.hash_one(lane) | 1), known: FxHashMap::default() }
    }
}

impl Chains {
    /// The key of a chain in a context.
    pub(super) fn key(&self, context: [u64; 5], chain: Words<'_>) -> ChainKey {
        let [first, second] = self.secret;
        let (mut a, mut b) = (first, second);
        let mut add = |word: u64| (a, b) = (fold(a ^ word, first), fold(b ^ word, second));
        context.into_iter().for_each(&mut add);
        chain.iter().for_each(&mut add);
        ChainKey([a, b])
    }

    /// The stack of a known chain.
    pub(super) fn get(&self, key: ChainKey) -> Option<Built> {
        self.known.get(&key).copied()
    }

    /// Remembers the stack of a chain.
    pub(super) fn insert(&mut self, key: ChainKey, built: Built) {
        if self.known.len() >= MOST_CHAINS {
            self.known.clear();
        }
        self.known.insert(key, built);
    }
}

/// Both halves of the product, so that every bit of the result depends on every bit of the factors.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_that_differ_anywhere_have_other_keys_and_the_memory_of_them_is_bounded() {
        let mut chains = Chains::default();
        let bytes = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let mut seen = std::collections::HashSet::new();
        for (context, words) in [
            ([0; 5], vec![]),
            ([0; 5], vec![0]),
            ([0; 5], vec![0, 0]),
            ([0; 5], vec![1, 2, 3]),
            ([0; 5], vec![1, 3, 2]),
            ([0, 0, 0, 0, 1], vec![1, 2, 3]),
            ([0, 0, 0, 1, 0], vec![1, 2, 3]),
            ([0, 0, 0, 0, 1], vec![]),
        ] {
            let key = chains.key(context, Words::new(&bytes(&words), false));
            assert_eq!(key, chains.key(context, Words::new(&bytes(&words), false)));
            assert!(seen.insert(key), "{context:?} {words:?}");
        }
        let built = Built { stack: Some(StackId(3)), end: StackEnd::Whole, unknown_end: None, cut: false };
        let first = chains.key([0; 5], Words::default());
        chains.insert(first, built);
        assert_eq!(chains.get(first), Some(built));
        for at in 1..=MOST_CHAINS as u64 {
            let key = chains.key([at, 0, 0, 0, 0], Words::default());
            chains.insert(key, built);
        }
        assert!(chains.known.len() <= MOST_CHAINS && chains.get(first).is_none());
    }
}
