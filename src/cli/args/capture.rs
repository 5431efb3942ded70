//! The flags that say what to capture and how, the same in every command that captures, and the `record` command.
//! It never decides what they mean on this machine.

use super::{CpuList, DatasetArgs, FrequencyArg, HardwareArgs, RemoteArgs, values};
use crate::model::{CallGraph, LatencySpec, OpsSpec};
use crate::units::Nanos;
use clap::Args;
use std::path::PathBuf;

/// How to capture, as typed.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Capture")]
pub struct CaptureArgs {
    /// Stop after this time: 5, 5s, 500ms, 2m [default: until the target ends or Ctrl-C]
    #[arg(short = 'd', long, value_name = "TIME", value_parser = values::seconds)]
    pub duration: Option<Nanos>,
    /// Sample at this rate: samples per second and running CPU, or `max` [default: 997]
    #[arg(short = 'F', long, value_name = "HZ", value_parser = values::frequency, conflicts_with = "count")]
    pub freq: Option<FrequencyArg>,
    /// Sample every PERIOD events instead of at a frequency
    #[arg(short = 'c', long, value_name = "PERIOD", value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,
    /// Sample these events, in perf's syntax: cycles:u, r01c2, cpu/event=0x3c/, sched:sched_switch, {a,b}
    /// [default: cycles if the CPU counts them, else cpu-clock, which attributes kernel code with
    /// interrupts off to where they are enabled again]
    #[arg(short = 'e', long, value_name = "EVENTS")]
    pub event: Vec<String>,
    /// Also sample memory accesses, as `perf mem record` does: where the data was (caches, local and remote memory), how
    /// long it took, which cache lines threads share. Needs PEBS (Intel) or IBS (AMD)
    #[arg(long)]
    pub mem: bool,
    /// Sample user code only
    #[arg(long, conflicts_with = "all_kernel")]
    pub all_user: bool,
    /// Sample kernel code only
    #[arg(long)]
    pub all_kernel: bool,
    /// Unwind call stacks by: auto, fp, dwarf or dwarf,BYTES, lbr, none.
    /// `auto` gives complete stacks however the program was built
    #[arg(long, value_name = "METHOD", default_value = "auto", value_parser = values::call_graph)]
    pub call_graph: CallGraph,
    /// Record call stacks, which is the default; with a method after it, the same as --call-graph
    #[arg(short = 'g')]
    pub call_graph_default: bool,
    /// Also record where threads wait, and for what
    #[arg(long)]
    pub off_cpu: bool,
    /// Count the program's operations, for costs per operation:
    ///   regex:'requests: ([0-9]+)'
    ///     a total in the command's output; only
    ///     the last match counts; numbers that
    ///     do not grow are taken as rates
    ///   regex-sum:'done ([0-9]+)'
    ///     numbers in the output, added up
    ///   regex-rate:'([0-9.]+) requests/s'
    ///     rates in the output, each since the last
    ///   uprobe:/usr/bin/app:handle_request
    ///     calls of a function, counted by the kernel;
    ///     0x1050 is one by address, +0x1050 by offset
    ///   usdt:/usr/sbin/mariadbd:query__start
    ///     hits of a probe that the program has
    ///     (`ironlaw list usdt FILE` lists them)
    ///   tracepoint:syscalls:sys_enter_sendto
    ///     hits of a kernel tracepoint
    ///   'http://localhost:9100/metrics#reqs{code="200"}'
    ///     a Prometheus counter, its series added up
    ///   file:/run/app/requests
    ///     the first number in a file, a total
    ///   page:app
    ///     counted by the program with ironlaw.h
    ///   rate:5000
    ///     a known rate per second
    #[arg(long, value_name = "SPEC", value_parser = values::ops, verbatim_doc_comment)]
    pub ops: Option<OpsSpec>,
    /// How long operations take:
    ///   uprobe:/usr/bin/app:handle_request
    ///     calls of a function, entry to return, measured
    ///     in the kernel (root)
    ///   usdt:/usr/bin/postgres:query__start..query__done
    ///     from one probe of the program to another
    ///     in the same thread
    ///   'http://localhost:9100/metrics#reqs_seconds'
    ///     a Prometheus histogram, its series with
    ///     {LABEL="VALUE"} added up
    ///   output
    ///     what CMD prints, if it is a load generator:
    ///     wrk, wrk2, redis-benchmark, pgbench,
    ///     sysbench, fio, db_bench; where CMD only
    ///     runs one of them: output:wrk
    ///   regex:'took ([0-9.]+ ms)'
    ///     latencies in the output of CMD, each an
    ///     operation; regex-ms: (ns, us, ms, s) for
    ///     numbers without a unit
    ///   file:pgbench_log
    ///     what a load generator writes to it, or to
    ///     pgbench_log.NUMBER: pgbench --log, latency
    ///     logs and JSON of fio, HdrHistogram's
    ///     percentiles, a latency a line; file-ms:
    ///     for numbers without a unit
    ///   page:app
    ///     counted by the program with ironlaw.h
    /// `ironlaw help latency` says what each leaves out
    #[arg(long, value_name = "SPEC", value_parser = values::latency, verbatim_doc_comment)]
    pub latency: Option<LatencySpec>,
    /// Count windows whose p99 latency is at most TIME (experience availability): 5ms, or milliseconds without a unit
    #[arg(long, value_name = "TIME", value_parser = values::slo)]
    pub slo: Option<Nanos>,
    /// Which hardware metrics.
    #[command(flatten)]
    pub hardware: HardwareArgs,
    /// Spend at most PERCENT of the target's CPU time, or of one CPU if it uses less: sample less often, and count no
    /// hardware events, where these cost more; 100 lifts the limit [default: 2; 100 for samples with -F or -c, for hardware
    /// events with -M NAME or if -e names one]
    #[arg(long, value_name = "PERCENT", value_parser = values::percent)]
    pub max_overhead: Option<f64>,
    /// Also record the CPU time and storage traffic of every other process and control group
    #[arg(long)]
    pub neighbours: bool,
    /// Measure contention of shared caches and memory by short timed memory walks; at most 0.5% of one CPU
    #[arg(long)]
    pub probe: bool,
    /// Fetch missing debug information by build-id with debuginfod-find, over the network
    #[arg(long)]
    pub debuginfod: bool,
    /// Read counters every TIME: 1s, or milliseconds without a unit; at least 10ms
    #[arg(short = 'I', long, value_name = "TIME", default_value = "1s", value_parser = values::milliseconds)]
    pub interval: Nanos,
    /// Wait before the first sample: 2s, or milliseconds without a unit [default: 0]
    #[arg(short = 'D', long, value_name = "TIME", default_value = "0", value_parser = values::milliseconds, hide_default_value = true)]
    pub delay: Nanos,
}

