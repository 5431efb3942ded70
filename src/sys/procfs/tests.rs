#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
//! Contents of /proc that are cut, beyond their range, or written by a hostile task, and folders that are not /proc.

use super::*;
use crate::error::ErrorKind;
use crate::model::limits::{MAPS_BYTES, PROC_BYTES};
use std::fs;
use std::path::PathBuf;

fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, ProcFs) {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let proc = ProcFs::new(root.path());
    (root, proc)
}

/// The fields of `stat` after the state, each its own number: field 4 is 4, and so on to 52.
fn numbered() -> Vec<String> {
    (4..=52).map(|field: u64| field.to_string()).collect()
}

#[test]
fn every_field_of_stat_is_taken_from_its_own_place() {
    let text = format!("1 (x) R {}\n", numbered().join(" "));
    let stat = task_stat(text.as_bytes()).unwrap();
    assert_eq!((stat.id, stat.state, stat.parent, stat.flags), (1, b'R', 4, 9));
    assert_eq!((stat.minor_faults, stat.major_faults), ([10, 11], [12, 13]));
    assert_eq!((stat.user_ticks, stat.system_ticks), ([14, 16], [15, 17]));
    assert_eq!((stat.threads, stat.start_ticks, stat.cpu, stat.blkio_ticks), (20, 22, Some(39), 42));
}

#[test]
fn a_stat_that_is_cut_has_no_values_rather_than_wrong_ones() {
    let fields = numbered();
    for kept in 0..=fields.len() {
        let text = format!("1 (x) R {}\n", fields[..kept].join(" "));
        // The start time is field 22; what comes after it may be missing on old kernels.
        let stat = task_stat(text.as_bytes());
        assert_eq!(stat.is_some(), kept >= 19, "{kept} fields");
        if let Some(stat) = stat {
            assert_eq!(stat.start_ticks, 22, "{kept} fields");
            assert_eq!(stat.cpu, (kept >= 36).then_some(39), "{kept} fields");
            assert_eq!(stat.blkio_ticks, if kept >= 39 { 42 } else { 0 }, "{kept} fields");
        }
    }
}

#[test]
fn numbers_beyond_their_range_are_no_numbers() {
    let with = |place: usize, value: &str| {
        let mut fields = numbered();
        fields[place - 4] = value.to_string();
        format!("1 (x) R {}\n", fields.join(" "))
    };
    for (why, text) in [
        ("no parent", with(4, "-1")),
        ("a parent beyond any process", with(4, "4294967296")),
        ("flags beyond 32 bits", with(9, "4294967296")),
        ("faults beyond 64 bits", with(10, "18446744073709551616")),
        ("time that runs backwards", with(14, "-5")),
        ("a start that is a word", with(22, "now")),
        ("threads beyond any process", with(20, "99999999999")),
        ("an id beyond any process", "4294967296 (x) R ".to_string() + &numbered().join(" ")),
        ("a process without a name", "1 R ".to_string() + &numbered().join(" ")),
        ("a name that closes before it opens", "1 )x( R ".to_string() + &numbered().join(" ")),
    ] {
        assert_eq!(task_stat(text.as_bytes()), None, "{why}");
    }
    let most = with(14, "18446744073709551615");
    assert_eq!(task_stat(most.as_bytes()).unwrap().user_ticks[0], u64::MAX);
    assert_eq!(task_stat(with(39, "x").as_bytes()).unwrap().cpu, None, "a CPU nobody knows is none");
}

#[test]
fn a_thread_that_was_moved_as_it_slept_is_not_known_to_have_run_at_boot() {
    for (line, expected) in [
        ("se.exec_start                                :       2874610.761004", Some(2_874_610_761_004)),
        ("se.exec_start                                :             0.000000", None),
        ("se.exec_start : 12.5", None),
        ("se.vruntime : 107.001517", None),
    ] {
        let text = format!("cat (31189, #threads: 1)\n----\n{line}\nnr_switches : 1\n");
        assert_eq!(last_ran(text.as_bytes()).map(|ran| ran.0), expected, "{line}");
    }
}

#[test]
fn a_name_cannot_pretend_to_be_another_line() {
    let sched = b"x\nse.nr_migrations : 9 (7, #threads: 1)\nse.nr_migrations : 12\n";
    assert_eq!(sched_details(sched).migrations, Some(12), "a value with more behind it is no number");
    let status =
        status(b"Name:\tTgid:\t1\nTgid:\t41\nUid:\t\nNSpid:\t41\tx\t7\nCapEff:\tzz\nSeccomp:\t-1\nKthread:\t2\n");
    assert_eq!((status.name.as_str(), status.tgid), ("Tgid:\t1", Some(41)));
    assert_eq!((status.uid, status.ns_pids), (None, vec![41, 7]));
    assert_eq!((status.cap_effective, status.seccomp, status.kernel_thread), (None, None, Some(true)));
}

#[test]
fn files_that_count_need_all_their_numbers() {
    for (text, expected) in [
        ("voluntary_ctxt_switches:\t1\nnonvoluntary_ctxt_switches:\t2\n", Some((1, 2))),
        ("voluntary_ctxt_switches:\t1\n", None),
        ("nonvoluntary_ctxt_switches:\t2\n", None),
        ("voluntary_ctxt_switches:\t-1\nnonvoluntary_ctxt_switches:\t2\n", None),
        ("voluntary_ctxt_switches:\t\nnonvoluntary_ctxt_switches:\t2\n", None),
    ] {
        assert_eq!(switches(text.as_bytes()), expected, "{text:?}");
    }
    for (text, expected) in [
        ("read_bytes: 18446744073709551615\nwrite_bytes: 9\n", Some(u64::MAX)),
        ("read_bytes: -1\nwrite_bytes: 9\n", None),
        ("write_bytes: 9\n", None),
        ("", None),
    ] {
        assert_eq!(storage_bytes(text.as_bytes()), expected, "{text:?}");
    }
    for (text, expected) in [("1 2 3", Some(2)), ("1", None), ("1 x", None), ("1 18446744073709551615", None)] {
        let pages = resident_bytes(text.as_bytes()).map(|bytes| bytes / rustix::param::page_size() as u64);
        assert_eq!(pages, expected, "{text:?}");
    }
    assert_eq!(children(b"1 x 2\n-3 4294967296 5").collect::<Vec<_>>(), [1, 2, 5], "what is no id is skipped");
}

