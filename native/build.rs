//! Builds the C workloads into the program.

fn main() {}
