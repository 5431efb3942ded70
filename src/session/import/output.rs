//! Writes the recording of an import. Opens it only once there is an event, so that an unreadable file leaves nothing
//! behind. Events are dropped from memory once written.

use super::super::recorder::CaptureStats;
use super::Imported;
use crate::error::Result;
use crate::model::{Event, Meta};
use crate::store::Writer;

/// Events written at once.
const BATCH: usize = 8192;

/// A recording that is not necessarily open yet.
pub(super) struct Output<C> {
    meta: Meta,
    create: Option<C>,
    writer: Option<Writer>,
    batch: Vec<Event>,
    stats: CaptureStats,
}

impl<C: FnOnce(&Meta) -> Result<Writer>> Output<C> {
    pub(super) fn new(meta: Meta, create: C) -> Output<C> {
        Output { meta, create: Some(create), writer: None, batch: Vec::new(), stats: CaptureStats::default() }
    }

    /// The recording's metadata.
    pub(super) fn meta(&mut self) -> &mut Meta {
        &mut self.meta
    }

    /// Adds events.
    pub(super) fn add(&mut self, events: impl IntoIterator<Item = Event>) -> Result<()> {
        for event in events {
            self.stats.add(&event);
            self.batch.push(event);
        }
        if self.batch.len() >= BATCH { self.write() } else { Ok(()) }
    }

    /// Writes the remaining events and the final metadata.
    pub(super) fn finish(mut self) -> Result<Imported> {
        self.write()?;
        let Output { meta, writer, stats, .. } = self;
        let bytes = writer.map(|writer| writer.finish(&meta)).transpose()?.unwrap_or_default();
        Ok(Imported { meta, stats, bytes })
    }

    fn write(&mut self) -> Result<()> {
        if let Some(create) = self.create.take() {
            self.writer = Some(create(&self.meta)?);
        }
        if let Some(writer) = &mut self.writer {
            writer.write(&self.batch)?;
        }
        self.batch.clear();
        Ok(())
    }
}
