//! What both sides of a remote session say to each other.
//!
//! The host sends a line with the format and the version, then messages: a length, a kind, and the contents. Facts are JSON,
//! as in a recording's `meta.json`; events are postcard, one after the other. The terminal's side sends single bytes.

use crate::error::{Error, ErrorKind, Result};
use crate::model::limits::{REMOTE_FRAME, REMOTE_GREETING};
use crate::model::{Event, Meta};
use crate::units::Nanos;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Read};

/// The format of the stream. Raise it with each change of [`Event`] or of these messages: both sides must have the same.
pub(super) const STREAM_FORMAT: u32 = 3;

/// The first word of the stream.
const GREETING: &str = "ironlaw-stream";

/// Sent by the terminal's side: it is still there.
pub(super) const ALIVE: u8 = b'.';
/// Sent by the terminal's side: end the capture and send the rest.
pub(super) const STOP: u8 = b'q';

/// Bytes before a message: its length and its kind.
const HEAD: usize = 5;

/// What the host sends first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Begin {
    pub meta: Meta,
    /// The time of the session at which this was sent.
    pub now: Nanos,
}

/// How the capture ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct End {
    /// The session's final metadata.
    pub meta: Meta,
    pub reason: StreamEnd,
    pub at: Nanos,
}

/// Why the capture ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StreamEnd {
    TargetGone,
    Duration,
    Stopped,
}

/// A failure of the host's side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Failure {
    kind: String,
    text: String,
    remedy: Option<String>,
}

/// Kinds of failures that keep their exit code on the way.
const KINDS: [(ErrorKind, &str); 6] = [
    (ErrorKind::Usage, "usage"),
    (ErrorKind::NotPermitted, "not-permitted"),
    (ErrorKind::NotFound, "not-found"),
    (ErrorKind::Unsupported, "unsupported"),
    (ErrorKind::Exhausted, "exhausted"),
    (ErrorKind::Corrupt, "corrupt"),
];

impl Failure {
    pub fn of(error: &Error) -> Failure {
        let kind = KINDS.iter().find(|(kind, _)| *kind == error.kind()).map_or("io", |(_, word)| word);
        Failure { kind: kind.to_string(), text: error.to_string(), remedy: error.remedy().map(String::from) }
    }

    pub fn into_error(self) -> Error {
        let kind = KINDS.iter().find(|(_, word)| *word == self.kind).map_or(ErrorKind::Io, |(kind, _)| *kind);
        let error = Error::new(kind, self.text);
        if let Some(remedy) = self.remedy { error.hint(remedy) } else { error }
    }
}

/// A message of the host.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Message {
    Begin(Box<Begin>),
    Events(Vec<Event>),
    End(Box<End>),
    Failed(Failure),
}

const BEGIN: u8 = 1;
const EVENTS: u8 = 2;
const END: u8 = 3;
const FAILED: u8 = 4;

pub(super) fn begin(begin: &Begin) -> Result<Vec<u8>> {
    facts(BEGIN, begin)
}

pub(super) fn end(end: &End) -> Result<Vec<u8>> {
    facts(END, end)
}

pub(super) fn failed(failure: &Failure) -> Result<Vec<u8>> {
    facts(FAILED, failure)
}

fn facts(kind: u8, facts: &impl Serialize) -> Result<Vec<u8>> {
    let mut frame = vec![0; HEAD];
    serde_json::to_writer(&mut frame, facts).map_err(|error| Error::new(ErrorKind::Io, error.to_string()))?;
    closed(frame, kind)
}

/// Events as messages of bounded size.
pub(super) fn events<'a>(events: impl IntoIterator<Item = &'a Event>) -> Result<Vec<Vec<u8>>> {
    const ENOUGH: usize = 256 << 10;
    let (mut frames, mut frame) = (Vec::new(), vec![0; HEAD]);
    for event in events {
        frame = postcard::to_extend(event, frame).map_err(|error| Error::new(ErrorKind::Io, error.to_string()))?;
        if frame.len() >= ENOUGH {
            frames.push(closed(std::mem::replace(&mut frame, vec![0; HEAD]), EVENTS)?);
        }
    }
    if frame.len() > HEAD {
        frames.push(closed(frame, EVENTS)?);
    }
    Ok(frames)
}

fn closed(mut frame: Vec<u8>, kind: u8) -> Result<Vec<u8>> {
    let length = frame.len() - HEAD;
    let written = u32::try_from(length).ok().filter(|_| length <= REMOTE_FRAME);
    let length = written.ok_or_else(|| Error::new(ErrorKind::Exhausted, "a message of the stream is too long"))?;
    frame[..4].copy_from_slice(&length.to_le_bytes());
    frame[4] = kind;
    Ok(frame)
}

