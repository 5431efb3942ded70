//! What is requested from the kernel, and what of it is kept.

mod attach;
mod groups;
mod steering;
