//! The innermost calls of a stack that only take or release a lock, by the code that was read at its frames.

use super::names::{CodeKind, Names, StackCall};
use crate::model::profile::Profile;
use crate::model::{LockCode, StackId};

/// Innermost frames of the program that are looked at, as many as were read.
const EXAMINED: usize = 4;

/// The part of a stack that a lock has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LockCalls {
    /// How many of the innermost calls only take or release a lock. None do where its code lies in the function that takes it.
    pub calls: u32,
    /// Whether the thread waits actively for another one that holds the lock.
    pub spins: bool,
}

impl LockCalls {
    /// Of a stack; `None` for one outside of lock code.
    pub(super) fn of(profile: &Profile, names: &Names, locks: &LockCode, stack: Option<StackId>) -> Option<LockCalls> {
        if locks.is_empty() {
            return None;
        }
        let (mut found, mut spins, mut count) = (None, false, 0);
        let (mut frames, mut last) = (0, None);
        for StackCall { frame, depth, call, is_tail_call } in names.walk_frames(profile, stack) {
            count += 1;
            if is_tail_call || names.functions[call.function as usize].kind == CodeKind::Kernel {
                continue;
            }
            if last != Some(frame) {
                last = Some(frame);
                frames += 1;
                if frames > EXAMINED {
                    break;
                }
            }
            let Some(role) = locks.get(&frame) else { continue };
            spins |= role.spins;
            if !role.inline || depth == 0 && names.is_inlined(call.label) {
                found = Some(count);
            } else if depth == 0 {
                found = Some(count - 1);
            }
        }
        found.map(|calls| LockCalls { calls, spins })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::Synthetic;
    use crate::model::{FrameId, LockRole};

    /// What is left of a stack when lock code is taken away, given the names of functions at lock code.
    fn left(stack: &str, locks: &[(&str, bool)]) -> Option<u32> {
        let mut synthetic = Synthetic::new();
        synthetic.samples(0, 41, stack, 1);
        let profile = synthetic.finish();
        let names = Names::of(&profile);
        let name = |frame: FrameId| names.functions[names.at(frame)[0].function as usize].name.clone();
        let roles = profile.frames.iter().filter_map(|frame| {
            let (_, inline) = locks.iter().find(|(known, _)| *known == name(frame.id))?;
            Some((frame.id, LockRole { inline: *inline, spins: false }))
        });
        let roles: LockCode = roles.collect();
        let stack = profile.samples.stack[0];
        LockCalls::of(&profile, &names, &roles, stack).map(|lock| lock.calls)
    }

    #[test]
    fn the_outermost_lock_code_near_the_leaf_counts() {
        let blocked = "app!main;app!update;app!take;app!call;[kernel]!futex_wait;[kernel]!schedule";
        for (stack, locks, expected) in [
            ("app!main;app!update;app!take", &[("take", false)][..], Some(1)),
            (blocked, &[("take", false)], Some(4)),
            (blocked, &[("take", false), ("call", false)], Some(4)),
            (blocked, &[("update", true)], Some(4)),
            ("app!main;app!update", &[("update", true)], Some(0)),
            ("app!main;app!a;app!b;app!c;app!d", &[("main", false)], None),
            ("app!main;app!update", &[], None),
            ("app!main => call;app!take", &[("take", false)], Some(1)),
            ("app!main => call;app!take", &[("main", false)], Some(3)),
        ] {
            assert_eq!(left(stack, locks), expected, "{stack} {locks:?}");
        }
    }
}
