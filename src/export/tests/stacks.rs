//! Formats of stacks: folded, perf script, pprof, speedscope, Firefox, SVG.

use super::*;
use crate::analysis::CodeRate;
use crate::analysis::testing::Synthetic;
use crate::export::{self, svg::SvgOptions};
use crate::model::{EventKind, EventSpec, Unit};
use crate::view::escape::visible;
use crate::view::tests::odd::{hostile, hostile_names, odd_profiles};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

#[test]
fn a_folded_line_is_frames_and_a_number_whatever_the_names_are() {
    let profile = hostile_names();
    for selection in both() {
        let flame = flame(&profile, &selection);
        for annotate in [false, true] {
            let text = String::from_utf8(export::folded::render(&flame, annotate)).unwrap();
            assert_inert(&text, "folded stacks");
            let lines: Vec<_> = text.lines().collect();
            assert_eq!(lines.len(), flame.stacks.len(), "a name breaks a line");
            let mut sum = 0_u64;
            for (line, stack) in lines.iter().zip(&flame.stacks) {
                let (frames, value) = line.rsplit_once(' ').unwrap();
                assert!(!line.starts_with("# "), "a line reads as a comment");
                assert_eq!(frames.split(';').count(), stack.frames.len(), "a name breaks a frame: {frames}");
                assert!(frames.split(';').all(|frame| !frame.is_empty()), "an empty frame: {frames}");
                assert!(!frames.rsplit(' ').next().unwrap().chars().all(|c| c.is_ascii_digit()), "two numbers: {line}");
                sum += value.parse::<u64>().unwrap();
            }
            assert_eq!(sum, flame.total);
        }
    }
}

#[test]
fn a_perf_script_sample_is_a_head_and_indented_calls_whatever_the_names_are() {
    let profile = hostile_names();
    for selection in both() {
        let bytes = written(&profile, &selection, |sampled, out| export::perfscript::write(sampled, out)).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert_inert(&text, "perf script");
        let sampled = Sampled::of(&profile, selection.clone(), false).unwrap();
        let shares: Vec<_> = sampled.rows().flat_map(|row| row.shares().collect::<Vec<_>>()).collect();
        let blocks: Vec<_> = text.split_terminator("\n\n").collect();
        assert_eq!(blocks.len(), shares.len(), "a name breaks a sample");
        for (block, share) in blocks.iter().zip(&shares) {
            let mut lines = block.lines();
            let head = lines.next().unwrap();
            let period = head.trim_end().trim_end_matches(':').rsplit_once(' ').unwrap().0.trim_end();
            let period = period.rsplit(' ').next().unwrap();
            assert_eq!(period.parse(), Ok(share.weight), "{head}");
            assert!(!head.starts_with([' ', '#', '\t']), "{head}");
            let calls: Vec<_> = lines.collect();
            assert_eq!(calls.len(), sampled.cells(share.path).len(), "{block}");
            for call in calls {
                let (address, rest) = call.strip_prefix('\t').unwrap().trim_start().split_once(' ').unwrap();
                assert!(u64::from_str_radix(address, 16).is_ok(), "{call}");
                assert!(rest.ends_with(')') && rest.contains(" ("), "{call}");
            }
        }
    }
}

/// The fields of a protobuf message: number, and value or bytes.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Result<u64, &[u8]>)> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = bytes.split_first().unwrap();
            *bytes = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return value;
            }
        }
        panic!("a number of more than ten bytes");
    }
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        match key & 7 {
            0 => all.push((key >> 3, Ok(varint(&mut bytes)))),
            2 => {
                let length = varint(&mut bytes) as usize;
                let (value, rest) = bytes.split_at(length);
                bytes = rest;
                all.push((key >> 3, Err(value)));
            }
            layout => panic!("layout {layout} is not used by profile.proto"),
        }
    }
    all
}

type Result<T, E> = std::result::Result<T, E>;

fn number(message: &[u8], field: u64) -> u64 {
    fields(message).into_iter().filter(|(number, _)| *number == field).find_map(|(_, value)| value.ok()).unwrap_or(0)
}

fn messages(message: &[u8], field: u64) -> Vec<&[u8]> {
    fields(message).into_iter().filter(|(number, _)| *number == field).filter_map(|(_, value)| value.err()).collect()
}

