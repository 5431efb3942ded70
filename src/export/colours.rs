//! The flame graph's own colours: the hue shows the kind of code, the lightness whether it was inlined.
//! Shades of one hue depend on the name only, so a function has the same colour in every picture.

use crate::view::CodeKind;
use crate::view::Label;

/// A base colour; shades lie up to 24 steps below each channel.
struct Hue(u8, u8, u8);

/// Dark text is readable on all of them (contrast 7:1 and more), and they differ in lightness as well as hue.
const USER: Hue = Hue(255, 196, 120);
const KERNEL: Hue = Hue(150, 190, 240);
const JIT: Hue = Hue(150, 220, 150);
const HEADING: Hue = Hue(214, 214, 214);

/// The colour of a cell.
pub(super) fn colour(frame: &Label) -> (u8, u8, u8) {
    let Hue(red, green, blue) = match frame.kind {
        CodeKind::User => USER,
        CodeKind::Kernel => KERNEL,
        CodeKind::Jit => JIT,
        CodeKind::Heading => HEADING,
    };
    let shade = if frame.kind == CodeKind::Heading { 0 } else { shade(&frame.text) };
    let channel = |value: u8| {
        let value = value - shade;
        // Inlined frames are lighter: halfway to white.
        if frame.inlined { value + (255 - value) / 2 } else { value }
    };
    (channel(red), channel(green), channel(blue))
}

/// The colour of a rate against that of all code, from blue for much less to red for much more; grey if it is not known.
pub(super) fn rate_colour(step: Option<i8>) -> (u8, u8, u8) {
    match step {
        None => (214, 214, 214),
        Some(..=-2) => (120, 180, 220),
        Some(-1) => (190, 220, 240),
        Some(0) => (250, 240, 200),
        Some(1) => (253, 200, 140),
        Some(_) => (244, 150, 110),
    }
}

/// The legend of these colours.
pub(super) fn rate_legend() -> Vec<(&'static str, (u8, u8, u8))> {
    let names = ["0.5x", "less", "as all", "more", "2x"];
    let known = names.into_iter().zip(-2..).map(|(name, step)| (name, rate_colour(Some(step))));
    known.chain([("unknown", rate_colour(None))]).collect()
}

/// The legend: what each hue means.
pub(super) fn legend() -> Vec<(&'static str, (u8, u8, u8))> {
    let pale = |Hue(r, g, b): &Hue| (r + (255 - r) / 2, g + (255 - g) / 2, b + (255 - b) / 2);
    let full = |Hue(r, g, b): &Hue| (*r, *g, *b);
    vec![("user", full(&USER)), ("inlined", pale(&USER)), ("kernel", full(&KERNEL)), ("JIT", full(&JIT))]
}

/// A shade from 0 to 24 by name (FNV-1a), so that neighbouring cells can be distinguished.
fn shade(name: &str) -> u8 {
    let hash = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    ((hash >> 32) % 25) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_inlining_are_told_apart_whatever_the_name() {
        for name in ["a", "main", "futex_wait"] {
            let frame = |kind, inlined| Label { text: name.to_string(), kind, inlined };
            let mut colours = vec![
                colour(&frame(CodeKind::User, false)),
                colour(&frame(CodeKind::User, true)),
                colour(&frame(CodeKind::Kernel, false)),
                colour(&frame(CodeKind::Kernel, true)),
                colour(&frame(CodeKind::Jit, false)),
                colour(&frame(CodeKind::Heading, false)),
            ];
            colours.sort_unstable();
            colours.dedup();
            assert_eq!(colours.len(), 6, "{name}");
        }
    }
}
