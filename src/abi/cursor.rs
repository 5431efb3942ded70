//! Reads numbers and texts of either byte order from untrusted bytes. Every read is bounds-checked: missing data is `None`.

use std::borrow::Cow;

/// A position in a slice, with its byte order.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'a> {
    rest: &'a [u8],
    big: bool,
}

impl<'a> Cursor<'a> {
    /// Reads from the start of `bytes`; `big`: whether numbers are big-endian.
    #[inline]
    #[must_use]
    pub fn new(bytes: &'a [u8], big: bool) -> Cursor<'a> {
        Cursor { rest: bytes, big }
    }

    /// Reads numbers in this machine's byte order, as in the kernel's rings.
    #[inline]
    #[must_use]
    pub fn native(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor::new(bytes, cfg!(target_endian = "big"))
    }

    /// The bytes not read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Takes that many bytes.
    #[inline]
    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(head)
    }

    /// Takes as many bytes as a number in the data states.
    #[inline]
    pub fn take_counted(&mut self, count: u64) -> Option<&'a [u8]> {
        self.take(usize::try_from(count).ok()?)
    }

    /// Takes as many 64-bit numbers as a number in the data states.
    #[inline]
    pub fn take_words(&mut self, count: u64) -> Option<Words<'a>> {
        let bytes = self.take_counted(count.checked_mul(8)?)?;
        Some(Words { bytes, big: self.big })
    }

    /// Leaves that many bytes out.
    #[inline]
    pub fn skip(&mut self, count: usize) -> Option<()> {
        self.take(count).map(|_| ())
    }

    /// Takes a `u8`.
    #[inline]
    pub fn u8(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    /// Takes a `u16`.
    #[inline]
    pub fn u16(&mut self) -> Option<u16> {
        let bytes = self.take(2)?.try_into().ok()?;
        Some(if self.big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
    }

    /// Takes a `u32`.
    #[inline]
    pub fn u32(&mut self) -> Option<u32> {
        let bytes = self.take(4)?.try_into().ok()?;
        Some(if self.big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    /// Takes a `u64`.
    #[inline]
    pub fn u64(&mut self) -> Option<u64> {
        let bytes = self.take(8)?.try_into().ok()?;
        Some(if self.big { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) })
    }

    /// The rest as a list of 64-bit numbers; an incomplete one at the end is ignored.
    #[must_use]
    pub fn words(self) -> Words<'a> {
        Words { bytes: self.rest, big: self.big }
    }

    /// Bytes up to the first zero, or all that is left.
    pub fn name(&self) -> &'a [u8] {
        self.rest.split(|byte| *byte == 0).next().unwrap_or_default()
    }

    /// Reads a string of a header: its padded length, then the text with a terminating zero.
    pub fn text(&mut self) -> Option<Cow<'a, str>> {
        let length = self.u32()?;
        let bytes = self.take_counted(u64::from(length))?;
        Some(String::from_utf8_lossy(Cursor::new(bytes, self.big).name()))
    }

    /// Reads a list of strings of a header.
    pub fn texts(&mut self) -> Option<Vec<Cow<'a, str>>> {
        let count = self.u32()?;
        // Collecting stops at the first missing string, so the count alone reserves nothing.
        (0..count).map(|_| self.text()).collect()
    }
}

/// 64-bit numbers in a record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Words<'a> {
    bytes: &'a [u8],
    big: bool,
}

impl<'a> Words<'a> {
    /// The numbers in `bytes`; an incomplete one at the end is ignored.
    #[cfg(test)]
    pub fn new(bytes: &'a [u8], big: bool) -> Words<'a> {
        Words { bytes, big }
    }

    /// The numbers in order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = u64> + use<'a> {
        let mut cursor = Cursor::new(self.bytes, self.big);
        std::iter::from_fn(move || cursor.u64())
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() / 8
    }

    /// The number at a position.
    #[must_use]
    pub fn get(&self, at: usize) -> Option<u64> {
        let bytes = self.bytes.get(at.checked_mul(8)?..)?;
        Cursor::new(bytes, self.big).u64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_the_files_order_of_bytes() {
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8, 9];
        assert_eq!(Cursor::new(&bytes, false).u32(), Some(0x0403_0201));
        assert_eq!(Cursor::new(&bytes, true).u32(), Some(0x0102_0304));
        assert_eq!(Cursor::new(&bytes, true).words().iter().collect::<Vec<_>>(), [0x0102_0304_0506_0708]);
        assert_eq!(Cursor::new(&bytes, true).words().get(usize::MAX), None);
    }

    #[test]
    fn a_text_longer_than_its_section_is_no_text() {
        let mut bytes = vec![8, 0, 0, 0];
        bytes.extend(b"ab\0xyzw?");
        assert_eq!(Cursor::new(&bytes, false).text().as_deref(), Some("ab"));
        assert_eq!(Cursor::new(&bytes[..11], false).text(), None);
        let many = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];
        assert_eq!(Cursor::new(&many, false).texts(), None);
    }
}
