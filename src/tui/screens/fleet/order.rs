//! The order of the jobs.

use crate::view::fleet::FleetJob;
use std::cmp::Ordering;

/// What the jobs are sorted by; the greatest first, and those without it last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Order {
    #[default]
    CpuTime,
    Cost,
    Cpi,
    UnusualHosts,
    Suspects,
}

impl Order {
    pub fn next(self) -> Order {
        match self {
            Order::CpuTime => Order::Cost,
            Order::Cost => Order::Cpi,
            Order::Cpi => Order::UnusualHosts,
            Order::UnusualHosts => Order::Suspects,
            Order::Suspects => Order::CpuTime,
        }
    }

    /// The heading of its column.
    pub fn heading(self) -> &'static str {
        match self {
            Order::CpuTime => "CPU time",
            Order::Cost => "CPU/op",
            Order::Cpi => "CPI",
            Order::UnusualHosts => "unusual",
            Order::Suspects => "suspects",
        }
    }

    fn value(self, job: &FleetJob) -> Option<f64> {
        match self {
            Order::CpuTime => Some(job.cpu_s),
            Order::Cost => job.cost.value().map(|cost| cost.value),
            Order::Cpi => job.cpi.value().map(|cpi| cpi.value),
            Order::UnusualHosts => job.unusual_hosts().map(|hosts| hosts as f64),
            Order::Suspects => job.neighbours().map(|names| names as f64),
        }
    }

    /// The indices of the jobs in this order.
    pub fn sorted(self, jobs: &[FleetJob], reversed: bool) -> Vec<usize> {
        let mut keyed: Vec<_> = jobs.iter().enumerate().map(|(at, job)| (self.value(job), at)).collect();
        keyed.sort_by(|(a, _), (b, _)| match (a, b) {
            (Some(a), Some(b)) if reversed => a.total_cmp(b),
            (Some(a), Some(b)) => b.total_cmp(a),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => Ordering::Equal,
        });
        keyed.into_iter().map(|(_, at)| at).collect()
    }
}
