//! Tables along the time axis: `windows`, `tasks`, `ops`, `marks`.
//! Counter values are stored raw: neither scaled nor as differences.

use super::{Rows, bounded};
use crate::error::Result;
use crate::model::{CounterId, CounterReading, Mark, Scope, TaskChange, TaskEvent, Tick};
use crate::tables::Table;
use crate::units::{Nanos, Ops};

/// A row of `windows`: a reading, or the end of the window of the readings before it.
#[derive(Debug, Clone, Copy)]
pub(in crate::store) enum Window {
    Reading(CounterReading),
    End(Tick),
}

impl Window {
    fn at(&self) -> Nanos {
        match self {
            Window::Reading(reading) => reading.at,
            Window::End(tick) => tick.at,
        }
    }

    fn reading(&self) -> Option<&CounterReading> {
        match self {
            Window::Reading(reading) => Some(reading),
            Window::End(_) => None,
        }
    }

    fn span(&self) -> Option<u64> {
        match self {
            Window::Reading(_) => None,
            Window::End(tick) => Some(tick.span.0),
        }
    }
}

fn scope_word(scope: Scope) -> (&'static str, Option<u32>) {
    match scope {
        Scope::Target => ("target", None),
        Scope::Thread(tid) => ("thread", Some(tid)),
        Scope::Cpu(cpu) => ("cpu", Some(cpu)),
        Scope::Cgroup(cgroup) => ("cgroup", Some(cgroup)),
        Scope::Host => ("host", None),
        Scope::Tool => ("tool", None),
    }
}

fn scope_from(word: &str, id: Option<u32>) -> Option<Scope> {
    match (word, id) {
        ("target", _) => Some(Scope::Target),
        ("thread", Some(tid)) => Some(Scope::Thread(tid)),
        ("cpu", Some(cpu)) => Some(Scope::Cpu(cpu)),
        ("cgroup", Some(cgroup)) => Some(Scope::Cgroup(cgroup)),
        ("host", _) => Some(Scope::Host),
        ("tool", _) => Some(Scope::Tool),
        _ => None,
    }
}

impl Rows for Window {
    const TABLE: &'static str = "windows";

    fn encode(events: &[Self]) -> Result<Table> {
        let readings = || events.iter().map(Window::reading);
        let scopes = || readings().map(|reading| reading.map(|reading| scope_word(reading.scope)));
        Table::builder(events.len())
            .u64("at_ns", events.iter().map(|window| window.at().0))
            .opt_u32("counter", readings().map(|reading| reading.map(|reading| u32::from(reading.counter.0))))
            .opt_text("scope", scopes().map(|scope| scope.map(|(word, _)| word)))
            .opt_u32("scope_id", scopes().map(|scope| scope.and_then(|(_, id)| id)))
            .opt_u64("value", readings().map(|reading| reading.map(|reading| reading.value)))
            .opt_u64("enabled_ns", readings().map(|reading| reading.map(|reading| reading.enabled.0)))
            .opt_u64("running_ns", readings().map(|reading| reading.map(|reading| reading.running.0)))
            .opt_u64("span_ns", events.iter().map(Window::span))
            .build()
    }

    fn decode(table: &Table, emit: &mut dyn FnMut(Self)) -> Result<u64> {
        let (at, counter) = (table.u64("at_ns")?, table.opt_u32("counter")?);
        let (scope, scope_id) = (table.opt_text("scope")?, table.opt_u32("scope_id")?);
        let (value, span) = (table.opt_u64("value")?, table.opt_u64("span_ns")?);
        let (enabled, running) = (table.opt_u64("enabled_ns")?, table.opt_u64("running_ns")?);
        let window = |row: usize| {
            if let Some(span) = span[row] {
                return Some(Window::End(Tick { at: Nanos(at[row]), span: Nanos(span) }));
            }
            Some(Window::Reading(CounterReading {
                counter: CounterId(u16::try_from(counter[row]?).ok()?),
                scope: scope_from(scope[row]?, scope_id[row])?,
                at: Nanos(at[row]),
                value: value[row]?,
                enabled: Nanos(enabled[row]?),
                running: Nanos(running[row]?),
            }))
        };
        let known = (0..table.rows()).filter_map(window).map(emit).count();
        Ok((table.rows() - known) as u64)
    }
}

