//! The sampling thread: opens events, drains rings, interns stacks.
