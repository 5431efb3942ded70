//! The arguments of `ironlaw watch`.

use super::{DatasetArgs, FrequencyArg, HardwareArgs, TargetArgs, values};
use crate::model::{LatencySpec, OpsSpec};
use crate::units::Nanos;
use clap::{Args, ValueEnum};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// The form of the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WatchFormat {
    /// For programs: one JSON object per line.
    Json,
    /// For people.
    Text,
}

/// An action on an alarm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OnAlarm {
    /// Record it.
    Record,
    /// Run this in the shell.
    Command(String),
}

/// Where the metrics are served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listen {
    /// Nowhere.
    Off,
    /// Here.
    At(SocketAddr),
}

/// Where the metrics are pushed to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collector {
    /// Host and port.
    pub authority: String,
    /// The path of the requests.
    pub path: String,
}

/// Sampling rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchRate {
    /// Never.
    None,
    /// As in other commands.
    Some(FrequencyArg),
}

/// The first port that metrics are served at by default.
pub const METRICS_PORT: u16 = 9469;

const USAGE: &str = "\
ironlaw watch [OPTIONS] --baseline NAME <-p PID | -t TID | -G CGROUP | -a | -C CPUS>
       ironlaw watch [OPTIONS] --baseline NAME [--] CMD [ARGS]...
       ironlaw watch [OPTIONS] --dataset DIR <-p PID | -G CGROUP | ...>";

const AFTER_HELP: &str = "\
Each alarm names the cause with its confidence and evidence, and the neighbours
whose CPU use moved with it: correlated, not proven.

A command of --on-alarm runs in sh, one at a time and for a minute at most, with
its output on standard error and with these variables:
  IRONLAW_ALARM_JSON   path of a file with the alarm, deleted afterwards;
                       empty if it could not be written
  IRONLAW_TARGET       the target, e.g. pid 1234
  IRONLAW_CAUSE        e.g. run_queue, memory_bandwidth, path_length
  IRONLAW_SUSPECT      the first suspect's name; empty if there is none.
                       Processes name themselves: quote it

Examples:
  ironlaw baseline build mon.ironlaw tue.ironlaw -o web.baseline
  ironlaw watch -G web.service --baseline web.baseline --on-alarm record -o /var/lib/ironlaw
  ironlaw watch -p $(pidof redis-server) --baseline redis --format text
  ironlaw watch -p 1234 --baseline app --on-alarm 'notify \"$IRONLAW_CAUSE\"'
  curl localhost:9469/metrics          the page that Prometheus scrapes
  ironlaw watch -G web.service --dataset fleet --dataset-keep 30
                                       a row a minute, for `ironlaw fleet`
  ironlaw watch -G web.service --baseline web --otlp http://localhost:4318

Exit codes: 0 if the watch was stopped, its time is up or the target ended
(`-- CMD` returns the command's code), 3 with --exit-on-alarm after an alarm.";

/// `ironlaw watch`.
#[derive(Debug, Clone, Args)]
#[command(override_usage = USAGE, after_help = AFTER_HELP)]
pub struct WatchArgs {
    /// What to watch.
    #[command(flatten)]
    pub target: TargetArgs,
    /// Compare with this baseline; `ironlaw baseline build` makes one. Without it, --dataset only collects
    #[arg(long, value_name = "NAME", required_unless_present = "dataset", help_heading = "Baseline")]
    pub baseline: Option<PathBuf>,
    /// Accept a baseline of another program, machine or setting
    #[arg(long, requires = "baseline", help_heading = "Baseline")]
    pub stale_ok: bool,
    /// On an alarm, run a command in sh, or `record` it: the time before it, then a detailed capture;
    /// each form at most once
    #[arg(long, value_name = "record|CMD", value_parser = on_alarm, requires = "baseline", help_heading = "Alarms")]
    pub on_alarm: Vec<OnAlarm>,
    /// Record this much of the time before an alarm; it is kept in memory
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = values::seconds, help_heading = "Alarms")]
    pub before: Nanos,
    /// Make the detailed capture this long: 997 Hz, with waits, at most once in five minutes
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = values::seconds, help_heading = "Alarms")]
    pub after: Nanos,
    /// Write recordings to this directory
    #[arg(short = 'o', long, value_name = "DIR", default_value = ".", help_heading = "Alarms")]
    pub output: PathBuf,
    /// Keep this many recordings of the target; delete the oldest first
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100_000), help_heading = "Alarms")]
    pub keep: u32,
    /// Exit with code 3 after the first alarm, once its actions are done
    #[arg(long, requires = "baseline", help_heading = "Alarms")]
    pub exit_on_alarm: bool,
    /// Stop after this long [default: until the target ends, Ctrl-C or SIGTERM]
    #[arg(short = 'd', long, value_name = "TIME", value_parser = values::seconds, help_heading = "Capture")]
    pub duration: Option<Nanos>,
    /// Sample this often per second of running time and CPU; 0: never, and alarms name no functions
    #[arg(short = 'F', long, value_name = "HZ", default_value = "19", value_parser = rate, help_heading = "Capture")]
    pub freq: WatchRate,
    /// Set the length of a window: 1s, or milliseconds without a unit; 10ms or more
    #[arg(short = 'I', long, value_name = "TIME", default_value = "1s", value_parser = values::milliseconds, help_heading = "Capture")]
    pub interval: Nanos,
    /// Count operations by this source, as for record [default: the source of the baseline]
    #[arg(long, value_name = "SPEC", value_parser = values::ops, help_heading = "Capture")]
    pub ops: Option<OpsSpec>,
    /// Measure how long operations take by this source, as for record [default: the source of the baseline]
    #[arg(long, value_name = "SPEC", value_parser = values::latency, help_heading = "Capture")]
    pub latency: Option<LatencySpec>,
    /// Time walks through caches and memory, at most 0.5% of one CPU; helps without hardware counters
    #[arg(long, help_heading = "Capture")]
    pub probe: bool,
    /// Which hardware metrics.
    #[command(flatten)]
    pub hardware: HardwareArgs,
    /// Serve OpenMetrics at /metrics on this port, ADDRESS:PORT, or `off`
    /// [default: the first free port of 127.0.0.1 from 9469 to 9478]
    #[arg(long, value_name = "ADDR", value_parser = listen, help_heading = "Output")]
    pub listen: Option<Listen>,
    /// Also push the metrics every ten seconds to this OpenTelemetry collector, by OTLP over HTTP (protobuf), without TLS:
    /// http://HOST:4318, or with the path [default: /v1/metrics]
    #[arg(long, value_name = "URL", value_parser = collector, help_heading = "Output")]
    pub otlp: Option<Collector>,
    /// Format of the lines: json or text
    #[arg(long, hide_possible_values = true, value_name = "FORMAT", default_value = "json", help_heading = "Output")]
    pub format: WatchFormat,
    /// Write a line for every N-th window [default: for every change of state]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Output")]
    pub every: Option<u64>,
    /// Whether rows go into a data set.
    #[command(flatten)]
    pub dataset: DatasetArgs,
}

