//! Folds the event stream into a `Profile`, for live capture and replay alike.
//! Events that refer to something undefined are skipped and counted.

use super::{Packed, Profile, Samples, Stacks};
use crate::model::{Definition, Event, FrameDef, Meta, Sample, StackDef, StackId};
use crate::units::Nanos;

/// Builds a [`Profile`] from events.
#[derive(Debug)]
pub struct ProfileBuilder {
    profile: Profile,
    rejected: u64,
}

impl ProfileBuilder {
    /// Creates a builder for an empty profile with this metadata.
    #[must_use]
    pub fn new(meta: Meta) -> Self {
        let profile = Profile {
            meta,
            modules: Vec::new(),
            frames: Vec::new(),
            names: Vec::new(),
            stacks: Stacks::default(),
            samples: Samples::default(),
            accesses: Vec::new(),
            off_cpu: Packed::default(),
            counters: Vec::new(),
            readings: Packed::default(),
            neighbours: Vec::new(),
            neighbour_uses: Vec::new(),
            memory: Vec::new(),
            latencies: Vec::new(),
            operations: Vec::new(),
            tasks: Vec::new(),
            memberships: Vec::new(),
            lost: Vec::new(),
            ops: Vec::new(),
            marks: Vec::new(),
            ticks: Vec::new(),
        };
        ProfileBuilder { profile, rejected: 0 }
    }

    /// Continues with an existing profile.
    #[must_use]
    pub fn of(profile: Profile) -> Self {
        ProfileBuilder { profile, rejected: 0 }
    }

    /// The profile so far, to drop its oldest part or change its metadata.
    pub fn profile_mut(&mut self) -> &mut Profile {
        &mut self.profile
    }

    /// Adds one event.
    pub fn apply(&mut self, event: Event) {
        let profile = &mut self.profile;
        match event {
            Event::Define(definition) => self.define(definition),
            Event::Sample(sample) => self.add_sample(&sample),
            Event::Access(access) if knows(profile, access.stack) => profile.accesses.push(access),
            Event::Access(_) => self.rejected += 1,
            Event::OffCpu(span) if knows(profile, span.stack) => profile.off_cpu.push(span),
            Event::OffCpu(_) => self.rejected += 1,
            Event::Reading(reading) => profile.readings.push(reading),
            Event::Neighbour(used) => profile.neighbour_uses.push(used),
            Event::Memory(memory) => profile.memory.push(memory),
            Event::Latency(count) => profile.latencies.push(count),
            Event::Operation(operation) => profile.operations.push(operation),
            Event::Task(task) => profile.tasks.push(task),
            Event::Membership(membership) => profile.memberships.push(membership),
            Event::Lost(lost) => profile.lost.push(lost),
            Event::Ops { at, total } => profile.ops.push((at, total)),
            Event::Mark(mark) => profile.marks.push(mark),
            Event::Tick(tick) => profile.ticks.push(tick),
        }
    }

    /// Adds one sample.
    #[inline]
    pub fn add_sample(&mut self, sample: &Sample) {
        if knows(&self.profile, sample.stack) {
            self.profile.samples.push(sample);
        } else {
            self.rejected += 1;
        }
    }

    /// Adds one frame.
    #[inline]
    pub fn add_frame(&mut self, def: FrameDef) {
        let profile = &mut self.profile;
        if def.id.0 as usize == profile.frames.len() {
            profile.frames.push(def);
            profile.names.push(Vec::new());
        } else {
            self.rejected += 1;
        }
    }

    /// Adds one stack.
    #[inline]
    pub fn add_stack(&mut self, def: StackDef) {
        let profile = &mut self.profile;
        if def.id.0 as usize == profile.stacks.len()
            && def.parent.is_none_or(|parent| parent.0 < def.id.0)
            && (def.frame.0 as usize) < profile.frames.len()
        {
            profile.stacks.push(def);
        } else {
            self.rejected += 1;
        }
    }

    /// Number of skipped events that referred to something undefined.
    #[must_use]
    pub fn rejected(&self) -> u64 {
        self.rejected
    }

