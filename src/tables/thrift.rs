//! Writes Thrift's compact protocol, in which Parquet describes pages and files.

use super::bits::{put_varint, zigzag};

/// Types as the protocol numbers them.
const INT32: u8 = 5;
const INT64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// A struct being written. Fields must come in the order of their numbers, which differ by at most 15.
#[derive(Debug)]
pub(super) struct Struct<'a> {
    out: &'a mut Vec<u8>,
    last: u8,
}

/// Appends a struct of these fields.
pub(super) fn put(out: &mut Vec<u8>, fields: impl FnOnce(&mut Struct<'_>)) {
    fields(&mut Struct { out, last: 0 });
    out.push(0);
}

impl Struct<'_> {
    pub fn int32(&mut self, field: u8, value: i32) {
        self.begin(field, INT32);
        put_varint(zigzag(value.into()), self.out);
    }

    pub fn int64(&mut self, field: u8, value: usize) {
        self.begin(field, INT64);
        put_varint(zigzag(value as i64), self.out);
    }

    pub fn text(&mut self, field: u8, text: &str) {
        self.begin(field, BINARY);
        put_text(text, self.out);
    }

    pub fn nested(&mut self, field: u8, fields: impl FnOnce(&mut Struct<'_>)) {
        self.begin(field, STRUCT);
        put(self.out, fields);
    }

    pub fn int32s(&mut self, field: u8, values: &[i32]) {
        self.list(field, INT32, values, |value, out| put_varint(zigzag(i64::from(*value)), out));
    }

    pub fn texts(&mut self, field: u8, texts: &[&str]) {
        self.list(field, BINARY, texts, |text, out| put_text(text, out));
    }

    /// A list with a struct for each item.
    pub fn structs<T>(&mut self, field: u8, items: &[T], mut fields: impl FnMut(&mut Struct<'_>, &T)) {
        self.list(field, STRUCT, items, |item, out| put(out, |each| fields(each, item)));
    }

    fn list<T>(&mut self, field: u8, kind: u8, items: &[T], mut put: impl FnMut(&T, &mut Vec<u8>)) {
        self.begin(field, LIST);
        match items.len() as u8 {
            short @ 0..15 if items.len() < 15 => self.out.push(short << 4 | kind),
            _ => {
                self.out.push(0xf0 | kind);
                put_varint(items.len() as u64, self.out);
            }
        }
        items.iter().for_each(|item| put(item, self.out));
    }

    fn begin(&mut self, field: u8, kind: u8) {
        self.out.push((field - self.last) << 4 | kind);
        self.last = field;
    }
}

fn put_text(text: &str, out: &mut Vec<u8>) {
    put_varint(text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}
