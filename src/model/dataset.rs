//! Rows of a data set: what one machine writes of the jobs it watches, for the questions of many machines. The data set's
//! schema, [`FORMAT`], is these fields by their names; job, day and host are folders (`job=J/day=YYYY-MM-DD/host=H`).

/// Version of the schema, major and minor. A minor version only adds tables and columns that may be null.
pub const FORMAT: [u32; 2] = [1, 0];

/// What a data set holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DatasetRows {
    /// Jobs in windows.
    pub windows: Vec<WindowRow>,
    /// Functions of jobs.
    pub functions: Vec<FunctionRow>,
    /// What else used the machine in the windows of a job.
    pub neighbours: Vec<NeighbourRow>,
    /// Alarms of a watch.
    pub alarms: Vec<AlarmRow>,
}

/// A job on a host in a window, a minute as a rule. Counts and times are sums over the window, of the job alone unless the
/// field says otherwise; what was not measured is `None`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WindowRow {
    /// Start, seconds since the Unix epoch. Windows that start at whole minutes can be joined across hosts.
    pub start_s: i64,
    /// Length, seconds.
    pub length_s: f64,
    /// The CPU model: costs are compared on one platform only.
    pub platform: String,
    /// The program's version: a label, or the build-id of its executable.
    pub version: Option<String>,
    /// A label of the host's configuration, e.g. of its kernel.
    pub config: Option<String>,
    /// CPUs of the host.
    pub host_cpus: i64,
    /// Operations.
    pub operations: Option<f64>,
    /// CPU time, seconds.
    pub cpu_s: Option<f64>,
    /// CPU time in the kernel, seconds.
    pub kernel_cpu_s: Option<f64>,
    /// Instructions.
    pub instructions: Option<f64>,
    /// CPU cycles.
    pub cycles: Option<f64>,
    /// Last-level-cache misses.
    pub llc_misses: Option<f64>,
    /// Cycles in which page walks were active.
    pub page_walk_cycles: Option<f64>,
    /// Bytes to and from memory, of the whole host.
    pub memory_bytes: Option<f64>,
    /// Time its threads waited for a CPU, seconds.
    pub run_queue_s: Option<f64>,
    /// Time its control group was throttled, seconds.
    pub throttled_s: Option<f64>,
    /// Time the hypervisor took from the host's CPUs, seconds.
    pub stolen_s: Option<f64>,
    /// Page faults.
    pub page_faults: Option<f64>,
    /// CPU time of everything else on the host, seconds.
    pub neighbour_cpu_s: Option<f64>,
}

/// A function of a job, an hour at most.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FunctionRow {
    /// Start, seconds since the Unix epoch.
    pub start_s: i64,
    /// Length, seconds.
    pub length_s: f64,
    /// The program's version.
    pub version: Option<String>,
    /// The function's name, demangled; `[others]` for those with the least time, together.
    pub function: String,
    /// The file it lies in.
    pub module: String,
    /// CPU time in its own code, callees excluded, estimated by samples, seconds.
    pub cpu_s: f64,
    /// Samples.
    pub samples: i64,
}

/// A program or control group that used the host in a window of a job.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NeighbourRow {
    /// Start of the job's window, seconds since the Unix epoch.
    pub start_s: i64,
    /// Its length, seconds.
    pub length_s: f64,
    /// The neighbour's name.
    pub neighbour: String,
    /// Its CPU time, seconds.
    pub cpu_s: f64,
}

/// An alarm of a watch.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AlarmRow {
    /// When it was raised, seconds since the Unix epoch.
    pub start_s: i64,
    /// The leading cause, as `ironlaw watch` names it.
    pub cause: String,
    /// How certain: `low`, `medium`, `high`.
    pub confidence: Option<String>,
    /// The quantity that decides, over its usual value.
    pub ratio: Option<f64>,
    /// The first suspect.
    pub suspect: Option<String>,
}

impl DatasetRows {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.windows.is_empty() && self.functions.is_empty() && self.neighbours.is_empty() && self.alarms.is_empty()
    }

    /// Adds the rows of another.
    pub fn append(&mut self, mut other: DatasetRows) {
        self.windows.append(&mut other.windows);
        self.functions.append(&mut other.functions);
        self.neighbours.append(&mut other.neighbours);
        self.alarms.append(&mut other.alarms);
    }

    /// Keeps the rows that start in these seconds.
    pub fn retain(&mut self, keep: impl Fn(i64) -> bool) {
        self.windows.retain(|row| keep(row.start_s));
        self.functions.retain(|row| keep(row.start_s));
        self.neighbours.retain(|row| keep(row.start_s));
        self.alarms.retain(|row| keep(row.start_s));
    }
}

impl FunctionRow {
    /// The name of the row that holds what is not told apart.
    pub const OTHERS: &str = "[others]";

    /// The `most` rows with the most CPU time, and the sum of the others as one more row for each version. All rows
    /// must be of one time.
    #[must_use]
    pub fn most(mut rows: Vec<FunctionRow>, most: usize) -> Vec<FunctionRow> {
        let others = |row: &FunctionRow| row.function == FunctionRow::OTHERS;
        rows.sort_by(|a, b| {
            others(a).cmp(&others(b)).then(b.cpu_s.total_cmp(&a.cpu_s)).then(a.function.cmp(&b.function))
        });
        let named = rows.iter().position(others).unwrap_or(rows.len());
        let rest = rows.split_off(most.min(named));
        let begin = rows.len();
        for row in rest {
            match rows[begin..].iter_mut().find(|sum| sum.version == row.version) {
                Some(sum) => {
                    sum.cpu_s += row.cpu_s;
                    sum.samples = sum.samples.saturating_add(row.samples);
                }
                None => {
                    let (function, module) = (FunctionRow::OTHERS.to_string(), String::new());
                    rows.push(FunctionRow { function, module, ..row });
                }
            }
        }
        rows
    }
}

impl NeighbourRow {
    /// The name of the row that holds what is not told apart.
    pub const OTHERS: &str = "[others]";
}