fn change_word(change: &TaskChange) -> (&'static str, Option<&str>, Option<u32>) {
    match change {
        TaskChange::Alive { comm } => ("alive", Some(comm), None),
        TaskChange::Born { parent, comm } => ("born", Some(comm), Some(*parent)),
        TaskChange::Renamed { comm, exec: false } => ("renamed", Some(comm), None),
        TaskChange::Renamed { comm, exec: true } => ("exec", Some(comm), None),
        TaskChange::Ended => ("ended", None, None),
    }
}

fn change_from(word: &str, comm: Option<&str>, parent: Option<u32>) -> Option<TaskChange> {
    let comm = comm.map(|comm| bounded(comm).into_owned());
    match word {
        "alive" => Some(TaskChange::Alive { comm: comm? }),
        "born" => Some(TaskChange::Born { parent: parent?, comm: comm? }),
        "renamed" => Some(TaskChange::Renamed { comm: comm?, exec: false }),
        "exec" => Some(TaskChange::Renamed { comm: comm?, exec: true }),
        "ended" => Some(TaskChange::Ended),
        _ => None,
    }
}

impl Rows for TaskEvent {
    const TABLE: &'static str = "tasks";

    fn encode(events: &[Self]) -> Result<Table> {
        let changes = || events.iter().map(|task| change_word(&task.change));
        Table::builder(events.len())
            .u64("at_ns", events.iter().map(|task| task.at.0))
            .u32("pid", events.iter().map(|task| task.pid))
            .u32("tid", events.iter().map(|task| task.tid))
            .text("change", changes().map(|(word, _, _)| word))
            .opt_text("comm", changes().map(|(_, comm, _)| comm.map(bounded)))
            .opt_u32("parent", changes().map(|(_, _, parent)| parent))
            .build()
    }

    fn decode(table: &Table, emit: &mut dyn FnMut(Self)) -> Result<u64> {
        let (at, pid, tid) = (table.u64("at_ns")?, table.u32("pid")?, table.u32("tid")?);
        let (change, comm, parent) = (table.text("change")?, table.opt_text("comm")?, table.opt_u32("parent")?);
        let mut unknown = 0;
        for row in 0..table.rows() {
            match change_from(change[row], comm[row], parent[row]) {
                Some(change) => emit(TaskEvent { at: Nanos(at[row]), pid: pid[row], tid: tid[row], change }),
                None => unknown += 1,
            }
        }
        Ok(unknown)
    }
}

/// A row of `ops`.
#[derive(Debug, Clone, Copy)]
pub(in crate::store) struct OpsTotal {
    pub at: Nanos,
    pub total: Ops,
}

impl Rows for OpsTotal {
    const TABLE: &'static str = "ops";

    fn encode(events: &[Self]) -> Result<Table> {
        Table::builder(events.len())
            .u64("at_ns", events.iter().map(|ops| ops.at.0))
            .u64("total", events.iter().map(|ops| ops.total.0))
            .build()
    }

    fn decode(table: &Table, emit: &mut dyn FnMut(Self)) -> Result<u64> {
        let (at, total) = (table.u64("at_ns")?, table.u64("total")?);
        at.iter().zip(total).for_each(|(&at, &total)| emit(OpsTotal { at: Nanos(at), total: Ops(total) }));
        Ok(0)
    }
}

impl Rows for Mark {
    const TABLE: &'static str = "marks";

    fn encode(events: &[Self]) -> Result<Table> {
        Table::builder(events.len())
            .u64("at_ns", events.iter().map(|mark| mark.at.0))
            .text("label", events.iter().map(|mark| bounded(&mark.label)))
            .build()
    }

    fn decode(table: &Table, emit: &mut dyn FnMut(Self)) -> Result<u64> {
        let (at, label) = (table.u64("at_ns")?, table.text("label")?);
        at.iter().zip(label).for_each(|(&at, label)| {
            emit(Mark { at: Nanos(at), label: bounded(label).into_owned() });
        });
        Ok(0)
    }
}
