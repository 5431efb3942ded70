//! Opens events on the threads of a program that creates further threads meanwhile.

use rustc_hash::FxHashSet;
use std::path::Path;

/// Maximum number of attempts.
const MOST_LOOKS: usize = 5;

/// Opens events on the listed threads, which later threads inherit, and returns how many threads were created during
/// the last attempt. A thread created between listing and opening may have inherited no event, and nothing reveals
/// that: everything is opened again until no thread was created meanwhile.
///
/// # Errors
/// Those of `open`.
pub(super) fn settled<T, E>(
    list: impl Fn() -> Vec<u32>,
    mut open: impl FnMut(&[u32]) -> Result<T, E>,
) -> Result<(T, usize), E> {
    let mut known = list();
    let mut look = 1;
    loop {
        let opened = open(&known)?;
        let before: FxHashSet<u32> = known.iter().copied().collect();
        known = list();
        let born = known.iter().filter(|tid| !before.contains(tid)).count();
        if born == 0 || look == MOST_LOOKS {
            return Ok((opened, born));
        }
        look += 1;
    }
}

/// Threads of a process, by id; empty if it is gone.
pub fn threads_of(root: &Path, pid: u32) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir(root.join("proc").join(pid.to_string()).join("task")) else { return vec![] };
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// A program that has one more thread in each of `growing` listings.
    fn opened(growing: u32) -> (Vec<u32>, usize, u32) {
        let (looks, attempts) = (Cell::new(0), Cell::new(0));
        let list = || {
            looks.set(looks.get() + 1);
            (1..=looks.get().min(growing)).collect()
        };
        let open = |tids: &[u32]| {
            attempts.set(attempts.get() + 1);
            Ok::<_, ()>(tids.to_vec())
        };
        let (threads, born) = settled(list, open).unwrap_or_default();
        (threads, born, attempts.get())
    }

    #[test]
    fn events_are_opened_anew_until_no_thread_was_born_meanwhile() {
        assert_eq!(opened(1), (vec![1], 0, 1));
        assert_eq!(opened(3), (vec![1, 2, 3], 0, 3));
        assert_eq!(opened(100), (vec![1, 2, 3, 4, 5], 1, 5));
    }

    #[test]
    fn what_cannot_be_opened_is_not_tried_again() {
        let attempts = Cell::new(0);
        let refused: Result<((), usize), &str> = settled(
            || vec![1],
            |_| {
                attempts.set(attempts.get() + 1);
                Err("refused")
            },
        );
        assert_eq!((refused, attempts.get()), (Err("refused"), 1));
    }
}
