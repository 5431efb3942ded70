//! What users of other tools type first: `-g dwarf` is read as they mean it, and a command or flag that ironlaw does not
//! have is answered with the one that does its work.

use super::{Cli, values};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, CommandFactory, Parser};
use std::ffi::OsString;

/// Commands of other tools, and what answers their question here.
const COMMANDS: &[(&[&str], &str)] = &[
    (
        &["lock"],
        "`record --off-cpu`, then `report`: waits for locks by path; live: `top`, `o` for waits in place of samples",
    ),
    (
        &["sched", "timechart", "offcputime", "runqlat"],
        "`record --off-cpu`, then `report`: time blocked and in the run queue by thread and cause; live: the Threads screen of `top`",
    ),
    (
        &["mem", "c2c"],
        "`record --mem` samples memory accesses, and `report` says where the data was and which cache lines threads share; it reads what `perf mem record` and `perf c2c record` sampled too (`report -i perf.data`), and `report --by memory,function` ranks code by it",
    ),
    (&["objdump", "disassemble"], "`annotate FUNCTION`"),
    (&["trace", "strace"], "`record -e 'syscalls:sys_enter_*' -g`, or `record --off-cpu` for calls that block"),
    (&["probe"], "`record --ops uprobe:PATH:FUNCTION` counts the calls of a function"),
    (&["ftrace", "kmem", "kwork", "iostat"], "`record -e CATEGORY:TRACEPOINT` samples any tracepoint"),
    (&["bench"], "`demo`, and `workload --list` for programs whose diagnosis is known"),
    (&["kvm"], "`record -p PID` of the hypervisor's process; inside of a guest run ironlaw there"),
    (
        &["evlist", "buildid-list", "data", "archive", "inject", "buildid-cache"],
        "nothing to do: a recording holds its events, build ids and names",
    ),
    (&["load", "show"], "`view REC`"),
    (&["run", "start"], "`record -- CMD`, or `top -- CMD` to watch it"),
    (&["version"], "`--version`"),
    (&["test", "check", "selftest"], "`doctor`: what works on this machine"),
    (&["live", "monitor"], "`top`"),
    (&["telemetry", "replay", "snapshot"], "`record`, then `view`; `watch` for days"),
    (&["benchmark", "scale", "scan"], "`sweep`"),
    (&["compare"], "`diff OLD NEW`"),
    (&["flame", "flamescope"], "`flamegraph`"),
];

