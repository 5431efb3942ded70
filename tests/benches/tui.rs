//! What a frame of the terminal session costs on a call tree of 100,000 cells, and what a look at its profile does.
//! Run with `cargo bench --bench tui`.
#![expect(clippy::unwrap_used, reason = "a benchmark may panic")]

use ironlaw::model::profile::{Profile, ProfileBuilder};
use ironlaw::model::{Definition, Event, FrameDef, FrameId, Sample, StackDef, StackEnd, StackId, Symbol};
use ironlaw::tui::app::App;
use ironlaw::tui::msg::Msg;
use ironlaw::tui::panel::ScreenId;
use ironlaw::tui::settings::Settings;
use ironlaw::units::Nanos;
use ironlaw::view::Axis;
use ironlaw::view::query::{Bounds, CompareWith, Grouping, LineKey, Query, TaskFilter, TimeSelector, ViewRequest};
use ironlaw::view::snapshot::{Snapshot, snapshot_of_profile};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::path::Path;
use std::sync::LazyLock;

const CELLS: u32 = 100_000;
const FUNCTIONS: u32 = 3_000;
const SIZE: (u16, u16) = (200, 60);

static PROFILE: LazyLock<Profile> = LazyLock::new(profile);

fn main() {
    LazyLock::force(&PROFILE);
    divan::main();
}

/// A tree in which every cell calls a few others, sampled once or more at each, over 60 s.
fn profile() -> Profile {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/golden-1.0.ironlaw");
    let meta = ironlaw::session::open(&fixture).unwrap().meta;
    let mut builder = ProfileBuilder::new(meta.clone());
    for id in 0..FUNCTIONS {
        builder.apply(Event::Define(Definition::Frame(FrameDef { id: FrameId(id), module: None, address: id.into() })));
        let function = format!("storage::engine::Table<unsigned long>::operation_{id}(std::string const&)");
        let symbols = vec![Symbol { inlined: id % 5 == 0, ..Symbol::named(function) }];
        builder.apply(Event::Define(Definition::Names { frame: FrameId(id), symbols }));
    }
    let mut random = 1_u32;
    for id in 0..CELLS {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let parent = id.checked_sub(1).map(|_| StackId((random >> 8) % id.min(4 * id.isqrt() + 8)));
        let frame = FrameId(random % FUNCTIONS);
        builder.apply(Event::Define(Definition::Stack(StackDef { id: StackId(id), parent, frame })));
        for _ in 0..1 + random % 4 {
            builder.apply(Event::Sample(Sample {
                at: Nanos(u64::from(id) * 600_000),
                pid: 1,
                tid: 1 + random % 16,
                cpu: random % 8,
                event: 0,
                weight: 1_003_009,
                stack: Some(StackId(id)),
                end: StackEnd::Whole,
                kernel: false,
            }));
        }
    }
    builder.finish(meta)
}

fn seen(request: ViewRequest) -> Snapshot {
    let query = Query {
        time: TimeSelector::All,
        end: None,
        filter: TaskFilter::default(),
        axis: Axis::Event(0),
        compare_with: CompareWith::Nothing,
        point: None,
        per: None,
        request,
    };
    snapshot_of_profile(&PROFILE, None, None, Bounds { since: Nanos(0), now: Nanos(60_000_000_000) }, true, query)
}

fn frame(bencher: divan::Bencher<'_, '_>, screen: ScreenId, request: ViewRequest) {
    let mut app = App::opening(&Settings::default(), SIZE);
    app.start_on(screen);
    app.update(Msg::Opened { kind: ironlaw::tui::screens::SessionKind::Profile, live: true, baseline: false });
    app.update(Msg::Seen(Box::new(seen(request))));
    let mut terminal = Terminal::new(TestBackend::new(SIZE.0, SIZE.1)).unwrap();
    bencher.bench_local(|| terminal.draw(|frame| app.draw(frame)).unwrap().area);
}

#[divan::bench]
fn frame_flame(bencher: divan::Bencher<'_, '_>) {
    frame(bencher, ScreenId::Flame, ViewRequest::Flame { by: Grouping::Plain, against_baseline: false });
}

#[divan::bench]
fn frame_overview(bencher: divan::Bencher<'_, '_>) {
    frame(bencher, ScreenId::Overview, ViewRequest::Overview);
}

#[divan::bench]
fn frame_threads(bencher: divan::Bencher<'_, '_>) {
    frame(bencher, ScreenId::Threads, ViewRequest::Threads { by: LineKey::Thread, detail: None });
}

#[divan::bench(sample_count = 10)]
fn look_flame(bencher: divan::Bencher<'_, '_>) {
    bencher.bench(|| seen(ViewRequest::Flame { by: Grouping::Plain, against_baseline: false }));
}

#[divan::bench(sample_count = 10)]
fn look_overview(bencher: divan::Bencher<'_, '_>) {
    bencher.bench(|| seen(ViewRequest::Overview));
}
