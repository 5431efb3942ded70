//! Tables of definitions: `mappings`, `frames`, `names`, `stacks`, `counters`.
//! Ids are stored, not implied by position, so that a lost part does not shift later ones.

use super::{Rows, bounded};
use crate::error::{Error, ErrorKind, Result};
use crate::model::limits::FRAME_NAMES;
use crate::model::{BuildId, CounterDef, CounterId, FrameDef, FrameId, ModuleDef, ModuleId, StackDef, StackId, Symbol};
use crate::store::words::Word;
use crate::tables::Table;

impl Rows for ModuleDef {
    const TABLE: &'static str = "mappings";

    fn encode(events: &[Self]) -> Result<Table> {
        Table::builder(events.len())
            .u32("module", events.iter().map(|def| def.id.0))
            .text("kind", events.iter().map(|def| def.kind.word()))
            .text("path", events.iter().map(|def| bounded(&def.path)))
            .opt_text("build_id", events.iter().map(|def| def.build_id.as_ref().map(BuildId::to_string)))
            .u32("pid", events.iter().map(|def| def.pid))
            .build()
    }

    fn decode(table: &Table, emit: &mut dyn FnMut(Self)) -> Result<u64> {
        let (module, kind, path) = (table.u32("module")?, table.text("kind")?, table.text("path")?);
        let (build_id, pid) = (table.opt_text("build_id")?, table.u32("pid")?);
        let mut unknown = 0;
        for row in 0..table.rows() {
            let Some(kind) = Word::from_word(kind[row]) else {
                unknown += 1;
                continue;
            };
            emit(ModuleDef {
                id: ModuleId(module[row]),
                kind,
                path: bounded(path[row]).into_owned(),
                build_id: build_id[row].and_then(|hex| BuildId::try_from(hex.to_string()).ok()),
                pid: pid[row],
            });
        }
        Ok(unknown)
    }
}

impl Rows for FrameDef {
    const TABLE: &'static str = "frames";

    fn encode(events: &[Self]) -> Result<Table> {
        Table::builder(events.len())
            .u32("frame", events.iter().map(|def| def.id.0))
            .opt_u32("module", events.iter().map(|def| def.module.map(|id| id.0)))
            .u64("address", events.iter().map(|def| def.address))
            .build()
    }

    fn decode(table: &Table, emit: &mut dyn FnMut(Self)) -> Result<u64> {
        let (frame, module, address) = (table.u32("frame")?, table.opt_u32("module")?, table.u64("address")?);
        for row in 0..table.rows() {
            emit(FrameDef { id: FrameId(frame[row]), module: module[row].map(ModuleId), address: address[row] });
        }
        Ok(0)
    }
}

/// The names at one frame, as they became known: one row per name, innermost first.
#[derive(Debug, Clone)]
pub(in crate::store) struct NamesDef {
    pub frame: FrameId,
    pub symbols: Vec<Symbol>,
}

impl Rows for NamesDef {
    const TABLE: &'static str = "names";

    fn height(&self) -> usize {
        self.symbols.len()
    }

    fn encode(events: &[Self]) -> Result<Table> {
        let rows = || events.iter().flat_map(|names| names.symbols.iter().map(move |symbol| (names.frame.0, symbol)));
        let depths = events.iter().flat_map(|names| 0..u32::try_from(names.symbols.len()).unwrap_or(u32::MAX));
        Table::builder(rows().count())
            .u32("frame", rows().map(|(frame, _)| frame))
            .u32("depth", depths)
            .text("function", rows().map(|(_, symbol)| bounded(&symbol.function)))
            .opt_text("file", rows().map(|(_, symbol)| symbol.file.as_deref().map(bounded)))
            .opt_u32("line", rows().map(|(_, symbol)| symbol.line))
            .bool("inlined", rows().map(|(_, symbol)| symbol.inlined))
            .opt_text("calls", rows().map(|(_, symbol)| symbol.calls.as_deref().map(bounded)))
            .build()
    }

