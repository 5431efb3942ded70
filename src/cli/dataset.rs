//! Recordings in a data set: whose rows they are, and the writer's messages. A watch writes its own as it runs.

use super::args::{DatasetArgs, LabelArgs};
use super::out::Terminal;
use crate::analysis::TimeRange;
use crate::analysis::dataset::{DatasetLabels, Span, dataset_rows, program_name, spans};
use crate::error::{Error, ErrorKind, Result};
use crate::model::profile::Profile;
use crate::model::{DatasetRows, Meta, Target};
use crate::session;
use crate::store::dataset::{DatasetWriter, Origin};
use crate::sys::procfs::ProcFs;
use crate::view::escape::visible;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::Path;

/// Windows of a recording whose rows are in memory at once: some days of minutes.
const WINDOWS_AT_ONCE: usize = 4_000;

/// # Errors
/// `Usage` for labels without a data set that they label.
pub(super) fn check(args: &DatasetArgs) -> Result<()> {
    let LabelArgs { job, version_label, config } = &args.labels;
    if args.dataset.is_none() && (job.is_some() || version_label.is_some() || config.is_some()) {
        return Err(Error::new(ErrorKind::Usage, "--job, --version-label and --config name rows of a data set")
            .hint("Add --dataset DIR."));
    }
    Ok(())
}

/// The labels as given.
pub(super) fn labels(args: &LabelArgs) -> DatasetLabels {
    DatasetLabels { version: args.version_label.clone(), config: args.config.clone() }
}

/// Whose rows a running watch writes. Its files are no other watch's.
pub(super) fn origin(meta: &Meta, args: &LabelArgs) -> Origin {
    let id = RandomState::new().build_hasher().finish();
    Origin { job: job(meta, args, || None), host: host(meta), id }
}

/// Adds a recording to a data set. Its rows replace those of the same recording that were added before.
pub(super) fn add_recording(dir: &Path, path: &Path, args: &DatasetArgs, terminal: &Terminal) -> Result<()> {
    let profile = session::open(path)?;
    let (meta, window_s) = (&profile.meta, args.dataset_window);
    let job = job(meta, &args.labels, || program_name(&profile));
    let origin = Origin { job, host: host(meta), id: id_of(meta) };
    let mut writer = DatasetWriter::open(dir, &origin, args.dataset_keep)?;
    let whole = TimeRange::default().window(&profile.ticks, profile.duration());
    let spans = spans(&profile.ticks, meta.started_unix_ns, whole, window_s, None);
    let mut counts = [0; 3];
    for some in spans.chunks(WINDOWS_AT_ONCE) {
        let rows = rows(&profile, some, args);
        counts[0] += rows.windows.len();
        counts[1] += rows.functions.len();
        counts[2] += rows.neighbours.len();
        writer.add(rows);
        writer.flush()?;
    }
    let [windows, functions, neighbours] = counts;
    terminal.say(&format!(
        "{}: {windows} windows of {} on {}, {functions} functions, {neighbours} neighbours",
        dir.display(),
        visible(&origin.job),
        visible(&origin.host)
    ));
    Ok(())
}

fn rows(profile: &Profile, spans: &[Span], args: &DatasetArgs) -> DatasetRows {
    dataset_rows(profile, spans, &labels(&args.labels))
}

/// The same for a recording however often it is read, and for no other.
fn id_of(meta: &Meta) -> u64 {
    let numbers = [meta.started_unix_ns, meta.started_mono_ns, meta.plan.interval.0];
    let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).chain(meta.plan.target.label().into_bytes());
    // FNV-1a: the standard library's hash may change from one version to the next.
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn host(meta: &Meta) -> String {
    if meta.host.hostname.is_empty() { "unknown".to_string() } else { meta.host.hostname.clone() }
}

/// The job's name: as given, or the target's own.
fn job(meta: &Meta, args: &LabelArgs, sampled: impl Fn() -> Option<String>) -> String {
    let file = |path: &str| path.rsplit('/').find(|part| !part.is_empty()).map(ToString::to_string);
    let own = || match &meta.plan.target {
        Target::Cgroup { name, .. } => file(name),
        Target::Command { argv } => argv.first().and_then(|program| file(program)),
        Target::Processes { pids: ids, .. } | Target::Threads { tids: ids } => {
            sampled().or_else(|| ids.first().and_then(|id| running_program(*id)))
        }
        Target::Cpus { .. } => Some("all".to_string()),
    };
    args.job.clone().or_else(own).unwrap_or_else(|| "unknown".to_string())
}

/// The program that a process or thread runs now.
fn running_program(id: u32) -> Option<String> {
    let file = std::fs::read_link(format!("/proc/{id}/exe")).ok();
    let name =
        file.and_then(|file| Some(file.file_name()?.to_string_lossy().trim_end_matches(" (deleted)").to_string()));
    let comm = || ProcFs::new("/proc").read(format!("{id}/comm")).ok();
    name.or_else(|| Some(String::from_utf8_lossy(&comm()?).trim().to_string())).filter(|name| !name.is_empty())
}
