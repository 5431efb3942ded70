//! Builds a report from the results of analysis.
//! It fails only if the selection cannot be satisfied, not if there is little data.

use super::{
    EventRow, FunctionRow, Groups, HardwareView, MemoryView, MetricView, NeighboursView, OffCpuView,
    OperationLatencyView, OwnCostView, PathOptions, PathStep, PlacesView, ProcessView, Report, SamplesView,
    SelectionView, ThreadView,
};
use crate::analysis::findings::RuleContext;
use crate::analysis::{
    Butterfly, Cgroups, CodeIpc, Counters, GroupBy, GroupKey, Names, Rank, Ranking, RowRates, Selection, SortBy,
    StackCounts, Summary, Tasks, ThreadSet, Window, blocked_paths, check_accesses, group, metrics, off_cpu_totals,
    operations, per_operation, processes, rank, summary, threads,
};
use crate::error::Result;
use crate::model::glob::matches;
use crate::model::profile::Profile;
use crate::model::{Meta, OpsSpec, ReadCode, WaitSource};
use crate::view::code_ipc::CodeIpcView;
use crate::view::findings::FindingsView;
use crate::view::labels::{axis_of, call_graph_of, rate_of};
use crate::view::notes::{lockstep, notes, other_event};
use std::borrow::Cow;

/// Options of a report.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportOptions {
    /// The part of the recording.
    pub selection: Selection,
    /// What a row of the main table stands for.
    pub by: Vec<GroupKey>,
    /// Its order.
    pub sort: SortBy,
    /// Its rows have at least this share, 0 to 1: including callees if they are sorted by that, else of own code.
    pub min_share: f64,
    /// It shows only code of these modules, by file name or path; empty for all.
    pub modules: Vec<String>,
    /// It shows only these functions; empty for all.
    pub functions: Vec<String>,
    /// The call paths shown with each function.
    pub call_paths: Option<PathOptions>,
    /// Rows of the main table; 0 for all.
    pub limit: usize,
    /// Maximum number of processes, threads, neighbours and blocked call paths; 0 for all.
    pub detail_limit: usize,
    /// Whether every note is shown at length.
    pub all_notes: bool,
}

impl Default for ReportOptions {
    fn default() -> Self {
        ReportOptions {
            selection: Selection::default(),
            by: vec![GroupKey::Function],
            sort: SortBy::SelfWeight,
            min_share: 0.0,
            modules: Vec::new(),
            functions: Vec::new(),
            call_paths: None,
            limit: 20,
            detail_limit: 10,
            all_notes: false,
        }
    }
}

impl ReportOptions {
    /// The rows of the main table that are asked for.
    fn shown(&self, ranking: &Ranking) -> Ranking {
        let any = |patterns: &[String], text: &str| patterns.is_empty() || patterns.iter().any(|it| matches(it, text));
        let cell = self.by.iter().position(|key| *key == GroupKey::Function).unwrap_or_default();
        let is_shown = |row: &&Rank| {
            let weight = if self.sort == SortBy::TotalWeight { row.total_weight } else { row.self_weight };
            let file = row.module.rsplit('/').next().unwrap_or_default();
            ranking.share(weight) >= self.min_share
                && (any(&self.modules, file) || any(&self.modules, &row.module))
                && any(&self.functions, row.name.split('\t').nth(cell).unwrap_or_default())
        };
        Ranking { rows: ranking.rows.iter().filter(is_shown).cloned().collect(), ..*ranking }
    }

    /// The functions, with their call paths if these are asked for.
    fn function_rows(
        &self,
        profile: &Profile,
        names: &Names,
        counts: &StackCounts,
        ranking: &Ranking,
        rates: Option<&RowRates>,
    ) -> Vec<FunctionRow> {
        let mut rows = FunctionRow::all(ranking, rates, self.limit());
        if let Some(paths) = self.call_paths {
            for row in &mut rows {
                let butterfly = Butterfly::of(profile, names, counts, (&row.name, &row.module));
                row.call_paths = PathStep::of(&butterfly, names, counts.weight, paths);
            }
        }
        rows
    }

