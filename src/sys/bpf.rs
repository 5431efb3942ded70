//! A kernel-side filter for samples of one process, as hand-assembled BPF. It decides nothing.
