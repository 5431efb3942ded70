//! Every format, read back by a reader of its own, keeps the stacks and weights of the flame graph.

use super::profile::{self, Stacks, add, expected, plain, samples, waits};
use super::{firefox, pprof};
use crate::parquet::Columns;
use crate::synthetic::Synthetic;
use inferno::collapse::Collapse;
use ironlaw::analysis::Selection;
use ironlaw::error::Result;
use ironlaw::export;
use ironlaw::model::Unit;
use ironlaw::model::profile::Profile;
use ironlaw::view::CodeKind;
use ironlaw::view::Label;
use ironlaw::view::escape::visible;
use ironlaw::view::sampled::Sampled;
use serde_json::Value;
use std::collections::BTreeMap;

fn written(
    profile: &Profile,
    selection: Selection,
    write: impl FnOnce(&Sampled<'_>, &mut Vec<u8>) -> Result<()>,
) -> Vec<u8> {
    let sampled = Sampled::of(profile, selection, false).expect("the selection can be met");
    let mut bytes = Vec::new();
    write(&sampled, &mut bytes).expect("a vector takes everything");
    bytes
}

fn both() -> [Selection; 2] {
    [samples(), waits()]
}

#[test]
fn pprof_holds_the_stacks_and_weights_of_the_flame_graph() {
    let profile = profile::profile();
    for (selection, types) in both()
        .into_iter()
        .zip([[("samples", "count"), ("cpu", "nanoseconds")], [("waits", "count"), ("delay", "nanoseconds")]])
    {
        let bytes = written(&profile, selection.clone(), |sampled, out| export::pprof::write(sampled, out));
        let read = pprof::Pprof::read(&bytes);
        assert_eq!(read.types(), types);
        let shown = |label: &Label| visible(&plain(label)).into_owned();
        assert_eq!(read.stacks(1), expected(&profile, &selection, shown));
        assert_eq!(read.strings[0], "");
        let count: u64 = read.stacks(0).values().sum();
        assert_eq!(count, if selection == samples() { 32 } else { 4 });
    }
}

#[test]
fn pprof_says_where_code_lies_who_ran_it_and_when() {
    let bytes = written(&profile::profile(), samples(), |sampled, out| export::pprof::write(sampled, out));
    let read = pprof::Pprof::read(&bytes);
    let sample =
        read.fields.messages(2).into_iter().find(|sample| read.calls(sample).len() == 6).expect("inlined calls");
    assert_eq!(
        read.calls(&sample)[3..],
        [("outer", "b.c", 700), ("middle", "b.c", 70), ("inner", "in \"a\".c", 7)],
        "three calls at one location"
    );
    let label = |key: &str, text: &str| read.labels(&sample).get(key).is_some_and(|label| label == text);
    assert!(label("thread", "server") && label("comm", "server") && label("pid", "41") && label("tid", "41"));
    let mappings: BTreeMap<_, _> =
        read.mappings.values().map(|mapping| (read.string(mapping.number(5)), mapping)).collect();
    let server = mappings["/usr/bin/server"];
    assert_eq!(read.string(server.number(6)), "510d0a5c19eadf8043f203b4525be9be3dcb9554");
    assert_eq!([7, 8, 9, 10].map(|field| server.number(field)), [1; 4], "functions, files, lines and inlined calls");
    assert_eq!(mappings["/usr/lib/libm.so.6"].number(7), 0, "no name was found in it");
    for location in read.locations.values().filter(|location| location.number(2) != 0) {
        let mapping = &read.mappings[&location.number(2)];
        assert!((mapping.number(2)..mapping.number(3)).contains(&location.number(3)), "addresses lie in their mapping");
    }
    assert_eq!(
        [9, 10, 12].map(|field| read.fields.number(field)),
        [1_767_225_600_000_000_000, 10_000_000_000, 1_003_009]
    );
}

#[test]
fn an_event_keeps_its_own_name_and_unit_in_pprof() {
    let mut s = Synthetic::new();
    s.meta.events = vec![crate::synthetic::event("cycles:u", Unit::Cycles)];
    s.samples(1, 41, "app!main", 2);
    let bytes = written(&s.finish(), samples(), |sampled, out| export::pprof::write(sampled, out));
    let read = pprof::Pprof::read(&bytes);
    assert_eq!(read.types(), [("samples", "count"), ("cycles:u", "count")]);
    assert_eq!(read.fields.number(12), 0, "a frequency is no period of cycles");
}

fn speedscope(selection: &Selection) -> Value {
    let bytes = written(&profile::profile(), selection.clone(), |s, out| export::speedscope::write(s, "title", out));
    serde_json::from_slice(&bytes).expect("it is JSON")
}

#[test]
fn speedscope_holds_the_stacks_and_weights_of_the_flame_graph() {
    for selection in both() {
        let file = speedscope(&selection);
        let frames = firefox::list(&file["shared"]["frames"]);
        let name = |frame: &Value| {
            let frame = &frames[frame.as_u64().expect("a number") as usize];
            frame["name"].as_str().expect("a text").to_string()
        };
        let mut stacks = Stacks::new();
        for profile in firefox::list(&file["profiles"]) {
            let (samples, weights) = (firefox::list(&profile["samples"]), firefox::list(&profile["weights"]));
            assert_eq!((samples.len(), &profile["unit"]), (weights.len(), &Value::from("nanoseconds")));
            let weights = weights.iter().map(|weight| weight.as_u64().expect("a number"));
            assert_eq!(profile["endValue"], weights.clone().sum::<u64>());
            for (sample, weight) in samples.iter().zip(weights) {
                add(&mut stacks, firefox::list(sample).iter().map(name).collect(), weight);
            }
        }
        assert_eq!(stacks, expected(&profile::profile(), &selection, plain));
    }
    let heaviest = &speedscope(&samples())["profiles"][0];
    assert_eq!(
        (&heaviest["name"], &heaviest["samples"]),
        (&"server 41".into(), &serde_json::json!([[0, 1, 2, 3, 4, 5]]))
    );
}

#[test]
fn speedscope_keeps_to_its_schema() {
    let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
    let schema = include_str!("../../fixtures/speedscope.schema.json");
    compiler.add_resource("file.json", serde_json::from_str(schema).expect("JSON")).expect("it is added");
    let id = compiler.compile("file.json", &mut schemas).expect("a schema");
    for selection in both() {
        if let Err(error) = schemas.validate(&speedscope(&selection), id) {
            panic!("{error:#}");
        }
    }
    let mut wrong = speedscope(&samples());
    wrong["profiles"][0]["unit"] = "fortnights".into();
    assert!(schemas.validate(&wrong, id).is_err(), "the schema would take anything");
}

fn firefox(profile: &Profile, selection: &Selection) -> Value {
    let bytes = written(profile, selection.clone(), |s, out| export::firefox::write(s, "title", out));
    serde_json::from_slice(&bytes).expect("it is JSON")
}

#[test]
fn firefox_holds_the_stacks_and_weights_of_the_flame_graph_in_tables_that_fit() {
    let profile = profile::profile();
    for selection in both() {
        let file = firefox(&profile, &selection);
        firefox::check(&file);
        assert_eq!(firefox::stacks(&file), expected(&profile, &selection, plain));
    }
    let mut s = Synthetic::new();
    s.meta.events = vec![crate::synthetic::event("cycles", Unit::Cycles)];
    s.samples(1, 41, "app!main;app!a", 3);
    let alike = firefox(&s.finish(), &samples());
    firefox::check(&alike);
    assert_eq!(alike["threads"][0]["samples"]["weight"], Value::Null, "all samples count the same");
    firefox::check(&firefox(&Synthetic::new().finish(), &samples()));
}

#[test]
fn firefox_shows_waits_and_marks_as_markers_and_inlined_calls_in_their_frame() {
    let file = firefox(&profile::profile(), &samples());
    let threads = firefox::list(&file["threads"]);
    let thread = |tid: &str| threads.iter().find(|thread| thread["tid"] == tid).expect("the thread is there");
    let markers = &thread("42")["markers"];
    assert_eq!(
        (&markers["startTime"], &markers["endTime"]),
        (&serde_json::json!([400, 500]), &serde_json::json!([461, 535]))
    );
    assert_eq!(markers["data"][0]["state"], "sleeping");
    let cause = firefox::names(&file, &markers["data"][0]["cause"]["stack"]);
    assert_eq!(cause.last().map(String::as_str), Some("schedule"));
    assert_eq!(thread("45")["samples"]["length"], 0, "a thread that only waited");
    assert_eq!(thread("41")["markers"]["data"][0]["label"], "deploy \"2\"\u{1b}");
    assert_eq!(thread("41")["samples"]["threadCPUDelta"][0], 1_003_009);
    let depths = firefox::list(&file["shared"]["frameTable"]["inlineDepth"]);
    assert_eq!(depths.iter().filter(|depth| **depth == 2).count(), 1, "inner within middle within outer");
}

/// What inferno makes of `perf script`'s text: the thread's name apart, each stack with its period.
fn collapsed(text: &[u8]) -> Stacks {
    let mut folded = Vec::new();
    let mut folder = inferno::collapse::perf::Folder::default();
    folder.collapse(text, &mut folded).expect("it can be read");
    let mut stacks = Stacks::new();
    for line in String::from_utf8(folded).expect("UTF-8").lines() {
        let (stack, weight) = line.rsplit_once(' ').expect("a weight");
        let names = stack.split(';').skip(1).map(str::to_string).collect();
        add(&mut stacks, names, weight.parse().expect("a number"));
    }
    stacks
}

/// perf names no offset: a nameless address is its file, in brackets.
fn as_perf_has_it(frame: &Label) -> String {
    match frame.kind {
        CodeKind::User if frame.text.contains("+0x") => "[libm.so.6]".to_string(),
        CodeKind::Jit if frame.text == "[jit]" => "[perf-41.map]".to_string(),
        _ => visible(&frame.text).into_owned(),
    }
}

#[test]
fn inferno_reads_the_perf_script_as_the_flame_graph_has_it() {
    let profile = profile::profile();
    for selection in both() {
        let bytes = written(&profile, selection.clone(), |sampled, out| export::perfscript::write(sampled, out));
        assert_eq!(collapsed(&bytes), expected(&profile, &selection, as_perf_has_it));
    }
}

#[test]
fn a_perf_script_line_is_laid_out_as_perf_does() {
    let bytes = written(&profile::profile(), samples(), |sampled, out| export::perfscript::write(sampled, out));
    let text = String::from_utf8(bytes).expect("UTF-8");
    let first: Vec<_> = text.lines().take(3).collect();
    assert_eq!(first[0], "server    41/41    [000]     0.100000:    1003009 cpu-clock: ");
    assert_eq!(first[1], "\t              30 inner (inlined)");
    assert!(text.contains("\nworker\u{a0}3    41/42  "), "no number may follow a space in a name");
    assert!(text.contains("\n\\#␛[31mred:␊    41/43  "), "nor a comment begin");
    assert!(text.contains("\n:44    41/44  "), "as perf calls a thread without a name");
    assert!(text.contains(" tcp_sendmsg ([kernel.kallsyms])\n"));
    assert_eq!(visible(&text.replace(['\n', '\t'], "")), text.replace(['\n', '\t'], ""));
}

/// Cells of RFC 4180.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut within) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '"' => within = !within,
            ',' if !within => cells.push(String::new()),
            _ => cells.last_mut().expect("there is one").push(c),
        }
    }
    cells
}