    /// The main table by other keys, if it is not of functions.
    fn groups(
        &self,
        profile: &Profile,
        names: &Names,
        tasks: &Tasks,
        counts: &StackCounts,
        rates_by: impl Fn(&[GroupKey]) -> Option<RowRates>,
    ) -> Option<Groups> {
        let ranked = |by| rank(profile, names, tasks, counts, by, self.sort);
        let ranking = match self.by.as_slice() {
            [GroupKey::Function] => return None,
            [GroupKey::Module] => ranked(GroupBy::Module),
            [GroupKey::Thread] => ranked(GroupBy::Thread),
            [GroupKey::Process] => ranked(GroupBy::Process),
            keys => group(profile, names, tasks, &self.selection, keys, self.sort),
        };
        Some(Groups::of(&self.shown(&ranking), &self.by, rates_by(&self.by).as_ref(), self.limit()))
    }

    /// The time off the CPU, if it was recorded.
    fn off_cpu(&self, profile: &Profile, names: &Names, tasks: &Tasks) -> Option<OffCpuView> {
        (profile.meta.plan.off_cpu || !profile.off_cpu.is_empty()).then(|| {
            let totals = off_cpu_totals(profile, names, tasks, &self.selection);
            let paths = blocked_paths(profile, names, tasks, &self.selection);
            // Recordings that do not name their source of waits used tracepoints.
            let source = profile.meta.waits.unwrap_or(WaitSource::Tracepoints);
            OffCpuView::of(source, &totals, &paths, self.detail_limit())
        })
    }

    pub(super) fn limit(&self) -> usize {
        if self.limit == 0 { usize::MAX } else { self.limit }
    }

    fn detail_limit(&self) -> usize {
        if self.detail_limit == 0 { usize::MAX } else { self.detail_limit }
    }
}

impl Report {
    /// Builds the report on `options.selection`.
    ///
    /// # Errors
    /// Those of [`Selection::check`].
    pub fn build(profile: &Profile, options: &ReportOptions) -> Result<Report> {
        Report::build_with(profile, options, None)
    }

    /// As [`Report::build`], with findings from the code that was read.
    ///
    /// # Errors
    /// Those of [`Selection::check`].
    pub fn build_with(profile: &Profile, options: &ReportOptions, code: Option<&ReadCode>) -> Result<Report> {
        let tasks = Tasks::of(profile);
        options.selection.check(profile, &tasks)?;
        if options.by.contains(&GroupKey::Cgroup) {
            Cgroups::check(profile)?;
        }
        if options.by.contains(&GroupKey::Memory) {
            check_accesses(profile)?;
        }
        let (names, counters) = (Names::of(profile), Counters::of(profile));
        let selection = &options.selection;
        let window = selection.time.window(&profile.ticks, profile.duration());
        let counts = StackCounts::of(profile, &tasks, selection);
        let summary = summary(profile, &counters, &counts, window);
        let mut context = RuleContext::of(profile, &names, &tasks, &counters, &counts, window);
        if let Some(code) = code {
            context.read(code);
        }
        let functions = match (context.functions_by(selection.axis), options.sort) {
            (Some(functions), SortBy::SelfWeight) => Cow::Borrowed(functions),
            (Some(functions), sort) => Cow::Owned(functions.clone().sorted(sort)),
            (None, _) => Cow::Owned(rank(profile, &names, &tasks, &counts, GroupBy::Function, options.sort)),
        };
        let functions = options.shown(&functions);
        let code_ipc = CodeIpc::of(profile, &tasks, selection);
        let rates_by = |keys: &[GroupKey]| {
            let ipc = code_ipc.filter(|_| !keys.contains(&GroupKey::Memory))?;
            Some(RowRates::of(&ipc, profile, &names, &tasks, keys))
        };
        let thread_rows = threads(&tasks, &counters, &counts, window);
        let process_rows = processes(&tasks, &thread_rows);
        let off_cpu = options.off_cpu(profile, &names, &tasks);
        let meta = &profile.meta;
        let metric_rows = metric_views(profile, &counters, &counts.who, window, &summary);
        Ok(Report {
            schema_version: super::SCHEMA_VERSION,
            tool: meta.tool.clone(),
            host: meta.host.clone(),
            target: meta.plan.target.label(),
            process_names: process_rows.iter().map(|row| row.comm.clone()).filter(|name| !name.is_empty()).collect(),
            started_unix_ns: meta.started_unix_ns,
            duration_s: profile.duration().seconds(),
            operation_source: meta.plan.ops.as_ref().map(OpsSpec::label),
            call_graph: call_graph_of(meta.plan.call_graph),
            rate: rate_of(meta),
            selection: selection_view(profile, selection, window),
            events: events(meta, &summary),
            samples: samples(&summary, &functions),
            notes: other_event(profile, selection)
                .into_iter()
                .chain(notes(meta, &summary))
                .chain(lockstep(&functions))
                .collect(),
            all_notes: options.all_notes,
            baseline_comparison: None,
            findings: FindingsView::of_context(&context),
            own_cost: OwnCostView::of(&metric_rows, meta.host.cpus.len() as u32),
            metrics: metric_rows,
            hardware: HardwareView::of(&meta.hardware),
            latency: OperationLatencyView::explained(profile, (&names, &tasks, &counters), window),
            code_ipc: code_ipc.as_ref().map(CodeIpcView::of),
            functions: options.function_rows(
                profile,
                &names,
                &counts,
                &functions,
                rates_by(&[GroupKey::Function]).as_ref(),
            ),
            functions_left_out: functions.rows.len().saturating_sub(options.limit()),
            instructions: None,
            groups: options.groups(profile, &names, &tasks, &counts, rates_by),
            processes: process_rows
                .iter()
                .take(options.detail_limit())
                .map(|row| ProcessView::of(row, &functions))
                .collect(),
            processes_left_out: process_rows.len().saturating_sub(options.detail_limit()),
            threads: thread_rows
                .iter()
                .take(options.detail_limit())
                .map(|row| ThreadView::of(row, &functions))
                .collect(),
            threads_left_out: thread_rows.len().saturating_sub(options.detail_limit()),
            off_cpu,
            places: PlacesView::of(profile, &tasks, selection).filter(|places| places.at_s.is_some()),
            memory: MemoryView::of(profile, &names, &tasks, selection, options.detail_limit()),
            neighbours: NeighboursView::of(profile, window, options.detail_limit()),
        })
    }
}

