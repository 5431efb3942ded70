//! Every theme in every depth on one page, for checks by eye; `tests` checks everything that can be computed.
//! `cargo test --lib -- --ignored gallery` writes `target/gallery/*.ansi`; `cat` one in a terminal 100 columns wide.
#![expect(clippy::unwrap_used, reason = "tests")]

use crate::model::Unit;
use crate::tui::theme::*;
use crate::tui::widgets::bar::{Part, stacked};
use crate::tui::widgets::chart::{Chart, Origin, Series};
use crate::tui::widgets::sparkline::sparkline;
use crate::tui::widgets::table::{Cell, Column, Cut, Table};
use crate::tui::widgets::{WidgetContext, put};
use crate::units::Nanos;
use crate::view::CodeKind;
use ratatui::backend::CrosstermBackend;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};

const SIZE: (u16, u16) = (100, 40);

#[test]
#[ignore = "draws pictures to be looked at"]
fn gallery() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("target/gallery");
    std::fs::create_dir_all(&folder).unwrap();
    let themes = [
        ("dark", ThemeName::Dark),
        ("light", ThemeName::Light),
        ("colour-blind", ThemeName::ColourBlind),
        ("colour-blind-light", ThemeName::ColourBlindLight),
        ("mono", ThemeName::Mono),
    ];
    let depths = [("true", ColourDepth::True), ("256", ColourDepth::TwoFiftySix), ("16", ColourDepth::Sixteen)];
    for (name, theme) in themes {
        for (colours, depth) in depths {
            for (drawing, glyphs) in [("unicode", Glyphs::UNICODE), ("ascii", Glyphs::ASCII)] {
                let page = page(&Theme::new(theme, depth), &glyphs);
                std::fs::write(folder.join(format!("{name}-{colours}-{drawing}.ansi")), page).unwrap();
            }
        }
    }
}

fn page(theme: &Theme, glyphs: &Glyphs) -> Vec<u8> {
    let mut bytes = Vec::new();
    let options = TerminalOptions { viewport: Viewport::Fixed(Rect::new(0, 0, SIZE.0, SIZE.1)) };
    let mut terminal = Terminal::with_options(CrosstermBackend::new(&mut bytes), options).unwrap();
    terminal.draw(|frame| draw(WidgetContext { theme, glyphs }, frame.area(), frame.buffer_mut())).unwrap();
    drop(terminal);
    bytes.extend(format!("\x1b[{};1H", SIZE.1).bytes());
    bytes
}

fn row(area: Rect, y: u16, height: u16) -> Rect {
    Rect { y: area.y + y, height, ..area }
}

fn draw(context: WidgetContext<'_>, area: Rect, buf: &mut Buffer) {
    words(context, row(area, 0, 2), buf);
    bars(context, row(area, 3, 4), buf);
    flame(context, row(area, 8, 5), buf);
    changes(context, row(area, 14, 2), buf);
    table(context, row(area, 17, 7), buf);
    lines(context, row(area, 25, 14), buf);
}

fn words(context: WidgetContext<'_>, area: Rect, buf: &mut Buffer) {
    let t = context.theme;
    let words = [
        ("ironlaw", t.accent),
        ("text", t.text),
        ("dim", t.dim),
        ("accent", t.accent),
        ("accent2", t.accent2),
        ("heading", t.heading),
        ("good", t.good),
        ("warn", t.warn),
        ("bad", t.bad),
        ("missing", t.missing),
        ("found", t.found),
        ("2 Flame", t.tab_open),
        ("shown", t.shown),
    ];
    let mut x = 1;
    for (word, style) in words {
        x = put(buf, area, (x, area.y), word, style) + 2;
    }
    for x in area.left()..area.right() {
        put(buf, area, (x, area.y + 1), context.glyphs.rule, t.dim);
    }
}

fn bars(context: WidgetContext<'_>, area: Rect, buf: &mut Buffer) {
    let shares = [0.52, 0.2, 0.12, 0.08, 0.05, 0.013];
    let parts: Vec<Part> =
        shares.iter().zip(context.theme.series).map(|(share, style)| Part { share: *share, style }).collect();
    put(buf, area, (1, area.y), "stacked", context.theme.dim);
    stacked(&parts, context, Rect { x: 12, width: 80, ..row(area, 0, 1) }, buf);
    put(buf, area, (1, area.y + 1), "run 99.5%", context.theme.dim);
    stacked(&parts[..1], context, Rect { x: 12, width: 80, ..row(area, 1, 1) }, buf);
    let values: Vec<Option<f64>> =
        (0..80).map(|at| (at % 23 < 20).then(|| (f64::from(at) * 0.25).sin().abs())).collect();
    sparkline(&values, None, context.theme.accent, context, Rect { x: 12, width: 80, ..row(area, 2, 2) }, buf);
}

