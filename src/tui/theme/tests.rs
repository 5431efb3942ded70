//! Computable aspects of readability: contrast, distinct colours for all kinds of vision, meaning without colours.

use super::colour::PaletteColour;
use super::colour::{contrast, linear};
use super::palette::Palette;
use super::*;
use crate::view::CodeKind;
use ratatui::style::Color;
use ratatui::style::Style;

const KINDS: [CodeKind; 4] = [CodeKind::User, CodeKind::Kernel, CodeKind::Jit, CodeKind::Heading];
const DEPTHS: [ColourDepth; 3] = [ColourDepth::True, ColourDepth::TwoFiftySix, ColourDepth::Sixteen];
/// Common backgrounds: black, two dark greys, white, Solarized.
const DARK: [[u8; 3]; 3] = [[0, 0, 0], [30, 30, 30], [40, 44, 52]];
const LIGHT: [[u8; 3]; 3] = [[255, 255, 255], [250, 250, 250], [253, 246, 227]];

fn palettes() -> Vec<(ThemeName, Palette, [[u8; 3]; 3])> {
    [
        (ThemeName::Dark, DARK),
        (ThemeName::Light, LIGHT),
        (ThemeName::ColourBlind, DARK),
        (ThemeName::ColourBlindLight, LIGHT),
    ]
    .into_iter()
    .filter_map(|(name, backgrounds)| Some((name, Palette::of(name)?, backgrounds)))
    .collect()
}

fn texts(palette: &Palette) -> Vec<PaletteColour> {
    let Palette { dim, accent, accent2, good, warn, bad, changes, series, .. } = palette;
    [&[*dim, *accent, *accent2, *good, *warn, *bad][..], changes, series].concat()
}

#[test]
fn text_can_be_read_on_every_usual_background_and_on_the_selected_row() {
    for (name, palette, mut backgrounds) in palettes() {
        for depth in [ColourDepth::True, ColourDepth::TwoFiftySix] {
            backgrounds[0] = palette.selected.shown(depth);
            for ink in texts(&palette) {
                for background in backgrounds {
                    let ratio = contrast(ink.shown(depth), background);
                    assert!(ratio >= 4.5, "{name:?} {depth:?}: {:?} on {background:?} is {ratio:.2}", ink.rgb);
                }
            }
        }
    }
}

#[test]
fn a_heat_map_rises_from_what_is_just_seen_to_what_stands_out() {
    for (name, palette, backgrounds) in palettes() {
        for depth in [ColourDepth::True, ColourDepth::TwoFiftySix] {
            for background in backgrounds {
                let ratios = palette.heat.map(|ink| contrast(ink.shown(depth), background));
                assert!(ratios[0] >= 1.3 && ratios[ratios.len() - 1] >= 10.0, "{name:?} {depth:?}: {ratios:?}");
                assert!(ratios.is_sorted(), "{name:?} {depth:?}: {ratios:?}");
            }
        }
    }
}

/// Red, green and blue of a style's colour, as xterm shows it.
fn shown(colour: Option<Color>) -> [u8; 3] {
    match colour {
        Some(Color::Rgb(red, green, blue)) => [red, green, blue],
        Some(Color::Indexed(index)) => super::colour::indexed(index),
        Some(Color::Black) => [0, 0, 0],
        Some(Color::White) => [255, 255, 255],
        Some(named) => (0..16)
            .map(|ansi| PaletteColour { rgb: [0; 3], ansi })
            .find(|ink| ink.colour(ColourDepth::Sixteen) == named)
            .map_or([0; 3], |ink| ink.shown(ColourDepth::Sixteen)),
        None => [0; 3],
    }
}

#[test]
fn labels_on_cells_can_be_read_in_every_depth() {
    for (name, ..) in palettes() {
        for depth in DEPTHS {
            let theme = Theme::new(name, depth);
            let mut cells: Vec<Style> = (-2..=2).map(|step| theme.change(step)).collect();
            for kind in KINDS {
                cells.extend(
                    [(false, 0), (false, 24), (true, 0), (true, 24)]
                        .map(|(inlined, shade)| theme.cell(kind, inlined, shade)),
                );
            }
            cells.push(theme.found);
            for cell in cells {
                let ratio = contrast(shown(cell.fg), shown(cell.bg));
                assert!(ratio >= 4.5, "{name:?} {depth:?}: {cell:?} is {ratio:.2}");
            }
        }
    }
}

/// Linear light as seen without green (or red) receptors (Viénot, Brettel and Mollon 1999).
fn seen(rgb: [u8; 3], without_red: bool) -> [f64; 3] {
    let [red, green, blue] = rgb.map(linear);
    let mix = if without_red { 0.1124 * red + 0.8876 * green } else { 0.2928 * red + 0.7072 * green };
    [mix, mix, if without_red { blue + 0.0040 * (red - green) } else { blue + 0.0223 * (green - red) }]
}

/// Perceived distance of two colours in about noticeable steps: square roots of light are nearly even steps.
fn apart(a: [u8; 3], b: [u8; 3], without_red: bool) -> f64 {
    let (a, b) = (seen(a, without_red), seen(b, without_red));
    let root = |light: f64| light.max(0.0).sqrt() * 255.0;
    a.iter().zip(b).map(|(a, b)| (root(*a) - root(b)).powi(2)).sum::<f64>().sqrt()
}

fn check_apart(what: ThemeName, inks: &[PaletteColour]) {
    for (at, a) in inks.iter().enumerate() {
        for b in &inks[at + 1..] {
            for without_red in [true, false] {
                let far = apart(a.rgb, b.rgb, without_red);
                assert!(far >= 24.0, "{what:?}: {:?} and {:?} look alike ({far:.0})", a.rgb, b.rgb);
            }
        }
    }
}

#[test]
fn more_and_less_are_told_apart_by_every_eye_in_every_theme() {
    for (name, palette, _) in palettes() {
        check_apart(name, &palette.change_cells);
        check_apart(name, &[palette.changes[0], palette.dim, palette.changes[3]]);
    }
}

#[test]
fn the_colour_blind_theme_never_rests_on_red_against_green() {
    for (name, palette, _) in palettes().into_iter().skip(2) {
        check_apart(name, &palette.cells);
        check_apart(name, &[palette.good, palette.warn, palette.bad]);
    }
}

#[test]
fn without_colours_every_meaning_keeps_a_look_of_its_own() {
    let mono = Theme::new(ThemeName::Mono, ColourDepth::True);
    let cells = KINDS.map(|kind| mono.cell(kind, false, 3));
    let changes: Vec<Style> = (-2..=2).map(|step| mono.change_text(step)).collect();
    let groups: [&[Style]; 3] = [
        &[cells[0], cells[1], cells[3], mono.found],
        &changes,
        &[mono.text, mono.dim, mono.selected, mono.heading, mono.warn, mono.tab_open],
    ];
    for group in groups {
        for (at, style) in group.iter().enumerate() {
            assert!(style.fg.is_none() && style.bg.is_none(), "{style:?}");
            assert!(!group[at + 1..].contains(style), "{style:?}");
        }
    }
    assert_ne!(mono.cell(CodeKind::User, true, 3), mono.cell(CodeKind::User, false, 3));
}

#[test]
fn changes_go_from_less_to_more_and_are_clamped() {
    let theme = Theme::new(ThemeName::Dark, ColourDepth::True);
    assert_eq!((theme.change(-100), theme.change_text(100)), (theme.change(-2), theme.change_text(2)));
    assert_eq!([-9, -1, 0, 1, 9].map(Theme::change_mark), ["--", "-", "=", "+", "++"]);
}