/// Numbers, packed or not.
fn numbers(message: &[u8], field: u64) -> Vec<u64> {
    let mut all = Vec::new();
    for (_, value) in fields(message).into_iter().filter(|(number, _)| *number == field) {
        match value {
            Ok(number) => all.push(number),
            Err(packed) => {
                // A packed list reads like the keys of a message without values.
                let (mut value, mut shift) = (0_u64, 0);
                for byte in packed {
                    value |= u64::from(byte & 0x7f) << shift;
                    shift += 7;
                    if byte & 0x80 == 0 {
                        all.push(value);
                        (value, shift) = (0, 0);
                    }
                }
            }
        }
    }
    all
}

fn unpacked(bytes: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    flate2::read::GzDecoder::new(bytes).read_to_end(&mut all).unwrap();
    all
}

#[test]
fn pprof_keeps_every_name_and_refers_only_to_what_it_holds() {
    let mut profiles = odd_profiles();
    profiles.push(("hostile again", hostile_names()));
    for (case, profile) in &profiles {
        for selection in both() {
            let Some(bytes) = written(profile, &selection, |sampled, out| export::pprof::write(sampled, out)) else {
                continue;
            };
            let file = unpacked(&bytes);
            let strings: Vec<_> =
                messages(&file, 6).into_iter().map(|text| std::str::from_utf8(text).unwrap()).collect();
            assert_eq!(strings.first(), Some(&""), "{case}: string 0 is empty");
            assert_eq!(
                strings.iter().collect::<BTreeSet<_>>().len(),
                strings.len(),
                "{case}: a string is stored twice"
            );
            let ids = |field| messages(&file, field).into_iter().map(|m| number(m, 1)).collect::<BTreeSet<_>>();
            let (mappings, locations, functions) = (ids(3), ids(4), ids(5));
            assert!(![&mappings, &locations, &functions].iter().any(|ids| ids.contains(&0)), "{case}: 0 means none");
            for location in messages(&file, 4) {
                let mapping = number(location, 2);
                assert!(mapping == 0 || mappings.contains(&mapping), "{case}: mapping {mapping} is not there");
                for line in messages(location, 4) {
                    assert!(functions.contains(&number(line, 1)), "{case}: a function is not there");
                }
            }
            for function in messages(&file, 5) {
                assert!([2, 3, 4].iter().all(|field| (number(function, *field) as usize) < strings.len()), "{case}");
            }
            let types = messages(&file, 1).len();
            let mut sum = 0_u64;
            for sample in messages(&file, 2) {
                assert!(numbers(sample, 1).iter().all(|id| locations.contains(id)), "{case}: a location is not there");
                let values = numbers(sample, 2);
                assert_eq!(values.len(), types, "{case}");
                sum = sum.saturating_add(values[1]);
                for label in messages(sample, 3) {
                    assert!([1, 2, 4].iter().all(|field| (number(label, *field) as usize) < strings.len()), "{case}");
                }
            }
            if *case != "numbers too large" {
                assert_eq!(sum, weight(profile, &selection), "{case}");
            }
            if case.starts_with("hostile") {
                let held: BTreeSet<_> = strings.iter().copied().collect();
                let mut lost = hostile();
                lost.retain(|name| !name.is_empty() && !held.contains(&*visible(name)));
                assert!(lost.is_empty(), "{case}: {lost:?}");
                assert!(held.iter().all(|text| visible(text) == *text), "{case}: {held:?}");
            }
        }
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_else(|| panic!("not a list: {value}"))
}

fn index(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap_or_else(|| panic!("not an index: {value}"))).unwrap()
}