    /// A new set of names begins wherever the depth is zero or the frame changes. Most frames have one name.
    fn decode(table: &Table, emit: &mut dyn FnMut(Self)) -> Result<u64> {
        let (frame, depth, function) = (table.u32("frame")?, table.u32("depth")?, table.text("function")?);
        let (file, line, inlined) = (table.opt_text("file")?, table.opt_u32("line")?, table.bool("inlined")?);
        let calls = table.opt_text("calls")?;
        if longest_run(frame, depth) > FRAME_NAMES {
            return Err(Error::new(ErrorKind::Corrupt, format!("a frame has more than {FRAME_NAMES} names")));
        }
        let mut names: Option<NamesDef> = None;
        for row in 0..table.rows() {
            let id = FrameId(frame[row]);
            if depth[row] == 0 || names.as_ref().is_none_or(|names| names.frame != id) {
                names.replace(NamesDef { frame: id, symbols: Vec::with_capacity(1) }).map(&mut *emit);
            }
            if let Some(names) = &mut names {
                names.symbols.push(Symbol {
                    function: bounded(function[row]).into_owned(),
                    file: file[row].map(|file| bounded(file).into_owned()),
                    line: line[row],
                    inlined: inlined[row],
                    calls: calls[row].map(|called| bounded(called).into()),
                });
            }
        }
        names.map(emit);
        Ok(0)
    }
}

/// The most names of one frame.
fn longest_run(frame: &[u32], depth: &[u32]) -> usize {
    let rows = frame.iter().zip(depth);
    let runs = rows.scan((None, 0), |(before, length), (frame, depth)| {
        *length = if *depth == 0 || *before != Some(frame) { 1 } else { *length + 1 };
        *before = Some(frame);
        Some(*length)
    });
    runs.max().unwrap_or(0)
}

impl Rows for StackDef {
    const TABLE: &'static str = "stacks";

    fn encode(events: &[Self]) -> Result<Table> {
        Table::builder(events.len())
            .u32("stack", events.iter().map(|def| def.id.0))
            .opt_u32("parent", events.iter().map(|def| def.parent.map(|id| id.0)))
            .u32("frame", events.iter().map(|def| def.frame.0))
            .build()
    }

    fn decode(table: &Table, emit: &mut dyn FnMut(Self)) -> Result<u64> {
        let (stack, parent, frame) = (table.u32("stack")?, table.opt_u32("parent")?, table.u32("frame")?);
        for row in 0..table.rows() {
            emit(StackDef { id: StackId(stack[row]), parent: parent[row].map(StackId), frame: FrameId(frame[row]) });
        }
        Ok(0)
    }
}

impl Rows for CounterDef {
    const TABLE: &'static str = "counters";

    fn encode(events: &[Self]) -> Result<Table> {
        Table::builder(events.len())
            .u32("counter", events.iter().map(|def| u32::from(def.id.0)))
            .text("name", events.iter().map(|def| bounded(&def.name)))
            .text("unit", events.iter().map(|def| def.unit.word()))
            .opt_u32("group", events.iter().map(|def| def.group.map(u32::from)))
            .build()
    }

    fn decode(table: &Table, emit: &mut dyn FnMut(Self)) -> Result<u64> {
        let (counter, name) = (table.u32("counter")?, table.text("name")?);
        let (unit, group) = (table.text("unit")?, table.opt_u32("group")?);
        let mut unknown = 0;
        for row in 0..table.rows() {
            match (u16::try_from(counter[row]), Word::from_word(unit[row])) {
                (Ok(id), Some(unit)) => emit(CounterDef {
                    id: CounterId(id),
                    name: bounded(name[row]).into_owned(),
                    unit,
                    group: group[row].and_then(|group| u16::try_from(group).ok()),
                }),
                _ => unknown += 1,
            }
        }
        Ok(unknown)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn a_frame_has_only_so_many_names() {
        let names = |count: usize| {
            let symbol = Symbol { inlined: true, ..Symbol::named("f") };
            [0, 1, 1].map(|frame| NamesDef { frame: FrameId(frame), symbols: vec![symbol.clone(); count] })
        };
        for (count, read) in [(1, true), (FRAME_NAMES, true), (FRAME_NAMES + 1, false)] {
            let table = NamesDef::encode(&names(count)).unwrap();
            let mut found = Vec::new();
            let decoded = NamesDef::decode(&table, &mut |def| found.push(def.symbols.len()));
            assert_eq!(decoded.is_ok(), read, "{count}");
            assert_eq!(found, if read { vec![count; 3] } else { vec![] });
        }
        // Depths that never return to zero.
        let forged = Table::builder(3).u32("frame", [7; 3].into_iter()).u32("depth", [1; 3].into_iter()).build();
        let forged = forged.unwrap();
        assert_eq!(longest_run(forged.u32("frame").unwrap(), forged.u32("depth").unwrap()), 3);
    }
}
