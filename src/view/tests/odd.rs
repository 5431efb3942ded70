//! Profiles at the edges: nothing, next to nothing, only losses, nothing measured, numbers too large, names that act.

use crate::analysis::testing::{Synthetic, event, ms};
use crate::model::profile::Profile;
use crate::model::{LossKind, Scope, StackEnd, TaskChange, TaskState, Unit};
use crate::units::{Nanos, Ops};

/// Names that a terminal, a page, a spreadsheet or a parser must not obey.
pub(crate) fn hostile() -> Vec<String> {
    let mut names: Vec<String> = [
        "\u{1b}[31mred\u{1b}[0m",
        "\u{1b}]0;title\u{7}",
        "\u{9b}2Jc1",
        "say \"hi\" 'there' `now`",
        "two\nlines\r\nthree",
        "tab\there",
        "</script><script>alert(1)</script>",
        "]]><!--",
        "&amp;&#39;<b>",
        "nul\0nul",
        "\u{202e}gpj.exe",
        "\u{2066}isolate\u{2069}",
        "\u{200b}zero\u{feff}width",
        "\u{2028}line\u{2029}paragraph",
        "=HYPERLINK(\"http://x\")",
        "+1+cmd|' /C calc'!A0",
        "-2+3",
        "@SUM(A1:A9)",
        "\t=1+1",
        "a;b;c 42",
        "# comment",
        "worker 3",
        " leading and trailing ",
        "",
        " ",
        "back\\slash\\u0041\\n",
        "{{title}} %s %n $(reboot)",
        "|table|`code`| **bold** [link](x)",
        "名前 größe naïve",
        "e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}",
        "\u{301}mark first",
        "family \u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}",
        "\u{fffd}\u{fffe}\u{10ffff}",
        "a,b,\"c\",d",
        "[unknown]",
        "(x) [k]_[j]",
    ]
    .map(String::from)
    .to_vec();
    names.push("x".repeat(1 << 16));
    names.push("\u{1b}".repeat(300));
    names
}

/// Every hostile name once as a function, a module and a thread, each with another weight, below a plain `main` and as
/// a root of its own; waits of every thread.
pub(crate) fn hostile_names() -> Profile {
    let mut s = Synthetic::new();
    s.meta.plan.off_cpu = true;
    s.alive(41, "server");
    let names = hostile();
    for (at, name) in names.iter().enumerate() {
        let (at, tid) = (at as u64, 100 + at as u32);
        s.task(0, 41, tid, TaskChange::Alive { comm: name.clone() });
        s.weight = 1_000_000 + at;
        s.samples(10 + at, tid, &format!("/usr/bin/app!main;/m{at}!f{at}"), 2);
        s.samples(20 + at, tid, &format!("/m{at}!f{at}"), 1);
        s.off_cpu(500 + 10 * at, tid, TaskState::Sleeping, 5, Some(1), &format!("/usr/bin/app!main;/m{at}!f{at}"));
    }
    s.ended(900, 41, "/usr/bin/app!main", 1, StackEnd::Broken);
    let mut profile = s.finish();
    for module in &mut profile.modules {
        if let Some(at) = module.path.strip_prefix("/m").and_then(|at| at.parse::<usize>().ok()) {
            module.path = names[at].clone();
        }
    }
    for symbol in profile.names.iter_mut().flatten() {
        if let Some(at) = symbol.function.strip_prefix('f').and_then(|at| at.parse::<usize>().ok()) {
            symbol.function = names[at].clone();
            symbol.file = Some(names[at].clone());
            symbol.line = Some(at as u32);
        }
    }
    profile
}

/// The profiles that hold nothing usual, each with its name.
pub(crate) fn odd_profiles() -> Vec<(&'static str, Profile)> {
    vec![
        ("nothing at all", Synthetic::new().finish()),
        ("no time", no_time()),
        ("one sample", one_sample()),
        ("a sample without a stack", stackless()),
        ("only losses", only_losses()),
        ("counters that were never read twice", read_once()),
        ("threads without a sample", idle()),
        ("numbers too large", huge()),
        ("operations that do not grow", still()),
        ("counters that run backwards", backwards()),
        ("hostile names", hostile_names()),
    ]
}

