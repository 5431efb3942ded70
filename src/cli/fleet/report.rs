//! `ironlaw fleet DIR`: asks the engine all questions and prints what the answers say.

use crate::analysis::fleet::ClusterSettings;
use crate::cli::args::{FleetFormat, FleetReportArgs, FleetSqlArgs, GlobalArgs};
use crate::cli::out::{self, Terminal};
use crate::cli::{pager, top};
use crate::error::{Error, ErrorKind, Result};
use crate::export;
use crate::session::fleet::{Engine, QUERIES, Query, dataset_tables};
use crate::store::dataset;
use crate::view::fleet::{FleetFacts, FleetSettings, FleetView};
use std::collections::BTreeMap;
use std::path::Path;

/// Prints the answers, writes them to a file, or shows them in the session.
pub(super) fn run(args: &FleetReportArgs, global: &GlobalArgs, terminal: &Terminal) -> Result<()> {
    let view = view(args)?;
    if args.tui {
        return top::fleet(view, terminal);
    }
    let file = args.output.as_deref().filter(|path| path.as_os_str() != "-");
    let bytes = match args.format.unwrap_or_else(|| format_of(file)) {
        FleetFormat::Text => export::text::fleet(&view, args.limit, out::style(global, file.is_some())),
        FleetFormat::Json => export::json::fleet(&view)?,
        FleetFormat::Html => export::html::fleet(&view),
    };
    pager::show(&bytes, file)
}

/// Prints a query, or the list of all.
pub(super) fn sql(args: &FleetSqlArgs) -> Result<()> {
    let text = match &args.name {
        None => QUERIES.iter().map(|query| format!("{:<14}{}\n", query.name, query.about)).collect(),
        Some(name) => Query::named(name)
            .ok_or_else(|| {
                Error::new(ErrorKind::Usage, format!("no query '{name}'")).hint("`ironlaw fleet sql` lists them.")
            })?
            .sql
            .to_string(),
    };
    pager::show(text.as_bytes(), None)
}

/// What the data set says, by the engine that the arguments name.
fn view(args: &FleetReportArgs) -> Result<FleetView> {
    let dir = args.dir.as_deref().ok_or_else(|| {
        Error::new(ErrorKind::Usage, "no data set is given").hint("Name its folder: ironlaw fleet DIR.")
    })?;
    let weights: BTreeMap<String, f64> = args.weight.iter().cloned().collect();
    let clusters = ClusterSettings {
        base: args.base.clone(),
        weights: (!weights.is_empty()).then_some(weights),
        precision: args.precision / 100.0,
    };
    let settings = FleetSettings { clusters, base_version: args.base_version.clone(), ..FleetSettings::default() };
    answer(dir, &args.engine.engine()?, &settings)
}

/// What the data set says.
pub(super) fn answer(dir: &Path, engine: &Engine, settings: &FleetSettings) -> Result<FleetView> {
    let tables = dataset_tables(&dataset::checked(dataset::open(dir)?)?);
    // A table without files is not there; what needs it has no answer.
    let there = |query: &&Query| query.tables.iter().all(|table| tables.iter().any(|there| there.name == *table));
    let asked: Vec<&Query> = QUERIES.iter().filter(there).collect();
    let questions: Vec<_> = asked.iter().map(|query| query.question()).collect();
    let answers = engine.answer(&tables, &questions)?;
    let answers: BTreeMap<&str, _> = asked.iter().map(|query| query.name).zip(answers).collect();
    let facts = FleetFacts { tool: env!("CARGO_PKG_VERSION").to_string(), dataset: dir.display().to_string() };
    FleetView::of(facts, &answers, settings)
}

fn format_of(file: Option<&Path>) -> FleetFormat {
    match file.and_then(Path::extension).and_then(|extension| extension.to_str()) {
        Some("json") => FleetFormat::Json,
        Some("html") => FleetFormat::Html,
        _ => FleetFormat::Text,
    }
}
