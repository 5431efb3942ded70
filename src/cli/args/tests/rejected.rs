//! What is rejected: each message names the flag and the value, and says what would be accepted.

use super::*;

/// The error of a line, which is an error of usage.
fn error(line: &str) -> String {
    let error = parse(line).err().unwrap_or_else(|| panic!("accepted: {line}"));
    assert_eq!(error.exit_code(), 2, "{line}: {error}");
    assert!(error.use_stderr(), "{line}: an error goes to the standard error");
    error.to_string()
}

/// Asserts that each line is rejected with a message that holds all of these texts.
fn rejected(rows: &[(&str, &str, &[&str])]) {
    for (case, line, parts) in rows {
        let message = error(line);
        for part in *parts {
            assert!(message.contains(part), "{case}: '{line}' lacks '{part}':\n{message}");
        }
        assert!(message.starts_with("error: "), "{case}: {message}");
    }
}

#[test]
fn a_wrong_time_is_named_with_its_flag_and_an_example() {
    rejected(&[
        ("a duration of nothing", "record -d 0 -p 1", &["'0'", "--duration <TIME>", "longer than nothing"]),
        ("a duration that rounds to nothing", "record -d 0.1ns -p 1", &["'0.1ns'", "longer than nothing"]),
        ("a duration without a number", "record -d s -p 1", &["'s'", "--duration <TIME>", "write 500ms, 5s, 2m or 1h"]),
        ("an empty duration", "record -d= -p 1", &["--duration <TIME>"]),
        ("a negative duration", "record --duration=-5s -p 1", &["'-5s'", "write 500ms"]),
        ("an unknown unit", "record -d 5parsecs -p 1", &["unknown unit 'parsecs'", "5s"]),
        ("an exponent", "record -d 1e400 -p 1", &["unknown unit 'e400'"]),
        ("not a number", "record -d NaN -p 1", &["'NaN'"]),
        ("infinity", "record -d inf -p 1", &["'inf'"]),
        ("two points", "record -d 1.2.3s -p 1", &["'1.2.3s'", "not a time"]),
        ("two units", "record -d 5sms -p 1", &["unknown unit 'sms'"]),
        ("a unit before the number", "record -d s5 -p 1", &["unknown unit 's5'"]),
        ("longer than a century", "record -d 900000h -p 1", &["longer than a century"]),
        ("digits of another script", "record -d ٣s -p 1", &["--duration"]),
        ("a fraction sign", "record -d ½s -p 1", &["--duration"]),
        ("capital units", "record -d 5S -p 1", &["unknown unit 'S'"]),
        ("a wrong interval", "record -I x -p 1", &["--interval <TIME>", "unknown unit 'x'"]),
        ("a wrong delay", "record -D later -p 1", &["--delay <TIME>", "unknown unit 'later'"]),
        ("no time before an alarm", "watch --baseline b --before 0 -p 1", &["--before <TIME>", "longer than nothing"]),
        ("no time after an alarm", "watch --baseline b --after 0s -p 1", &["--after <TIME>", "longer than nothing"]),
        ("no dwell", "sweep -p 1 --cpus 1,2 --dwell 0", &["--dwell <TIME>", "longer than nothing"]),
        ("no timeout", "sweep --timeout 0 -L threads 1-2 x", &["--timeout <TIME>", "longer than nothing"]),
        ("a demo of no time", "demo --seconds 0", &["--seconds <TIME>", "longer than nothing"]),
        ("a workload of no time", "workload spin --seconds 0", &["--seconds <TIME>", "longer than nothing"]),
    ]);
}

#[test]
fn a_wrong_rate_is_named_and_a_rate_and_a_period_exclude_each_other() {
    rejected(&[
        ("no samples", "record -F 0 -p 1", &["'0'", "--freq <HZ>", "from 1 on", "max"]),
        ("a negative rate", "record -F=-1 -p 1", &["'-1'", "--freq <HZ>", "997"]),
        ("a fraction", "record -F 0.5 -p 1", &["'0.5'", "--freq"]),
        ("a unit", "record -F 1kHz -p 1", &["'1kHz'", "--freq"]),
        ("capitals", "record -F MAX -p 1", &["'MAX'", "max"]),
        ("beyond 64 bits", "record -F 18446744073709551616 -p 1", &["18446744073709551616"]),
        ("an empty rate", "record -F= -p 1", &["--freq <HZ>"]),
        ("a word for a watch", "watch --baseline b -F fast -p 1", &["'fast'", "--freq <HZ>"]),
        ("no events between samples", "record -c 0 -p 1", &["'0'", "--count <PERIOD>", "1.."]),
        ("a negative period", "record --count=-5 -p 1", &["'-5'", "--count <PERIOD>"]),
        ("both", "record -F 99 -c 1000 -p 1", &["--freq <HZ>", "cannot be used with", "--count <PERIOD>"]),
    ]);
}

