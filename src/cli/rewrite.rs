//! Lines that clap refuses, rewritten where only one thing can be meant: `ironlaw 1234` watches the process, `-p NAME` the
//! processes of that name, `sweep --threads 1-8` is `-L threads 1-8`.

use super::args::{self, Cli};
use crate::export::format::ExportFormat;
use crate::session;
use crate::store;
use crate::sys::procfs::ProcFs;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Commands whose `-p` names running processes.
const OF_PROCESSES: [&str; 7] = ["top", "record", "watch", "stat", "sweep", "doctor", "ops"];
/// Commands that read a recording.
const READERS: [&str; 6] = ["report", "flamegraph", "view", "annotate", "script", "export"];

/// What this process was called with. Wrong usage, `--help` and `--version` end the process here, as clap does it.
pub(super) fn command_line() -> Cli {
    let words = widths(std::env::args_os().collect());
    if let Some((command, line)) = program_to_record(&words) {
        let here = format!("`ironlaw record -o run -- {line} && ironlaw {command} run.ironlaw`");
        args::refuse(ErrorKind::UnknownArgument, &format!("`ironlaw {command}` reads a recording; here: {here}"));
    }
    parsed(words, &running).unwrap_or_else(|(error, words)| match answer(&error, &words) {
        Some(answer) => args::refuse(error.kind(), &answer),
        None => error.exit(),
    })
}

/// Reads a line as it was typed, else as it was meant.
fn parsed(
    mut words: Vec<OsString>,
    running: &dyn Fn(&str) -> Vec<u32>,
) -> Result<Cli, (Box<clap::Error>, Vec<OsString>)> {
    // A line without a command may also name its process.
    const STEPS: usize = 2;
    for _ in 0..STEPS {
        match args::parse(&words) {
            Ok(cli) => return Ok(cli),
            Err(error) => match rewritten(&error, &words, running) {
                Some(meant) => words = meant,
                None => return Err((Box::new(error), words)),
            },
        }
    }
    args::parse(&words).map_err(|error| (Box::new(error), words))
}

/// The answer to a line that is clear to nobody.
fn answer(error: &clap::Error, words: &[OsString]) -> Option<String> {
    let of_program = || {
        let typed = context(error, ContextKind::InvalidSubcommand).filter(|typed| is_program(typed))?;
        let at = words.iter().position(|word| word == typed)?;
        let line: Vec<&str> = words[at..].iter().filter_map(|word| word.to_str()).collect();
        let line = line.join(" ");
        Some(format!(
            "ironlaw has no command '{typed}'; to start the program: `ironlaw top -- {line}` \
             watches it, `ironlaw record -- {line}` records it"
        ))
    };
    let of_process = || {
        let of_pid = context(error, ContextKind::InvalidArg)?.starts_with("--pid");
        let name = context(error, ContextKind::InvalidValue).filter(|name| of_pid && is_name(name))?;
        OF_PROCESSES.contains(&command(words)?).then(|| {
            format!(
                "no process is named '{name}'; `ironlaw top` lists what runs, `ironlaw {} -- CMD` starts a program",
                command(words).unwrap_or("record")
            )
        })
    };
    args::answer(error, words).or_else(of_program).or_else(of_process)
}

/// The processes whose program or name is this.
pub(super) fn running(name: &str) -> Vec<u32> {
    let proc = ProcFs::new("/proc");
    let is_named = |pid: &u32| {
        let program = proc.read(format!("{pid}/cmdline")).unwrap_or_default();
        let program = program.split(|byte| *byte == 0).next().unwrap_or_default();
        let program = program.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let comm = proc.text(format!("{pid}/comm")).unwrap_or_default();
        program == name.as_bytes() || comm.trim_end() == name
    };
    let others = proc.processes().unwrap_or_default().into_iter().filter(|pid| *pid != std::process::id());
    let mut found: Vec<u32> = others.filter(is_named).collect();
    found.sort_unstable();
    found
}

