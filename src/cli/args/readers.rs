//! The commands that read a recording: `report` and `flamegraph`.
//! It never opens one.

use super::{CpuList, ThreadFilter, values};
use crate::analysis::{GroupKey, SortBy, TimeRange};
use crate::units::Nanos;
use crate::view::report::PathOptions;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// The form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For people.
    Text,
    /// For programs; follows the published schema.
    Json,
    /// One table of functions.
    Csv,
    /// For tickets and reviews.
    #[value(name = "md", alias = "markdown")]
    Markdown,
    /// A page with charts and flame graphs; of a sweep only.
    Html,
}

/// A word of `--sort`: an order of the rows, or one of perf's keys, which group them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortArg {
    /// An order.
    Order(SortBy),
    /// A key: rows are grouped by all of them.
    Key(GroupKey),
}

/// What `--sort` takes: an order, or a key.
fn sort_parser() -> impl TypedValueParser<Value = SortArg> {
    const ORDERS: [(&str, SortBy); 4] = [
        ("self", SortBy::SelfWeight),
        ("total", SortBy::TotalWeight),
        ("samples", SortBy::Samples),
        ("name", SortBy::Name),
    ];
    let orders = ORDERS.map(|(name, _)| PossibleValue::new(name));
    PossibleValuesParser::new(orders.into_iter().chain(keys())).map(|name| {
        let order = ORDERS.iter().find(|(order, _)| *order == name);
        order.map_or_else(|| SortArg::Key(key(&name)), |(_, order)| SortArg::Order(*order))
    })
}

/// What `--by` takes.
fn by_parser() -> impl TypedValueParser<Value = GroupKey> {
    PossibleValuesParser::new(keys()).map(|name| key(&name))
}

/// The keys by our names of them, and by perf's.
const KEYS: [(GroupKey, &str, &[&str]); 8] = [
    (GroupKey::Function, "function", &["symbol", "sym"]),
    (GroupKey::Module, "module", &["dso"]),
    (GroupKey::Thread, "thread", &["tid"]),
    (GroupKey::Process, "process", &["pid"]),
    (GroupKey::Comm, "comm", &[]),
    (GroupKey::Cpu, "cpu", &[]),
    (GroupKey::Cgroup, "cgroup", &[]),
    (GroupKey::Memory, "memory", &["mem"]),
];

fn keys() -> impl Iterator<Item = PossibleValue> {
    KEYS.iter().map(|(_, name, perfs)| PossibleValue::new(*name).aliases(perfs.iter().copied()))
}

fn key(name: &str) -> GroupKey {
    let named = |(_, own, perfs): &&(GroupKey, &str, &[&str])| *own == name || perfs.contains(&name);
    KEYS.iter().find(named).map_or(GroupKey::Function, |(key, ..)| *key)
}

/// What `-g` said, in perf's syntax: `caller`, `callee,2`, `graph,0.5,caller`.
fn call_paths(text: &str) -> Result<PathOptions, String> {
    let mut options = PathOptions { callees: true, min_share: 0.005 };
    for word in text.split(',') {
        match (word, word.parse::<f64>()) {
            ("caller", _) => options.callees = true,
            ("callee", _) => options.callees = false,
            ("graph" | "fractal" | "function" | "percent", _) => {}
            (_, Ok(percent)) if (0.0..=100.0).contains(&percent) => options.min_share = percent / 100.0,
            _ => {
                return Err(
                    "write -g, -g caller, -g callee or -g callee,PERCENT; a recording comes before -g".to_string()
                );
            }
        }
    }
    Ok(options)
}

/// Which part of a recording, the same in every command that reads one.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Selection")]
pub struct SelectionArgs {
    /// The recording, or a file of another profiler: perf.data, the text of perf script, folded stacks [default: the newest *.ironlaw in this directory]
    #[arg(value_name = "REC", help_heading = "Arguments")]
    pub recording: Option<PathBuf>,
    /// The same, as perf takes it
    #[arg(short = 'i', long, value_name = "REC", conflicts_with = "recording")]
    pub input: Option<PathBuf>,
    /// Select samples of this event, by its name in the recording
    #[arg(long, value_name = "EVENT")]
    pub event: Option<String>,
    /// Select these threads, by name or id (repeatable)
    #[arg(long, value_name = "NAME|TID", value_parser = values::thread_filter)]
    pub thread: Vec<ThreadFilter>,
    /// Select threads of these names, with * for any characters
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub comm: Vec<String>,
    /// Select these threads by id
    #[arg(long, value_name = "TID", value_delimiter = ',')]
    pub tid: Vec<u32>,
    /// Select these processes by id
    #[arg(long, value_name = "PID", value_delimiter = ',')]
    pub pid: Vec<u32>,
    /// Select threads by the last control group each was in, with * for any characters
    #[arg(long, value_name = "CGROUP", value_delimiter = ',')]
    pub cgroup: Vec<String>,
    /// Select samples on these CPUs, e.g. 0-3,8; metrics and waits stay those of all
    #[arg(short = 'C', long, value_name = "CPUS", value_parser = values::cpu_list)]
    pub cpu: Option<CpuList>,
    /// Select this time since the start: 1s-10s, 1s+9s, 5s-
    #[arg(long, value_name = "FROM-TO", value_parser = values::time_range, allow_hyphen_values = true)]
    pub time_range: Option<TimeRange>,
    /// Attribute samples of inlined functions to their callers
    #[arg(long)]
    pub no_inline: bool,
}