/// Flags of other tools by command, and what does their work here.
const FLAGS: &[(&[&str], &[&str], &str)] = &[
    (
        CAPTURE,
        &["-i", "--no-inherit"],
        "new threads are always followed, and -p leaves child processes out unless --children is given; a single thread is `-t TID`",
    ),
    (
        CAPTURE,
        &["-m", "--mmap-pages"],
        "the buffers get the size that the sampling rate needs; what is lost is counted in the report",
    ),
    (
        CAPTURE,
        &[
            "-s",
            "--stat",
            "-T",
            "--timestamp",
            "-P",
            "--period",
            "--sample-cpu",
            "-N",
            "-B",
            "--no-buildid",
            "--buildid-all",
            "--no-buildid-cache",
        ],
        "leave it away: a recording always has time, CPU, period and build ids of samples and counts by thread",
    ),
    (
        CAPTURE,
        &["-b", "--branch-any", "-j", "--branch-filter"],
        "`--call-graph lbr` takes stacks from the branch records",
    ),
    (
        CAPTURE,
        &["-W", "--weight", "--data", "--phys-data", "-R", "--raw-samples"],
        "`--mem` samples memory accesses with the addresses of their data and their latency; physical addresses are not recorded",
    ),
    (
        CAPTURE,
        &["-z", "--compression-level", "--aio", "--no-buffering"],
        "leave it away: recordings are compressed as they are written",
    ),
    (
        CAPTURE,
        &["--switch-output", "--overwrite", "--timestamp-filename"],
        "`watch --on-alarm record` keeps the time around each alarm; `record -d TIME` ends by itself",
    ),
    (CAPTURE, &["-u", "--uid"], "name processes with -p, or a control group with -G"),
    (CAPTURE, &["--per-thread"], "leave it away: reports and screens are by thread too"),
    (
        CAPTURE,
        &["--user-callchains", "--kernel-callchains"],
        "--all-user or --all-kernel choose the code; stacks of both are taken",
    ),
    (CAPTURE, &["--switch-events", "--sched"], "--off-cpu records where threads wait"),
    (
        CAPTURE,
        &["--output-format", "--save-only", "--presymbolicate"],
        "leave it away: names are in the recording; `export` writes other formats",
    ),
    (CAPTURE, &["--rate"], "-F HZ sets the sampling frequency"),
    (CAPTURE, &["--time", "--seconds", "--timeout", "--max-size"], "-d TIME ends the capture"),
    (&["report"], &["--tui", "--gtk", "--browser"], "`ironlaw view` opens the recording in the terminal"),
    (
        &["report"],
        &["--header", "--header-only", "-I", "--show-info"],
        "leave it away: every report begins with machine, target and events",
    ),
    (&["report"], &["-F", "--fields"], "--sort chooses what a row stands for; --format json has every field"),
    (
        &["report"],
        &["-T", "--threads", "--tasks"],
        "leave it away: threads and processes are listed; --sort comm,tid groups by them",
    ),
    (
        &["report"],
        &["-k", "--vmlinux", "--kallsyms", "--symfs", "-m", "--modules"],
        "leave it away: names are made when a program is recorded, and are in the recording",
    ),
    (
        &["report"],
        &["--mem-mode", "--branch-history", "-b", "--branch-stack", "--itrace"],
        "--by memory for where the data of sampled accesses was; ironlaw keeps no branches of samples",
    ),
    (&["report"], &["--time"], "--time-range FROM-TO selects a time"),
    (
        &["report"],
        &["-n", "--show-nr-samples", "--show-total-period"],
        "--format csv has samples and weights of each row",
    ),
    (&["report"], &["-x", "--field-separator"], "--format csv"),
    (&["report"], &["-j", "--json"], "--format json"),
    (
        &["flamegraph"],
        &["-p", "-F", "--freq", "--root", "-c", "--cmd"],
        "it draws a recording: `record -p PID -d 10 -o run.ironlaw`, then `flamegraph run.ironlaw`",
    ),
    (&["flamegraph"], &["--open"], "`ironlaw flamegraph -o flame.svg && xdg-open flame.svg`; every browser shows it"),
    (
        &["script"],
        &["-F", "--fields"],
        "leave it away: every sample has its name, thread, CPU, time, event and stack; `export --format csv` has columns to choose from",
    ),
    (
        &["metrics"],
        &["-p", "--pid"],
        "it lists what this machine can count; `stat -p PID -d 10` counts it for a process",
    ),
    (
        &["top", "view"],
        &["--theme"],
        "write the line theme = \"light\" (or dark, colour-blind, mono) into the file that `ironlaw config --path` names",
    ),
    (&["doctor"], &["--fix"], "it changes nothing: `ironlaw doctor` prints each fix as a command to run as root"),
    (
        &["config"],
        &["edit"],
        "`${EDITOR:-vi} $(ironlaw config --path)`; `ironlaw config > $(ironlaw config --path)` writes every setting with its default first",
    ),
    (
        &["baseline"],
        &["-p", "--pid", "-G", "-a"],
        "it learns from recordings: `ironlaw record -p PID -d 10m -o usual && ironlaw baseline build usual.ironlaw -o app.baseline`",
    ),
    (&["flamegraph"], &["--reverse"], "`view`, Functions screen: Enter shows the callers of a function"),
    (
        &["diff"],
        &["-c", "--compute", "--order", "--baseline"],
        "every table has both sides, the change and its interval; the first recording is the base",
    ),
];

/// What a watch needs.
const WATCH: &str = "a watch compares with a baseline, and none is given: \
`ironlaw record -p PID -d 10m -o usual && ironlaw baseline build usual.ironlaw -o app.baseline` learns one while the \
program does its usual work, then `ironlaw watch -p PID --baseline app.baseline`; `--dataset DIR` only keeps the numbers";

const CAPTURE: &[&str] = &["record", "top", "watch", "stat"];

/// Reads a line.
///
/// # Errors
/// What clap says of it.
pub fn parse(words: &[OsString]) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(with_methods(words.to_vec()))
}

/// Ends the process as clap does for wrong usage, without the usage: the message has the line to type.
pub fn refuse(kind: ErrorKind, message: &str) -> ! {
    clap::Error::raw(kind, format!("{message}\n")).exit()
}

/// What ironlaw was called with on another machine, without the program's name.
///
/// # Errors
/// What clap says of it.
pub fn typed_elsewhere(words: &[OsString]) -> Result<Cli, String> {
    let all = std::iter::once(OsString::from("ironlaw")).chain(words.iter().cloned()).collect();
    Cli::try_parse_from(with_methods(all)).map_err(|error| error.to_string())
}

