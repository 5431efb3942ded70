//! The unit of a counter, an event's weight, a metric or a quantity.

use serde::de::IntoDeserializer;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A unit. Programs read its symbol; recordings store the words of their format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
pub enum Unit {
    /// A plain count of events.
    #[serde(rename = "count")]
    Count,
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
    /// Microseconds.
    #[serde(rename = "us")]
    Micros,
    /// Nanoseconds.
    #[serde(rename = "ns", alias = "nanos")]
    Nanos,
    /// CPU cycles.
    #[serde(rename = "cycles")]
    Cycles,
    /// Retired instructions.
    #[serde(rename = "instructions")]
    Instructions,
    /// Cycles per second.
    #[serde(rename = "Hz")]
    Hertz,
    /// Bytes.
    #[serde(rename = "B", alias = "bytes")]
    Bytes,
    /// Bytes per second of elapsed time.
    #[serde(rename = "B/s")]
    BytesPerSecond,
    /// Events per second of elapsed time.
    #[serde(rename = "1/s")]
    PerSecond,
    /// Events per thousand instructions.
    #[serde(rename = "1/kinstr")]
    PerKiloInstructions,
    /// Part of a whole, 0 to 1.
    #[serde(rename = "share")]
    Share,
    /// A plain ratio.
    #[serde(rename = "ratio")]
    Ratio,
    /// Mean number of CPUs kept busy.
    #[serde(rename = "cores")]
    Cores,
    /// Mean number of threads.
    #[serde(rename = "threads")]
    Threads,
    /// Samples that another profiler counted: the weight is their number.
    #[serde(rename = "samples")]
    Samples,
    /// Millionths of a sample, where another profiler wrote fractions.
    #[serde(rename = "microsamples")]
    Microsamples,
}

/// Millionths in a sample.
pub const MICROSAMPLES: u64 = 1_000_000;

impl Unit {
    /// Its symbol, which is also its stable name in every output for programs.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Unit::Count => "count",
            Unit::Seconds => "s",
            Unit::Micros => "us",
            Unit::Nanos => "ns",
            Unit::Cycles => "cycles",
            Unit::Instructions => "instructions",
            Unit::Hertz => "Hz",
            Unit::Bytes => "B",
            Unit::BytesPerSecond => "B/s",
            Unit::PerSecond => "1/s",
            Unit::PerKiloInstructions => "1/kinstr",
            Unit::Share => "share",
            Unit::Ratio => "ratio",
            Unit::Cores => "cores",
            Unit::Threads => "threads",
            Unit::Samples => "samples",
            Unit::Microsamples => "microsamples",
        }
    }

    /// How many samples rows of this weight stand for; `rows` of a profiler that wrote a row for each.
    #[must_use]
    pub const fn samples(self, rows: u64, weight: u64) -> u64 {
        match self {
            Unit::Samples => weight,
            Unit::Microsamples => weight.saturating_add(MICROSAMPLES / 2) / MICROSAMPLES,
            _ => rows,
        }
    }
}

impl Serialize for Unit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.symbol())
    }
}

/// Writes a unit as a recording stores it, so that earlier versions can read it.
pub(super) fn recorded<S: Serializer>(unit: &Unit, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match unit {
        Unit::Nanos => "nanos",
        Unit::Bytes => "bytes",
        unit => unit.symbol(),
    })
}

/// Reads the word of a unit, in formats that do not describe themselves too.
pub(super) fn from_word<'de, D: Deserializer<'de>>(from: D) -> Result<Unit, D::Error> {
    Unit::deserialize(String::deserialize(from)?.into_deserializer())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_read_by_its_symbol_and_by_the_word_of_a_recording() {
        for (text, unit) in [
            ("count", Unit::Count),
            ("s", Unit::Seconds),
            ("us", Unit::Micros),
            ("ns", Unit::Nanos),
            ("cycles", Unit::Cycles),
            ("instructions", Unit::Instructions),
            ("Hz", Unit::Hertz),
            ("B", Unit::Bytes),
            ("B/s", Unit::BytesPerSecond),
            ("1/s", Unit::PerSecond),
            ("1/kinstr", Unit::PerKiloInstructions),
            ("share", Unit::Share),
            ("ratio", Unit::Ratio),
            ("cores", Unit::Cores),
            ("threads", Unit::Threads),
            ("samples", Unit::Samples),
            ("microsamples", Unit::Microsamples),
        ] {
            assert_eq!(serde_json::from_value::<Unit>(text.into()).unwrap(), unit);
            assert_eq!(serde_json::to_value(unit).unwrap(), text);
            let stored = recorded(&unit, serde_json::value::Serializer).unwrap();
            assert_eq!(serde_json::from_value::<Unit>(stored).unwrap(), unit);
        }
        assert_eq!(recorded(&Unit::Nanos, serde_json::value::Serializer).unwrap(), "nanos");
    }
}