#[test]
fn a_wrong_target_is_named() {
    rejected(&[
        ("process 0", "record -p 0", &["'0'", "--pid <PID>"]),
        ("a negative process", "record --pid=-1", &["'-1'", "--pid <PID>"]),
        ("a name for a process", "record -p nginx", &["'nginx'", "--pid <PID>"]),
        ("a hole in a list", "record -p 1,,2", &["--pid <PID>"]),
        ("a process beyond 32 bits", "record -p 4294967296", &["'4294967296'", "--pid <PID>"]),
        ("a process in hexadecimal", "record -p 0x29", &["'0x29'", "--pid <PID>"]),
        ("thread 0", "record -t 0", &["'0'", "--tid <TID>"]),
        ("a name for a thread", "record -t worker", &["'worker'", "--tid <TID>"]),
        ("no process", "record -p", &["--pid <PID>"]),
        ("no control group", "record -G", &["--cgroup <CGROUPS>"]),
        ("a CPU that is a word", "record -C all", &["'all'", "--cpu <CPUS>"]),
        ("CPUs in falling order", "record -C 3-1", &["'3-1'", "--cpu <CPUS>"]),
        ("an open range of CPUs", "record -C 3-", &["'3-'"]),
        ("a hole among CPUs", "record -C 0,,2", &["--cpu <CPUS>"]),
        ("a list of CPUs with an end too many", "record -C 0,", &["--cpu <CPUS>"]),
        ("more CPUs than any kernel has", "record -C 0-8192", &["'0-8192'"]),
        ("a CPU beyond 32 bits", "record -C 99999999999", &["'99999999999'"]),
        ("a CPU of another script", "record -C ٣", &["'٣'"]),
        ("process 0 for the doctor", "doctor -p 0", &["'0'", "--pid <PID>"]),
        ("process 0 for a sweep", "sweep -p 0 --cpus 1", &["'0'", "--pid <PID>"]),
    ]);
}

#[test]
fn a_wrong_call_graph_shows_the_methods() {
    const METHODS: &str = "auto, fp, dwarf, dwarf,BYTES, lbr or none";
    rejected(&[
        ("an unknown method", "record --call-graph magic -p 1", &["'magic'", "--call-graph <METHOD>", METHODS]),
        ("capitals", "record --call-graph FP -p 1", &["'FP'", METHODS]),
        ("a size for frame pointers", "record --call-graph fp,8192 -p 1", &["'fp,8192'", METHODS]),
        ("no bytes", "record --call-graph dwarf,0 -p 1", &["'0'", "from 8 to 65528"]),
        ("no number", "record --call-graph dwarf, -p 1", &["from 8 to 65528"]),
        ("a unit", "record --call-graph dwarf,16k -p 1", &["'16k'", "from 8 to 65528"]),
        ("more than the kernel stores", "record --call-graph dwarf,65529 -p 1", &["'65529'", "from 8 to 65528"]),
        ("that overflows when aligned", "record --call-graph dwarf,4294967295 -p 1", &["'4294967295'"]),
    ]);
}

