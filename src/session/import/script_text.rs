//! Reads the text of `perf script`: a line for each sample, then its frames, innermost first, then an empty line.
//! Every field that `-F` chooses may be missing.

/// A line of the text.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Line<'a> {
    /// A sample; without call chains its frame stands on the same line.
    Sample(Sample<'a>, Option<Frame<'a>>),
    Frame(Frame<'a>),
    /// Where the source of the frame before lies, and whether that frame was inlined.
    Source {
        file: &'a str,
        line: Option<u32>,
        inlined: bool,
    },
    /// The end of a stack.
    End,
    Comment,
    Unknown,
}

/// The line of a sample.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Sample<'a> {
    pub comm: &'a str,
    pub pid: Option<u32>,
    pub tid: Option<u32>,
    pub cpu: Option<u32>,
    /// Nanoseconds.
    pub time: Option<u64>,
    pub period: Option<u64>,
    pub event: Option<&'a str>,
}

/// A frame.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct Frame<'a> {
    pub address: Option<u64>,
    /// The function without its offset; `None` if perf does not know it.
    pub symbol: Option<&'a str>,
    /// The file as perf names it; `None` if unknown.
    pub object: Option<&'a str>,
    /// Whether it was inlined into the frame below.
    pub inlined: bool,
    /// Source file and line, if the line below names them.
    pub source: Option<(&'a str, Option<u32>)>,
}

/// How perf marks a frame that was inlined into the next one.
const INLINED: &str = "(inlined)";

/// The name of a function or file that perf does not know.
const UNKNOWN: &str = "[unknown]";

impl<'a> Line<'a> {
    pub(super) fn of(text: &'a str) -> Line<'a> {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Line::End;
        }
        if text.starts_with('#') {
            return Line::Comment;
        }
        // Without call chains, perf pads a name at its left.
        let sample = if text.starts_with([' ', '\t']) { sample(trimmed, true) } else { sample(trimmed, false) };
        if let Some((sample, rest)) = sample {
            return Line::Sample(sample, frame(rest).filter(|frame| frame.address.is_some()));
        }
        match frame(trimmed) {
            Some(frame) if frame.address.is_some() || text.starts_with('\t') => Line::Frame(frame),
            // In place of a source that perf does not know: `[kernel.kallsyms][ffffffff96613abf]`.
            _ if trimmed.starts_with('[') && trimmed.ends_with(']') => Line::Comment,
            _ => source(trimmed).unwrap_or(Line::Unknown),
        }
    }
}

/// Whether a text is one of perf script's: its first sample has a time or an event, and a frame.
pub(super) fn is_script(text: &str) -> bool {
    let mut sampled = false;
    for line in text.lines() {
        match Line::of(line) {
            Line::Comment => {}
            Line::End if !sampled => {}
            Line::Sample(sample, frame) if !sampled => {
                sampled = sample.time.is_some() || sample.event.is_some();
                if !sampled || frame.is_some() {
                    return sampled;
                }
            }
            Line::Frame(_) => return sampled,
            // The next sample may have the stack that this one lacks.
            Line::Sample(..) | Line::End | Line::Source { .. } => {}
            Line::Unknown => return false,
        }
    }
    false
}

/// A word and where it begins.
type Word<'a> = (usize, &'a str);

fn words(text: &str) -> Vec<Word<'_>> {
    let start = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
    text.split_ascii_whitespace().map(|word| (start(word), word)).collect()
}

