//! Snapshots of a data set of many machines, which does not change while it is shown.

use super::head::{FleetHeader, ScreenHeader};
use super::{PanelView, Snapshot};
use crate::error::{Error, ErrorKind};
use crate::view::fleet::{FleetTables, covered};
use crate::view::query::{Query, ViewRequest};
use std::sync::Arc;

/// Takes a snapshot of a data set.
#[must_use]
pub fn snapshot_of_fleet(tables: &Arc<FleetTables>, query: Query) -> Snapshot {
    let body = match query.request {
        ViewRequest::Fleet(tab) => Ok(PanelView::Fleet(tab, Arc::clone(tables))),
        _ => Err(Error::new(ErrorKind::Unsupported, "a data set has no such view")
            .hint("Open a recording of one of its hosts: ironlaw view RECORDING")),
    };
    Snapshot { query, head: ScreenHeader::of_fleet(tables), body }
}

impl ScreenHeader {
    /// The head of a data set.
    #[must_use]
    pub fn of_fleet(tables: &FleetTables) -> ScreenHeader {
        let (view, extent) = (&tables.view, &tables.view.extent);
        ScreenHeader {
            target: view.facts.dataset.clone(),
            notes: view.notes.clone(),
            fleet: Some(FleetHeader {
                hosts: extent.hosts,
                windows: extent.windows,
                jobs: extent.jobs,
                platforms: extent.platforms,
                covered: covered(view),
            }),
            ..ScreenHeader::of_costs()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Axis;
    use crate::view::fleet::fixture::full;
    use crate::view::query::{CompareWith, FleetTab, TaskFilter, TimeSelector};

    fn taken(request: ViewRequest) -> Snapshot {
        let (time, compare_with, axis) = (TimeSelector::All, CompareWith::Nothing, Axis::Event(0));
        let filter = TaskFilter::default();
        let query = Query { time, end: None, filter, axis, compare_with, point: None, per: None, request };
        snapshot_of_fleet(&Arc::new(FleetTables::of(full())), query)
    }

    #[test]
    fn its_own_screens_get_the_tables_and_no_other_does() {
        let body = taken(ViewRequest::Fleet(FleetTab::Hosts)).body;
        assert!(matches!(body, Ok(PanelView::Fleet(FleetTab::Hosts, tables)) if tables.view == full()));
        assert!(taken(ViewRequest::Counters).body.is_err_and(|error| error.remedy().is_some()));
    }

    #[test]
    fn the_head_names_the_data_set_and_its_extent() {
        let head = taken(ViewRequest::Fleet(FleetTab::Jobs)).head;
        let fleet = head.fleet.unwrap_or_else(|| panic!("it is one"));
        assert_eq!((head.target.as_str(), fleet.hosts, fleet.jobs, fleet.platforms), ("/srv/fleet/2026-05", 48, 3, 2));
        assert!(fleet.covered.contains("2026-05-28 20:26 to 2026-06-04 20:26 UTC"), "{}", fleet.covered);
    }
}
