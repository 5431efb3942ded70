//! `ironlaw metrics` on machines that are not here: each a directory with what its /proc and /sys would say.

use crate::program::Dir;
use serde_json::Value;
use std::fs;

/// A machine: files below its root.
struct Faked {
    dir: Dir,
}

impl Faked {
    fn new() -> Faked {
        let faked = Faked { dir: Dir::new() };
        faked.file("sys/devices/system/cpu/online", "0-3").file("sys/devices/system/node/online", "0-1");
        faked
    }

    fn file(&self, path: &str, text: &str) -> &Faked {
        let path = self.dir.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{text}\n")).unwrap();
        self
    }

    fn x86(vendor: &str, family: u32, model: u32, stepping: u32) -> Faked {
        let faked = Faked::new();
        let block = |cpu: u32| {
            format!(
                "processor\t: {cpu}\nvendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {model}\n\
                 model name\t: a CPU\nstepping\t: {stepping}\nflags\t\t: fpu vme msr\n"
            )
        };
        faked.file("proc/cpuinfo", &(0..4).map(block).collect::<Vec<_>>().join("\n"));
        faked.file("proc/sys/kernel/nmi_watchdog", "1").file("sys/devices/system/cpu/smt/control", "on");
        faked.file("sys/bus/event_source/devices/cpu/type", "4");
        faked
    }

    fn arm(midr: &str) -> Faked {
        let faked = Faked::new();
        faked.file("proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\n");
        faked.file("proc/sys/kernel/nmi_watchdog", "0").file("sys/devices/system/cpu/smt/control", "notimplemented");
        for cpu in 0..4 {
            faked.file(&format!("sys/devices/system/cpu/cpu{cpu}/regs/identification/midr_el1"), midr);
        }
        faked.file("sys/bus/event_source/devices/armv8_pmuv3_0/type", "8");
        faked.file("sys/bus/event_source/devices/armv8_pmuv3_0/caps/slots", "0x00000008");
        faked
    }

    fn metrics(&self, flags: &[&str]) -> crate::program::Ran {
        let root = self.dir.path().to_str().unwrap().to_string();
        self.dir.ironlaw(&[&["metrics", "--root", &root], flags].concat())
    }

    fn text(&self) -> String {
        self.metrics(&[]).succeeds().out
    }

    fn json(&self, flags: &[&str]) -> Value {
        serde_json::from_str(&self.metrics(&[&["--format", "json"], flags].concat()).succeeds().out).unwrap()
    }
}

#[test]
fn what_each_microarchitecture_gives() {
    for (name, machine) in [
        ("skx", Faked::x86("GenuineIntel", 6, 0x55, 4)),
        ("icx", Faked::x86("GenuineIntel", 6, 0x6a, 6)),
        ("spr", Faked::x86("GenuineIntel", 6, 0x8f, 8)),
        ("zen3", Faked::x86("AuthenticAMD", 25, 0x01, 1)),
        ("zen4", Faked::x86("AuthenticAMD", 25, 0x11, 1)),
        ("n1", Faked::arm("0x00000000413fd0c1")),
        ("v2", Faked::arm("0x00000000410fd4f0")),
        ("unknown_amd", Faked::x86("AuthenticAMD", 23, 0x01, 1)),
    ] {
        insta::assert_snapshot!(name, machine.text());
    }
}

#[test]
fn a_virtual_machine_without_a_pmu_says_so() {
    let machine = Faked::x86("AuthenticAMD", 25, 0x01, 1);
    let cpuinfo = fs::read_to_string(machine.dir.join("proc/cpuinfo")).unwrap();
    machine.file("proc/cpuinfo", &cpuinfo.replace("fpu vme", "fpu hypervisor vme"));
    fs::remove_dir_all(machine.dir.join("sys/bus/event_source/devices/cpu")).unwrap();
    machine.file("sys/bus/event_source/devices/software/type", "1");
    insta::assert_snapshot!("no_pmu", machine.text());
}

#[test]
fn a_hybrids_cores_are_kept_apart() {
    let machine = Faked::x86("GenuineIntel", 6, 0x97, 2);
    fs::remove_dir_all(machine.dir.join("sys/bus/event_source/devices/cpu")).unwrap();
    for (pmu, number, cpus) in [("cpu_core", "4", "0-1"), ("cpu_atom", "10", "2-3")] {
        machine.file(&format!("sys/bus/event_source/devices/{pmu}/type"), number);
        machine.file(&format!("sys/bus/event_source/devices/{pmu}/cpus"), cpus);
    }
    let cores = machine.json(&[]);
    let seen: Vec<_> = cores["cores"].as_array().unwrap().iter().map(|core| (&core["pmu"], &core["cpus"])).collect();
    assert_eq!(
        format!("{seen:?}"),
        "[(String(\"cpu_atom\"), Array [Number(2), Number(3)]), (String(\"cpu_core\"), Array [Number(0), Number(1)])]"
    );
    assert_eq!(cores["cores"][0]["groups"][0]["events"][0]["perf"], "cpu_atom/cycles/");
}

#[test]
fn the_json_names_formula_events_and_reasons() {
    let list = Faked::x86("GenuineIntel", 6, 0x8f, 8).json(&["llc_mpki,strex_fail_share"]);
    let core = &list["cores"][0];
    assert_eq!((&core["uarch"], &core["counters"]), (&"intel-spr".into(), &6.into()));
    let metric = &core["metrics"][0];
    assert_eq!(metric["formula"], "1000 * llc-miss / instructions");
    assert_eq!(metric["events"][0]["perf"], "cpu/config=0x412e/");
    assert_eq!(core["missing"][0]["why"], "Sapphire Rapids has no event for it");
}

#[test]
fn a_users_table_is_read_and_its_slips_are_told() {
    let machine = Faked::x86("GenuineIntel", 6, 0x8f, 8);
    machine.file(
        "mine.toml",
        "[[uarch]]\nid = \"intel-spr\"\n[uarch.events]\nllc_miss = { name = \"MINE\", config = 0x99 }",
    );
    let own = machine.json(&["llc_mpki", "--pmu-table", "mine.toml"]);
    assert_eq!(own["cores"][0]["metrics"][0]["events"][0]["name"], "MINE");
    machine.file("bad.toml", "[[uarch]]\nid = \"x\"\nfamly = 6");
    let bad = machine.metrics(&["--pmu-table", "bad.toml"]);
    assert_eq!(bad.code, Some(2));
    assert!(bad.err.contains("bad.toml") && bad.err.contains("famly"), "{}", bad.err);
    let endless = machine.metrics(&["--pmu-table", "/dev/zero"]);
    assert!(endless.code == Some(2) && endless.err.contains("not a regular file"), "{}", endless.err);
    let unknown = machine.metrics(&["--uarch", "intel-386"]);
    assert!(unknown.code == Some(2) && unknown.err.contains("amd-zen5"), "{}", unknown.err);
}