/// The line that was meant; `None` if it is not clear. `running` finds the processes of a name.
pub(super) fn rewritten(
    error: &clap::Error,
    words: &[OsString],
    running: &dyn Fn(&str) -> Vec<u32>,
) -> Option<Vec<OsString>> {
    match error.kind() {
        ErrorKind::InvalidSubcommand => named(context(error, ContextKind::InvalidSubcommand)?, words, running),
        ErrorKind::UnknownArgument => flag(context(error, ContextKind::InvalidArg)?, words),
        ErrorKind::ValueValidation => {
            let of_pid = context(error, ContextKind::InvalidArg)?.starts_with("--pid");
            let name = context(error, ContextKind::InvalidValue).filter(|name| of_pid && is_name(name))?;
            of_name(name, words, running)
        }
        _ => None,
    }
}

/// A process, a recording or a program in place of a command.
fn named(typed: &str, words: &[OsString], running: &dyn Fn(&str) -> Vec<u32>) -> Option<Vec<OsString>> {
    let at = words.iter().position(|word| word == typed)?;
    let instead = |parts: &[&str]| Some(replaced(words, at, parts));
    if typed.bytes().all(|byte| byte.is_ascii_digit()) {
        return instead(&["top", "-p", typed]);
    }
    match Path::new(typed).extension().and_then(|ending| ending.to_str()) {
        Some("colocate") if Path::new(typed).is_dir() => return instead(&["report", typed]),
        Some("baseline") if Path::new(typed).is_file() => return instead(&["baseline", "show", typed]),
        _ => {}
    }
    if is_recording(typed) {
        return instead(&["view", typed]);
    }
    if typed.contains('/') && is_program(typed) {
        return instead(&["top", "--", typed]);
    }
    let pids = running(typed);
    (!pids.is_empty() && at + 1 == words.len()).then(|| replaced(words, at, &["top", "-p", &list(&pids)]))
}

/// A flag before any command is one of `top`; some flags of other tools have another form here.
fn flag(typed: &str, words: &[OsString]) -> Option<Vec<OsString>> {
    let first = words.get(1)?.to_str()?;
    let flag = typed.split('=').next()?;
    if first == typed || first.starts_with(&format!("{typed}=")) || first.starts_with(typed) && !typed.starts_with("--")
    {
        return first.starts_with('-').then(|| replaced(words, 1, &["top", first]));
    }
    let at = words.iter().position(|word| word.to_str().is_some_and(|word| word.split('=').next() == Some(flag)))?;
    match (command(words)?, flag) {
        ("sweep", "--threads") => {
            let value = words[at].to_str()?.split_once('=').map(|(_, value)| value);
            let list = value.or_else(|| words.get(at + 1)?.to_str())?;
            let mut meant = replaced(words, at, &["-L", "threads", list]);
            if value.is_none() {
                meant.remove(at + 3);
            }
            Some(meant)
        }
        // perf's: source lines stand beside the instructions anyway.
        ("annotate", "-l" | "--print-line") => Some(replaced(words, at, &[])),
        ("report", "-v" | "--verbose") => Some(replaced(words, at, &["--notes"])),
        ("export", "-f") => Some(replaced(words, at, &["--format"])),
        ("export", format) => {
            let name = ExportFormat::named(format.strip_prefix("--")?)?.name;
            Some(replaced(words, at, &[&format!("--format={name}")]))
        }
        _ => None,
    }
}

/// The processes of a name after `-p`.
fn of_name(name: &str, words: &[OsString], running: &dyn Fn(&str) -> Vec<u32>) -> Option<Vec<OsString>> {
    OF_PROCESSES.contains(&command(words)?).then_some(())?;
    let pids = running(name);
    let holds =
        |word: &str| word.trim_start_matches("--pid=").trim_start_matches("-p").split(',').any(|part| part == name);
    let at = words.iter().position(|word| word.to_str().is_some_and(holds)).filter(|_| !pids.is_empty())?;
    let word = words[at].to_str()?;
    let begin = word.len() - word.trim_start_matches("--pid=").trim_start_matches("-p").len();
    let parts = word[begin..].split(',').map(|part| if part == name { list(&pids) } else { part.to_string() });
    Some(replaced(words, at, &[&format!("{}{}", &word[..begin], parts.collect::<Vec<_>>().join(","))]))
}