fn no_time() -> Profile {
    let mut s = Synthetic::new();
    s.alive(41, "server").samples(0, 41, "app!main", 1);
    s.reading("cycles", Scope::Target, 0, 5).tick(0, 0);
    let mut profile = s.finish();
    profile.meta.duration_ns = Some(0);
    profile
}

fn one_sample() -> Profile {
    let mut s = Synthetic::new();
    s.samples(5, 41, "app!main;app!work", 1);
    s.finish()
}

fn stackless() -> Profile {
    let mut s = Synthetic::new();
    s.alive(41, "server").ended(5, 41, "", 3, StackEnd::NotTaken);
    s.finish()
}

fn only_losses() -> Profile {
    let mut s = Synthetic::new();
    for kind in [LossKind::Ring, LossKind::Throttled, LossKind::OffCpu] {
        s.lost(10, kind, 1_000_000);
    }
    s.tick(1000, 1000);
    s.finish()
}

fn read_once() -> Profile {
    let mut s = Synthetic::new();
    s.alive(41, "server").samples(100, 41, "app!main", 4);
    for counter in ["task-clock", "cycles", "instructions", "cache-misses"] {
        s.reading(counter, Scope::Target, 0, 1000);
    }
    s.tick(1000, 1000).tick(2000, 1000);
    s.finish()
}

fn idle() -> Profile {
    let mut s = Synthetic::new();
    s.meta.plan.off_cpu = true;
    s.alive(41, "server").alive(42, "worker");
    for at in [0, 1000, 2000] {
        s.reading("task-clock", Scope::Target, at, 0).reading("cycles", Scope::Target, at, 0);
        s.reading("instructions", Scope::Target, at, 0);
        if at > 0 {
            s.tick(at, 1000);
        }
    }
    s.off_cpu(0, 42, TaskState::Sleeping, 2000, Some(0), "app!main;[kernel]!schedule");
    let mut profile = s.finish();
    profile.ops = vec![(ms(0), Ops(0)), (ms(2000), Ops(0))];
    profile
}

/// No capture has such numbers, but a damaged file may.
fn huge() -> Profile {
    let mut s = Synthetic::new();
    s.meta.plan.off_cpu = true;
    s.meta.events = vec![event("cycles", Unit::Cycles)];
    s.alive(41, "server");
    s.weight = u64::MAX / 2;
    s.samples(1, 41, "app!main;app!work", 3);
    s.samples(2, u32::MAX, "app!main;app!work", 3);
    s.off_cpu(3, 41, TaskState::Sleeping, 9_000_000_000_000, Some(9_000_000_000_000), "app!main");
    for counter in ["task-clock", "cycles", "instructions"] {
        s.reading(counter, Scope::Target, 0, 0).reading(counter, Scope::Target, 1000, u64::MAX);
    }
    s.lost(10, LossKind::Ring, u64::MAX).tick(1000, 1000);
    let mut profile = s.finish();
    profile.meta.duration_ns = Some(u64::MAX / 2);
    profile.meta.host.memory_bytes = u64::MAX;
    profile.ops = vec![(ms(0), Ops(0)), (ms(1000), Ops(u64::MAX))];
    profile
}

fn still() -> Profile {
    let mut s = Synthetic::new();
    s.alive(41, "server").samples(100, 41, "app!main", 40);
    s.reading("task-clock", Scope::Target, 0, 0).reading("task-clock", Scope::Target, 1000, 400_000_000);
    s.tick(1000, 1000);
    let mut profile = s.finish();
    profile.ops = vec![(ms(0), Ops(77)), (ms(500), Ops(77)), (ms(1000), Ops(77))];
    profile
}

fn backwards() -> Profile {
    let mut s = Synthetic::new();
    s.alive(41, "server").samples(100, 41, "app!main", 4);
    for counter in ["task-clock", "cycles", "instructions"] {
        s.reading(counter, Scope::Target, 0, 5000).reading(counter, Scope::Target, 1000, 100);
    }
    s.multiplexed("cache-misses", Scope::Target, 0, 9, (100, 90));
    s.multiplexed("cache-misses", Scope::Target, 1000, 5, (50, 80));
    s.tick(1000, 1000);
    let mut profile = s.finish();
    profile.ops = vec![(ms(1000), Ops(5)), (ms(0), Ops(9)), (Nanos(u64::MAX), Ops(1))];
    profile
}
