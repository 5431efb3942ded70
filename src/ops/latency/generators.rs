//! Which parser reads the output of which load generator.

use super::summary::Summary;
use super::{db_bench, fio, pgbench, redis_benchmark, sysbench, wrk};
use crate::error::Result;
use crate::model::LoadGenerator;

/// Reads what a generator, started with these arguments, has printed.
///
/// # Errors
/// `NotFound` if it holds no latencies; the hint says how to make the generator print them.
pub(crate) fn parse(generator: LoadGenerator, text: &str, arguments: &[String]) -> Result<Summary> {
    match generator {
        LoadGenerator::Wrk | LoadGenerator::Wrk2 => wrk::parse(text),
        LoadGenerator::RedisBenchmark => redis_benchmark::parse(text, arguments),
        LoadGenerator::Pgbench => pgbench::summary(text),
        LoadGenerator::Sysbench => sysbench::parse(text),
        LoadGenerator::Fio => fio::parse(text),
        LoadGenerator::DbBench => db_bench::parse(text),
    }
}
