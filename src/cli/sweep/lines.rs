//! A sweep's progress as lines, for logs and pipes: one when a run begins, one when it ends.

use crate::cli::out::Terminal;
use crate::model::{RunMeta, RunState};
use crate::sweep::Sweep;
use crate::view::number::three_digits;

/// Prints the changes since the last call.
#[derive(Debug, Default)]
pub(super) struct Lines {
    begun: usize,
    over: usize,
}

impl Lines {
    pub fn print_changes(&mut self, sweep: &Sweep, terminal: &Terminal) {
        let meta = &sweep.meta;
        let count = meta.runs.len();
        for (at, run) in meta.runs.iter().enumerate().take(meta.over()).skip(self.over) {
            terminal.say(&format!("  {}", outcome(run, sweep, at)));
        }
        self.over = meta.over();
        if let Some(at) = meta.runs.iter().position(|run| run.state == RunState::Running).filter(|at| *at >= self.begun)
        {
            terminal.say(&format!("run {} of {count}: {}", at + 1, what(&meta.runs[at])));
            self.begun = at + 1;
        }
    }
}

fn what(run: &RunMeta) -> String {
    let place = if run.cpus.is_empty() {
        "unpinned".to_string()
    } else {
        format!("CPUs {} ({})", crate::abi::format_cpu_list(&run.cpus), run.region.label())
    };
    format!("n = {}, {place}", run.n)
}

fn outcome(run: &RunMeta, sweep: &Sweep, at: usize) -> String {
    let RunState::Failed { reason } = &run.state else {
        let totals = sweep.results.get(at).and_then(|result| Some(result.as_ref()?.totals));
        let seconds = totals.map_or(0.0, |totals| totals.wall);
        let rate = totals.and_then(|totals| Some(totals.ops.value()? / totals.wall));
        let rate = rate
            .map_or_else(|| "operations were not counted".to_string(), |rate| format!("{} op/s", three_digits(rate)));
        return format!("{rate}, measured for {seconds:.1} s");
    };
    format!("does not count: {}", crate::view::escape::visible(reason))
}