/// The line of a sample, and what follows it: the frame, or the fields of a tracepoint.
fn sample(text: &str, padded: bool) -> Option<(Sample<'_>, &str)> {
    let words = words(text);
    let time = words.iter().skip(1).position(|(_, word)| time(word).is_some()).map(|at| at + 1);
    if padded && time.is_none() {
        return None;
    }
    // Without a time, the event ends what comes before it.
    let is_event = |(_, word): &Word<'_>| word.len() > 1 && word.ends_with(':') && !word.starts_with('(');
    let first = time.unwrap_or_else(|| {
        let event = words.iter().skip(1).position(is_event).map_or(words.len(), |at| at + 1);
        let period = event.checked_sub(1).filter(|at| *at > 1 && number(words[*at].1).is_some());
        period.unwrap_or(event)
    });
    let mut found = head(text, &words[..first])?;
    let mut rest = &words[first.min(words.len())..];
    if let (Some(at), Some((_, tail))) = (time, rest.split_first()) {
        found.time = self::time(words[at].1);
        rest = tail;
    }
    let begins = |words: &[Word<'_>]| words.first().map_or(text.len(), |(at, _)| *at);
    let (from, event) = match rest {
        [(_, period), tail @ ..] if number(period).is_some() && tail.iter().any(is_event) => {
            found.period = number(period);
            (begins(tail), tail)
        }
        [(_, period)] if number(period).is_some() => {
            found.period = number(period);
            (text.len(), &[][..])
        }
        _ => (begins(rest), rest),
    };
    let Some(end) = event.iter().position(is_event) else {
        // perf without `-F event` goes on with the frame.
        return Some((found, &text[from..]));
    };
    let (at, word) = event[end];
    found.event = Some(text[from..at + word.len() - 1].trim()).filter(|event| !event.is_empty());
    Some((found, text[at + word.len()..].trim()))
}

/// Name, ids and CPU: the words before the time. At least the name is there.
fn head<'a>(text: &'a str, words: &[Word<'a>]) -> Option<Sample<'a>> {
    let mut found = Sample::default();
    let mut end = words.len();
    let cpu = words.iter().rposition(|(_, word)| cpu(word).is_some()).filter(|at| *at > 0);
    if let Some(at) = cpu {
        // Behind the CPU perf may say in which mode the sample was (`-F +misc`).
        found.cpu = self::cpu(words[at].1);
        end = at;
    }
    if let Some((_, word)) = words[..end].last().filter(|_| end > 1) {
        let ids = word.split_once('/').map(|(pid, tid)| (number(pid), number(tid), tid.is_empty()));
        match (ids, number(word)) {
            (Some((Some(pid), Some(tid), _)), _) => (found.pid, found.tid, end) = (id(pid), id(tid), end - 1),
            (Some((Some(pid), None, true)), _) => (found.pid, end) = (id(pid), end - 1),
            (None, Some(tid)) => (found.tid, end) = (id(tid), end - 1),
            _ => {}
        }
    }
    let ((from, _), (last, word)) = (words.first()?, words[..end].last()?);
    found.comm = &text[*from..last + word.len()];
    Some(found)
}

fn number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Of the idle task or a thread that has gone, perf prints -1.
fn id(number: u64) -> Option<u32> {
    u32::try_from(number).ok()
}

/// `[003]`
fn cpu(text: &str) -> Option<u32> {
    id(number(text.strip_prefix('[')?.strip_suffix(']')?)?)
}

/// `12.345678:`, or with nine digits behind the point.
fn time(text: &str) -> Option<u64> {
    const DIGITS: usize = 9;
    let (seconds, part) = text.strip_suffix(':')?.split_once('.')?;
    let padded = format!("{part:0<DIGITS$.DIGITS$}");
    number(part)?;
    number(seconds)?.checked_mul(1_000_000_000)?.checked_add(number(&padded)?)
}

/// `401136 work+0x4 (/bin/app)`, `401136 work (inlined)`.
fn frame(text: &str) -> Option<Frame<'_>> {
    let text = text.trim();
    let mut found = Frame::default();
    let mut rest = text;
    let word = text.split_ascii_whitespace().next()?;
    if let Ok(address) = u64::from_str_radix(word, 16) {
        found.address = Some(address);
        rest = text[word.len()..].trim_start();
    }
    if let Some(before) = rest.strip_suffix(INLINED) {
        found.inlined = true;
        rest = before.trim_end();
    } else if let Some((before, object)) = object(rest) {
        found.object = Some(object).filter(|object| *object != UNKNOWN);
        rest = before;
    } else if found.address.is_none() {
        return None;
    }
    let symbol = without_offset(rest.trim());
    found.symbol = Some(symbol).filter(|symbol| !symbol.is_empty() && *symbol != UNKNOWN);
    Some(found)
}

/// The file in brackets at the end, whose path may hold brackets too, and what stands before it.
fn object(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_suffix(')')?;
    let at = if inner.ends_with(')') {
        // `/tmp/app (deleted)`: the brackets are nested.
        let mut depth = 1;
        let opens = inner.char_indices().rev().find(|(_, c)| {
            depth += match c {
                ')' => 1,
                '(' => -1,
                _ => 0,
            };
            depth == 0
        });
        opens?.0
    } else {
        inner.rfind('(')?
    };
    let before = &inner[..at];
    (before.is_empty() || before.ends_with(' ')).then(|| (before.trim_end(), inner[at + 1..].trim()))
}

fn without_offset(symbol: &str) -> &str {
    let offset = symbol.rsplit_once("+0x").filter(|(_, digits)| {
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    });
    offset.map_or(symbol, |(name, _)| name)
}

/// `app.c:12`, below a frame; perf puts the mark of an inlined frame behind it.
fn source(text: &str) -> Option<Line<'_>> {
    let (text, inlined) = text.strip_suffix(INLINED).map_or((text, false), |text| (text.trim_end(), true));
    let (file, line) = text.rsplit_once(':')?;
    let known = !file.is_empty() && (number(line).is_some() || line == "?");
    known.then(|| Line::Source { file, line: number(line).and_then(|line| u32::try_from(line).ok()), inlined })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn of(text: &str) -> (Sample<'_>, Option<Frame<'_>>) {
        match Line::of(text) {
            Line::Sample(sample, frame) => (sample, frame),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn the_line_of_a_sample_is_read_whatever_fields_were_chosen() {
        let all = Sample {
            comm: "app",
            pid: Some(12),
            tid: Some(13),
            cpu: Some(2),
            time: Some(1_000_001_000),
            period: Some(250_000),
            event: Some("cpu-clock"),
        };
        for (text, expected) in [
            ("app    12/13    [002]     1.000001:     250000 cpu-clock: ", all.clone()),
            ("app 12/13 [002] U 1.000001000: 250000 cpu-clock:", all.clone()),
            ("app 13 [002] 1.000001: 250000 cpu-clock:", Sample { pid: None, ..all.clone() }),
            ("app 12/ [002] 1.000001: 250000 cpu-clock:", Sample { tid: None, ..all.clone() }),
            ("app 12/13 1.000001: 250000 cpu-clock:", Sample { cpu: None, ..all.clone() }),
            ("app [002] 1.000001: 250000 cpu-clock:", Sample { pid: None, tid: None, ..all.clone() }),
            ("app 12/13 [002] 1.000001: cpu-clock:", Sample { period: None, ..all.clone() }),
            ("app 12/13 [002] 250000 cpu-clock:", Sample { time: None, ..all.clone() }),
            ("app 12/13 [002] 1.000001: ", Sample { period: None, event: None, ..all.clone() }),
            ("Web Content 12/13 [002] 1.000001: 250000 cpu-clock:", Sample { comm: "Web Content", ..all.clone() }),
            ("kworker/0:1-ev 12/13 [002] 1.000001: 250000 cycles:u:", {
                Sample { comm: "kworker/0:1-ev", event: Some("cycles:u"), ..all.clone() }
            }),
            ("app 12/13 [002] 1.000001: 9 event 4:0x1c2:", {
                Sample { period: Some(9), event: Some("event 4:0x1c2"), ..all.clone() }
            }),
        ] {
            assert_eq!(of(text), (expected, None), "{text}");
        }
        let (switch, frame) = of("app 13 [002] 1.000001: sched:sched_switch: prev_comm=app ==> next_comm=b:");
        assert_eq!((switch.event, switch.period, frame), (Some("sched:sched_switch"), None, None));
        let (lone, frame) = of("             app    13 [002] 1.000001: 250000 cpu-clock:  401136 work+0x4 (/bin/app)");
        assert_eq!((lone.comm, lone.tid), ("app", Some(13)));
        assert_eq!(frame.unwrap().symbol, Some("work"));
        assert_eq!(of("app 13").0, Sample { comm: "app", tid: Some(13), ..Sample::default() });
    }

    #[test]
    fn a_frame_ends_in_its_file_whatever_the_names_hold() {
        let plain = Frame { address: Some(0x1234), symbol: Some("work"), object: Some("/bin/app"), ..Frame::default() };
        for (text, expected) in [
            ("\t            1234 work+0x4 (/bin/app)", plain),
            ("\t1234 work (/bin/app)", plain),
            ("            1234 work (/bin/app)", plain),
            ("\t1234 work (inlined)", Frame { object: None, inlined: true, ..plain }),
            ("\t1234 [unknown] ([unknown])", Frame { symbol: None, object: None, ..plain }),
            ("\t1234 [unknown] (/bin/app)", Frame { symbol: None, ..plain }),
            ("\t1234 work (/bin/app (deleted))", Frame { object: Some("/bin/app (deleted)"), ..plain }),
            (
                "\t1234 f(int (*)(long)) const+0x1f (/bin/app)",
                Frame { symbol: Some("f(int (*)(long)) const"), ..plain },
            ),
            ("\t1234 operator+0xzz (/bin/app)", Frame { symbol: Some("operator+0xzz"), ..plain }),
            ("\t1234 f() (inlined)", Frame { symbol: Some("f()"), object: None, inlined: true, ..plain }),
            ("\twork (/bin/app)", Frame { address: None, ..plain }),
            ("\t1234", Frame { symbol: None, object: None, ..plain }),
            ("\t1234 work", Frame { object: None, ..plain }),
        ] {
            assert_eq!(Line::of(text), Line::Frame(expected), "{text}");
        }
        assert_eq!(Line::of("  app.c:12"), Line::Source { file: "app.c", line: Some(12), inlined: false });
        assert_eq!(Line::of("  app.c:? (inlined)"), Line::Source { file: "app.c", line: None, inlined: true });
        assert_eq!(Line::of("  [kernel.kallsyms][ffffffff96613abf]"), Line::Comment);
        assert_eq!((Line::of(""), Line::of("# captured on: x")), (Line::End, Line::Comment));
    }

    #[test]
    fn only_the_text_of_perf_script_passes_for_it() {
        for text in [
            "app 12 [000] 1.000001: 250000 cpu-clock:\n\t1234 work+0x4 (/bin/app)\n",
            "# cmdline : perf record\n\napp 12 cycles:\n\n\napp 12 cycles:\n\t1 f (x)\n",
            "      app 12 [000] 1.000001: 250000 cpu-clock: 1234 work+0x4 (/bin/app)\n",
        ] {
            assert!(is_script(text), "{text}");
        }
        for text in ["", "main;a 1\n", "#!/bin/sh\nset -e\n", "a: b\n", "PERFILE2", "{\"a\": [\n 1 f (x)\n", "app 12\n"]
        {
            assert!(!is_script(text), "{text}");
        }
    }
}
