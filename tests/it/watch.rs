//! The watch from the outside: its lines, its metrics, what it does on an alarm, and how it ends.

use crate::program::{Dir, IRONLAW, Running, until};
use crate::protobuf::Fields;
use ironlaw::model::{BASELINE_FORMAT, Baseline, BaselineKey, BaselineSource, BaselineWindow, HostFacts, OpsSpec};
use ironlaw::store::baseline as files;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

/// Of a target that took a twentieth of a CPU for a thousand operations a second.
fn baseline(host: HostFacts) -> Baseline {
    let started_unix_ns = 1_700_000_000_000_000_000;
    let window = |at: u64| {
        let cpu = 5e7 * (1.0 + 0.01 * (at % 7) as f64);
        let cells = vec![Some([cpu, 1000.0]), Some([1000.0, 1.0]), Some([cpu / 1e9, 1.0])];
        BaselineWindow { source: 0, at_ns: at * 1_000_000_000, span_ns: 1_000_000_000, cells }
    };
    let ops = Some(OpsSpec::Rate { per_second: 1000.0 });
    let target = "pid 1".to_string();
    Baseline {
        format: BASELINE_FORMAT,
        tool: "0.1.0".into(),
        key: BaselineKey {
            host,
            target,
            program: None,
            called: None,
            build_id: None,
            cpus: vec![],
            allowed: None,
            ops,
            latency: None,
        },
        sources: vec![BaselineSource { name: "mon".into(), started_unix_ns, seconds: 100.0, windows: 100 }],
        quantities: ["cpu_ns_per_op", "ops_per_s", "busy_cores"].map(String::from).to_vec(),
        windows: (1..=100).map(window).collect(),
        stacks: vec![],
        cpu_ns: 5e9,
        ops: Some(100_000.0),
    }
}

fn write(dir: &Dir, host: HostFacts) {
    files::write(&dir.join("usual.baseline"), &baseline(host), false).unwrap();
}

/// A program that takes far more than usual: enough threads to get a share of a busy machine, and not all of it.
fn busy(dir: &Dir) -> Running {
    let mut target = dir.start(&["workload", "spin", "--threads", "3", "--seconds", "600"]);
    until("the target works", || std::fs::read_dir(format!("/proc/{}/task", target.pid())).unwrap().count() > 3);
    assert!(target.0.try_wait().unwrap().is_none());
    target
}

/// A watch that runs, and its lines so far.
struct Watched {
    running: Running,
    lines: Arc<Mutex<Vec<Value>>>,
}

impl Watched {
    fn start(dir: &Dir, flags: &[&str]) -> Watched {
        let mut words = vec!["watch", "--baseline", "usual", "-I", "200"];
        words.extend(flags);
        let mut running = Running::of(dir.command(IRONLAW, &words).stderr(Stdio::piped()));
        let lines = Arc::new(Mutex::new(Vec::new()));
        let (out, kept) = (running.0.stdout.take().unwrap(), lines.clone());
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines() {
                let line = line.unwrap();
                let value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error} in {line}"));
                kept.lock().unwrap().push(value);
            }
        });
        Watched { running, lines }
    }

    fn of_event(&self, event: &str) -> Vec<Value> {
        self.lines.lock().unwrap().iter().filter(|line| line["event"] == event).cloned().collect()
    }

    #[track_caller]
    fn first(&self, event: &str) -> Value {
        until(event, || !self.of_event(event).is_empty());
        self.of_event(event)[0].clone()
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.running.0), signal).unwrap();
    }

    /// Waits for its end: its exit code, what it complained of, and all lines, each held against the schema.
    #[track_caller]
    fn ends(mut self) -> (Option<i32>, String, Vec<Value>) {
        // Names of a large program are read for every recording: on a busy machine that takes its time.
        for _ in 0..1000 {
            if self.running.0.try_wait().unwrap().is_some() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        let ran = self.running.ends();
        until("the last line", || ran.code == Some(2) || !self.of_event("end").is_empty());
        let lines = self.lines.lock().unwrap().clone();
        let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
        let schema: Value = serde_json::from_str(ironlaw::export::watch::SCHEMA).unwrap();
        compiler.add_resource("watch.json", schema).unwrap();
        let id = compiler.compile("watch.json", &mut schemas).unwrap();
        for line in &lines {
            if let Err(error) = schemas.validate(line, id) {
                panic!("{line}: {error:#}");
            }
        }
        (ran.code, ran.err, lines)
    }
}

