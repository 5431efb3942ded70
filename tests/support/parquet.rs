//! Reads Parquet files column by column as a tool reads them that knows nothing of ironlaw: every page, no checksum.

use polars_arrow::array::{Array, BooleanArray, PrimitiveArray, Utf8ViewArray};
use polars_parquet::read::{BasicDecompressor, PageReader, column_iter_to_arrays, infer_schema, read_metadata};
use std::collections::BTreeMap;
use std::io::Cursor;

/// A file's columns.
pub struct Columns {
    pub rows: usize,
    columns: BTreeMap<String, Vec<Box<dyn Array>>>,
}

impl Columns {
    /// # Panics
    /// If the bytes are no whole file.
    pub fn read(bytes: &[u8]) -> Columns {
        let about = read_metadata(&mut Cursor::new(bytes)).expect("a Parquet file");
        let mut columns: BTreeMap<String, Vec<Box<dyn Array>>> = BTreeMap::new();
        for (at, field) in infer_schema(&about).expect("a schema").iter_values().enumerate() {
            let arrays = columns.entry(field.name.to_string()).or_default();
            for group in &about.row_groups {
                let chunk = &group.parquet_columns()[at];
                let place = chunk.byte_range();
                let pages = bytes[place.start as usize..place.end as usize].to_vec();
                let reader = PageReader::new(Cursor::new(pages.into()), chunk, Vec::new(), usize::MAX);
                let kind = &chunk.descriptor().descriptor.primitive_type;
                let pages = vec![BasicDecompressor::new(reader, Vec::new())];
                arrays.extend(column_iter_to_arrays(pages, vec![kind], field.clone(), None).expect("whole pages").0);
            }
        }
        Columns { rows: about.num_rows, columns }
    }

    /// The numbers of a column; `None` where there is none.
    pub fn numbers(&self, name: &str) -> Vec<Option<f64>> {
        self.arrays(name).iter().flat_map(|array| numbers(&**array)).collect()
    }

    /// The texts of a column; `None` where there is none.
    pub fn texts(&self, name: &str) -> Vec<Option<String>> {
        let texts =
            self.arrays(name).iter().map(|array| array.as_any().downcast_ref::<Utf8ViewArray>().expect("texts"));
        texts.flat_map(|texts| texts.iter().map(|text| text.map(str::to_string))).collect()
    }

    fn arrays(&self, name: &str) -> &[Box<dyn Array>] {
        self.columns.get(name).unwrap_or_else(|| panic!("no column {name}: {:?}", self.columns.keys()))
    }
}

fn numbers(array: &dyn Array) -> Vec<Option<f64>> {
    macro_rules! of {
        ($($kind:ty),+) => {
            $(if let Some(values) = array.as_any().downcast_ref::<PrimitiveArray<$kind>>() {
                return values.iter().map(|value| value.map(|value| *value as f64)).collect();
            })+
        };
    }
    of!(f64, i64, u64, u32);
    let truths = array.as_any().downcast_ref::<BooleanArray>().expect("numbers");
    truths.iter().map(|value| value.map(f64::from)).collect()
}
