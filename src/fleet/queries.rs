//! The fleet's questions in SQL. Each runs unchanged on every engine: sums, counts and joins; what needs more (fits, tests,
//! intervals) is worked out from their small results.

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
}

macro_rules! query {
    ($name:literal, $about:literal, $tables:expr) => {
        Query {
            name: $name,
            about: $about,
            sql: include_str!(concat!("../../assets/sql/fleet/", $name, ".sql")),
            tables: $tables,
        }
    };
}

/// All of them, in the order of the report.
pub const QUERIES: [Query; 12] = [
    query!("extent", "how much there is", &["windows"]),
    query!("jobs", "cost of each job on each platform", &["windows"]),
    query!("distribution", "how CPI and CPU time per operation are distributed", &["windows"]),
    query!("outliers", "hosts on which a job is dearer than it usually is", &["windows"]),
    query!("suspects", "neighbours whose use moves with a job's cost, across hosts", &["windows", "neighbours"]),
    query!("versions", "cost by version and intensity", &["windows"]),
    query!("configs", "operations per CPU second by configuration of the hosts", &["windows"]),
    query!("contention", "CPI, cache misses and memory bandwidth by level of use", &["windows"]),
    query!("influences", "CPI and cache misses by own use and neighbours' use", &["windows"]),
    query!("hours", "operations and cost by hour", &["windows"]),
    query!("functions", "functions that cost the fleet the most", &["functions"]),
    query!("alarms", "alarms by job and cause", &["alarms"]),
];

impl Query {
    /// The query of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Query> {
        QUERIES.iter().find(|query| query.name == name)
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
        }
    }
}