#[test]
fn an_alarm_is_told_recorded_and_handed_to_the_command_once() {
    require!("perf");
    let dir = Dir::new();
    write(&dir, HostFacts::default());
    let target = busy(&dir);
    let pid = target.pid().to_string();
    let command = "cat \"$IRONLAW_ALARM_JSON\" >> alarms; echo \"$IRONLAW_TARGET,$IRONLAW_CAUSE,${IRONLAW_SUSPECT-x}\" \
                   >> ran; echo printed; exit 5";
    let flags = ["-p", &pid, "--listen", "off", "--before", "2s", "--after", "500ms", "--exit-on-alarm"];
    let watch = Watched::start(&dir, &[&flags[..], &["--on-alarm", "record", "--on-alarm", command]].concat());
    until("the alarm", || !watch.of_event("alarm").is_empty());
    let (code, err, lines) = watch.ends();
    assert_eq!(code, Some(3), "{err}");
    let of = |event: &str| lines.iter().filter(|line| line["event"] == event).collect::<Vec<_>>();
    assert_eq!(
        (of("start").len(), of("alarm").len(), of("command").len(), of("end").len()),
        (1, 1, 1, 1),
        "{lines:#?}"
    );
    assert_eq!((&lines[0]["event"], &lines[0]["metrics"]), (&"start".into(), &Value::Null));
    assert_eq!(lines[0]["operations"], "1000 per second, as given", "counted as the baseline was");
    let alarm = of("alarm")[0];
    assert!(alarm["worst"].as_f64() > Some(2.0) && alarm["primary"] == "cpu_ns_per_op", "{alarm:#}");
    assert_eq!((of("command")[0]["status"].as_i64(), err.contains("printed")), (Some(5), true));
    let ran = std::fs::read_to_string(dir.join("ran")).unwrap();
    let told = format!("pid {pid},{},", alarm["cause"].as_str().unwrap());
    assert!(ran.lines().count() == 1 && ran.starts_with(&told), "{ran}");
    let handed: Value = serde_json::from_str(&std::fs::read_to_string(dir.join("alarms")).unwrap()).unwrap();
    assert_eq!(handed["cause"], alarm["cause"]);
    let recorded = of("recorded");
    assert_eq!(recorded.iter().map(|line| &line["period"]).collect::<Vec<_>>(), ["before", "alarm"], "{lines:#?}");
    for line in recorded {
        let path = line["path"].as_str().unwrap();
        assert!(path.contains(&format!("pid-{pid}-")), "{path}");
        assert!(files::read_within(&dir.join(path)).unwrap().is_some(), "{path} holds the baseline");
        let report = dir.report(path, "");
        assert!(report["duration_s"].as_f64() > Some(0.1) && report["neighbours"].is_object(), "{path}");
        // At 19 samples a second the first ones may still lie in the ring.
        assert!(line["period"] == "before" || report["samples"]["count"].as_u64() > Some(0), "{path}");
    }
}

/// The whole answer to a request.
fn asked(address: &str, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request).unwrap();
    let mut answer = Vec::new();
    // A server may close on what it refused before all of it was read.
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8(answer).unwrap()
}

const PAGE: &[u8] = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: application/openmetrics-text\r\n\r\n";