/// The next message and its size; `None` at the end of the stream.
///
/// # Errors
/// `Corrupt` for what is no message; any error of reading.
pub(super) fn receive(from: &mut impl Read) -> Result<Option<(Message, usize)>> {
    let mut head = [0; HEAD];
    let mut filled = 0;
    while filled < HEAD {
        match from.read(&mut head[filled..]) {
            Ok(0) if filled == 0 => return Ok(None),
            Ok(0) => return Err(malformed("it ends within a message")),
            Ok(length) => filled += length,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    let [a, b, c, d, kind] = head;
    let length = u32::from_le_bytes([a, b, c, d]) as usize;
    if length > REMOTE_FRAME {
        return Err(malformed(&format!("a message of {length} bytes")));
    }
    // Grows with what arrives: a length that is a lie takes no memory.
    let mut bytes = Vec::new();
    from.take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() < length {
        return Err(malformed("it ends within a message"));
    }
    Ok(Some((decode(kind, &bytes)?, length)))
}

fn decode(kind: u8, bytes: &[u8]) -> Result<Message> {
    match kind {
        BEGIN => json(bytes).map(|begin| Message::Begin(Box::new(begin))),
        END => json(bytes).map(|end| Message::End(Box::new(end))),
        FAILED => json(bytes).map(Message::Failed),
        EVENTS => {
            let (mut events, mut rest) = (Vec::new(), bytes);
            while !rest.is_empty() {
                let (event, after) =
                    postcard::take_from_bytes(rest).map_err(|error| malformed(&format!("no event: {error}")))?;
                events.push(event);
                rest = after;
            }
            Ok(Message::Events(events))
        }
        kind => Err(malformed(&format!("a message of the unknown kind {kind}"))),
    }
}

fn json<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T> {
    serde_json::from_slice(bytes).map_err(|error| malformed(&error.to_string()))
}

pub(super) fn malformed(why: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("the stream of the host is malformed: {why}"))
}

/// The line that the stream begins with, after what the login may print.
pub(super) fn greeting() -> String {
    format!("\n{GREETING} {STREAM_FORMAT} {}\n", env!("CARGO_PKG_VERSION"))
}

/// What the host's side said of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Greeting {
    /// It speaks this format.
    Same,
    /// It has another version.
    Other { version: String },
    /// The stream ended before, after this text.
    Missing { text: String },
}

/// Reads up to the line with the host's format and version.
pub(super) fn hear_greeting(from: &mut impl BufRead) -> Result<Greeting> {
    let mut text = String::new();
    let mut limited = from.take(REMOTE_GREETING as u64);
    loop {
        let mut line = Vec::new();
        if limited.read_until(b'\n', &mut line)? == 0 {
            return Ok(Greeting::Missing { text });
        }
        let line = String::from_utf8_lossy(&line);
        if let Some(said) = line.strip_prefix(GREETING).and_then(|rest| rest.strip_prefix(' ')) {
            let same = line == greeting().trim_start();
            let version = said.trim_end().split(' ').nth(1).unwrap_or_default().chars().take(40).collect();
            return Ok(if same { Greeting::Same } else { Greeting::Other { version } });
        }
        text.push_str(&line);
    }
}

#[cfg(test)]
pub(super) mod testing {
    use crate::model::*;
    use crate::units::{Nanos, Ops};

