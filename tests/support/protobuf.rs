//! A reader of protobuf, apart from the writers under test.

use std::collections::BTreeMap;

/// A field's value: a number, or bytes.
#[derive(Debug, Clone)]
enum Value {
    Number(u64),
    Bytes(Vec<u8>),
}

/// The fields of a message, by number, in order.
#[derive(Debug, Default)]
pub struct Fields(BTreeMap<u64, Vec<Value>>);

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first().expect("a number ends");
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return value;
        }
    }
    panic!("a number of more than ten bytes");
}

impl Fields {
    pub fn of(mut bytes: &[u8]) -> Fields {
        let mut fields = Fields::default();
        while !bytes.is_empty() {
            let key = varint(&mut bytes);
            let value = match key & 7 {
                0 => Value::Number(varint(&mut bytes)),
                1 => {
                    let (value, rest) = bytes.split_first_chunk().expect("eight bytes");
                    bytes = rest;
                    Value::Number(u64::from_le_bytes(*value))
                }
                2 => {
                    let length = varint(&mut bytes) as usize;
                    let (value, rest) = bytes.split_at(length);
                    bytes = rest;
                    Value::Bytes(value.to_vec())
                }
                layout => panic!("layout {layout} is not used here"),
            };
            fields.0.entry(key >> 3).or_default().push(value);
        }
        fields
    }

    pub fn number(&self, field: u64) -> u64 {
        match self.0.get(&field).and_then(|values| values.last()) {
            Some(Value::Number(number)) => *number,
            None => 0,
            Some(Value::Bytes(_)) => panic!("field {field} is no number"),
        }
    }

    pub fn bytes(&self, field: u64) -> impl Iterator<Item = &[u8]> {
        self.0.get(&field).into_iter().flatten().map(move |value| match value {
            Value::Bytes(bytes) => bytes.as_slice(),
            Value::Number(_) => panic!("field {field} is a number"),
        })
    }

    /// Numbers, packed or not.
    pub fn numbers(&self, field: u64) -> Vec<u64> {
        let mut numbers = Vec::new();
        for value in self.0.get(&field).into_iter().flatten() {
            match value {
                Value::Number(number) => numbers.push(*number),
                Value::Bytes(bytes) => {
                    let mut rest = bytes.as_slice();
                    while !rest.is_empty() {
                        numbers.push(varint(&mut rest));
                    }
                }
            }
        }
        numbers
    }

    pub fn text(&self, field: u64) -> String {
        self.bytes(field)
            .map(|bytes| String::from_utf8(bytes.to_vec()).expect("a string is UTF-8"))
            .last()
            .unwrap_or_default()
    }

    pub fn messages(&self, field: u64) -> Vec<Fields> {
        self.bytes(field).map(Fields::of).collect()
    }
}