/// The answer to wrong usage that is right elsewhere.
#[must_use]
pub fn answer(error: &clap::Error, words: &[OsString]) -> Option<String> {
    let said = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let typed = said(ContextKind::InvalidSubcommand)?;
            let (_, here) = COMMANDS.iter().find(|(names, _)| names.contains(&typed))?;
            Some(format!("ironlaw has no command '{typed}'; here: {here}"))
        }
        ErrorKind::UnknownArgument => {
            let typed = said(ContextKind::InvalidArg)?;
            let flag = typed.split('=').next().unwrap_or(typed);
            let command = words.iter().skip(1).find_map(|word| word.to_str().filter(|word| !word.starts_with('-')))?;
            let found = FLAGS.iter().find(|(commands, flags, _)| commands.contains(&command) && flags.contains(&flag));
            found.map(|(_, _, here)| format!("`ironlaw {command}` has no {flag}; here: {here}"))
        }
        ErrorKind::MissingRequiredArgument if words.iter().any(|word| word == "watch") => Some(WATCH.to_string()),
        _ => None,
    }
}

/// Writes `-g dwarf`, as far as it stands before a command's own words, as `--call-graph=dwarf`.
fn with_methods(mut words: Vec<OsString>) -> Vec<OsString> {
    let cli = Cli::command();
    let text = |words: &[OsString], at: usize| words.get(at).and_then(|word| word.to_str()).unwrap_or("--").to_string();
    let Some(start) = (1..words.len()).find(|at| CAPTURE.contains(&text(&words, *at).as_str())) else { return words };
    let Some(command) = cli.find_subcommand(text(&words, start)) else { return words };
    let takes_value = |is: &dyn Fn(&Arg) -> bool| {
        command.get_arguments().any(|arg| !arg.is_positional() && is(arg) && arg.get_action().takes_values())
    };
    let mut at = start + 1;
    while at < words.len() {
        let word = text(&words, at);
        let follows = if let Some(long) = word.strip_prefix("--") {
            if long.is_empty() {
                break;
            }
            !long.contains('=') && takes_value(&|arg| arg.get_long() == Some(long))
        } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            let with_value = letters.chars().position(|letter| takes_value(&|arg| arg.get_short() == Some(letter)));
            if with_value.is_none() && letters.ends_with('g') && values::call_graph(&text(&words, at + 1)).is_ok() {
                words[at + 1] = format!("--call-graph={}", text(&words, at + 1)).into();
            }
            with_value.is_some_and(|place| place + 1 == letters.chars().count())
        } else {
            break;
        };
        at += 1 + usize::from(follows);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_after_g_is_one_and_a_commands_own_words_stay() {
        for (typed, read) in [
            ("record -g dwarf -p 1", "record -g --call-graph=dwarf -p 1"),
            ("record -ag fp", "record -ag --call-graph=fp"),
            ("record -F 99 -g dwarf,8192 ./app", "record -F 99 -g --call-graph=dwarf,8192 ./app"),
            ("-q top --freq=99 -g lbr -p 1", "-q top --freq=99 -g --call-graph=lbr -p 1"),
            ("record -g ./app -g dwarf", "record -g ./app -g dwarf"),
            ("record -g -- dwarf", "record -g -- dwarf"),
            ("record -o g -p 1", "record -o g -p 1"),
            ("record -o -g fp", "record -o -g fp"),
            ("record ./app -g fp", "record ./app -g fp"),
            ("report -g fp", "report -g fp"),
            ("record -g", "record -g"),
            ("", ""),
        ] {
            let words = |line: &str| -> Vec<OsString> {
                std::iter::once("ironlaw").chain(line.split_whitespace()).map(OsString::from).collect()
            };
            assert_eq!(with_methods(words(typed)), words(read), "{typed}");
        }
    }

    /// A row of what ironlaw has would never be read.
    #[test]
    fn every_row_is_of_a_command_or_flag_that_is_not_here() {
        let answer_to = |line: &str| {
            let words: Vec<OsString> =
                std::iter::once("ironlaw").chain(line.split_whitespace()).map(OsString::from).collect();
            Cli::try_parse_from(&words).err().and_then(|error| answer(&error, &words))
        };
        for (name, here) in COMMANDS.iter().flat_map(|(names, here)| names.iter().map(move |name| (name, here))) {
            assert!(answer_to(name).is_some_and(|text| text.contains(here)), "{name}");
        }
        for (commands, flags, here) in FLAGS {
            for command in *commands {
                for flag in *flags {
                    // Other commands have some of them.
                    let said = answer_to(&format!("{command} {flag}"));
                    assert!(said.as_ref().is_none_or(|text| text.contains(here)), "{command} {flag}: {said:?}");
                }
            }
            let said = |flag| commands.iter().any(|command| answer_to(&format!("{command} {flag}")).is_some());
            assert!(flags.iter().all(said), "{flags:?} of {commands:?}");
        }
        assert_eq!(answer_to("recrod -p 1"), None);
        assert_eq!(answer_to("record --nonsense"), None);
    }
}