#[test]
fn a_wrong_source_of_operations_is_named_with_the_form_it_should_have() {
    rejected(&[
        ("no form", "record --ops requests -p 1", &["'requests'", "--ops <SPEC>", "regex:PATTERN", "rate:N"]),
        ("an empty one", "record --ops= -p 1", &["--ops <SPEC>"]),
        ("an unknown form", "record --ops count:5 -p 1", &["'count'", "The forms are"]),
        ("a pattern that does not end", "record --ops 'regex:([0-9]+' -p 1", &["--ops <SPEC>"]),
        ("a rate of nothing", "record --ops rate:0 -p 1", &["rate above 0", "rate:5000"]),
        ("a negative rate", "record --ops rate:-5 -p 1", &["rate above 0"]),
        ("an infinite rate", "record --ops rate:inf -p 1", &["rate above 0"]),
        ("a rate beyond numbers", "record --ops rate:1e400 -p 1", &["rate above 0"]),
        ("a rate that is none", "record --ops rate:NaN -p 1", &["rate above 0"]),
        ("a file without a name", "record --ops file: -p 1", &["names no file", "file:/run/app/requests"]),
        ("a function without a binary", "record --ops uprobe::f -p 1", &["uprobe:/usr/bin/app:handle_request"]),
        ("a binary without a function", "record --ops uprobe:/bin/app -p 1", &["uprobe:/usr/bin/app:handle_request"]),
        ("a probe without a name", "record --ops usdt:/bin/app -p 1", &["names no binary and probe", "list usdt"]),
        (
            "a tracepoint without a name",
            "record --ops tracepoint:syscalls -p 1",
            &["tracepoint:syscalls:sys_enter_sendto"],
        ),
        ("a page with a slash", "record --ops page:a/b -p 1", &["letters, digits"]),
        ("a page without a name", "record --ops page: -p 1", &["letters, digits"]),
        ("an encrypted address", "record --ops https://x/m#n -p 1", &["https", "http://localhost:PORT/metrics#METRIC"]),
        (
            "an address without a metric",
            "record --ops http://localhost:9100/metrics -p 1",
            &["names no metric", "#requests_total"],
        ),
        ("a port of 0", "record --ops http://localhost:0/m#n -p 1", &["1 to 65535"]),
        ("a password", "record --ops http://me:pw@localhost/m#n -p 1", &["host or path"]),
        ("a label that does not end", "record --ops 'http://localhost/m#n{a=\"b' -p 1", &["names no valid metric"]),
        ("the same in a watch", "watch --baseline b --ops rate:x -p 1", &["--ops <SPEC>", "rate above 0"]),
    ]);
}

#[test]
fn a_wrong_range_of_time_is_named_with_its_flag() {
    for command in ["report r.ironlaw", "flamegraph r.ironlaw", "export r.ironlaw", "diff a b"] {
        for (case, range) in [
            ("ends before it begins", "5s-2s"),
            ("is empty", "1s-1s"),
            ("has no length", "3s+0"),
            ("is a moment", "5"),
            ("is no range", "yesterday"),
            ("has three ends", "1s-2s-3s"),
            ("has an unknown unit", "1x-2x"),
            ("has no end", "1s+"),
            ("has an exponent", "1e400-"),
            ("is longer than a recording can be", "99999999999h-"),
            ("is of another script", "٣s-٤s"),
        ] {
            let message = error(&format!("{command} --time-range={range}"));
            assert!(message.contains("--time-range <FROM-TO>"), "{case}: {message}");
            assert!(message.contains(&format!("'{range}'")), "{case}: {message}");
        }
    }
    rejected(&[
        ("in a baseline", "baseline build a -o b --time 5s-2s", &["'5s-2s'", "--time <FROM-TO>"]),
        ("without a value", "report --time-range", &["--time-range <FROM-TO>"]),
    ]);
}

#[test]
fn a_wrong_width_of_a_sweep_shows_what_widths_look_like() {
    for (case, list, part) in [
        ("no width", "0", "invalid width '0'"),
        ("a word", "many", "invalid width 'many'"),
        ("a hole", "1,,2", "invalid width"),
        ("falling", "8-1", "'8-1': it ends before it begins"),
        ("a step of nothing", "1-8:0", "invalid width"),
        ("a factor of nothing", "1-8:x0", "invalid width"),
        ("a factor of one", "1-8:x1", "'1-8:x1': a factor of 1 never reaches its end"),
        ("a factor without a number", "1-8:x", "invalid width"),
        ("an open range", "1-", "invalid width"),
        ("a negative width", "-1", "invalid width"),
        ("beyond 32 bits", "4294967296", "invalid width"),
        ("more than anybody looks at", "1-100000", "more than 1000"),
    ] {
        let message = error(&format!("sweep -p 1 --cpus={list}"));
        assert!(message.contains(part) && message.contains("--cpus <LIST>"), "{case}: {message}");
    }
    rejected(&[
        ("a list without a variable", "sweep -L threads", &["--parameter-list"]),
        ("two lists", "sweep -L cpus 1,2 --cpus 1,2 x", &["cannot be used with"]),
        ("no runs", "sweep -L cpus 1 -r 0 x", &["'0'", "--runs <N>", "1..=1000"]),
        ("too many runs", "sweep -L cpus 1 -r 1001 x", &["'1001'", "--runs <N>"]),
        ("a warm-up of no time", "sweep -L cpus 1 --warmup 0s x", &["--warmup", "longer than nothing"]),
        ("a warm-up that is a word", "sweep -L cpus 1 --warmup long x", &["--warmup", "'long'"]),
        ("a variable without a value", "sweep -L cpus 1 --env OMP x", &["'OMP'", "--env <NAME=VALUE>", "NAME=VALUE"]),
        ("a value without a variable", "sweep -L cpus 1 --env =4 x", &["--env <NAME=VALUE>"]),
        (
            "an unknown placement",
            "sweep -L cpus 1 --place best x",
            &["'best'", "--place <HOW>", "cores, smt, spread, none"],
        ),
        ("children of nothing", "sweep --children -L cpus 1 x", &["--pid <PID>"]),
        ("two running targets", "sweep -p 1 -G web --cpus 1", &["cannot be used with"]),
        ("restoring and measuring", "sweep --restore -L cpus 1 x", &["--restore", "cannot be used with"]),
        ("waits wanted and not wanted", "sweep --off-cpu --no-off-cpu -L cpus 1 x", &["cannot be used with"]),
    ]);
}

