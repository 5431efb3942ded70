//! Checks what a host sends: references, order, lengths and sums, so that a hostile host ends the session with an error and
//! costs bounded memory.

use super::wire::{Begin, malformed};
use crate::error::{Error, ErrorKind, Result};
use crate::model::limits::{FRAME_NAMES, REMOTE_DEFINITIONS, REMOTE_WINDOW, TEXT_BYTES};
use crate::model::{Definition, Event, FrameDef, ModuleDef, StackDef, StackId, TaskChange, Tick};
use crate::store::FORMAT;
use crate::units::Nanos;

/// Later times are no times of a session: nanoseconds of a century.
const LATEST: Nanos = Nanos(100 * 366 * 86_400 * 1_000_000_000);

/// Memory of a definition apart from its text.
const DEFINITION: u64 = 128;

/// What has come so far.
#[derive(Debug, Default)]
pub(super) struct Checked {
    counters: u32,
    modules: u32,
    frames: u32,
    stacks: u32,
    definitions: u64,
    window: u64,
    /// The end of the last window.
    pub last: Nanos,
}

/// Checks the metadata of a session.
///
/// # Errors
/// `Corrupt` for impossible times; `Unsupported` for another format.
pub(super) fn check_begin(begin: &Begin) -> Result<()> {
    if begin.meta.format != FORMAT {
        return Err(Error::new(ErrorKind::Unsupported, "the host has another format of recordings"));
    }
    if begin.now > LATEST || begin.meta.started_unix_ns > LATEST.0 || begin.meta.started_mono_ns > LATEST.0 {
        return Err(malformed("an impossible time"));
    }
    Ok(())
}

impl Checked {
    /// Checks the events of a message of this size, and cuts texts that are too long.
    ///
    /// # Errors
    /// `Corrupt` for what no host sends, `Exhausted` for too much.
    pub fn check(&mut self, events: &mut [Event], bytes: usize) -> Result<()> {
        self.window += bytes as u64;
        for event in events {
            self.one(event)?;
        }
        if self.window > REMOTE_WINDOW || self.definitions > REMOTE_DEFINITIONS {
            return Err(Error::new(ErrorKind::Exhausted, "the host sends more than a session keeps"));
        }
        Ok(())
    }

    fn one(&mut self, event: &mut Event) -> Result<()> {
        match event {
            Event::Define(definition) => self.define(definition)?,
            Event::Sample(sample) => self.knows(sample.stack)?,
            Event::Access(access) => self.knows(access.stack)?,
            Event::OffCpu(span) => self.knows(span.stack)?,
            Event::Task(task) => match &mut task.change {
                TaskChange::Alive { comm } | TaskChange::Born { comm, .. } | TaskChange::Renamed { comm, .. } => {
                    cut(comm)
                }
                TaskChange::Ended => {}
            },
            Event::Membership(membership) if membership.cgroup.len() > TEXT_BYTES => {
                let mut path = membership.cgroup.to_string();
                cut(&mut path);
                membership.cgroup = path.into();
            }
            Event::Mark(mark) => cut(&mut mark.label),
            Event::Tick(Tick { at, span }) => {
                if *at > LATEST || *span > *at || *at < self.last {
                    return Err(malformed("an impossible window"));
                }
                self.last = *at;
                self.window = 0;
            }
            _ => {}
        }
        Ok(())
    }

    fn define(&mut self, definition: &mut Definition) -> Result<()> {
        match definition {
            Definition::Counter(def) => {
                next(&mut self.counters, u32::from(def.id.0), "counter")?;
                cut(&mut def.name);
                self.keeps(def.name.len());
            }
            Definition::Module(def) => {
                // A known one is defined again when more is known about it.
                if def.id.0 >= self.modules {
                    next(&mut self.modules, def.id.0, "module")?;
                }
                let ModuleDef { path, build_id, .. } = def;
                cut(path);
                *build_id = build_id.take().filter(|id| id.0.len() <= TEXT_BYTES);
                self.keeps(path.len());
            }
            Definition::Frame(FrameDef { id, module, .. }) => {
                if module.is_some_and(|module| module.0 >= self.modules) {
                    return Err(malformed("a frame in an unknown module"));
                }
                next(&mut self.frames, id.0, "frame")?;
            }
            Definition::Stack(StackDef { id, parent, frame }) => {
                if frame.0 >= self.frames || parent.is_some_and(|parent| parent.0 >= self.stacks) {
                    return Err(malformed("a stack of unknown frames"));
                }
                next(&mut self.stacks, id.0, "stack")?;
            }
            Definition::Names { frame, symbols } => {
                if frame.0 >= self.frames || symbols.len() > FRAME_NAMES {
                    return Err(malformed("names of an unknown frame, or too many"));
                }
                for symbol in symbols {
                    cut(&mut symbol.function);
                    symbol.file.iter_mut().for_each(cut);
                }
            }
            Definition::Neighbour(def) => {
                cut(&mut def.name);
                def.cgroup.iter_mut().for_each(cut);
                self.keeps(def.name.len() + def.cgroup.as_ref().map_or(0, String::len));
            }
        }
        Ok(())
    }

