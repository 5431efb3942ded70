//! The definition itself: its help texts, names and values.

use super::*;
use clap::CommandFactory;

#[test]
fn the_definition_is_consistent() {
    Cli::command().debug_assert();
}

fn printed(line: &[&str]) -> String {
    let help = Cli::command().term_width(80).try_get_matches_from(line);
    help.map_or_else(|help| help.to_string(), |matches| format!("{matches:?}"))
}

#[test]
fn the_help_of_every_command_is_as_published() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../../../tests/golden/help");
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| {
        insta::assert_snapshot!("ironlaw", printed(&["ironlaw", "--help"]));
        for command in Cli::command().get_subcommands() {
            let name = command.get_name();
            insta::assert_snapshot!(name.to_string(), printed(&["ironlaw", name, "--help"]));
            for inner in command.get_subcommands() {
                let line = ["ironlaw", name, inner.get_name(), "--help"];
                insta::assert_snapshot!(format!("{name}-{}", inner.get_name()), printed(&line));
            }
        }
    });
}

/// Every command and subcommand with its path.
fn commands() -> Vec<(String, clap::Command)> {
    let mut all = vec![(String::new(), Cli::command())];
    let mut at = 0;
    while at < all.len() {
        let (path, command) = all[at].clone();
        let below = command.get_subcommands().map(|inner| (format!("{path} {}", inner.get_name()), inner.clone()));
        all.extend(below);
        at += 1;
    }
    all
}

#[test]
fn every_flag_has_a_help_line_and_every_value_has_a_name() {
    for (path, command) in commands() {
        for arg in command.get_arguments() {
            let id = arg.get_id();
            assert!(arg.get_help().is_some_and(|help| !help.to_string().is_empty()), "{path} {id}: no help");
            let named =
                arg.get_value_names().is_some_and(|names| names.iter().all(|name| name.as_str() != id.as_str()));
            let takes_values = arg.get_num_args().is_none_or(|range| range.takes_values());
            assert!(!takes_values || named || arg.get_id() == "color", "{path} {id}: the value has no name of its own");
        }
    }
}

#[test]
fn a_short_flag_means_the_same_in_every_command() {
    let mut meanings: std::collections::BTreeMap<char, std::collections::BTreeSet<String>> = Default::default();
    for (_, command) in commands() {
        for arg in command.get_arguments() {
            if let Some(short) = arg.get_short() {
                meanings.entry(short).or_default().insert(arg.get_id().to_string());
            }
        }
    }
    // Perf's: -g is stacks for what captures, their order for what reports; -M metrics, or the way to write instructions.
    let several: Vec<_> = meanings.iter().filter(|(short, ids)| !"gM".contains(**short) && ids.len() > 1).collect();
    assert!(several.is_empty(), "{several:?}");
}

#[test]
fn no_value_of_any_flag_makes_the_parser_panic() {
    let values = [
        "",
        " ",
        "0",
        "-1",
        "1e400",
        "NaN",
        "inf",
        "18446744073709551616",
        "5-2",
        "-",
        ",",
        "..",
        "\u{202e}5s",
        "größe",
        "1\u{0}",
        "9".repeat(400).as_str(),
        "٣",
        "½",
        "5 s",
        "0x10",
        "=",
        "x=",
        "http://",
        "regex:(",
        "rate:1e999",
    ]
    .map(ToString::to_string);
    for (path, command) in commands() {
        for arg in command.get_arguments() {
            let Some(flag) = arg.get_long().filter(|_| arg.get_num_args().is_none_or(|range| range.takes_values()))
            else {
                continue;
            };
            for value in &values {
                let line = [command.get_name().to_string(), format!("--{flag}={value}")];
                if let Err(error) = command.clone().try_get_matches_from(line) {
                    assert_eq!(error.exit_code(), 2, "{path} --{flag}={value:?}: {error}");
                }
            }
        }
    }
}
