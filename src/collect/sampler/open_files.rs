//! Counts the mapped files that are kept open, so that no user's programs take the descriptors that others need.

use crate::model::{Identity, ModuleId};

/// A module whose file is open.
#[derive(Debug, Clone, Copy)]
pub struct OpenModule {
    /// The module.
    pub module: ModuleId,
    /// Its file.
    pub identity: Identity,
    /// The user whose process mapped it first.
    pub owner: u32,
}

/// The open modules, oldest first.
#[derive(Debug)]
pub struct OpenFiles {
    all: Vec<OpenModule>,
    most: usize,
}

impl OpenFiles {
    /// None yet, and at most so many later.
    pub fn new(most: usize) -> OpenFiles {
        OpenFiles { all: Vec::new(), most }
    }

    /// Adds one.
    pub fn add(&mut self, module: OpenModule) {
        self.all.push(module);
    }

    /// Whether there is room for one more of a user. One user who is not root gets half of all.
    pub fn has_room(&self, owner: u32) -> bool {
        let own = || self.all.iter().filter(|open| open.owner == owner).count();
        self.all.len() < self.most && (owner == 0 || own() < self.most.div_ceil(2))
    }

    /// Takes out the older half of those that nobody maps: names of the newer ones may still be asked for.
    pub fn take_unused(&mut self, is_mapped: impl Fn(ModuleId) -> bool) -> Vec<OpenModule> {
        let unused = self.all.iter().filter(|open| !is_mapped(open.module)).count();
        let mut left = unused.div_ceil(2);
        let (taken, kept) = self.all.iter().partition(|open| {
            let take = left > 0 && !is_mapped(open.module);
            left -= usize::from(take);
            take
        });
        self.all = kept;
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(module: u32, owner: u32) -> OpenModule {
        let identity = Identity { major: 1, minor: 1, inode: module.into() };
        OpenModule { module: ModuleId(module), identity, owner }
    }

    #[test]
    fn a_user_gets_half_of_the_room_and_root_all_that_is_left() {
        let mut files = OpenFiles::new(5);
        for module in 0..3 {
            assert!(files.has_room(7), "{module}");
            files.add(open(module, 7));
        }
        assert!(!files.has_room(7) && files.has_room(8) && files.has_room(0));
        files.add(open(3, 0));
        files.add(open(4, 0));
        assert!(!files.has_room(8) && !files.has_room(0));
    }

    #[test]
    fn the_older_half_of_what_nobody_maps_is_taken() {
        let mut files = OpenFiles::new(9);
        (0..7).for_each(|module| files.add(open(module, 0)));
        let taken = files.take_unused(|module| module.0 % 3 == 0);
        assert_eq!(taken.iter().map(|open| open.module.0).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(files.all.iter().map(|open| open.module.0).collect::<Vec<_>>(), [0, 3, 4, 5, 6]);
        assert!(files.take_unused(|_| true).is_empty());
    }
}
