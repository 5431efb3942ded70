//! Names of targets to kernel objects: pids, unit names, container ids, cgroup paths.
