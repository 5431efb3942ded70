//! Which functions cost most, and how sure is that? Reads a recording through the library.
//!
//! ```text
//! ironlaw record -o run -d 5 -p PID
//! cargo run --example top_functions run.ironlaw
//! ```
#![expect(clippy::print_stdout, reason = "an example prints")]

use ironlaw::error::{Error, ErrorKind, Result};
use ironlaw::session;
use ironlaw::view::report::{Report, ReportOptions};
use std::path::Path;

fn main() -> Result<()> {
    let path = std::env::args().nth(1).ok_or_else(|| Error::new(ErrorKind::Usage, "name a recording"))?;
    let profile = session::open(Path::new(&path))?;
    let report = Report::build(&profile, &ReportOptions { limit: 10, ..ReportOptions::default() })?;
    for function in &report.functions {
        let error = function.self_error.unwrap_or(f64::NAN);
        println!("{:6.2}% ± {:4.2}  {}", 100.0 * function.self_share, 100.0 * error, function.name);
    }
    Ok(())
}
