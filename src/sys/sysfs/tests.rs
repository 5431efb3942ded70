#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
//! Trees of files written by hand, and the one of this machine.

use super::*;
use crate::model::CpuTopology;
use std::collections::BTreeMap;

fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, SysFs) {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let sys = SysFs::new(root.path());
    (root, sys)
}

#[test]
fn cpus_are_placed_in_cores_packages_and_nodes() {
    let (_root, sys) = tree(&[
        ("devices/system/cpu/online", "0-1,8\n"),
        ("devices/system/cpu/cpu1/topology/core_id", "0\n"),
        ("devices/system/cpu/cpu1/topology/physical_package_id", "0\n"),
        ("devices/system/cpu/cpu8/topology/core_id", "4\n"),
        ("devices/system/cpu/cpu8/topology/physical_package_id", "1\n"),
        ("devices/system/node/online", "0,2\n"),
        ("devices/system/node/node0/cpulist", "0-1\n"),
        ("devices/system/node/node2/cpulist", "8\n"),
        ("devices/system/cpu/cpu1/topology/thread_siblings_list", "0-1\n"),
    ]);
    let place = |cpu, core, package, node| CpuTopology { cpu, core, package, node };
    assert_eq!(sys.topology().unwrap(), [place(0, 0, 0, 0), place(1, 0, 0, 0), place(8, 4, 1, 2)]);
}

#[test]
fn what_the_machine_does_not_say_is_unknown() {
    let (_root, sys) = tree(&[("devices/system/cpu/online", "\n")]);
    assert!(sys.online_cpus().unwrap_err().to_string().contains("devices/system/cpu/online"));
    assert_eq!((sys.governor(0), sys.smt_active(), sys.hypervisor()), (None, None, None));
    assert_eq!((sys.resctrl(), sys.event_sources().len()), (Resctrl::Absent, 0));
}

#[test]
fn event_sources_and_the_platform_are_read() {
    let (root, sys) = tree(&[
        ("bus/event_source/devices/cpu/type", "4\n"),
        ("bus/event_source/devices/broken/type", "x\n"),
        ("class/dmi/id/sys_vendor", "Amazon EC2\n"),
        ("class/dmi/id/product_name", "m5.metal\n"),
        ("fs/resctrl/schemata", "L3:0=f\n"),
    ]);
    assert_eq!(sys.event_sources(), BTreeMap::from([("cpu".to_string(), 4)]));
    assert_eq!((sys.hypervisor(), sys.resctrl()), (None, Resctrl::Mounted));
    fs::write(root.path().join("class/dmi/id/product_name"), "m5.large\n").unwrap();
    assert_eq!(sys.hypervisor().as_deref(), Some("Amazon EC2"));
}

#[test]
fn this_machine_has_a_cpu_online() {
    assert!(!SysFs::new("/sys").topology().unwrap().is_empty());
}