#[test]
fn csv_has_a_row_per_sample_and_the_weights_of_the_flame_graph() {
    let profile = profile::profile();
    let shown = |frame: &Label| visible(&frame.text).replace(';', ":").replace('"', "");
    let bytes = written(&profile, samples(), |sampled, out| export::rows::csv(sampled, out));
    let text = String::from_utf8(bytes).expect("UTF-8");
    let mut lines = text.split_terminator("\r\n").map(cells);
    let head = lines.next().expect("a head");
    assert_eq!(head.join(" "), "time_s pid tid thread process cpu event weight kernel function module stack");
    let mut stacks = Stacks::new();
    for row in lines {
        assert_eq!(row.len(), head.len(), "{row:?}");
        let names: Vec<_> = row[11].split(';').map(str::to_string).collect();
        add(&mut stacks, names, row[7].parse().expect("a number"));
    }
    assert_eq!(stacks, expected(&profile, &samples(), shown));
    let bytes = written(&profile, waits(), |sampled, out| export::rows::csv(sampled, out));
    let text = String::from_utf8_lossy(&bytes);
    let second = text.lines().nth(1).map(cells).expect("a wait");
    assert_eq!(
        second[..11],
        ["0.400000000", "41", "42", "worker 3", "server", "sleeping", "lock", "60000000", "1000000", "1", "61000000"]
    );
}

