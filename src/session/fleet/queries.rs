//! The fleet's questions in SQL. Each runs unchanged on every engine: sums, counts and joins; what needs more (fits, tests,
//! intervals) is worked out from their small results.

use super::sql_table::Question;

/// A question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Query {
    /// Its name, as `ironlaw fleet sql` takes it.
    pub name: &'static str,
    /// What it asks, in a line.
    pub about: &'static str,
    /// The text.
    pub sql: &'static str,
    /// The tables of the data set that it reads.
    pub tables: &'static [&'static str],
    /// As [`Question::by_job`].
    pub by_job: bool,
}

macro_rules! query {
    ($name:literal, $about:literal, $tables:expr, $steps:ident) => {
        Query {
            name: $name,
            about: $about,
            sql: include_str!(concat!("../../../assets/sql/fleet/", $name, ".sql")),
            tables: $tables,
            by_job: matches!(Steps::$steps, Steps::Job),
        }
    };
}

/// What the steps of a query put together.
enum Steps {
    /// Rows of one job.
    Job,
    /// Rows of different jobs, or an order that is not that of the jobs.
    Fleet,
}

/// All of them, in the order of the report.
pub const QUERIES: [Query; 13] = [
    query!("extent", "how much there is", &["windows"], Fleet),
    query!("jobs", "cost of each job on each platform", &["windows"], Fleet),
    query!("distribution", "how CPI and CPU time per operation are distributed", &["windows"], Job),
    query!("outliers", "hosts on which a job is dearer than it usually is", &["windows"], Job),
    query!("hosts", "cost of each job on each host", &["windows"], Job),
    query!("suspects", "neighbours whose use moves with a job's cost, across hosts", &["windows", "neighbours"], Job),
    query!("versions", "cost by version and intensity", &["windows"], Job),
    query!("configs", "operations per CPU second by configuration of the hosts", &["windows"], Job),
    query!("contention", "CPI, cache misses and memory bandwidth by level of use", &["windows"], Job),
    query!("influences", "CPI and cache misses by own use and neighbours' use", &["windows"], Job),
    query!("hours", "operations and cost by hour", &["windows"], Job),
    query!("functions", "functions that cost the fleet the most", &["functions"], Fleet),
    query!("alarms", "alarms by job and cause", &["alarms"], Fleet),
];

impl Query {
    /// The query of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Query> {
        QUERIES.iter().find(|query| query.name == name)
    }

    /// As engines take it.
    #[must_use]
    pub fn question(&self) -> Question<'static> {
        Question { name: self.name, sql: self.sql, by_job: self.by_job }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_folder_is_a_query_and_says_what_it_asks() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/sql/fleet");
        let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
        for file in files {
            let name = file.trim_end_matches(".sql");
            let query = Query::named(name).unwrap_or_else(|| panic!("{file} is no query"));
            assert!(query.sql.starts_with("-- "), "{name} begins with what it asks");
            for table in query.tables {
                assert!(query.sql.contains(table), "{name} reads {table}");
            }
            let order = query.sql.rsplit("ORDER BY").next().unwrap().split(',').next().unwrap().trim();
            let by_job = order == "job" || order.ends_with(".job");
            assert!(!query.by_job || by_job, "{name} is answered job by job and in another order: {order}");
        }
    }
}