#[test]
fn the_machines_times_never_overflow_and_unknown_lines_are_skipped() {
    let most = u64::MAX;
    let text = format!("cpu {most} {most} {most} {most} {most} {most} {most} {most}\ncpux 1 1 1 1 1 1 1\ncpu1 1 1\n");
    let times: Vec<_> = cpu_times(text.as_bytes()).collect();
    assert_eq!((times[0].user, times[0].system, times[0].total(), times[0].busy()), (most, most, most, most));
    assert_eq!(times.len(), 1, "{times:?}");
    assert_eq!(cpu_times(b"intr 1\ncpu 1 1 1 1 1 1 1\n").count(), 0, "the CPUs come first or not at all");
    for (text, expected) in [
        ("some avg10=0.00 total=7\nfull total=x\n", Some(Pressure { some_us: 7, full_us: None })),
        ("some total=-7\n", None),
        ("full total=7\n", None),
        ("some avg10=0.00\n", None),
    ] {
        assert_eq!(pressure(text.as_bytes()), expected, "{text:?}");
    }
    assert_eq!(memory_total("MemTotal: 16 MB\n"), None, "another unit than the kernel's is not understood");
    assert_eq!(limit("Max open files soft hard files\n", "Max open files"), Some((None, None)));
    assert_eq!(limit("Max open files 1\n", "Max open files"), None);
}

#[test]
fn only_numbers_are_processes_and_threads() {
    let names = ["1/x", "41/x", "self/x", "+7/x", "-1/x", "4294967296/x", "7a/x", "41/task/41/x", "41/task/none/x"];
    let (_root, proc) = tree(&names.map(|path| (path, "")));
    let mut pids = proc.processes().unwrap();
    pids.sort_unstable();
    assert!(pids.contains(&1) && pids.contains(&41) && pids.iter().all(|pid| [1, 7, 41].contains(pid)), "{pids:?}");
    assert_eq!(proc.threads(41).unwrap(), [41]);
    let error = proc.threads(99).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().starts_with("cannot list ") && error.to_string().contains("99/task"), "{error}");
    assert!(proc.exists(41) && !proc.exists(99));
}

#[test]
fn a_family_that_points_at_itself_is_walked_once() {
    let (_root, proc) = tree(&[
        ("1/task/1/children", "2 3 1 "),
        ("2/task/2/children", "1 3 4 "),
        ("2/task/9/children", "5 rubbish"),
        ("3/task/3/x", ""),
    ]);
    let mut all = proc.with_descendants(&[1]);
    all.sort_unstable();
    assert_eq!(all, [1, 2, 3, 4, 5], "4 and 5 have ended since: they are named, and have nobody below them");
    assert_eq!(proc.with_descendants(&[7]), [7]);
    assert!(proc.with_descendants(&[]).is_empty());
}

#[test]
fn settings_and_clocks_that_make_no_sense_are_unknown() {
    let (_root, proc) = tree(&[
        ("sys/kernel/a", " -1 \n"),
        ("sys/kernel/b", "1 2\n"),
        ("sys/kernel/c", ""),
        ("sys/kernel/d", "9223372036854775808"),
        ("uptime", "100.50 1.00\n"),
    ]);
    for (name, expected) in [("a", Some(-1)), ("b", None), ("c", None), ("d", None), ("none", None)] {
        assert_eq!(proc.setting(&format!("kernel/{name}")), expected, "{name}");
    }
    assert_eq!(proc.ticks_since_boot(), Some(100_500_000_000 / clock_tick().0));
    for uptime in ["", "soon", "-"] {
        let (_root, proc) = tree(&[("uptime", uptime)]);
        assert_eq!(proc.ticks_since_boot(), None, "{uptime:?}");
    }
}

#[test]
fn text_that_is_not_unicode_is_read_and_a_folder_is_not_a_file() {
    let (root, proc) = tree(&[("7/status", "Tgid:\t7\n")]);
    fs::write(root.path().join("7/comm"), b"a\xffb\n").unwrap();
    assert_eq!(proc.text("7/comm").unwrap(), "a\u{fffd}b\n");
    assert_eq!((proc.status(7).unwrap().tgid, proc.status(8).unwrap_err().kind()), (Some(7), ErrorKind::NotFound));
    assert!(proc.read("7").unwrap_err().to_string().starts_with("cannot read "), "a folder");
    assert_eq!(proc.maps(7).unwrap_err().kind(), ErrorKind::NotFound);
    for (file, most) in [("7/cmdline", PROC_BYTES), ("7/maps", MAPS_BYTES)] {
        fs::File::create(root.path().join(file)).unwrap().set_len(1 << 40).unwrap();
        let read = if file == "7/maps" { proc.maps(7) } else { proc.read(file) };
        assert_eq!(read.unwrap().len() as u64, most, "{file}");
    }
    assert_eq!(ProcFs::new("/nowhere").processes().unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(ProcFs::new("/nowhere").root(), PathBuf::from("/nowhere"));
    assert_eq!(ProcFs::new("/nowhere").kernel_symbols(), KernelSymbols::Absent);
}