fn flame(context: WidgetContext<'_>, area: Rect, buf: &mut Buffer) {
    let rows: [&[(&str, CodeKind, bool, u16)]; 5] = [
        &[("all", CodeKind::Heading, false, 98)],
        &[("redis-server", CodeKind::User, false, 70), ("java", CodeKind::User, false, 28)],
        &[
            ("aeMain", CodeKind::User, false, 44),
            ("k entry_SYSCALL_64", CodeKind::Kernel, false, 26),
            ("J Main.loop", CodeKind::Jit, false, 28),
        ],
        &[
            ("processCommand", CodeKind::User, false, 24),
            ("lookupKey", CodeKind::User, true, 20),
            ("k do_sys_poll", CodeKind::Kernel, false, 16),
            ("k copy_to_user", CodeKind::Kernel, true, 10),
            ("J Map.get", CodeKind::Jit, true, 14),
        ],
        &[
            ("dictFind", CodeKind::User, false, 12),
            ("siphash", CodeKind::User, true, 8),
            ("memcpy", CodeKind::User, false, 10),
            ("sdslen", CodeKind::User, true, 10),
        ],
    ];
    for (y, cells) in rows.iter().enumerate() {
        let mut x = 1;
        for (at, (label, kind, inlined, width)) in cells.iter().enumerate() {
            let style = context.theme.cell(*kind, *inlined, (at * 11 % 25) as u8);
            let style = if *label == "memcpy" { context.theme.found } else { style };
            let label =
                if context.theme.is_mono() { format!("{}{label}", context.glyphs.bar) } else { (*label).to_string() };
            buf.set_style(Rect { x, width: *width, ..row(area, y as u16, 1) }, style);
            x = put(buf, Rect { width: x + width, ..area }, (x, area.y + y as u16), &label, style).max(x + width);
        }
    }
}

fn changes(context: WidgetContext<'_>, area: Rect, buf: &mut Buffer) {
    for (at, step) in (-2..=2).enumerate() {
        let x = 1 + at as u16 * 16;
        let mark = Theme::change_mark(step);
        put(buf, area, (x, area.y), &format!("{mark:<3}{:<12}", "function"), context.theme.change(step));
        put(
            buf,
            area,
            (x, area.y + 1),
            &format!("{mark:<3}{:>5} pt", 4 * i32::from(step)),
            context.theme.change_text(step),
        );
    }
}

fn table(context: WidgetContext<'_>, area: Rect, buf: &mut Buffer) {
    const COLUMNS: [Column<'static>; 4] = [
        Column { title: "self", least: 6, grows: 0, right: true, rank: 0, cut: Cut::End },
        Column { title: "samples", least: 9, grows: 0, right: true, rank: 2, cut: Cut::End },
        Column { title: "function", least: 20, grows: 3, right: false, rank: 0, cut: Cut::Name },
        Column { title: "module", least: 10, grows: 1, right: false, rank: 3, cut: Cut::Front },
    ];
    const ROWS: [[&str; 4]; 9] = [
        ["31.2%", "1,234", "dictFind", "redis-server"],
        [
            "18.0%",
            "712",
            "std::vector<std::basic_string<char>>::_M_realloc_insert",
            "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
        ],
        ["9.87%", "391", "日本語の関数名", "app"],
        ["4.50%", "178", "\x1b[2Jmain", "app"],
        ["1.20%", "48", "e\u{301}\u{302}\u{303}\u{304}\u{305}vil", "app"],
        ["0.10%", "4", "copy_to_user", "[kernel]"],
        ["–", "0", "g", "[kernel]"],
        ["–", "0", "h", "[kernel]"],
        ["–", "0", "i", "[kernel]"],
    ];
    let table = Table { columns: &COLUMNS, sorted: Some((0, true)), rows: ROWS.len(), selected: Some(1), top: 0 };
    let style = |column| if column == 3 { context.theme.dim } else { context.theme.text };
    table.draw(|row, column| Cell::new(ROWS[row][column], style(column)), context, area, buf);
}

fn lines(context: WidgetContext<'_>, area: Rect, buf: &mut Buffer) {
    let second = |at: u64| Nanos(at * 1_000_000_000);
    let wave = |phase: f64, low: f64| -> Vec<(Nanos, Option<f64>)> {
        let value = |at: u64| low + 1.2e9 * (at as f64 * 0.08 + phase).sin().abs();
        (0..=120).map(|at| (second(at), (!(50..58).contains(&at)).then(|| value(at)))).collect()
    };
    let points = [wave(0.0, 1.5e9), wave(1.0, 0.9e9), wave(2.0, 0.2e9)];
    let series: Vec<Series<'_>> =
        ["CPU 0", "CPU 1", "CPU 2"].iter().zip(&points).map(|(name, points)| Series { name, points }).collect();
    let chart = Chart {
        series: &series,
        unit: Unit::Hertz,
        span: (second(0), second(120)),
        origin: Origin::Now(second(120)),
        top: None,
        range: Some((second(80), second(100))),
        mark: Some(second(30)),
    };
    chart.draw(context, area, buf);
}
