//! The screens of a data set of many machines: the jobs with what is known of each, and the other tables.

mod columns;
mod jobs;
mod order;
mod page;
mod tables;
#[cfg(test)]
mod tests;

use crate::tui::panel::Panel;
use crate::view::query::FleetTab;

/// The state of all of them.
#[derive(Debug)]
pub struct Screens {
    jobs: jobs::State,
    hosts: tables::State,
    functions: tables::State,
    suspects: tables::State,
    versions: tables::State,
    usual: tables::State,
}

impl Default for Screens {
    fn default() -> Screens {
        Screens {
            jobs: jobs::State::default(),
            hosts: tables::State::of(FleetTab::Hosts),
            functions: tables::State::of(FleetTab::Functions),
            suspects: tables::State::of(FleetTab::Suspects),
            versions: tables::State::of(FleetTab::Versions),
            usual: tables::State::of(FleetTab::Usual),
        }
    }
}

impl Screens {
    /// A screen.
    pub fn get(&self, tab: FleetTab) -> &dyn Panel {
        match tab {
            FleetTab::Jobs => &self.jobs,
            FleetTab::Hosts => &self.hosts,
            FleetTab::Functions => &self.functions,
            FleetTab::Suspects => &self.suspects,
            FleetTab::Versions => &self.versions,
            FleetTab::Usual => &self.usual,
        }
    }

    /// A screen, mutable.
    pub fn get_mut(&mut self, tab: FleetTab) -> &mut dyn Panel {
        match tab {
            FleetTab::Jobs => &mut self.jobs,
            FleetTab::Hosts => &mut self.hosts,
            FleetTab::Functions => &mut self.functions,
            FleetTab::Suspects => &mut self.suspects,
            FleetTab::Versions => &mut self.versions,
            FleetTab::Usual => &mut self.usual,
        }
    }
}