#[test]
fn a_wrong_setting_of_a_comparison_shows_what_it_looks_like() {
    rejected(&[
        ("width 0", "diff a b --width 0", &["'0'", "--width <N>"]),
        ("a confidence of 100%", "diff a b --confidence 100", &["'100'", "from 50 to 99.9999"]),
        ("a confidence below a coin's", "diff a b --confidence 49", &["'49'", "from 50 to 99.9999"]),
        ("a confidence as a part", "diff a b --confidence 0.95", &["'0.95'", "e.g. 95"]),
        ("a confidence that is none", "diff a b --confidence NaN", &["'NaN'"]),
        ("a negative margin", "diff a b --same-within=-1", &["'-1'", "--same-within <PERCENT>"]),
        ("an infinite margin", "diff a b --same-within inf", &["'inf'", "e.g. 2"]),
        ("a margin beyond numbers", "diff a b --same-within 1e400", &["'1e400'"]),
        ("a margin of ten times", "diff a b --same-within 1001", &["'1001'"]),
        ("noise of a word", "diff a b --run-noise some", &["'some'", "--run-noise <PERCENT>"]),
        ("a negative seed", "diff a b --seed=-1", &["'-1'", "--seed <N>"]),
        ("an unknown load", "diff a b --load requests", &["'requests'", "--load <WHAT>"]),
        ("an unknown divisor", "diff a b --normalize time", &["'time'", "--normalize <WHAT>"]),
        ("an unknown form", "diff a b --format pdf", &["'pdf'", "--format <FORMAT>"]),
        ("a negative limit", "diff a b --limit=-1", &["'-1'", "--limit <N>"]),
        ("a session and a form", "diff a b --tui --format json", &["--tui", "cannot be used with"]),
        ("a session and a file", "diff a b --tui -o x", &["--tui", "cannot be used with"]),
        ("leave without a gate", "diff a b --allow-missing", &["--fail-if <CONDITION>"]),
    ]);
}

#[test]
fn a_wrong_gate_or_expectation_shows_an_example() {
    for gate in [
        "",
        "cpi",
        "cpi >",
        "> 1",
        "cpi = 1",
        "cpi > x",
        "cpi > inf",
        "cpi > 1e400",
        "CPI > 1",
        "cpi > 1%%",
        "größe > 1",
        "cpi > ٣",
    ] {
        let line = ["ironlaw", "diff", "a", "b", &format!("--fail-if={gate}")].map(ToString::to_string);
        let message = Cli::try_parse_from(line).unwrap_err().to_string();
        assert!(
            message.contains("--fail-if <CONDITION>") && message.contains("path_length > +1%"),
            "{gate}: {message}"
        );
    }
    for claim in
        ["", "cpi", "cpi sideways", "up", "cpi < 1", "cpi < inf", "cpi < -1e400%", "CPI up", "größe up", "cpi <"]
    {
        let line = ["ironlaw", "diff", "a", "b", &format!("--expect={claim}")].map(ToString::to_string);
        let message = Cli::try_parse_from(line).unwrap_err().to_string();
        assert!(message.contains("--expect <WHAT>") && message.contains("'cpi same'"), "{claim}: {message}");
    }
}

