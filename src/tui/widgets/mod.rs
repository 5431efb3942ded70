//! Pieces that screens are drawn with. A piece knows nothing of profiles.

pub mod text;