    /// One event of each kind.
    pub fn every_event() -> Vec<Event> {
        let at = Nanos(7);
        let (stack, end) = (Some(StackId(0)), StackEnd::Whole);
        let define = |definition| Event::Define(definition);
        let symbol = Symbol { file: Some("f.c".into()), line: Some(3), calls: Some("g".into()), ..Symbol::named("f") };
        let counter = CounterDef { id: CounterId(0), name: "cycles".into(), unit: Unit::Count, group: Some(1) };
        let build_id = Some(BuildId(vec![1, 2, 3]));
        let neighbour = NeighbourId(0);
        vec![
            define(Definition::Counter(counter)),
            define(Definition::Module(ModuleDef {
                id: ModuleId(0),
                kind: ModuleKind::File,
                path: "/bin/app".into(),
                build_id,
                pid: 0,
            })),
            define(Definition::Frame(FrameDef { id: FrameId(0), module: Some(ModuleId(0)), address: 4096 })),
            define(Definition::Names { frame: FrameId(0), symbols: vec![symbol] }),
            define(Definition::Stack(StackDef { id: StackId(0), parent: None, frame: FrameId(0) })),
            define(Definition::Neighbour(NeighbourDef {
                id: neighbour,
                kind: NeighbourKind::Process,
                name: "other".into(),
                pid: Some(9),
                cgroup: None,
            })),
            Event::Task(TaskEvent { at, pid: 1, tid: 2, change: TaskChange::Renamed { comm: "w".into(), exec: true } }),
            Event::Membership(Membership {
                at,
                pid: 1,
                tid: 2,
                cgroup: "/a.slice".into(),
                source: MembershipSource::Parent,
            }),
            Event::Sample(Sample { at, pid: 1, tid: 2, cpu: 3, event: 0, weight: 5, stack, end, kernel: true }),
            Event::Access(MemoryAccess {
                at,
                pid: 1,
                tid: 2,
                cpu: 3,
                event: 0,
                stack,
                address: Some(64),
                kind: AccessKind::Load,
                level: MemoryLevel::L3,
                missed: false,
                snoop: Snoop::Hit,
                tlb: TlbResult::Miss,
                locked: true,
                latency: Some(80),
            }),
            Event::OffCpu(OffCpu {
                at,
                pid: 1,
                tid: 2,
                state: TaskState::Sleeping,
                blocked: Nanos(3),
                queued: Some(Nanos(1)),
                stack,
                end,
                estimated: false,
                count: 1,
                longest: Nanos(4),
                began: WaitBegan::Before,
            }),
            Event::Reading(CounterReading {
                counter: CounterId(0),
                scope: Scope::Thread(2),
                at,
                value: 8,
                enabled: at,
                running: at,
            }),
            Event::Neighbour(NeighbourUse {
                neighbour,
                at,
                cpu: at,
                on_cpu: Some(3),
                io_bytes: None,
                llc_bytes: Some(1),
                memory_bytes: Some(2),
            }),
            Event::Memory(NodeMemory { at, pid: 1, node: 0, kind: PageKind::Huge, bytes: 4096 }),
            Event::Lost(Lost { at, cpu: 0, kind: LossKind::Samples, count: 2 }),
            Event::Ops { at, total: Ops(11) },
            Event::Latency(LatencyCount { at, low: Nanos(1), high: Some(Nanos(2)), count: 3 }),
            Event::Operation(TimedOperation {
                at,
                pid: 1,
                tid: 2,
                latency: Nanos(9),
                blocked: Some(Nanos(1)),
                queued: None,
                interrupted: None,
                minor_faults: Some(2),
                major_faults: None,
                weight: 1,
            }),
            Event::Mark(Mark { at, label: "deployed".into() }),
            Event::Tick(Tick { at, span: at }),
        ]
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::testing::every_event;
    use super::*;
    use proptest::prelude::*;

    fn bytes() -> Vec<u8> {
        events(&every_event()).unwrap().concat()
    }

    #[test]
    fn every_event_arrives_as_it_was_sent() {
        let sent = bytes();
        let (message, length) = receive(&mut &sent[..]).unwrap().unwrap();
        assert_eq!((message, length), (Message::Events(every_event()), sent.len() - HEAD));
        assert_eq!(receive(&mut &[][..]).unwrap(), None);
    }

    /// If this fails, the events have another form: raise [`STREAM_FORMAT`], then take over the new sum.
    #[test]
    fn events_have_the_form_of_the_format() {
        assert_eq!((STREAM_FORMAT, crc32fast::hash(&bytes())), (3, 4_055_737_858));
    }

    #[test]
    fn many_events_come_in_several_messages() {
        let many: Vec<Event> = every_event().into_iter().cycle().take(100_000).collect();
        let frames = events(&many).unwrap();
        assert!(frames.len() > 3 && frames.iter().all(|frame| frame.len() < 300 << 10));
        let (all, mut received) = (frames.concat(), Vec::new());
        let mut rest = &all[..];
        while let Some((Message::Events(events), _)) = receive(&mut rest).unwrap() {
            received.extend(events);
        }
        assert!(received == many);
    }

    #[test]
    fn a_message_that_is_cut_too_long_or_unknown_is_an_error() {
        let sent = bytes();
        for cut in 1..sent.len() {
            assert_eq!(receive(&mut &sent[..cut]).unwrap_err().kind(), ErrorKind::Corrupt, "{cut}");
        }
        for head in [[0xff, 0xff, 0xff, 0xff, EVENTS], [0, 0, 0, 0, 9], [1, 0, 0, 0, EVENTS]] {
            let error = receive(&mut &[&head[..], &[0xff]].concat()[..]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        }
    }

    #[test]
    fn a_failure_keeps_its_kind_and_its_remedy() {
        let error = Error::new(ErrorKind::NotPermitted, "the kernel refuses").hint("Run as root.");
        let sent = failed(&Failure::of(&error)).unwrap();
        let Some((Message::Failed(failure), _)) = receive(&mut &sent[..]).unwrap() else { panic!("another message") };
        let received = failure.into_error();
        assert_eq!(
            (received.kind(), received.to_string(), received.remedy()),
            (error.kind(), error.to_string(), error.remedy())
        );
    }

    #[test]
    fn the_greeting_is_found_after_what_a_login_prints() {
        let heard = |text: String| hear_greeting(&mut text.as_bytes()).unwrap();
        assert_eq!(heard(format!("Welcome!{}", greeting())), Greeting::Same);
        assert_eq!(heard(greeting()), Greeting::Same);
        let other = |text: &str| heard(format!("\n{GREETING} {text}\n"));
        assert_eq!(other("1 0.0.9"), Greeting::Other { version: "0.0.9".into() });
        assert_eq!(other("99"), Greeting::Other { version: String::new() });
        assert_eq!(heard("no such command".into()), Greeting::Missing { text: "no such command".into() });
        let endless = "x".repeat(REMOTE_GREETING) + &greeting();
        assert!(matches!(heard(endless), Greeting::Missing { .. }));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes: Vec<u8>, kind in 0_u8..6) {
            let _ = receive(&mut &bytes[..]);
            let _ = decode(kind, &bytes);
            let _ = hear_greeting(&mut &bytes[..]);
        }
    }
}