#[test]
fn a_wrong_setting_of_a_watch_is_named() {
    rejected(&[
        ("no baseline", "watch -p 1", &["--baseline <NAME>"]),
        ("an empty reaction", "watch --baseline b --on-alarm= -p 1", &["--on-alarm <record|CMD>"]),
        ("a blank reaction", "watch --baseline b --on-alarm ' ' -p 1", &["give `record`, or a command for sh"]),
        ("no recordings to keep", "watch --baseline b --keep 0 -p 1", &["'0'", "--keep <N>", "1..=100000"]),
        ("too many to keep", "watch --baseline b --keep 100001 -p 1", &["'100001'", "--keep <N>"]),
        ("every zeroth window", "watch --baseline b --every 0 -p 1", &["'0'", "--every <N>"]),
        (
            "a host name",
            "watch --baseline b --listen example.org:80 -p 1",
            &["'example.org:80'", "10.0.0.5:9469", "off"],
        ),
        ("an address without a port", "watch --baseline b --listen 10.0.0.5 -p 1", &["'10.0.0.5'", "a port"]),
        ("a port beyond 16 bits", "watch --baseline b --listen 65536 -p 1", &["'65536'", "--listen <ADDR>"]),
        ("an address of version 6 without brackets", "watch --baseline b --listen ::1:9469x -p 1", &["[::1]:9469"]),
        ("an unknown form", "watch --baseline b --format xml -p 1", &["'xml'", "--format <FORMAT>"]),
    ]);
}

#[test]
fn a_wrong_setting_of_a_reader_is_named() {
    rejected(&[
        ("an unknown form of a report", "report --format yaml", &["'yaml'", "--format <FORMAT>"]),
        ("an unknown row", "report --by line", &["'line'", "--by <WHAT>"]),
        ("an unknown order", "report --sort time", &["'time'", "--sort <KEY>"]),
        ("a negative limit", "report --limit=-5", &["'-5'", "--limit <N>"]),
        ("an endless limit", "report --limit all", &["'all'", "--limit <N>"]),
        ("a thread without a name", "report --thread=", &["--thread <NAME|TID>"]),
        ("two recordings", "report a b", &["'b'"]),
        ("an unknown picture", "flamegraph --format png", &["'png'", "--format <FORMAT>"]),
        ("a negative width", "flamegraph --min-width=-1", &["'-1'", "--min-width <PIXELS>", "from 0 to 1200"]),
        ("a width beyond the picture", "flamegraph --min-width 1201", &["'1201'", "from 0 to 1200"]),
        ("a width that is none", "flamegraph --min-width NaN", &["'NaN'", "from 0 to 1200"]),
        ("a width beyond numbers", "flamegraph --min-width 1e400", &["'1e400'"]),
        ("waits of an event", "flamegraph --off-cpu --event cycles", &["--off-cpu", "cannot be used with"]),
        ("an unknown format of another tool", "export --format chrome", &["'chrome'", "--format <FORMAT>"]),
        ("waits of an event for another tool", "export --off-cpu --event cycles", &["cannot be used with"]),
        ("an import of nothing", "import", &["<FILE>"]),
        ("an import of an unknown form", "import x --format etl", &["'etl'", "--format <FORMAT>"]),
        ("a baseline of nothing", "baseline build -o b", &["<REC>"]),
        ("a baseline without a name", "baseline build a", &["--output <NAME.baseline>"]),
        ("an unknown form of a baseline", "baseline show b --format csv", &["'csv'", "--format <FORMAT>"]),
        ("an unknown form of metrics", "metrics --format csv", &["'csv'", "--format <FORMAT>"]),
        ("a doctor of the machine and of a process", "doctor --health -p 1", &["cannot be used with"]),
        ("an unknown shell", "completions cmd.exe", &["'cmd.exe'", "<SHELL>"]),
        ("an unknown demonstration", "demo everything", &["'everything'"]),
        ("a demonstration without threads", "demo --threads 0", &["'0'", "--threads <N>"]),
        ("a demonstration with too many", "demo --threads 1025", &["'1025'", "1..=1024"]),
        ("a workload without a name", "workload", &["<NAME>"]),
        ("a workload and the list", "workload spin --list", &["cannot be used with"]),
        ("a path and a check", "config --path --check", &["cannot be used with"]),
    ]);
}

#[test]
fn an_unknown_word_is_named_with_the_likely_one() {
    rejected(&[
        ("a command", "recrod -p 1", &["'recrod'", "'record'"]),
        ("a flag", "record --durration 5 -p 1", &["'--durration'", "'--duration'"]),
        ("a value", "report --sort totl", &["'totl'", "'total'"]),
        ("a short flag", "report -Z", &["'-Z'"]),
        ("a flag given twice", "record -d 1 -d 2 -p 1", &["--duration <TIME>", "multiple times"]),
        ("a colour", "report --color sometimes", &["'sometimes'", "--color <WHEN>"]),
        ("a flag that needs another", "record --stale-ok -p 1", &["--baseline <NAME.baseline>"]),
        ("a replacement of nothing", "top -f", &["--output <NAME.ironlaw>"]),
        ("waits wanted and not wanted", "top --off-cpu --no-off-cpu", &["cannot be used with"]),
    ]);
}
