//! View model for a single glance: the iron law's factors, the rates around it, where the time goes, and the findings.

mod factor;
mod law;
pub(in crate::view) mod past;
mod rates;
mod split;

pub use factor::{Change, Factor};
pub use rates::RateGroup;
pub use split::{Split, Wait};

use super::context::ViewContext;
use super::findings::FindingsView;
use super::latency::OperationLatencyView;
use crate::analysis::findings::RuleContext;
use crate::analysis::{CodeKind, GroupBy, Ranking, SortBy, rank, summary};
use crate::model::MetricId;
use factor::Sources;
use past::{WindowMetrics, past};
use serde::Serialize;
use std::borrow::Cow;

/// One of the hottest functions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HotFunction {
    /// Its name.
    pub name: String,
    /// Path of its module; empty if unknown.
    pub module: String,
    /// Where its code lives.
    pub kind: CodeKind,
    /// Its self share of the selection, 0 to 1.
    pub share: f64,
    /// Standard error of the share.
    pub error: Option<f64>,
    /// Its change; `None` without a comparison.
    pub change: Option<Change>,
}

/// The overview.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Overview {
    /// CPU time per operation, path length, CPI, frequency, busy cores, throughput.
    pub law: Vec<Factor>,
    /// The metrics shown instead if the law's factors are missing.
    pub stand_ins: Vec<Factor>,
    /// Where the threads' time goes.
    pub split: Split,
    /// How long operations took; `None` if that was not to be measured.
    pub latency: Option<OperationLatencyView>,
    /// The rates.
    pub groups: Vec<RateGroup>,
    /// The hottest functions, hottest first.
    pub hot: Vec<HotFunction>,
    /// Samples of the selection.
    pub samples: u64,
    /// The findings.
    pub findings: FindingsView,
    /// CPUs of the machine; 0 if unknown.
    pub cpus: usize,
    /// Whether the machine is virtual, which explains missing counters.
    pub virtual_machine: bool,
}

/// Number of hottest functions: more do not fit into a glance.
const HOTTEST: usize = 16;

impl Overview {
    /// The overview of a view context.
    #[must_use]
    pub fn of(context: &ViewContext<'_>) -> Overview {
        let summary = summary(context.profile, &context.counters, context.counts(), context.window);
        let now = WindowMetrics::of(context, context.window, Some(&summary));
        let history = past(context);
        let then = context
            .reference
            .as_deref()
            .map(|against| (WindowMetrics::of(against, against.window, None), past(against)));
        let against = then.as_ref().map(|(context, past)| (context, past.as_slice()));
        let from = Sources { now: &now, past: &history, against };
        let rules = FindingsView::context(context);
        Overview {
            law: law::factors(&from),
            stand_ins: law::stand_ins(&from),
            split: Split::of(context, &from),
            latency: OperationLatencyView::of(context.profile, context.window),
            groups: rates::groups(&from),
            hot: hot(context, &rules),
            samples: summary.count,
            findings: FindingsView::of_context(&rules),
            cpus: context.profile.meta.host.cpus.len(),
            virtual_machine: context.profile.meta.host.virtual_machine,
        }
    }

    /// Finds a factor or rate by name.
    #[must_use]
    pub fn factor(&self, id: MetricId) -> Option<&Factor> {
        let rates = self.groups.iter().flat_map(|group| &group.rates);
        let split = self.split.parts.iter().chain([&*self.split.threads]);
        self.law.iter().chain(&self.stand_ins).chain(split).chain(rates).find(|factor| factor.id == id)
    }
}

fn ranking(context: &ViewContext<'_>) -> Ranking {
    let (names, tasks) = (&context.names, &context.tasks);
    rank(context.profile, names, tasks, context.counts(), GroupBy::Function, SortBy::SelfWeight)
}

fn hot(context: &ViewContext<'_>, rules: &RuleContext<'_>) -> Vec<HotFunction> {
    let now = match rules.functions_by(context.selection.axis) {
        Some(functions) => Cow::Borrowed(functions),
        None => Cow::Owned(ranking(context)),
    };
    let then = context.reference.as_deref().map(ranking);
    let hottest = now.rows.iter().filter(|row| row.self_weight > 0).take(HOTTEST);
    hottest
        .map(|row| {
            let share = now.share(row.self_weight);
            let error = now.error(share);
            let change = then.as_ref().filter(|then| then.weight > 0).map(|then| {
                let same = then.rows.iter().find(|other| other.name == row.name && other.module == row.module);
                let before = then.share(same.map_or(0, |other| other.self_weight));
                let error = error.zip(then.error(before)).map(|(now, before)| now.hypot(before));
                Change { before, after: share, error }
            });
            HotFunction { name: row.name.clone(), module: row.module.clone(), kind: row.kind, share, error, change }
        })
        .collect()
}

#[cfg(test)]
pub(super) mod tests;