#[test]
fn speedscope_keeps_every_name_and_its_weights_sum_to_the_total() {
    for (case, profile) in odd_profiles() {
        for selection in both() {
            let title = "\u{1b}</script>\"\u{202e}";
            let Some(bytes) =
                written(&profile, &selection, |sampled, out| export::speedscope::write(sampled, title, out))
            else {
                continue;
            };
            let text = String::from_utf8(bytes).unwrap();
            assert_inert(&text, case);
            let file: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(file["name"], title, "{case}");
            let frames = list(&file["shared"]["frames"]);
            let mut total = 0_u64;
            for profile in list(&file["profiles"]) {
                let (samples, weights) = (list(&profile["samples"]), list(&profile["weights"]));
                assert_eq!(samples.len(), weights.len(), "{case}");
                assert!(
                    samples.iter().flat_map(list).all(|frame| index(frame) < frames.len()),
                    "{case}: no such frame"
                );
                let sum = weights.iter().fold(0_u64, |sum, weight| sum.saturating_add(weight.as_u64().unwrap()));
                assert_eq!(profile["endValue"].as_u64(), Some(sum), "{case}");
                total = total.saturating_add(sum);
            }
            if case == "numbers too large" {
                continue;
            }
            assert_eq!(total, weight(&profile, &selection), "{case}");
            if case == "hostile names" {
                let held: BTreeSet<_> = frames.iter().filter_map(|frame| frame["name"].as_str()).collect();
                let names = hostile();
                let lost: Vec<_> =
                    names.iter().filter(|name| !name.is_empty() && !held.contains(name.as_str())).collect();
                assert!(lost.is_empty(), "{lost:?}");
            }
        }
    }
}

#[test]
fn firefox_refers_only_to_what_it_holds_and_its_weights_sum_to_the_total() {
    for (case, profile) in odd_profiles() {
        for selection in both() {
            let Some(bytes) = written(&profile, &selection, |sampled, out| export::firefox::write(sampled, "t\0", out))
            else {
                continue;
            };
            let text = String::from_utf8(bytes).unwrap();
            assert_inert(&text, case);
            let file: Value = serde_json::from_str(&text).unwrap();
            let shared = &file["shared"];
            let strings = list(&shared["stringArray"]).len();
            let length = |table: &str| index(&shared[table]["length"]);
            for (table, column, below) in [
                ("stackTable", "frame", length("frameTable")),
                ("frameTable", "func", length("funcTable")),
                ("funcTable", "name", strings),
            ] {
                let column = list(&shared[table][column]);
                assert_eq!(column.len(), length(table), "{case}: {table}");
                assert!(column.iter().all(|value| index(value) < below), "{case}: {table} leaves its table");
            }
            let prefixes = list(&shared["stackTable"]["prefix"]);
            let ordered = |(at, prefix): (usize, &Value)| prefix.is_null() || index(prefix) < at;
            assert!(prefixes.iter().enumerate().all(ordered), "{case}: a caller comes after its callee");
            let mut total = 0.0;
            for thread in list(&file["threads"]) {
                let samples = &thread["samples"];
                let stacks = list(&samples["stack"]);
                assert!(stacks.iter().all(|stack| index(stack) < length("stackTable")), "{case}");
                assert_eq!(list(&samples["time"]).len(), stacks.len(), "{case}");
                let weights = samples["weight"].as_array();
                total += weights.map_or(0.0, |all| all.iter().filter_map(Value::as_f64).sum());
            }
            if case == "hostile names" {
                let expected = weight(&profile, &selection) as f64 / 1e6;
                assert!((total - expected).abs() < 1e-6 * expected, "{total} ms of {expected} ms");
                let held: BTreeSet<_> = list(&shared["stringArray"]).iter().filter_map(Value::as_str).collect();
                let names = hostile();
                let lost: Vec<_> =
                    names.iter().filter(|name| !name.is_empty() && !held.contains(name.as_str())).collect();
                assert!(lost.is_empty(), "{lost:?}");
            }
        }
    }
}

#[test]
fn a_picture_is_xml_with_one_script_and_every_name_in_it() {
    let profile = hostile_names();
    for selection in both() {
        let flame = flame(&profile, &selection);
        for (palette, inverted) in [("kind", false), ("hot", true)] {
            let svg = SvgOptions { palette: palette.into(), inverted, min_width_px: 0.0 };
            let text = String::from_utf8(export::svg::render(&flame, &svg).unwrap()).unwrap();
            assert_inert(&text.replace('\r', ""), "the picture");
            let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
            let document = roxmltree::Document::parse_with_options(&text, options).unwrap();
            let count = |tag: &str| document.descendants().filter(|node| node.has_tag_name(tag)).count();
            let of_svg = document.descendants().filter(|node| node.tag_name().name() == "script").count();
            assert_eq!((of_svg, count("iframe"), count("a")), (1, 0, 0), "a name became an element");
            let titles: Vec<_> = document
                .descendants()
                .filter(|node| node.tag_name().name() == "title")
                .filter_map(|node| node.text())
                .collect();
            // A `;` is drawn as `:`, and inferno takes `_[j]` for its own annotation.
            for name in hostile()
                .iter()
                .filter(|name| !name.trim().is_empty() && !name.contains(';') && !name.ends_with("_[j]"))
            {
                let shown = visible(name);
                let shown = shown.trim();
                let plain = shown.replace('\u{a0}', " ");
                let found = titles.iter().any(|title| title.replace('\u{a0}', " ").contains(&plain));
                assert!(found, "{:.60} is not in the picture", shown);
            }
        }
    }
}