fn on_alarm(text: &str) -> Result<OnAlarm, String> {
    match text.trim() {
        "" => Err("give `record`, or a command for sh".into()),
        "record" => Ok(OnAlarm::Record),
        _ if text.contains('\0') => Err("a command cannot contain a zero byte".into()),
        command => Ok(OnAlarm::Command(command.to_string())),
    }
}

fn rate(text: &str) -> Result<WatchRate, String> {
    if text == "0" { Ok(WatchRate::None) } else { values::frequency(text).map(WatchRate::Some) }
}

fn listen(text: &str) -> Result<Listen, String> {
    if text == "off" {
        return Ok(Listen::Off);
    }
    let port = text.strip_prefix("localhost:").unwrap_or(text).parse::<u16>().ok();
    let address = port.map(|port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    let address = address.or_else(|| text.parse().ok());
    address
        .map(Listen::At)
        .ok_or_else(|| "give a port, an address with a port like 10.0.0.5:9469 or [::1]:9469, or off".into())
}

fn collector(text: &str) -> Result<Collector, String> {
    const EXAMPLE: &str = "give http://HOST:4318";
    let rest = match text.strip_prefix("http://") {
        Some(rest) => rest,
        None if text.starts_with("https://") => {
            return Err("TLS is not supported: push to a collector on this machine, which passes it on".into());
        }
        None => return Err(EXAMPLE.into()),
    };
    let (authority, path) = rest.split_once('/').map_or((rest, ""), |(authority, path)| (authority, path));
    let printable = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
    if authority.is_empty() || authority.contains('@') || !printable(rest) {
        return Err(EXAMPLE.into());
    }
    let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let authority = if has_port { authority.to_string() } else { format!("{authority}:4318") };
    Ok(Collector { authority, path: if path.is_empty() { "/v1/metrics".into() } else { format!("/{path}") } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_is_an_address_without_tls() {
        for (text, expected) in [
            ("http://localhost:4318", Some(("localhost:4318", "/v1/metrics"))),
            ("http://10.0.0.5", Some(("10.0.0.5:4318", "/v1/metrics"))),
            ("http://otel:80/", Some(("otel:80", "/v1/metrics"))),
            ("http://[::1]:4318/otlp/v1/metrics", Some(("[::1]:4318", "/otlp/v1/metrics"))),
            ("http://[::1]", Some(("[::1]:4318", "/v1/metrics"))),
            ("https://otel:4318", None),
            ("http://", None),
            ("http://me:secret@otel", None),
            ("http://otel/a b", None),
            ("http://otel/a\r\nX: y", None),
            ("otel:4318", None),
        ] {
            let found = collector(text).ok();
            let parts = found.as_ref().map(|found| (found.authority.as_str(), found.path.as_str()));
            assert_eq!(parts, expected, "{text}");
        }
    }

    #[test]
    fn an_address_is_of_this_machine_alone_unless_it_says_otherwise() {
        for (text, expected) in [
            ("off", Some(Listen::Off)),
            ("9500", "127.0.0.1:9500".parse().ok().map(Listen::At)),
            ("localhost:9500", "127.0.0.1:9500".parse().ok().map(Listen::At)),
            ("0.0.0.0:9469", "0.0.0.0:9469".parse().ok().map(Listen::At)),
            ("[::1]:9469", "[::1]:9469".parse().ok().map(Listen::At)),
            ("example.org:80", None),
            ("10.0.0.5", None),
            ("70000", None),
            ("", None),
        ] {
            assert_eq!(listen(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_done_on_an_alarm_is_recording_or_a_command() {
        for (text, expected) in [
            ("record", Some(OnAlarm::Record)),
            (" mail -s 'x' me ", Some(OnAlarm::Command("mail -s 'x' me".into()))),
            ("", None),
            ("  ", None),
            ("a\0b", None),
        ] {
            assert_eq!(on_alarm(text).ok(), expected, "{text:?}");
        }
        assert_eq!(rate("0"), Ok(WatchRate::None));
        assert_eq!(rate("19"), Ok(WatchRate::Some(FrequencyArg::Hertz(19))));
        assert!(rate("-1").is_err() && rate("").is_err());
    }
}
