//! The small part of protobuf that is written here: numbers, strings, nested messages, packed lists.

/// A message under construction.
#[derive(Debug, Default)]
pub(super) struct Message {
    bytes: Vec<u8>,
}

/// Wire types: a number, eight bytes, or bytes after their length.
const VARINT: u32 = 0;
const FIXED: u32 = 1;
const LENGTH: u32 = 2;

impl Message {
    /// A number. Zero is left out, because it is the value of a missing field.
    pub fn number(&mut self, field: u32, value: u64) {
        if value != 0 {
            self.key(field, VARINT);
            varint(&mut self.bytes, value);
        }
    }

    /// A number in eight bytes, even zero.
    pub fn fixed(&mut self, field: u32, value: u64) {
        self.key(field, FIXED);
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// A floating-point number, even zero.
    pub fn double(&mut self, field: u32, value: f64) {
        self.fixed(field, value.to_bits());
    }

    /// A string, even an empty one.
    pub fn text(&mut self, field: u32, text: &str) {
        self.counted(field, text.as_bytes());
    }

    /// A nested message.
    pub fn message(&mut self, field: u32, message: &Message) {
        self.counted(field, &message.bytes);
    }

    /// A list of numbers.
    pub fn packed(&mut self, field: u32, values: impl Iterator<Item = u64>) {
        let mut list = Vec::new();
        values.for_each(|value| varint(&mut list, value));
        self.counted(field, &list);
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn key(&mut self, field: u32, layout: u32) {
        varint(&mut self.bytes, u64::from(field << 3 | layout));
    }

    fn counted(&mut self, field: u32, bytes: &[u8]) {
        self.key(field, LENGTH);
        varint(&mut self.bytes, bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }
}

/// Seven bits per byte, lowest first; the eighth bit marks that more follow.
fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_the_format_documents_them() {
        for (value, bytes) in [(1, &[0x08, 0x01][..]), (150, &[0x08, 0x96, 0x01]), (0, &[])] {
            let mut message = Message::default();
            message.number(1, value);
            assert_eq!(message.bytes(), bytes);
        }
        let mut largest = Vec::new();
        varint(&mut largest, u64::MAX);
        assert_eq!(largest, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]);
    }

    #[test]
    fn fixed_numbers_have_eight_bytes_lowest_first() {
        let mut message = Message::default();
        message.double(4, 1.0);
        message.fixed(3, 1);
        let (double, fixed) = message.bytes().split_at(9);
        assert_eq!(double, [0x21, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
        assert_eq!(fixed, [0x19, 1, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn texts_lists_and_messages_carry_their_length() {
        let mut inner = Message::default();
        inner.packed(4, [3, 270, 86_942].into_iter());
        assert_eq!(inner.bytes(), [0x22, 0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05]);
        let mut outer = Message::default();
        outer.text(2, "testing");
        outer.message(3, &inner);
        assert_eq!(outer.bytes()[..9], *b"\x12\x07testing");
        assert_eq!(outer.bytes()[9..11], [0x1a, 0x08]);
    }
}