fn metric_views(
    profile: &Profile,
    counters: &Counters,
    who: &ThreadSet,
    window: Window,
    summary: &Summary,
) -> Vec<MetricView> {
    let mut all = per_operation(counters, who, window, operations(profile, window));
    all.extend(metrics(counters, who, window, Some(summary)));
    crate::view::counters::drop_unasked(&mut all);
    let view = |metric: crate::analysis::Metric| MetricView {
        name: metric.id.name(),
        label: metric.id.def().label,
        section: metric.id.def().section,
        value: metric.value.into(),
        unit: metric.id.def().unit,
        formula: metric.formula,
        events: metric.events,
        detail: metric.detail,
    };
    all.into_iter().map(view).collect()
}

fn selection_view(profile: &Profile, selection: &Selection, window: Window) -> SelectionView {
    let (event, unit) = axis_of(&profile.meta, selection.axis);
    let ids = selection.tids.iter().map(u32::to_string);
    let end = selection.time.to.unwrap_or(profile.duration());
    SelectionView {
        event,
        unit,
        from_s: selection.time.from.seconds(),
        to_s: end.min(profile.duration()).max(selection.time.from).seconds(),
        metrics_from_s: window.from.seconds(),
        metrics_to_s: window.to.seconds(),
        threads: ids.chain(selection.comms.iter().cloned()).collect(),
        pids: selection.pids.clone(),
        cpus: selection.cpus.clone(),
    }
}

fn events(meta: &Meta, summary: &Summary) -> Vec<EventRow> {
    let coverage = |name: &str| meta.coverage.iter().find(|coverage| coverage.event == name).map(|c| c.share);
    let rows = meta.events.iter().zip(&summary.events);
    rows.map(|(event, total)| EventRow {
        name: event.name.clone(),
        unit: event.unit.symbol(),
        samples: total.samples,
        weight: total.weight,
        coverage: coverage(&event.name),
    })
    .collect()
}

fn samples(summary: &Summary, ranking: &Ranking) -> SamplesView {
    SamplesView {
        count: summary.count,
        waits: summary.waits,
        weight: ranking.weight,
        lost: summary.lost,
        losses: summary.losses.clone(),
        throttled: summary.throttled,
        off_cpu_lost: summary.off_cpu_lost,
        complete_share: summary.stack_share(summary.whole),
        truncated_share: summary.stack_share(summary.truncated),
        broken_share: summary.stack_share(summary.broken),
        coverage: summary.coverage.map(|coverage| coverage.share).into(),
    }
}
