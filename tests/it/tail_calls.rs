//! Functions that end in a jump to another one have no frame; stacks have them nevertheless, where the code shows the call.

use crate::program::Dir;
use crate::stack_switches::{build, folded, source};

/// Records the program and checks its stacks, with those that go through a library if its callers can be found.
fn check(flags: &[&str], method: &str, library: bool) {
    let dir = Dir::new();
    build(&dir, "cc", &[&["-O2"], flags].concat(), &source("tail_calls.c"));
    dir.line(&format!("-q record --call-graph {method} --force -o run -- ./app 2")).succeeds();
    let stacks = folded(&dir, "");
    // The call's name, and the path from main to it.
    let direct = [
        ("fill_set", "main;handle_set;fill_set"),
        ("fill_get", "main;handle_get;fill_get"),
        ("visit_leaf", "main;walk_tree;walk_tree;walk_tree;visit_leaf"),
        ("fill_chosen", "main;fill_chosen"),
    ];
    for (leaf, path) in direct {
        let of_leaf = || stacks.iter().filter(|(stack, _)| stack.split(';').next_back() == Some(leaf));
        let all: f64 = of_leaf().map(|(_, count)| count).sum();
        let as_written = of_leaf().filter(|(stack, _)| stack.ends_with(&format!(";{path}")) || stack == path);
        let share = as_written.map(|(_, count)| count).sum::<f64>() / all;
        assert!(all >= 30.0 && share > 0.95, "{share} of {all} samples in {leaf} have {path}: {stacks:?}");
    }
    for (stack, _) in &stacks {
        let calls: Vec<&str> = stack.split(';').collect();
        for pair in calls.windows(2) {
            assert_ne!(pair[0], "handle_chosen", "a pointer called it: {stack}");
            let only = direct.iter().map(|(leaf, path)| (leaf, path.rsplit(';').nth(1).unwrap_or_default()));
            for (leaf, caller) in only.filter(|(_, caller)| *caller != "main") {
                // Where the frame pointer is not set up yet, the stack lacks the caller, and has its caller at most.
                let is_other = pair[1] == *leaf && pair[0] != caller && calls.contains(&caller);
                assert!(!is_other, "{leaf} in another place than below {caller}: {stack}");
            }
        }
        assert!(calls.iter().filter(|call| **call == "walk_tree").count() <= 3, "three calls at most: {stack}");
    }
    if library {
        let of_keys = || stacks.iter().filter(|(stack, _)| stack.ends_with(";compare_keys"));
        let all: f64 = of_keys().map(|(_, count)| count).sum();
        let sorted = of_keys().filter(|(stack, _)| stack.contains("main;sort_keys;"));
        let share = sorted.map(|(_, count)| count).sum::<f64>() / all;
        assert!(all >= 20.0 && share > 0.95, "{share} of {all} comparisons are by sort_keys: {stacks:?}");
    }
}

#[test]
fn stacks_of_frame_pointers_have_functions_that_end_in_a_jump() {
    require!("perf", "cc");
    check(&["-fno-omit-frame-pointer"], "fp", false);
}

#[test]
fn stacks_of_unwind_tables_have_functions_that_end_in_a_jump() {
    require!("perf", "cc");
    check(&["-fomit-frame-pointer"], "dwarf", true);
}

#[test]
fn beside_an_older_recording_no_stack_has_them() {
    require!("perf", "cc");
    let dir = Dir::new();
    build(&dir, "cc", &["-O2", "-fno-omit-frame-pointer"], &source("tail_calls.c"));
    for name in ["before", "after"] {
        dir.line(&format!("-q record --call-graph fp -o {name} -- ./app 1")).succeeds();
    }
    let compared = || {
        dir.line("diff before.ironlaw after.ironlaw --flamegraph difference.svg").succeeds();
        std::fs::read_to_string(dir.join("difference.svg")).unwrap()
    };
    assert!(compared().contains("<title>handle_set "));
    let path = dir.join("before.ironlaw").join("meta.json");
    let mut meta: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    meta["format"] = serde_json::json!([1, 3]);
    std::fs::write(&path, meta.to_string()).unwrap();
    std::fs::remove_file(dir.join("difference.svg")).unwrap();
    let svg = compared();
    assert!(svg.contains("<title>fill_set ") && !svg.contains("handle_set"), "{svg:.500}");
}