/// hyperfine's and other ways to write the widths of a sweep, which clap would take for something else.
pub(super) fn widths(mut words: Vec<OsString>) -> Vec<OsString> {
    if command(&words) != Some("sweep") {
        return words;
    }
    let text = |words: &[OsString], at: usize| words.get(at).and_then(|word| word.to_str()).unwrap_or("--").to_string();
    let mut at = 1;
    while at < words.len() && words[at] != "--" {
        let (word, next) = (text(&words, at), text(&words, at + 1));
        if let Some((variable, list)) = next
            .split_once('=')
            .filter(|(name, _)| matches!(word.as_str(), "-L" | "--parameter-list") && is_variable(name))
        {
            words = replaced(&words, at + 1, &[variable, list]);
            return words;
        }
        let is_scan = matches!(word.as_str(), "-P" | "--parameter-scan") && is_variable(&next);
        let ends = (text(&words, at + 2), text(&words, at + 3));
        if is_scan && is_number(&ends.0) && is_number(&ends.1) {
            words.splice(at..at + 4, ["-L", &next, &format!("{}-{}", ends.0, ends.1)].map(OsString::from));
            return words;
        }
        at += 1;
    }
    words
}

/// The program in place of the recording that a command reads, with its arguments.
pub(super) fn program_to_record(words: &[OsString]) -> Option<(&str, String)> {
    let command = command(words).filter(|command| READERS.contains(command))?;
    let at = words.iter().position(|word| word == "--")? + 1;
    let program = words.get(at)?.to_str()?;
    let line: Vec<&str> = words[at..].iter().filter_map(|word| word.to_str()).collect();
    (!is_recording(program) && !program.starts_with('-')).then(|| (command, line.join(" ")))
}

/// Whether a program of this name can be started.
pub(super) fn is_program(name: &str) -> bool {
    let runs = |path: &Path| path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0);
    if name.contains('/') {
        return runs(Path::new(name));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| runs(&folder.join(name)))
}

fn is_recording(name: &str) -> bool {
    let path = Path::new(name);
    let is_folder = path.is_dir() && path.extension().is_some_and(|ending| ending == "ironlaw" || ending == "sweep");
    is_folder || store::path(path).is_dir() && !path.is_dir() || session::is_importable(path)
}

pub(super) fn is_name(value: &str) -> bool {
    !value.is_empty() && !value.starts_with('-') && !value.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_variable(name: &str) -> bool {
    matches!(name, "threads" | "cpus")
}

fn is_number(word: &str) -> bool {
    word.parse::<u32>().is_ok_and(|number| number > 0)
}

/// The command that was typed: the first word that is not a flag.
pub(super) fn command(words: &[OsString]) -> Option<&str> {
    words.iter().skip(1).find_map(|word| word.to_str().filter(|word| !word.starts_with('-')))
}

fn context(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    }
}

fn replaced(words: &[OsString], at: usize, parts: &[&str]) -> Vec<OsString> {
    let mut words = words.to_vec();
    words.splice(at..=at, parts.iter().map(OsString::from));
    words
}

