//! A table of the view.

/// Which table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SectionId {
    /// The jobs.
    Jobs,
    /// What is usual for them.
    Usual,
    /// Hosts on which they are unusually expensive.
    Hosts,
    /// Hosts on which most of their jobs cost more than elsewhere.
    ExpensiveHosts,
    /// Neighbours whose use moves with their cost.
    Suspects,
    /// Versions compared.
    Versions,
    /// Configurations compared.
    Configs,
    /// Classes of contention.
    Contention,
    /// How jobs follow their neighbours.
    Influences,
    /// How jobs follow the hour of the day.
    Seasons,
    /// The functions that cost the most.
    Functions,
    /// Alarms.
    Alarms,
}

impl SectionId {
    /// Its title.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            SectionId::Jobs => "Jobs",
            SectionId::Usual => "Usual values",
            SectionId::Hosts => "Unusual hosts",
            SectionId::ExpensiveHosts => "Expensive hosts",
            SectionId::Suspects => "Suspects",
            SectionId::Versions => "Versions",
            SectionId::Configs => "Configurations",
            SectionId::Contention => "Contention",
            SectionId::Influences => "Influence of neighbours",
            SectionId::Seasons => "Seasons",
            SectionId::Functions => "Functions",
            SectionId::Alarms => "Alarms",
        }
    }

    /// What a table without rows means.
    #[must_use]
    pub fn nothing(self) -> &'static str {
        match self {
            SectionId::Jobs => "the data set has no windows",
            SectionId::Usual => "no job has windows in which it used a quarter of a CPU",
            SectionId::Hosts => "no host is unusually expensive",
            SectionId::ExpensiveHosts => "no host is expensive for most of its jobs",
            SectionId::Suspects => "no neighbour's use moves with a job's cost beyond chance",
            SectionId::Versions => "no job ran in two versions with operations",
            SectionId::Configs => "no jobs ran in two configurations with operations",
            SectionId::Contention => "no windows with unusual CPI at their level of use",
            SectionId::Influences => "no job has enough hosts with CPI to follow its neighbours",
            SectionId::Seasons => "no job with operations covers the hours of a day",
            SectionId::Functions => "the data set has no samples",
            SectionId::Alarms => "no watch raised an alarm",
        }
    }

    /// The columns that stay where room is short, next to the first, the most important one first.
    fn important(self) -> &'static [&'static str] {
        match self {
            SectionId::Jobs => {
                &["CPU time", "unusual", "suspects", "platform", "CPU/op", "CPI", "share", "hosts", "instructions/op"]
            }
            SectionId::Usual => &["of", "mean", "1 in 1,000 exceeds", "platform", "sd", "hosts", "windows"],
            SectionId::Hosts => &["job", "dearer", "of", "spans", "from", "platform", "to", "host's mean", "usual"],
            SectionId::ExpensiveHosts => &["dearer", "of", "jobs", "deviations", "sd of hosts", "platform"],
            SectionId::Suspects => &["job", "of the job's cost", "p", "of", "hosts", "its use", "each CPU of it adds"],
            SectionId::Versions => {
                &["version", "against", "cost", "p", "platform", "CPI", "path length", "surely cheaper"]
            }
            SectionId::Configs => &["against", "operations per CPU time", "p", "of the weight", "hosts"],
            SectionId::Contention => &["unusual", "last-level cache", "memory bandwidth", "platform", "windows"],
            SectionId::Influences => &["CPI, each neighbours' CPU", "p", "interference", "platform"],
            SectionId::Seasons => &["load: peak less trough", "at", "load: season's share", "CPU/op: peak less trough"],
            SectionId::Functions => &["share", "CPU time", "hosts", "module"],
            SectionId::Alarms => &["cause", "alarms", "hosts", "last"],
        }
    }
}

/// A table with a title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Which one it is.
    pub id: SectionId,
    /// The title.
    pub title: &'static str,
    /// What the numbers refer to.
    pub about: String,
    /// The headings.
    pub head: Vec<&'static str>,
    /// How many columns at the left hold names.
    pub names: usize,
    /// The cells; names are as the programs gave them: escape them.
    pub rows: Vec<Vec<String>>,
    /// Rows that were left out.
    pub left_out: usize,
    /// What is said below the table.
    pub remarks: Vec<String>,
}

impl Section {
    pub(super) fn new(id: SectionId, about: impl Into<String>, head: &[&'static str], names: usize) -> Section {
        Section {
            id,
            title: id.title(),
            about: about.into(),
            head: head.to_vec(),
            names,
            rows: Vec::new(),
            left_out: 0,
            remarks: Vec::new(),
        }
    }

    pub(super) fn drop_column(&mut self, title: &str) {
        let Some(at) = self.head.iter().position(|head| *head == title) else { return };
        self.head.remove(at);
        self.rows.iter_mut().for_each(|row| _ = row.remove(at));
        self.names -= usize::from(at < self.names);
    }

    pub(super) fn with(mut self, rows: impl Iterator<Item = Vec<String>>) -> Section {
        self.rows = rows.collect();
        self
    }

    /// How soon a column goes where there is no room for all of them: the highest rank first, the first column never.
    #[must_use]
    pub fn rank(&self, at: usize) -> usize {
        let important = self.id.important();
        match self.head.get(at) {
            Some(title) if at > 0 => important.iter().position(|it| it == title).unwrap_or(important.len() + at) + 1,
            _ => 0,
        }
    }

    /// Whether it says something.
    pub(super) fn speaks(&self) -> bool {
        !self.rows.is_empty() || !self.remarks.is_empty()
    }
}
