//! The recording that an import writes: opened only when there is something for it, so that a file that cannot be read
//! leaves nothing behind. It never keeps what has got to disk.

use super::super::tally::Tally;
use super::Imported;
use crate::error::Result;
use crate::model::{Event, Meta};
use crate::store::Writer;

/// Events handed over at once.
const BATCH: usize = 8192;

/// A recording to be.
pub(super) struct Output<C> {
    meta: Meta,
    create: Option<C>,
    writer: Option<Writer>,
    batch: Vec<Event>,
    tally: Tally,
}

impl<C: FnOnce(&Meta) -> Result<Writer>> Output<C> {
    pub(super) fn new(meta: Meta, create: C) -> Output<C> {
        Output { meta, create: Some(create), writer: None, batch: Vec::new(), tally: Tally::default() }
    }

    /// What the recording will say of itself.
    pub(super) fn meta(&mut self) -> &mut Meta {
        &mut self.meta
    }

    /// Takes events in.
    pub(super) fn add(&mut self, events: impl IntoIterator<Item = Event>) -> Result<()> {
        for event in events {
            self.tally.add(&event);
            self.batch.push(event);
        }
        if self.batch.len() >= BATCH { self.write() } else { Ok(()) }
    }

    /// Writes the rest and the last word.
    pub(super) fn finish(mut self) -> Result<Imported> {
        self.write()?;
        let Output { meta, writer, tally, .. } = self;
        let bytes = writer.map(|writer| writer.finish(&meta)).transpose()?.unwrap_or_default();
        Ok(Imported { meta, tally, bytes })
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