#[test]
fn the_metrics_are_answered_whatever_else_asks_and_the_targets_end_ends_the_watch() {
    require!("perf");
    let dir = Dir::new();
    write(&dir, HostFacts::default());
    let mut target = busy(&dir);
    let pid = target.pid().to_string();
    let watch = Watched::start(&dir, &["-p", &pid, "--listen", "0", "--every", "1"]);
    let url = watch.first("start")["metrics"].as_str().unwrap().to_string();
    let address = url.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/metrics")).unwrap();
    assert!(address.starts_with("127.0.0.1:"), "{address}");
    watch.first("alarm");
    for (request, status) in [
        (b"POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999999\r\n\r\nxxx".as_slice(), "405"),
        (b"GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", "404"),
        (b"GET /metrics HTTP/1.1\r\n\r\n", "400"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "400"),
        (&[b"GET / HTTP/1.1\r\nA: ".as_slice(), &[b'a'; 10_000]].concat(), "431"),
    ] {
        let answer = asked(address, request);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    }
    let silent: Vec<_> = (0..40).map(|_| TcpStream::connect(address).unwrap()).collect();
    let answer = asked(address, PAGE);
    drop(silent);
    let (head, page) = answer.split_once("\r\n\r\n").unwrap();
    assert!(
        head.contains("\r\nContent-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n"),
        "{head}"
    );
    for line in ["ironlaw_slowdown_ratio ", "ironlaw_quantity_now_seconds{quantity=\"cpu_ns_per_op\"} ", "# EOF"] {
        assert!(page.contains(line), "{line} is not in\n{page}");
    }
    assert!(page.lines().any(|line| line.starts_with("ironlaw_alarms_total{") && line.ends_with(" 1.0")), "{page}");
    prometheus_reads(&dir, page);
    target.0.kill().unwrap();
    target.0.wait().unwrap();
    let (code, err, lines) = watch.ends();
    assert_eq!((code, &lines.last().unwrap()["reason"]), (Some(0), &"the target has ended".into()), "{err}");
    let windows = lines.iter().filter(|line| line["event"] == "window").count();
    assert_eq!(lines.last().unwrap()["windows"].as_u64(), Some(windows as u64), "a line for each");
    assert!(TcpStream::connect(address).is_err(), "nobody answers any more");
}

/// A collector that answers with these statuses, one a request, and then with 200; the bodies it accepted.
fn collector(statuses: &'static [&'static str]) -> (String, Arc<Mutex<Vec<Vec<u8>>>>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let accepted = Arc::new(Mutex::new(Vec::new()));
    let kept = accepted.clone();
    std::thread::spawn(move || {
        for (at, stream) in listener.incoming().enumerate() {
            let mut stream = BufReader::new(stream.unwrap());
            let (mut head, mut length) = (String::new(), 0);
            while stream.read_line(&mut head).unwrap() > 2 {
                let last = head.lines().last().unwrap();
                length = last.strip_prefix("Content-Length: ").map_or(length, |value| value.parse().unwrap());
            }
            assert!(head.starts_with("POST /v1/metrics HTTP/1.1\r\n"), "{head}");
            assert!(head.contains("\r\nContent-Type: application/x-protobuf\r\n"), "{head}");
            let mut body = vec![0; length];
            stream.read_exact(&mut body).unwrap();
            let status = statuses.get(at).copied().unwrap_or("200 OK");
            if status.starts_with("200") {
                kept.lock().unwrap().push(body);
            }
            // The other side may not wait for the rest of the answer.
            let _ = write!(stream.get_mut(), "HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
        }
    });
    (address, accepted)
}

/// The names and labels of a page, without values.
fn series(page: &str) -> BTreeSet<String> {
    let body = page.split_once("\r\n\r\n").unwrap().1;
    let lines = body.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| Some(line.rsplit_once(' ')?.0.to_string())).collect()
}