    /// The profile so far.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Finishes the profile; `meta` is the recording's final metadata.
    #[must_use]
    pub fn finish(mut self, meta: Meta) -> Profile {
        // Who polls latencies may read them just after the target's end, or after the end was noted. They belong to the
        // session all the same.
        if let Some(end) = meta.duration_ns.map(Nanos) {
            self.profile.latencies.iter_mut().for_each(|row| row.at = row.at.min(end));
        }
        self.profile.meta = meta;
        self.profile
    }

    /// Definitions must come in order. One out of order would shift every later id, so it is rejected.
    fn define(&mut self, definition: Definition) {
        let profile = &mut self.profile;
        let accepted = match definition {
            Definition::Module(def) if def.id.0 as usize == profile.modules.len() => {
                profile.modules.push(def);
                true
            }
            // A module that is defined again carries new information: its build-id.
            Definition::Module(def) => profile.modules.get_mut(def.id.0 as usize).map(|known| *known = def).is_some(),
            Definition::Frame(def) => return self.add_frame(def),
            Definition::Stack(def) => return self.add_stack(def),
            Definition::Names { frame, symbols } => {
                profile.names.get_mut(frame.0 as usize).map(|names| *names = symbols).is_some()
            }
            Definition::Counter(def) if def.id.0 as usize == profile.counters.len() => {
                profile.counters.push(def);
                true
            }
            Definition::Neighbour(def) => {
                profile.neighbours.push(def);
                true
            }
            Definition::Counter(_) => false,
        };
        self.rejected += u64::from(!accepted);
    }
}

fn knows(profile: &Profile, stack: Option<StackId>) -> bool {
    stack.is_none_or(|id| (id.0 as usize) < profile.stacks.len())
}

#[cfg(test)]
pub(super) mod testing {
    use crate::model::{CallGraph, Meta, Plan, Rate, Target};

    /// Metadata of a system-wide session, otherwise empty.
    pub fn meta() -> Meta {
        let plan = Plan::new(Target::Cpus { cpus: vec![] }, Rate::Frequency(997), CallGraph::Auto);
        Meta { tool: String::new(), ..Meta::new((1, 0), plan) }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::meta;
    use super::*;
    use crate::model::{FrameId, LatencyCount, StackEnd};

    fn builder() -> ProfileBuilder {
        ProfileBuilder::new(meta())
    }

    fn stack(id: u32, parent: Option<u32>, frame: u32) -> Event {
        Event::Define(Definition::Stack(StackDef {
            id: StackId(id),
            parent: parent.map(StackId),
            frame: FrameId(frame),
        }))
    }

    fn frame(id: u32) -> Event {
        Event::Define(Definition::Frame(FrameDef { id: FrameId(id), module: None, address: u64::from(id) }))
    }

    fn sample(stack: u32) -> Event {
        Event::Sample(Sample {
            at: Nanos(5),
            pid: 1,
            tid: 1,
            cpu: 0,
            event: 0,
            weight: 1,
            stack: Some(StackId(stack)),
            end: StackEnd::Whole,
            kernel: false,
        })
    }

    #[test]
    fn a_stack_walks_from_the_leaf_to_the_root() {
        let mut builder = builder();
        for event in [frame(0), frame(1), stack(0, None, 0), stack(1, Some(0), 1), sample(1)] {
            builder.apply(event);
        }
        let profile = builder.profile();
        let walked: Vec<_> = profile.walk(profile.samples.stack[0]).collect();
        assert_eq!((walked, builder.rejected()), (vec![FrameId(1), FrameId(0)], 0));
    }

    #[test]
    fn latencies_that_were_read_after_the_end_count_at_the_end() {
        let mut builder = builder();
        for at in [700, 1003] {
            builder.apply(Event::Latency(LatencyCount { at: Nanos(at), low: Nanos(1), high: None, count: 5 }));
        }
        let profile = builder.finish(Meta { duration_ns: Some(1000), ..meta() });
        assert_eq!(profile.latencies.iter().map(|row| row.at.0).collect::<Vec<_>>(), [700, 1000]);
    }

    #[test]
    fn what_refers_to_nothing_is_counted_and_left_out() {
        let mut builder = builder();
        for event in [frame(0), frame(7), stack(0, Some(0), 0), stack(0, None, 9), sample(3)] {
            builder.apply(event);
        }
        assert_eq!(builder.rejected(), 4);
        assert!(builder.profile().samples.is_empty());
    }
}