const USAGE: &str = "\
ironlaw record [OPTIONS] <-p PID | -t TID | -G CGROUP | -a | -C CPUS>
       ironlaw record [OPTIONS] [--] CMD [ARGS]...";

/// What is captured when no flag says otherwise.
impl Default for CaptureArgs {
    fn default() -> Self {
        CaptureArgs {
            duration: None,
            freq: None,
            count: None,
            event: Vec::new(),
            mem: false,
            all_user: false,
            all_kernel: false,
            call_graph: CallGraph::Auto,
            call_graph_default: false,
            off_cpu: false,
            ops: None,
            latency: None,
            slo: None,
            hardware: HardwareArgs::default(),
            max_overhead: None,
            neighbours: false,
            probe: false,
            debuginfod: false,
            interval: Nanos(1_000_000_000),
            delay: Nanos(0),
        }
    }
}

const AFTER_HELP: &str = "\
Examples:
  ironlaw record -p 1234 -d 10                 a process, for 10 seconds
  ironlaw record --off-cpu -p $(pidof redis-server) -d 30s
  ironlaw record -G web.service -d 1m          a systemd unit
  ironlaw record -a -d 5                       the whole machine
  ironlaw record -o build.ironlaw -- make -j8  a command and its children
  ironlaw record --ops 'regex:requests: ([0-9]+)' -- ./bench
                                               and what one request costs
  ironlaw record --host web1 -G web.service -d 1m
                                               on another machine, over ssh

Then read it with `ironlaw report` or `ironlaw flamegraph`.";

/// `ironlaw record`.
#[derive(Debug, Clone, Args)]
#[command(override_usage = USAGE, after_help = AFTER_HELP)]
pub struct RecordArgs {
    /// What to profile.
    #[command(flatten)]
    pub target: TargetArgs,
    /// How.
    #[command(flatten)]
    pub capture: CaptureArgs,
    /// Write to this directory [default: named after the target and the time]
    #[arg(short = 'o', long, value_name = "NAME.ironlaw", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Replace a recording of that name
    #[arg(short = 'f', long, help_heading = "Output")]
    pub force: bool,
    /// Print what is opened: events, rate, stacks, counters
    #[arg(short = 'v', long, help_heading = "Output")]
    pub verbose: bool,
    /// Compare with this baseline (see `ironlaw baseline`), store it in the recording, and record the other processes of
    /// the machine
    #[arg(long, value_name = "NAME.baseline", help_heading = "Baseline")]
    pub baseline: Option<PathBuf>,
    /// Accept a baseline that no longer fits
    #[arg(long, requires = "baseline", help_heading = "Baseline")]
    pub stale_ok: bool,
    /// Whether rows go into a data set.
    #[command(flatten)]
    pub dataset: DatasetArgs,
    /// Where.
    #[command(flatten)]
    pub remote: RemoteArgs,
}

/// What to profile, as typed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Target (exactly one)")]
pub struct TargetArgs {
    /// Profile these processes with all their threads, including later ones
    #[arg(short = 'p', long, value_name = "PID", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    pub pid: Vec<u32>,
    /// Include the processes that the -p processes have forked or will fork
    #[arg(long)]
    pub children: bool,
    /// Profile single threads
    #[arg(short = 't', long, value_name = "TID", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    pub tid: Vec<u32>,
    /// Profile control groups: paths, systemd units (web.service) or container ids, separated by commas
    #[arg(short = 'G', long, value_name = "CGROUPS", visible_alias = "for-each-cgroup")]
    pub cgroup: Option<String>,
    /// Profile the whole machine
    #[arg(short = 'a', long)]
    pub all_cpus: bool,
    /// Profile everything on these CPUs, e.g. 0-3,8
    #[arg(short = 'C', long, value_name = "CPUS", value_parser = super::values::cpu_list)]
    pub cpu: Option<CpuList>,
    /// Start and profile this command from its first instruction, children included
    #[arg(value_name = "CMD", trailing_var_arg = true)]
    pub command: Vec<String>,
}
