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

#[test]
fn lists_of_cpus_that_make_no_sense_are_errors_that_name_the_file() {
    for text in ["", "x", "3-1", "0-", "-1", "0,,x", "4294967296"] {
        let (_root, sys) = tree(&[("devices/system/cpu/online", text)]);
        let error = sys.online_cpus().unwrap_err().to_string();
        assert!(error.contains("devices/system/cpu/online"), "{text:?}: {error}");
        assert_eq!(sys.topology().unwrap_err().to_string(), error, "{text:?}");
    }
    let (_root, sys) = tree(&[("devices/system/cpu/online/x", "a folder")]);
    assert!(sys.online_cpus().is_err());
}

#[test]
fn places_that_make_no_sense_are_those_of_a_machine_that_says_nothing() {
    let (_root, sys) = tree(&[
        ("devices/system/cpu/online", "0-1\n"),
        ("devices/system/cpu/cpu0/topology/core_id", "-1\n"),
        ("devices/system/cpu/cpu0/topology/physical_package_id", "4294967296\n"),
        ("devices/system/cpu/cpu1/topology/core_id", "\n"),
        ("devices/system/node/online", "0-1\n"),
        ("devices/system/node/node0/cpulist", "rubbish\n"),
        ("devices/system/node/node1/cpulist", "1\n"),
    ]);
    let place = |cpu, core, package, node| CpuTopology { cpu, core, package, node };
    assert_eq!(sys.topology().unwrap(), [place(0, 0, 0, 0), place(1, 1, 0, 1)]);
    assert_eq!(sys.nodes(), [0, 1]);
}

#[test]
fn a_virtual_machine_is_known_by_its_platform() {
    for (name, files, expected) in [
        ("Xen says so itself", &[("hypervisor/type", "xen\n")][..], Some("xen")),
        ("a vendor that makes only guests", &[("class/dmi/id/sys_vendor", "QEMU\n")], Some("QEMU")),
        (
            "a product of a vendor that makes both",
            &[
                ("class/dmi/id/sys_vendor", "Microsoft Corporation\n"),
                ("class/dmi/id/product_name", "Virtual Machine\n"),
            ],
            Some("Microsoft Corporation"),
        ),
        (
            "the same vendor's hardware",
            &[("class/dmi/id/sys_vendor", "Microsoft Corporation\n"), ("class/dmi/id/product_name", "Surface\n")],
            None,
        ),
        (
            "hardware in a cloud",
            &[("class/dmi/id/sys_vendor", "Amazon EC2\n"), ("class/dmi/id/product_name", "c7g.metal\n")],
            None,
        ),
        ("a product without a vendor", &[("class/dmi/id/product_name", "KVM\n")], None),
        ("empty files", &[("hypervisor/type", "\n"), ("class/dmi/id/sys_vendor", " \n")], None),
    ] {
        let (_root, sys) = tree(files);
        assert_eq!(sys.hypervisor().as_deref(), expected, "{name}");
    }
}

#[test]
fn what_a_file_says_is_trimmed_and_nothing_is_nothing() {
    let (root, sys) = tree(&[
        ("a", "  text \n"),
        ("empty", " \n"),
        ("devices/system/cpu/smt/active", "1\n"),
        ("devices/system/cpu/cpu3/cpufreq/scaling_governor", "schedutil\n"),
        ("fs/resctrl/x", ""),
    ]);
    fs::write(root.path().join("bytes"), [0xff, 0xfe]).unwrap();
    for (name, expected) in [("a", Some("text")), ("empty", None), ("bytes", None), ("none", None), ("fs", None)] {
        assert_eq!(sys.text(name).as_deref(), expected, "{name}");
    }
    assert_eq!((sys.smt_active(), sys.governor(3), sys.governor(4)), (Some(true), Some("schedutil".to_string()), None));
    assert_eq!(sys.resctrl(), Resctrl::NotMounted);
}

#[test]
fn caches_that_make_no_sense_are_left_out_and_a_list_without_an_end_is_cut() {
    let (root, sys) = tree(&[]);
    let cache = |index: usize, level: &str, kind: &str, size: &str| {
        let folder = root.path().join(format!("devices/system/cpu/cpu0/cache/index{index}"));
        fs::create_dir_all(&folder).unwrap();
        for (name, text) in [("level", level), ("type", kind), ("size", size)] {
            fs::write(folder.join(name), text).unwrap();
        }
    };
    for (index, size) in ["0K", "-1K", "K", "1T", "18446744073709551615K", "", "64"].iter().enumerate() {
        cache(index, "1", "Data", size);
    }
    let caches = sys.caches(0);
    assert_eq!(caches.iter().map(|cache| cache.bytes).collect::<Vec<_>>(), [64], "plain bytes are a size");
    assert_eq!(caches[0].cpus, [0], "a cache that does not say who shares it is its CPU's own");
    (7..100).for_each(|index| cache(index, "2", "Unified", "1M"));
    assert_eq!(sys.caches(0).len(), 16 - 6);
    fs::remove_dir_all(root.path().join("devices/system/cpu/cpu0/cache/index0")).unwrap();
    assert!(sys.caches(0).is_empty(), "the first that is missing is the end");
}
