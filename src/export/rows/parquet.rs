//! Rows as one Parquet file, group by group, so that a table larger than memory can be written.

use super::record::{Record, Stacks};
use crate::error::Result;
use crate::tables::{Stream, Table};
use crate::view::sampled::Sampled;
use std::io::Write;

/// A group ends at this many rows or bytes of text, whichever comes first.
const GROUP_ROWS: usize = 1 << 17;
const GROUP_BYTES: usize = 64 << 20;

/// One table with the columns of [`super::csv`], with times in nanoseconds, names as the target has them, and the
/// leaf's source location.
///
/// # Errors
/// Those of the writer.
pub fn parquet(sampled: &Sampled<'_>, out: &mut (dyn Write + Send)) -> Result<()> {
    let encode = |records: &[Record<'_>]| table(records, sampled.is_off_cpu());
    let mut stream = Stream::start(out, &encode(&[])?)?;
    let (mut stacks, mut group, mut bytes) = (Stacks::default(), Vec::new(), 0);
    for row in sampled.rows() {
        let record = stacks.record(sampled, row);
        bytes += record.words.stack.len() + record.words.function.len() + record.words.module.len();
        group.push(record);
        if group.len() == GROUP_ROWS || bytes >= GROUP_BYTES {
            stream.add(&encode(&group)?)?;
            group.clear();
            bytes = 0;
        }
    }
    stream.add(&encode(&group)?)?;
    stream.finish()
}

fn table(records: &[Record<'_>], waits: bool) -> Result<Table> {
    let rows = || records.iter().map(|record| record.row);
    let words = || records.iter().map(|record| &record.words);
    let who = Table::builder(records.len())
        .u64("at_ns", rows().map(|row| row.at.0))
        .u32("pid", rows().map(|row| row.pid))
        .u32("tid", rows().map(|row| row.tid))
        .text("thread", records.iter().map(|record| record.thread))
        .text("process", records.iter().map(|record| record.process));
    let what = if waits {
        who.text("state", records.iter().map(|record| record.state.unwrap_or_default()))
            .text("cause", records.iter().map(|record| &record.cause))
            .u64("blocked_ns", rows().map(|row| row.weight))
            .opt_u64("queued_ns", rows().map(|row| row.queued))
            .u64("count", rows().map(|row| row.count))
            .opt_u64("longest_ns", rows().map(|row| row.longest))
    } else {
        who.opt_u32("cpu", rows().map(|row| row.cpu))
            .text("event", records.iter().map(|record| record.event))
            .u64("weight", rows().map(|row| row.weight))
            .bool("kernel", rows().map(|row| row.kernel == Some(true)))
    };
    what.text("function", words().map(|words| &words.function))
        .text("module", words().map(|words| &words.module))
        .opt_text("file", words().map(|words| words.file.as_ref()))
        .opt_u32("line", words().map(|words| words.line))
        .text("stack", words().map(|words| &words.stack))
        .build()
}
