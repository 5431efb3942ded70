//! A function by its instructions, and the classes of instructions that samples fell on.

use crate::analysis::{Butterfly, CodeIpc, Names, StackCounts, short};
use crate::model::profile::Profile;
use crate::model::{DecodedInstruction, FunctionCode, InstructionClass};
use crate::view::code_ipc::CodeRates;
use serde::Serialize;
use std::collections::BTreeMap;

/// An instruction with its samples.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InstructionLine {
    /// Its address as the file states it.
    pub address: u64,
    /// Its text.
    pub text: String,
    /// What it does.
    pub class: InstructionClass,
    /// Share of the function's own samples.
    pub share: f64,
    /// Samples.
    pub samples: u64,
    /// Source file and line, where a sampled address has them.
    pub source: Option<(String, Option<u32>)>,
    /// Its rates; absent unless cycles and instructions were sampled and it has samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rates: Option<CodeRates>,
}

/// Share of a class of instructions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassRow {
    /// The class; `None` for code that cannot be read here.
    pub class: Option<InstructionClass>,
    /// Share of the samples.
    pub share: f64,
    /// Samples.
    pub samples: u64,
}

/// A function by its instructions. The instruction that samples name is often the one after that which took the time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnnotationView {
    /// Its name.
    pub function: String,
    /// Path of its module.
    pub module: String,
    /// The event whose samples the shares are of.
    pub event: String,
    /// Share of its own code in the selection.
    pub self_share: f64,
    /// Samples in its own code.
    pub samples: u64,
    /// Its instructions, in order.
    pub instructions: Vec<InstructionLine>,
    /// Classes by share.
    pub classes: Vec<ClassRow>,
    /// Samples at addresses outside of the shown code: another copy of the function, or code split off from it.
    pub elsewhere: u64,
}

impl AnnotationView {
    /// The view of a function whose butterfly and code are known.
    #[must_use]
    pub fn build(
        profile: &Profile,
        (name, module, event): (&str, &str, &str),
        butterfly: &Butterfly,
        counts: &StackCounts,
        ipc: Option<CodeIpc<'_>>,
        (code, decoded): (&FunctionCode, Vec<DecodedInstruction>),
    ) -> AnnotationView {
        let mut lines: Vec<InstructionLine> = decoded
            .into_iter()
            .map(|one| InstructionLine {
                address: one.address,
                text: one.text,
                class: one.class,
                share: 0.0,
                samples: 0,
                source: None,
                rates: None,
            })
            .collect();
        let end = code.address.saturating_add(code.bytes.len() as u64);
        let own: u64 = butterfly.instructions.iter().fold(0, |sum, one| sum.saturating_add(one.weight));
        let samples = butterfly.instructions.iter().map(|one| one.samples).sum();
        let mut elsewhere = 0;
        let addresses: Vec<u64> = lines.iter().map(|line| line.address).collect();
        let line_of = |frame| {
            let address = profile.frame(frame).map_or(0, |frame| frame.address.wrapping_add(code.slide));
            let at = addresses.partition_point(|line| *line <= address);
            at.checked_sub(1).filter(|_| address < end)
        };
        let rates = ipc.map(|ipc| ipc.frames(line_of)).into_iter().flatten();
        for (at, rates) in rates.filter_map(|(at, rates)| Some((at??, rates))) {
            lines[at].rates = Some(rates.into());
        }
        for one in &butterfly.instructions {
            match line_of(one.frame).and_then(|at| lines.get_mut(at)) {
                Some(line) => {
                    line.share += share(one.weight, own);
                    line.samples += one.samples;
                    line.source = one.line.clone();
                }
                None => elsewhere += one.samples,
            }
        }
        let mut sums = Sums::default();
        lines.iter().for_each(|line| sums.add(Some(line.class), line.share, line.samples));
        AnnotationView {
            function: name.to_string(),
            module: module.to_string(),
            event: event.to_string(),
            self_share: share(own, counts.weight),
            samples,
            instructions: lines,
            classes: sums.rows(),
            elsewhere,
        }
    }
}

/// The classes of instructions that the samples of a selection fell on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MixView {
    /// The event whose samples the shares are of.
    pub event: String,
    /// Samples.
    pub samples: u64,
    /// Classes by share.
    pub classes: Vec<ClassRow>,
    /// The functions with the most samples.
    pub functions: Vec<FunctionMix>,
}

/// The classes within one function.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FunctionMix {
    /// Its name.
    pub name: String,
    /// File name of its module.
    pub module: String,
    /// Its share of the selection.
    pub share: f64,
    /// Samples.
    pub samples: u64,
    /// Classes by share of the function.
    pub classes: Vec<ClassRow>,
}

impl MixView {
    /// The classes of all samples, and of the `limit` functions with the most. `class` tells that of a frame.
    pub fn build(
        profile: &Profile,
        names: &Names,
        counts: &StackCounts,
        event: &str,
        limit: usize,
        mut class: impl FnMut(crate::model::FrameId) -> Option<InstructionClass>,
    ) -> MixView {
        let mut all = Sums::default();
        let mut by_function: BTreeMap<Option<u32>, (u64, u64, Sums)> = BTreeMap::new();
        let mut known = BTreeMap::new();
        for row in &counts.rows {
            let frame = profile.walk(row.stack).next();
            let class = frame.and_then(|frame| *known.entry(frame).or_insert_with(|| class(frame)));
            let function = names.walk(profile, row.stack).next().map(|call| call.function);
            let (weight, samples, sums) = by_function.entry(function).or_default();
            (*weight, *samples) = (weight.saturating_add(row.weight), *samples + row.samples);
            sums.add(class, row.weight as f64, row.samples);
            all.add(class, share(row.weight, counts.weight), row.samples);
        }
        let mut functions: Vec<_> =
            by_function.into_iter().filter_map(|(function, sums)| Some((function?, sums))).collect();
        functions.sort_by_key(|(function, (weight, ..))| (std::cmp::Reverse(*weight), *function));
        let mix = |(function, (weight, samples, sums)): (u32, (u64, u64, Sums))| {
            let def = names.functions.get(function as usize)?;
            let whole = if weight == 0 { 1.0 } else { weight as f64 };
            let classes = sums.rows().into_iter().map(|row| ClassRow { share: row.share / whole, ..row }).collect();
            Some(FunctionMix {
                name: def.name.clone(),
                module: short(&def.module).to_string(),
                share: share(weight, counts.weight),
                samples,
                classes,
            })
        };
        MixView {
            event: event.to_string(),
            samples: counts.samples,
            classes: all.rows(),
            functions: functions.into_iter().take(limit).filter_map(mix).collect(),
        }
    }
}

fn share(weight: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { weight as f64 / whole as f64 }
}

/// Shares and samples by class.
#[derive(Default)]
pub(super) struct Sums(BTreeMap<Option<InstructionClass>, (f64, u64)>);

impl Sums {
    pub fn add(&mut self, class: Option<InstructionClass>, share: f64, samples: u64) {
        let sum = self.0.entry(class).or_default();
        *sum = (sum.0 + share, sum.1 + samples);
    }

    /// The classes with samples, by share.
    pub fn rows(self) -> Vec<ClassRow> {
        let rows = self.0.into_iter().filter(|(_, (_, samples))| *samples > 0);
        let mut rows: Vec<ClassRow> =
            rows.map(|(class, (share, samples))| ClassRow { class, share, samples }).collect();
        rows.sort_by(|a, b| b.share.total_cmp(&a.share));
        rows
    }
}
