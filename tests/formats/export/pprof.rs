//! A reader of `profile.proto` by its published field numbers, apart from the one under test.

use super::profile::{Stacks, add};
use crate::protobuf::Fields;
use std::collections::BTreeMap;
use std::io::Read;

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
