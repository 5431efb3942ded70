//! Where the events of an import go: into a recording, which is opened only once there is enough to write, so that an
//! unreadable file leaves nothing behind, or into a profile in memory.

use super::super::recorder::CaptureStats;
use super::Imported;
use crate::collect::sampler::Definitions;
use crate::error::Result;
use crate::model::profile::{Profile, ProfileBuilder};
use crate::model::{Definition, Event, Meta};
use crate::store::{Writer, bound};

/// Events before a recording is opened, and between two looks at what is buffered.
const BATCH: usize = 8192;

/// Receives an import's events.
pub(super) trait Output: Definitions {
    /// The result of the import.
    type Product;

    /// Adds an event.
    fn push(&mut self, event: Event);

    /// Writes what has come together, if it is much.
    ///
    /// # Errors
    /// It cannot be written.
    fn settle(&mut self, meta: &Meta) -> Result<()>;

    /// Writes the rest and the final metadata.
    ///
    /// # Errors
    /// It cannot be written.
    fn finish(self, meta: Meta) -> Result<Self::Product>;
}

/// A recording that is not necessarily open yet.
pub(super) struct RecordingOutput<C> {
    create: Option<C>,
    writer: Option<Writer>,
    /// The events before the recording is opened.
    first: Vec<Event>,
    /// Events since the last look at what is buffered.
    fresh: usize,
    stats: CaptureStats,
}

impl<C: FnOnce(&Meta) -> Result<Writer>> RecordingOutput<C> {
    pub(super) fn new(create: C) -> RecordingOutput<C> {
        let (first, stats) = (Vec::new(), CaptureStats::default());
        RecordingOutput { create: Some(create), writer: None, first, fresh: 0, stats }
    }

    fn write(&mut self, meta: &Meta) -> Result<()> {
        if let Some(create) = self.create.take() {
            self.writer = Some(create(meta)?);
        }
        self.fresh = 0;
        if let Some(writer) = &mut self.writer {
            self.first.drain(..).for_each(|event| writer.push(event));
            writer.flush_if_full()?;
        }
        Ok(())
    }
}

impl<C: FnOnce(&Meta) -> Result<Writer>> Definitions for RecordingOutput<C> {
    fn define(&mut self, definition: Definition) {
        self.push(Event::Define(definition));
    }
}

impl<C: FnOnce(&Meta) -> Result<Writer>> Output for RecordingOutput<C> {
    type Product = Imported;

    #[inline]
    fn push(&mut self, event: Event) {
        self.stats.add(&event);
        self.fresh += 1;
        match &mut self.writer {
            Some(writer) => writer.push(event),
            None => self.first.push(event),
        }
    }

    #[inline]
    fn settle(&mut self, meta: &Meta) -> Result<()> {
        if self.fresh >= BATCH { self.write(meta) } else { Ok(()) }
    }

    fn finish(mut self, meta: Meta) -> Result<Imported> {
        self.write(&meta)?;
        let RecordingOutput { writer, stats, .. } = self;
        let bytes = writer.map(|writer| writer.finish(&meta)).transpose()?.unwrap_or_default();
        Ok(Imported { meta, stats, bytes })
    }
}

/// A profile in memory: the same as of a recording of these events.
pub(super) struct ProfileOutput(ProfileBuilder);

impl ProfileOutput {
    pub(super) fn new(meta: &Meta) -> ProfileOutput {
        ProfileOutput(ProfileBuilder::new(meta.clone()))
    }
}

impl Definitions for ProfileOutput {
    #[inline]
    fn define(&mut self, definition: Definition) {
        match definition {
            // By far the most, and without text.
            Definition::Frame(_) | Definition::Stack(_) => self.0.apply(Event::Define(definition)),
            other => self.push(Event::Define(other)),
        }
    }
}

impl Output for ProfileOutput {
    type Product = Profile;

    #[inline]
    fn push(&mut self, mut event: Event) {
        bound(&mut event);
        self.0.apply(event);
    }

    fn settle(&mut self, _meta: &Meta) -> Result<()> {
        Ok(())
    }

    fn finish(self, meta: Meta) -> Result<Profile> {
        Ok(self.0.finish(meta))
    }
}