/// The same of a request by the published field numbers of OTLP, with its kinds and values.
fn pushed(request: &[u8]) -> BTreeMap<String, (&'static str, f64)> {
    let resource_metrics = Fields::of(request).messages(1).remove(0);
    let text_of = |attribute: &Fields| (attribute.text(1), attribute.messages(2)[0].text(1));
    let resource: BTreeMap<_, _> = resource_metrics.messages(1)[0].messages(1).iter().map(text_of).collect();
    assert_eq!(resource["service.name"], "ironlaw");
    assert!(!resource["host.name"].is_empty(), "{resource:?}");
    let scope_metrics = resource_metrics.messages(2).remove(0);
    assert_eq!(scope_metrics.messages(1)[0].text(1), "ironlaw");
    let mut found = BTreeMap::new();
    for metric in scope_metrics.messages(2) {
        let (gauge, sum) = (metric.messages(5), metric.messages(7));
        let (kind, data) = match (gauge.first(), sum.first()) {
            (Some(data), None) => ("gauge", data),
            (None, Some(data)) => {
                assert_eq!(data.number(2), 2, "sums are cumulative");
                (if data.number(3) == 1 { "counter" } else { "sum" }, data)
            }
            _ => panic!("neither a gauge nor a sum"),
        };
        for point in data.messages(1) {
            assert!(point.number(2) > 0 && point.number(3) >= point.number(2), "times");
            let labels: Vec<_> =
                point.messages(7).iter().map(text_of).map(|(key, value)| format!("{key}=\"{value}\"")).collect();
            let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
            found.insert(format!("{}{labels}", metric.text(1)), (kind, f64::from_bits(point.number(4))));
        }
    }
    found
}

#[test]
fn a_collector_gets_what_the_page_shows_and_a_failure_is_told_once() {
    require!("perf");
    let dir = Dir::new();
    write(&dir, HostFacts::default());
    let target = busy(&dir);
    let (address, accepted) = collector(&["503 Busy\r\nRetry-After: 1", "503 Busy\r\nRetry-After: 1"]);
    let (pid, url) = (target.pid().to_string(), format!("http://{address}"));
    let flags = ["-p", &pid, "--stale-ok", "--ops", "rate:1000", "--listen", "127.0.0.1:0", "--otlp", &url];
    let watch = Watched::start(&dir, &flags);
    let page = watch.first("start")["metrics"].as_str().unwrap().to_string();
    let page = page.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/metrics")).unwrap().to_string();
    until("the collector has accepted one", || !accepted.lock().unwrap().is_empty());
    let shown = asked(&page, PAGE);
    watch.signal(Signal::TERM);
    let (code, err, lines) = watch.ends();
    assert_eq!(code, Some(0), "{err}");
    let errors: Vec<_> = lines.iter().filter(|line| line["event"] == "error").collect();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(
        errors[0].to_string().contains("metrics are not pushed: the collector answers with status 503"),
        "{errors:?}"
    );
    let requests = accepted.lock().unwrap().clone();
    assert!(requests.len() >= 2, "the last values are pushed at the end");
    let last = pushed(requests.last().unwrap());
    let windows = |found: &BTreeMap<String, (&str, f64)>| -> f64 {
        found.iter().filter(|(name, _)| name.starts_with("ironlaw_windows_total{")).map(|(_, (_, value))| value).sum()
    };
    assert!(windows(&last) >= windows(&pushed(&requests[0])) && windows(&last) > 20.0, "{last:?}");
    let end = lines.last().unwrap();
    assert_eq!((end["event"].as_str(), end["windows"].as_f64()), (Some("end"), Some(windows(&last))));
    // Suspects come and go with the load of the machine.
    let lasting = |name: &&String| !name.starts_with("ironlaw_suspect");
    let (shown, last_names) = (series(&shown), last.keys().cloned().collect::<BTreeSet<_>>());
    assert_eq!(shown.iter().filter(lasting).collect::<Vec<_>>(), last_names.iter().filter(lasting).collect::<Vec<_>>());
    let kind = |name: &str| last.iter().find(|(key, _)| key.starts_with(name)).unwrap().1.0;
    assert_eq!((kind("ironlaw_cpu_seconds_total"), kind("ironlaw_build_info")), ("counter", "sum"));
    assert_eq!(kind("ironlaw_slowdown_ratio"), "gauge");
    // For a look with the standard's own messages.
    if let Some(path) = std::env::var_os("IRONLAW_KEEP_OTLP") {
        std::fs::write(path, requests.last().unwrap()).unwrap();
    }
}

