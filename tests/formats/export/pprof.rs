//! A reader of protobuf, and of `profile.proto` by its published field numbers, apart from the one under test.

use super::profile::{Stacks, add};
use std::collections::BTreeMap;
use std::io::Read;

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

    fn bytes(&self, field: u64) -> impl Iterator<Item = &[u8]> {
        self.0.get(&field).into_iter().flatten().map(move |value| match value {
            Value::Bytes(bytes) => bytes.as_slice(),
            Value::Number(_) => panic!("field {field} is a number"),
        })
    }

    /// Numbers, packed or not.
    fn numbers(&self, field: u64) -> Vec<u64> {
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

/// A profile with what its numbers refer to.
pub struct Pprof {
    pub fields: Fields,
    pub strings: Vec<String>,
    pub functions: BTreeMap<u64, Fields>,
    pub locations: BTreeMap<u64, Fields>,
    pub mappings: BTreeMap<u64, Fields>,
}

impl Pprof {
    pub fn read(packed: &[u8]) -> Pprof {
        let mut bytes = Vec::new();
        flate2::read::GzDecoder::new(packed).read_to_end(&mut bytes).expect("it is gzip");
        let fields = Fields::of(&bytes);
        let strings = fields.bytes(6).map(|text| String::from_utf8(text.to_vec()).expect("texts are UTF-8")).collect();
        let by_id = |field| {
            let list: Vec<_> = fields.messages(field);
            let count = list.len();
            let map: BTreeMap<u64, Fields> = list.into_iter().map(|message| (message.number(1), message)).collect();
            assert_eq!(map.len(), count, "numbers of field {field} are unique");
            assert!(!map.contains_key(&0), "0 means none");
            map
        };
        let (mappings, locations, functions) = (by_id(3), by_id(4), by_id(5));
        Pprof { strings, functions, locations, mappings, fields }
    }

    pub fn string(&self, at: u64) -> &str {
        &self.strings[at as usize]
    }

    /// Type and unit of each value.
    pub fn types(&self) -> Vec<(&str, &str)> {
        let types = self.fields.messages(1);
        types.iter().map(|kind| (self.string(kind.number(1)), self.string(kind.number(2)))).collect()
    }

    /// Function, file and line of every call of a sample, from the root.
    pub fn calls(&self, sample: &Fields) -> Vec<(&str, &str, u64)> {
        let mut calls = Vec::new();
        for id in sample.numbers(1) {
            let location = &self.locations[&id];
            assert!(location.number(2) == 0 || self.mappings.contains_key(&location.number(2)), "its mapping is there");
            for line in location.messages(4) {
                let function = &self.functions[&line.number(1)];
                calls.push((self.string(function.number(2)), self.string(function.number(4)), line.number(2)));
            }
        }
        calls.reverse();
        calls
    }

    /// The stacks with the value of that index.
    pub fn stacks(&self, value: usize) -> Stacks {
        let mut stacks = Stacks::new();
        for sample in self.fields.messages(2) {
            let names = self.calls(&sample).iter().map(|(name, _, _)| name.to_string()).collect();
            let values = sample.numbers(2);
            assert_eq!(values.len(), self.types().len());
            add(&mut stacks, names, values[value]);
        }
        stacks
    }

    /// A sample's labels as text.
    pub fn labels(&self, sample: &Fields) -> BTreeMap<&str, String> {
        let labels = sample.messages(3).into_iter().map(|label| {
            let text = self.string(label.number(2));
            (self.string(label.number(1)), if text.is_empty() { label.number(3).to_string() } else { text.to_string() })
        });
        labels.collect()
    }
}
