//! What /sys says about CPUs, nodes and event sources.
