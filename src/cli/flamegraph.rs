//! `ironlaw flamegraph`: renders a recording as an SVG with search and zoom, or as folded stacks for other tools.

use super::args::{FlameFormat, FlamegraphArgs};
use super::out::{self, Terminal};
use super::plan::{self, Destination};
use super::report::{load, recording, selection};
use crate::analysis::{Axis, CodeRate};
use crate::error::Result;
use crate::export::{folded, svg};
use crate::model::profile::Profile;
use crate::view::flame::{FlameGraph, FlameOptions};
use crate::view::notes::other_event;

/// Renders the flame graph and prints its path.
pub(super) fn run(args: &FlamegraphArgs, terminal: &Terminal) -> Result<()> {
    let source = recording(&args.selection)?;
    let (format, destination) = plan::flame_output(args, &source, out::is_redirected())?;
    let profile = load(&source, &args.selection, terminal)?;
    let mut selection = selection(&args.selection, profile)?;
    if args.off_cpu {
        selection.axis = Axis::OffCpu;
    }
    other_event(profile, &selection).iter().for_each(|note| terminal.note(note));
    let rate = match args.palette.as_str() {
        "cpi" => Some(CodeRate::Cpi),
        "mpki" => Some(CodeRate::Mpki),
        _ => None,
    };
    let flame = FlameGraph::build(profile, &FlameOptions { selection, title: args.title.clone(), rate })?;
    let bytes = match format {
        FlameFormat::Folded => folded::render(&flame, false),
        FlameFormat::Svg => {
            let (inverted, min_width_px, palette) = (args.inverted, args.min_width, args.palette.clone());
            svg::render(&flame, &svg::SvgOptions { inverted, min_width_px, palette })?
        }
    };
    match destination {
        Destination::Stdout => out::deliver(&bytes, None),
        Destination::File(path) => {
            match args.output {
                Some(_) => out::deliver(&bytes, Some(&path))?,
                None => out::replace(&bytes, &path)?,
            }
            terminal.say(&format!("{} ({:.1} kB)", path.display(), bytes.len() as f64 / 1e3));
            Ok(())
        }
    }
}

/// The flame graph of `demo`.
pub(super) fn picture(profile: &Profile) -> Result<Vec<u8>> {
    svg::render(&FlameGraph::build(profile, &FlameOptions::default())?, &svg::SvgOptions::default())
}
