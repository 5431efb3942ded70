//! Which values of the command line complete from what, by the name of the value in the help.

use super::{candidates, recorded};
use clap::ValueHint;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use std::ffi::OsStr;

type Source = fn(&str) -> Vec<CompletionCandidate>;

/// Command (empty for all), long flag or value name, and what completes it. The first row that fits counts.
const SOURCES: &[(&str, &str, Source)] = &[
    ("", "baseline", candidates::baselines),
    ("show", "NAME", candidates::baselines),
    ("", "REC", candidates::recordings),
    ("", "BASE", |text| last_of_list(text, &[','], candidates::recordings)),
    ("", "NEW", |text| last_of_list(text, &[','], candidates::recordings)),
    ("import", "FILE", candidates::files),
    ("annotate", "FUNCTION", recorded::functions_and_recordings),
    ("", "symbol", |text| last_of_list(text, &[','], recorded::functions)),
    ("", "dso", |text| last_of_list(text, &[','], recorded::modules)),
    ("", "comm", |text| last_of_list(text, &[','], recorded::threads)),
    ("", "thread", recorded::threads),
    ("", "EVENT", recorded::events),
    ("", "EVENTS", |text| last_of_list(text, &[',', '{'], candidates::events)),
    ("", "metrics", |text| last_of_list(text, &[','], candidates::metrics)),
    ("metrics", "LIST", |text| last_of_list(text, &[','], candidates::metrics)),
    ("", "CGROUPS", |text| last_of_list(text, &[','], candidates::cgroups)),
    ("", "CGROUP", candidates::cgroups),
    ("", "PID", |text| last_of_list(text, &[','], candidates::processes)),
    ("workload", "NAME", candidates::workloads),
    ("help", "SUBJECT", candidates::subjects),
    ("list", "WHAT", candidates::listed),
];

/// The command with its completers, and those of all commands below it.
pub(super) fn attached(command: clap::Command) -> clap::Command {
    let name = command.get_name().to_string();
    command.mut_subcommands(attached).mut_args(|arg| {
        let value = arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string).unwrap_or_default();
        let fits = |(of, by, _): &&(&str, &str, Source)| {
            (of.is_empty() || *of == name) && (arg.get_long() == Some(*by) || value == *by)
        };
        let source = SOURCES.iter().find(fits).map(|(_, _, source)| *source);
        let is_path = matches!(arg.get_value_hint(), ValueHint::AnyPath | ValueHint::FilePath);
        match source.or(is_path.then_some(candidates::files)) {
            Some(source) if arg.get_action().takes_values() => arg.add(ArgValueCompleter::new(completer(source))),
            _ => arg,
        }
    })
}

/// What is not text completes to nothing, and nothing completes to what would act on a terminal.
fn completer(source: Source) -> impl Fn(&OsStr) -> Vec<CompletionCandidate> + Send + Sync {
    move |text| {
        let Some(text) = text.to_str() else { return Vec::new() };
        let mut found = source(text);
        let is_clean = |value: &OsStr| value.to_str().is_some_and(|value| !value.contains(char::is_control));
        found.retain(|candidate| is_clean(candidate.get_value()));
        found
    }
}

/// Completes what follows the last of the separators.
fn last_of_list(text: &str, separators: &[char], source: Source) -> Vec<CompletionCandidate> {
    let (before, last) = text.split_at(text.rfind(separators).map_or(0, |at| at + 1));
    source(last).into_iter().map(|candidate| candidate.add_prefix(before)).collect()
}