    fn keeps(&mut self, text: usize) {
        self.definitions += DEFINITION + text as u64;
    }

    fn knows(&self, stack: Option<StackId>) -> Result<()> {
        if stack.is_some_and(|stack| stack.0 >= self.stacks) { Err(malformed("an unknown stack")) } else { Ok(()) }
    }
}

/// Numbers come in order.
fn next(known: &mut u32, id: u32, what: &str) -> Result<()> {
    if id != *known || id == u32::MAX {
        return Err(malformed(&format!("{what} {id} in place of {known}")));
    }
    *known += 1;
    Ok(())
}

fn cut(text: &mut String) {
    text.truncate(text.floor_char_boundary(TEXT_BYTES));
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::wire::testing::every_event;
    use super::*;
    use crate::model::{Definition, FrameId, Mark, NeighbourDef, NeighbourId, NeighbourKind};

    #[test]
    fn a_stream_in_order_passes_unchanged() {
        let mut events = every_event();
        let mut checked = Checked::default();
        checked.check(&mut events, 100).unwrap();
        assert_eq!((events, checked.window, checked.last), (every_event(), 0, Nanos(7)));
    }

    #[test]
    fn what_refers_to_nothing_or_comes_twice_is_refused() {
        for at in 0..every_event().len() {
            // Of an event left out or repeated, what depends on it is found.
            let mut without = every_event();
            let needed = matches!(
                without.remove(at),
                Event::Define(Definition::Module(_) | Definition::Frame(_) | Definition::Stack(_))
            );
            assert_eq!(Checked::default().check(&mut without, 0).is_err(), needed, "without {at}");
            let mut twice = every_event();
            let double = twice[at].clone();
            let unique =
                matches!(double, Event::Define(Definition::Counter(_) | Definition::Frame(_) | Definition::Stack(_)));
            twice.insert(at, double);
            assert_eq!(Checked::default().check(&mut twice, 0).is_err(), unique, "twice {at}");
        }
        let stack = Definition::Stack(StackDef { id: StackId(0), parent: Some(StackId(0)), frame: FrameId(0) });
        let frame = Definition::Frame(FrameDef { id: FrameId(0), module: None, address: 0 });
        let circle = &mut [Event::Define(frame), Event::Define(stack)];
        assert_eq!(Checked::default().check(circle, 0).unwrap_err().kind(), ErrorKind::Corrupt);
    }

    #[test]
    fn endless_windows_and_definitions_are_refused() {
        let mut checked = Checked::default();
        let mark = |label: &str| Event::Mark(Mark { at: Nanos(0), label: label.into() });
        let filled = (0..=16).find_map(|_| checked.check(&mut [mark("x")], 16 << 20).err());
        assert_eq!(filled.unwrap().kind(), ErrorKind::Exhausted);
        let mut checked = Checked::default();
        let neighbour = |id| NeighbourDef {
            id: NeighbourId(id),
            kind: NeighbourKind::Process,
            name: "x".repeat(5000),
            pid: None,
            cgroup: None,
        };
        let mut many: Vec<_> = (0..70_000).map(|id| Event::Define(Definition::Neighbour(neighbour(id)))).collect();
        let error = many.chunks_mut(100).find_map(|some| checked.check(some, 0).err()).unwrap();
        assert_eq!(error.kind(), ErrorKind::Exhausted);
        assert!(matches!(&many[0], Event::Define(Definition::Neighbour(def)) if def.name.len() == TEXT_BYTES));
    }

    #[test]
    fn windows_come_in_order_and_within_a_century() {
        for (ticks, fits) in
            [(&[(1, 1), (2, 1)][..], true), (&[(2, 1), (1, 1)], false), (&[(1, 2)], false), (&[(u64::MAX, 1)], false)]
        {
            let mut ticks: Vec<_> =
                ticks.iter().map(|(at, span)| Event::Tick(Tick { at: Nanos(*at), span: Nanos(*span) })).collect();
            assert_eq!(Checked::default().check(&mut ticks, 0).is_ok(), fits, "{ticks:?}");
        }
    }
}