fn list(pids: &[u32]) -> String {
    pids.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        std::iter::once("ironlaw").chain(line.split_whitespace()).map(OsString::from).collect()
    }

    /// The line that is read in place of this one.
    fn read_as(line: &str) -> String {
        let running = |name: &str| if name == "redis-server" { vec![41, 52] } else { Vec::new() };
        let mut words = widths(words(line));
        while let Some(meant) = args::parse(&words).err().and_then(|error| rewritten(&error, &words, &running)) {
            words = meant;
        }
        words[1..].iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_can_mean_one_thing_only_is_done() {
        for (typed, read) in [
            ("1234", "top -p 1234"),
            ("-q 1234", "-q top -p 1234"),
            ("-p 1234", "top -p 1234"),
            ("-p1234", "top -p1234"),
            ("-p 1234 --off-cpu", "top -p 1234 --off-cpu"),
            ("--pid=1234", "top --pid=1234"),
            ("-a", "top -a"),
            ("-G web.service", "top -G web.service"),
            ("-p redis-server", "top -p 41,52"),
            ("redis-server", "top -p 41,52"),
            ("/bin/sh -c true", "top -- /bin/sh -c true"),
            ("record -p redis-server -d 1", "record -p 41,52 -d 1"),
            ("record -p 7,redis-server", "record -p 7,41,52"),
            ("watch --pid=redis-server --baseline b", "watch --pid=41,52 --baseline b"),
            ("sweep --threads 1-2 -- ./bench", "sweep -L threads 1-2 -- ./bench"),
            ("sweep --threads=1-2 ./bench --threads=4", "sweep -L threads 1-2 ./bench --threads=4"),
            ("sweep -P threads 1 2 -- ./bench", "sweep -L threads 1-2 -- ./bench"),
            ("sweep -L threads=1,2 -- ./bench", "sweep -L threads 1,2 -- ./bench"),
            ("sweep -L threads 1,2 -- ./bench -L threads=1", "sweep -L threads 1,2 -- ./bench -L threads=1"),
            ("export --pprof -o x", "export --format=pprof -o x"),
            ("export run.ironlaw --speedscope", "export run.ironlaw --format=speedscope"),
            ("export -f pprof", "export --format pprof"),
            ("annotate -l main", "annotate main"),
            ("report -v run.ironlaw", "report --notes run.ironlaw"),
            ("baseline learn a.ironlaw -o b", "baseline learn a.ironlaw -o b"),
            // Nothing is changed in what is clear, and nothing is guessed.
            ("record -p 1234", "record -p 1234"),
            ("record -p nobody", "record -p nobody"),
            ("report --pid redis-server", "report --pid redis-server"),
            ("nobody", "nobody"),
            ("redis-server --port 7", "redis-server --port 7"),
            ("--nonsense", "top --nonsense"),
            ("recrod -p 1", "recrod -p 1"),
            ("export --nonsense", "export --nonsense"),
            ("", ""),
        ] {
            assert_eq!(read_as(typed), read, "{typed}");
        }
    }

    #[test]
    fn what_nobody_can_carry_out_names_the_command() {
        let answer_to = |line: &str| args::parse(&words(line)).err().and_then(|error| answer(&error, &words(line)));
        for (typed, here) in [
            ("sh -c true", "`ironlaw top -- sh -c true`"),
            ("record -p no-such-name-anywhere", "no process is named 'no-such-name-anywhere'"),
            ("watch -p 1234", "ironlaw baseline build"),
            ("metrics -p 1", "stat -p PID"),
            ("doctor --fix", "prints each fix"),
            ("config edit", "ironlaw config --path"),
            ("top --theme light", "theme = \"light\""),
            ("script -F comm", "leave it away"),
            ("flamegraph --open", "xdg-open"),
            ("baseline learn -p 1", "ironlaw record -p PID"),
        ] {
            let said = answer_to(typed);
            assert!(said.as_ref().is_some_and(|said| said.contains(here)), "{typed}: {said:?}");
        }
        for (typed, command) in [("flamegraph -- ./app --fast", "./app --fast"), ("report -- sleep 1", "sleep 1")] {
            assert_eq!(program_to_record(&words(typed)).map(|(_, line)| line).as_deref(), Some(command));
        }
        assert_eq!(program_to_record(&words("record -- ./app")), None);
    }
}
