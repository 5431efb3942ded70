//! Programs that send load and print how long their operations took.

use serde::{Deserialize, Serialize};

/// A load generator whose output is understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadGenerator {
    /// `wrk --latency`.
    Wrk,
    /// `wrk2 --latency`, whose program is mostly called `wrk` as well; it has `--rate`.
    Wrk2,
    /// `redis-benchmark`, `valkey-benchmark`.
    RedisBenchmark,
    /// `pgbench`, which prints means only.
    Pgbench,
    /// `sysbench`.
    Sysbench,
    /// `fio`.
    Fio,
    /// `db_bench --histogram`.
    DbBench,
}

impl LoadGenerator {
    /// All of them.
    pub const ALL: [LoadGenerator; 7] = [
        LoadGenerator::Wrk,
        LoadGenerator::Wrk2,
        LoadGenerator::RedisBenchmark,
        LoadGenerator::Pgbench,
        LoadGenerator::Sysbench,
        LoadGenerator::Fio,
        LoadGenerator::DbBench,
    ];

    /// Its program's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            LoadGenerator::Wrk => "wrk",
            LoadGenerator::Wrk2 => "wrk2",
            LoadGenerator::RedisBenchmark => "redis-benchmark",
            LoadGenerator::Pgbench => "pgbench",
            LoadGenerator::Sysbench => "sysbench",
            LoadGenerator::Fio => "fio",
            LoadGenerator::DbBench => "db_bench",
        }
    }

    /// The one whose program has this name.
    #[must_use]
    pub fn named(name: &str) -> Option<LoadGenerator> {
        let name = if name == "valkey-benchmark" { "redis-benchmark" } else { name };
        LoadGenerator::ALL.into_iter().find(|generator| generator.name() == name)
    }

    /// The generator that a command runs, with its arguments. Programs before it, such as `taskset -c 3`, are passed over.
    #[must_use]
    pub fn of_command(argv: &[String]) -> Option<(LoadGenerator, &[String])> {
        let name = |word: &String| LoadGenerator::named(word.rsplit('/').next().unwrap_or(word));
        let at = argv.iter().position(|word| name(word).is_some())?;
        let (generator, arguments) = (name(&argv[at])?, &argv[at + 1..]);
        let scheduled = generator == LoadGenerator::Wrk && option(arguments, "-R", "--rate").is_some();
        Some((if scheduled { LoadGenerator::Wrk2 } else { generator }, arguments))
    }
}

/// The value of an option, written as `-R 5`, `-R5`, `--rate 5` or `--rate=5`; of several, the last one.
#[must_use]
pub fn option<'a>(arguments: &'a [String], short: &str, long: &str) -> Option<&'a str> {
    let value = |(at, word): (usize, &'a String)| {
        let next = || arguments.get(at + 1).map(String::as_str);
        if word == long || !short.is_empty() && word == short {
            return next();
        }
        let joined = word.strip_prefix(long).and_then(|rest| rest.strip_prefix('='));
        let short = word.strip_prefix(short).filter(|_| !short.is_empty() && !word.starts_with("--"));
        joined.or(short)
    };
    arguments.iter().enumerate().filter_map(value).next_back()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(String::from).collect()
    }

    #[test]
    fn a_generator_is_known_by_its_programs_name_wherever_it_lies() {
        for (command, expected) in [
            ("wrk --latency http://h/", Some(LoadGenerator::Wrk)),
            ("/opt/bin/wrk -t2 -R2000 http://h/", Some(LoadGenerator::Wrk2)),
            ("taskset -c 3 valkey-benchmark -q", Some(LoadGenerator::RedisBenchmark)),
            ("./db_bench --benchmarks=readrandom", Some(LoadGenerator::DbBench)),
            ("python3 wrk.py", None),
        ] {
            assert_eq!(LoadGenerator::of_command(&words(command)).map(|(found, _)| found), expected, "{command}");
        }
        assert!(LoadGenerator::ALL.into_iter().all(|it| LoadGenerator::named(it.name()) == Some(it)));
    }

    #[test]
    fn an_options_value_is_found_however_it_is_written() {
        for (command, expected) in [
            ("-R 5", Some("5")),
            ("-R5", Some("5")),
            ("--rate 5 -c 2", Some("5")),
            ("--rate=5", Some("5")),
            ("--rate=5 --rate=7", Some("7")),
            ("--rated=5 -c 2", None),
            ("-R", None),
        ] {
            assert_eq!(option(&words(command), "-R", "--rate"), expected, "{command}");
        }
    }
}
