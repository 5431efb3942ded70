//! `ironlaw annotate`: prints a function by its instructions, or the mix of instructions of a recording.

use super::args::{AnnotateArgs, AnnotateFormat, GlobalArgs};
use super::out::{self, Terminal};
use super::pager;
use super::report::{load, recording, selection};
use crate::analysis::{Axis, Butterfly, CodeIpc, GroupBy, Names, Rank, SortBy, StackCounts, Tasks, rank};
use crate::error::{Error, ErrorKind, Result};
use crate::export::{json, text};
use crate::session::RecordedCode;
use crate::view::annotate::{AnnotationView, MixView};
use crate::view::escape::visible;
use std::path::PathBuf;

/// Runs the command.
pub(super) fn run(args: &AnnotateArgs, global: &GlobalArgs) -> Result<()> {
    // Code belongs to the symbol that it lies in, inlined or not.
    let mut chosen = args.selection.clone();
    chosen.no_inline = true;
    let mut function = args.function.as_deref();
    // A single argument may name the recording.
    if chosen.recording.is_none() && chosen.input.is_none() {
        chosen.recording = function.map(PathBuf::from).filter(|path| path.exists());
        function = function.filter(|_| chosen.recording.is_none());
    }
    if args.mix && function.is_some() {
        return Err(Error::new(ErrorKind::Usage, "--mix is of all functions").hint("Leave the name away."));
    }
    let profile = load(&recording(&chosen)?, &chosen, &Terminal::stderr(global))?;
    let selection = selection(&chosen, profile)?;
    let (names, tasks) = (Names::of(profile), Tasks::of(profile));
    selection.check(profile, &tasks)?;
    let counts = StackCounts::of(profile, &tasks, &selection);
    let event = match selection.axis {
        Axis::Event(index) => profile.meta.events.get(usize::from(index)).map_or("", |event| event.name.as_str()),
        Axis::OffCpu => "off-cpu",
    };
    let mut code = RecordedCode::of(&profile.meta, args.symfs.as_deref());
    let style = out::style(global, args.output.is_some());
    let bytes = if args.mix {
        let view = MixView::build(profile, &names, &counts, event, args.limit, |frame| code.class(profile, frame));
        match args.format {
            AnnotateFormat::Text => text::mix(&view, style),
            AnnotateFormat::Json => json::mix(&view)?,
        }
    } else {
        let ranking = rank(profile, &names, &tasks, &counts, GroupBy::Function, SortBy::SelfWeight);
        let function = choose(&ranking.rows, function)?;
        let butterfly = Butterfly::of(profile, &names, &counts, (&function.name, &function.module));
        let hottest = butterfly.instructions.first().ok_or_else(|| {
            Error::new(ErrorKind::NotFound, format!("no sample fell on the own code of {}", visible(&function.name)))
        })?;
        let (found, decoded) = code
            .function(profile, hottest.frame, args.disassembler_style)
            .map_err(|error| error.context(format!("cannot show the instructions of {}", visible(&function.name))))?;
        let ipc = CodeIpc::of(profile, &tasks, &selection);
        let named = (function.name.as_str(), function.module.as_str(), event);
        let view = AnnotationView::build(profile, named, &butterfly, &counts, ipc, (&found, decoded));
        match args.format {
            AnnotateFormat::Text => text::annotation(&view, style),
            AnnotateFormat::Json => json::annotation(&view)?,
        }
    };
    pager::show(&bytes, args.output.as_deref())
}

/// The function of this name, else the only one whose name has it as a part; without one, the first whose code is in a file.
fn choose<'a>(rows: &'a [Rank], wanted: Option<&str>) -> Result<&'a Rank> {
    let none = || Error::new(ErrorKind::NotFound, "no sample fell on code of a program or library");
    let sampled = || rows.iter().filter(|row| row.self_samples > 0);
    let Some(wanted) = wanted else {
        return sampled().find(|row| row.module.starts_with('/')).ok_or_else(none);
    };
    if let Some(row) = sampled().find(|row| row.name == wanted) {
        return Ok(row);
    }
    let alike: Vec<&Rank> = sampled().filter(|row| row.name.contains(wanted)).collect();
    match alike.as_slice() {
        [row] => Ok(row),
        [] => Err(Error::new(ErrorKind::NotFound, format!("no sampled function is named {}", visible(wanted)))
            .hint("`ironlaw report --no-inline` lists the functions; inlined ones are part of their callers here.")),
        many => {
            let names: Vec<_> = many.iter().take(5).map(|row| visible(&row.name).into_owned()).collect();
            Err(Error::new(
                ErrorKind::Usage,
                format!("{} functions have '{}' in their names", many.len(), visible(wanted)),
            )
            .hint(format!("Name one of them: {}.", names.join(", "))))
        }
    }
}