#[test]
fn stacks_of_every_odd_profile_are_written_in_every_format_or_refused_with_a_reason() {
    for (case, profile) in odd_profiles() {
        for selection in both() {
            let Ok(flame) =
                FlameGraph::build(&profile, &FlameOptions { selection: selection.clone(), ..FlameOptions::default() })
            else {
                continue;
            };
            let text = String::from_utf8(export::folded::render(&flame, true)).unwrap();
            assert_eq!(text.lines().count(), flame.stacks.len(), "{case}");
            match export::svg::render(&flame, &SvgOptions::default()) {
                Ok(picture) => assert!(!String::from_utf8(picture).unwrap().contains("NaN"), "{case}"),
                Err(error) => assert!(flame.total == 0 && error.remedy().is_some(), "{case}: {error}"),
            }
            let script = written(&profile, &selection, |sampled, out| export::perfscript::write(sampled, out)).unwrap();
            assert_inert(&String::from_utf8(script).unwrap(), case);
        }
    }
}

#[test]
fn a_word_of_any_bytes_reads_back_from_json_as_it_was() {
    let mut seen = BTreeMap::new();
    for name in hostile() {
        let written = export::quote::quoted(&name);
        assert_inert(&written, "a JSON string");
        assert_eq!(serde_json::from_str::<String>(&written).unwrap(), name);
        if let Some(other) = seen.insert(written, name.clone()) {
            assert_eq!(other, name, "two names are written alike");
        }
    }
}

#[test]
fn a_picture_by_cycles_per_instruction_colours_functions_against_all_code_and_says_so() {
    let mut synthetic = Synthetic::new();
    synthetic.meta.events = ["cycles", "instructions"]
        .into_iter()
        .zip(0..)
        .map(|(name, config)| EventSpec::new(name, EventKind::Hardware(config), Unit::Count))
        .collect();
    for (event, [slow, fast]) in [[40, 40], [20, 80]].into_iter().enumerate() {
        (synthetic.event, synthetic.weight) = (event as u16, 1000);
        synthetic.samples(0, 41, "app!main;app!slow", slow).samples(0, 41, "app!main;app!fast", fast);
    }
    let profile = synthetic.finish();
    let with = |rate| FlameGraph::build(&profile, &FlameOptions { rate, ..FlameOptions::default() });
    let picture = export::svg::render(&with(Some(CodeRate::Cpi)).unwrap(), &SvgOptions::default()).unwrap();
    let picture = String::from_utf8(picture).unwrap();
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    let document = roxmltree::Document::parse_with_options(&picture, options).unwrap();
    let fill = |name: &str| {
        let cells = document.descendants().filter(|node| node.tag_name().name() == "g");
        let text = |node: &roxmltree::Node<'_, '_>, tag| {
            node.children().find(|child| child.tag_name().name() == tag).map(|child| child.id())
        };
        let mut cell = cells.filter(|node| {
            text(node, "title")
                .and_then(|id| document.get_node(id)?.text())
                .is_some_and(|title| title.starts_with(name))
        });
        let rect = cell.next_back().and_then(|node| node.children().find(|child| child.tag_name().name() == "rect"));
        rect.and_then(|rect| rect.attribute("fill")).unwrap().to_string()
    };
    // Against 1.25 of all code: 0.5 and 2, and none of its own.
    assert_eq!(fill("slow"), "rgb(244,150,110)");
    assert_eq!(fill("fast"), "rgb(190,220,240)");
    assert_eq!(fill("main"), "rgb(214,214,214)");
    assert!(picture.contains("coloured by cycles per instruction") && picture.contains(">2x</text>"), "{picture}");
    let error = with(Some(CodeRate::Mpki)).unwrap_err();
    assert!(error.to_string().contains("not known of any function"), "{error}");
}
