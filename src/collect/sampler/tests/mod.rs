//! What is requested from the kernel, and what of it is kept.

mod accesses;
mod attach;
mod groups;
mod steering;
