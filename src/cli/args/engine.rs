//! Which engine answers queries.

use crate::error::{Error, ErrorKind, Result};
use crate::session::fleet::Engine;
use clap::{Args, ValueEnum};

/// The engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EngineArg {
    /// polars, on this machine.
    Polars,
    /// Spark, on a cluster.
    Spark,
}

/// An engine, and where it is.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Engine")]
pub struct EngineArgs {
    /// Answer by this engine: polars, on this machine, or spark, by spark-submit
    #[arg(long, value_name = "NAME", default_value = "polars", hide_possible_values = true)]
    pub engine: EngineArg,
    /// The master of the Spark cluster, e.g. spark://HOST:7077, yarn or local
    #[arg(long, value_name = "URL")]
    pub master: Option<String>,
}

impl EngineArgs {
    /// The engine.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] for Spark without a master, or a master without Spark.
    pub fn engine(&self) -> Result<Engine> {
        match (self.engine, &self.master) {
            (EngineArg::Polars, None) => Ok(Engine::Local),
            (EngineArg::Spark, Some(master)) => Ok(Engine::Spark { master: master.clone() }),
            (EngineArg::Spark, None) => Err(Error::new(ErrorKind::Usage, "--engine spark needs the URL of its master")
                .hint("Add --master URL; --master 'local[*]' runs Spark on this machine.")),
            (EngineArg::Polars, Some(_)) => {
                Err(Error::new(ErrorKind::Usage, "--master is of Spark").hint("Add --engine spark."))
            }
        }
    }
}