#[test]
fn parquet_has_the_same_rows_with_names_as_they_are() {
    let profile = profile::profile();
    let bytes = written(&profile, samples(), |sampled, out| export::rows::parquet(sampled, out));
    let columns = Columns::read(&bytes);
    assert_eq!(columns.rows, 32);
    let sum: f64 = columns.numbers("weight").into_iter().flatten().sum();
    assert_eq!(sum as u64, expected(&profile, &samples(), plain).values().sum::<u64>());
    let functions = columns.texts("function");
    assert!(functions.iter().flatten().any(|name| name == "\u{1b}[31mlazy\u{202e}eerf \"x\"\\"));
    let bytes = written(&profile, waits(), |sampled, out| export::rows::parquet(sampled, out));
    let queued = Columns::read(&bytes).numbers("queued_ns");
    assert_eq!(queued.iter().filter(|queued| queued.is_none()).count(), 1, "a wake-up that was not seen");
}

#[test]
fn nothing_selected_is_a_whole_file_in_every_format() {
    let empty = Synthetic::new().finish();
    let bytes = written(&empty, samples(), |sampled, out| export::pprof::write(sampled, out));
    assert!(pprof::Pprof::read(&bytes).stacks(0).is_empty());
    let bytes = written(&empty, samples(), |sampled, out| export::rows::parquet(sampled, out));
    assert_eq!(Columns::read(&bytes).rows, 0);
    assert!(written(&empty, samples(), |sampled, out| export::perfscript::write(sampled, out)).is_empty());
}