/// What the reference parser says, where there is one.
fn prometheus_reads(dir: &Dir, page: &str) {
    if !Command::new("python3").args(["-c", "import prometheus_client"]).status().is_ok_and(|status| status.success()) {
        crate::support::skip(
            "prometheus-client",
            "python3 has no prometheus_client (python3 -m pip install prometheus_client)",
        );
        return;
    }
    std::fs::write(dir.join("page"), page).unwrap();
    let script = "from prometheus_client.openmetrics.parser import text_string_to_metric_families as read\n\
                  print(sum(len(family.samples) for family in read(open('page').read())))";
    let ran = crate::program::Ran::of(&mut dir.command("python3", &["-c", script])).succeeds();
    let series = page.lines().filter(|line| !line.starts_with('#')).count();
    assert_eq!(ran.out.trim().parse(), Ok(series));
}

#[test]
fn a_signal_ends_it_with_a_last_line_and_so_does_a_reader_that_goes_away() {
    require!("perf");
    let dir = Dir::new();
    write(&dir, HostFacts::default());
    let target = dir.start(&["workload", "sleep-loop", "--threads", "1", "--seconds", "600"]);
    let pid = target.pid().to_string();
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let watch = Watched::start(&dir, &["-p", &pid, "--listen", "off"]);
        watch.first("start");
        watch.signal(signal);
        let (code, err, lines) = watch.ends();
        assert_eq!((code, &lines.last().unwrap()["reason"]), (Some(0), &"stopped by a signal".into()), "{err}");
    }
    let line = format!("{IRONLAW} watch --baseline usual -p {pid} --listen off --format text | head -n 1");
    let ran = crate::program::Ran::of(&mut dir.command("sh", &["-c", &line])).succeeds();
    assert!(ran.out.contains("watching pid ") && ran.err.is_empty(), "{ran:?}");
}

#[test]
fn a_commands_own_output_is_kept_apart_and_its_code_passed_on() {
    require!("perf");
    let dir = Dir::new();
    write(&dir, HostFacts::default());
    let watch = Watched::start(&dir, &["--listen", "off", "--", "sh", "-c", "echo of its own; sleep 1; exit 7"]);
    let (code, err, lines) = watch.ends();
    assert_eq!(code, Some(7), "{err}");
    assert!(err.contains("of its own"), "{err}");
    assert_eq!(lines.last().unwrap()["reason"], "the command ended with status 7");
}

#[test]
fn a_baseline_of_another_machine_is_refused_by_name_unless_that_is_accepted() {
    require!("perf");
    let dir = Dir::new();
    write(&dir, HostFacts { cpu_model: "Z80".into(), ..HostFacts::default() });
    let target = busy(&dir);
    let line = format!("watch --baseline usual -p {} --listen off -d 1s", target.pid());
    let refused = dir.line(&line);
    assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""));
    assert!(refused.err.contains("Z80") && refused.err.contains("--stale-ok"), "{}", refused.err);
    let accepted = dir.line(&format!("{line} --stale-ok")).succeeds();
    let start: Value = serde_json::from_str(accepted.out.lines().next().unwrap()).unwrap();
    assert_eq!((&start["stale"][0]["then"], &start["stale"][0]["incompatible"]), (&"Z80".into(), &true.into()));
}

#[test]
fn what_cannot_be_watched_is_said_before_anything_is_opened() {
    let dir = Dir::new();
    write(&dir, HostFacts::default());
    for (line, code, said) in [
        ("watch -p 1", 2, "--baseline"),
        ("watch -p 1 --baseline none", 1, "baseline build"),
        ("watch -p 1 --baseline usual --on-alarm record -o nowhere", 1, "no such directory: nowhere"),
        ("watch -p 1 --baseline usual --on-alarm record --on-alarm record", 2, "twice"),
        ("watch -p 1 --baseline usual --listen example.org:80", 2, "off"),
        ("watch --baseline usual", 2, "-p PID"),
    ] {
        let ran = dir.line(line);
        assert_eq!(ran.code, Some(code), "{line}: {}", ran.err);
        assert!(ran.err.contains(said) && ran.out.is_empty(), "{line}: {}{}", ran.out, ran.err);
    }
    assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/ironlaw-watch.service").is_file());
}