const REPORT_EXAMPLES: &str = "\
Examples:
  ironlaw report                                   the newest recording here
  ironlaw report run.ironlaw --sort total --limit 40
  ironlaw report -i perf.data --sort comm,dso,symbol --percent-limit 1
  ironlaw report run.ironlaw --time-range 1s-10s --thread worker
  ironlaw report run.ironlaw --baseline api.baseline   was it slower than usual, and why
  ironlaw report run.ironlaw --mix                 and which kinds of instructions
  ironlaw report run.ironlaw --format json | jq '.functions[0]'";

/// `ironlaw report`.
#[derive(Debug, Clone, Args)]
#[command(after_help = REPORT_EXAMPLES, next_help_heading = "Output")]
pub struct ReportArgs {
    /// Write the report as text, json, csv or md
    #[arg(long, hide_possible_values = true, value_name = "FORMAT", default_value = "text")]
    pub format: ReportFormat,
    /// Group rows by function, module, thread, process, comm, cpu, cgroup or memory (where sampled data was), or by several
    #[arg(long, value_name = "WHAT", value_delimiter = ',', default_value = "function", value_parser = by_parser(), hide_possible_values = true)]
    pub by: Vec<GroupKey>,
    /// Sort the rows by self, total, samples or name; perf's keys (comm,dso,symbol) group them as --by does
    #[arg(short = 's', long, value_name = "KEY", value_delimiter = ',', default_value = "self", value_parser = sort_parser(), hide_possible_values = true)]
    pub sort: Vec<SortArg>,
    /// Sort by the share including callees, as --sort total does
    #[arg(long, conflicts_with = "no_children")]
    pub children: bool,
    /// Sort by the share of own code, which is the default
    #[arg(long)]
    pub no_children: bool,
    /// Leave out rows below this share
    #[arg(long, value_name = "PERCENT", value_parser = values::percent)]
    pub percent_limit: Option<f64>,
    /// Show only code of these modules, by file name or path, with * for any characters
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub dso: Vec<String>,
    /// Show only these functions, with * for any characters
    #[arg(short = 'S', long, value_name = "NAME", value_delimiter = ',')]
    pub symbol: Vec<String>,
    /// Show the call paths of each function that have 0.5% or more: `caller` goes from it to its callees, `callee` to
    /// its callers; -g callee,2 shows those from 2% on
    #[arg(short = 'g', long, value_name = "ORDER", num_args = 0..=1, default_missing_value = "caller", value_parser = call_paths)]
    pub call_graph: Option<PathOptions>,
    /// Also show which classes of instructions took the time, by function: read from the recorded files if they are
    /// here, without hardware counters
    #[arg(long)]
    pub mix: bool,
    /// Show every note at length, what each missing metric is missing for, and what to do
    #[arg(long)]
    pub notes: bool,
    /// Print text, which is the default
    #[arg(long, hide = true)]
    pub stdio: bool,
    /// Count windows whose p99 latency is at most TIME, instead of the recording's SLO: 5ms, or milliseconds
    #[arg(long, value_name = "TIME", value_parser = values::slo)]
    pub slo: Option<Nanos>,
    /// Show at most N rows; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
    /// Write to a file instead of the standard output
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// What part of it.
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// Compare with this baseline instead of the one in the recording
    #[arg(long, value_name = "NAME", help_heading = "Selection")]
    pub baseline: Option<PathBuf>,
}

/// The form of a flame graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FlameFormat {
    /// A picture with search and zoom, for a browser.
    Svg,
    /// One line per stack, `main;parse;strtol 42`, for other tools.
    Folded,
}

const FLAMEGRAPH_EXAMPLES: &str = "\
Examples:
  ironlaw flamegraph > run.svg                   the newest recording here
  ironlaw flamegraph run.ironlaw -o run.svg --title 'after the fix'
  ironlaw flamegraph run.ironlaw --off-cpu       where threads waited
  ironlaw flamegraph perf.data                   what perf recorded
  ironlaw flamegraph run.ironlaw --format folded -o - | grep malloc";

/// `ironlaw flamegraph`.
#[derive(Debug, Clone, Args)]
#[command(after_help = FLAMEGRAPH_EXAMPLES, next_help_heading = "Output")]
pub struct FlamegraphArgs {
    /// Write to this file, `-` for the standard output [default: the standard output if it is a file or pipe, else the
    /// recording's name with .svg or .folded]
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace FILE, which is done without it too
    #[arg(short = 'f', long)]
    pub force: bool,
    /// Write an svg image, or folded stacks as text [default: by the extension of FILE, else svg]
    #[arg(long, hide_possible_values = true, value_name = "FORMAT")]
    pub format: Option<FlameFormat>,
    /// Set the title [default: target and host]
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Draw an icicle graph: the root at the top
    #[arg(long)]
    pub inverted: bool,
    /// Omit frames narrower than this many pixels
    #[arg(long, value_name = "PIXELS", default_value_t = 0.1, value_parser = values::pixels)]
    pub min_width: f64,
    /// Colour frames by `kind` (kernel, user, JIT, inlined), by the function's `cpi` or `mpki` (LLC misses) against those
    /// of all code, or by a palette of flamegraph.pl: hot, mem, java, ...
    #[arg(long, value_name = "NAME", default_value = "kind")]
    pub palette: String,
    /// Draw off-CPU time instead of samples
    #[arg(long, conflicts_with = "event")]
    pub off_cpu: bool,
    /// What part of it.
    #[command(flatten)]
    pub selection: SelectionArgs,
}
