//! Numbers that carry their unit, so that units cannot be mixed up unnoticed. Only meaningful quotients are defined.

mod calendar;

pub use calendar::Utc;

use serde::{Deserialize, Serialize};
use std::ops::{Add, AddAssign, Div, Sub};

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u64);

        impl $name {
            /// The value as a float, for ratios.
            #[must_use]
            pub fn as_f64(self) -> f64 {
                self.0 as f64
            }
        }

        impl Add for $name {
            type Output = $name;
            fn add(self, other: $name) -> $name {
                $name(self.0 + other.0)
            }
        }

        impl AddAssign for $name {
            fn add_assign(&mut self, other: $name) {
                self.0 += other.0;
            }
        }

        /// Saturates at zero: counters and clocks of different CPUs may be slightly out of order.
        impl Sub for $name {
            type Output = $name;
            fn sub(self, other: $name) -> $name {
                $name(self.0.saturating_sub(other.0))
            }
        }

        impl std::iter::Sum for $name {
            fn sum<I: Iterator<Item = $name>>(values: I) -> $name {
                $name(values.map(|value| value.0).sum())
            }
        }
    };
}

quantity!(
    /// Nanoseconds: a duration, or an instant since the recording's start.
    Nanos
);
quantity!(
    /// CPU clock cycles.
    Cycles
);
quantity!(
    /// Retired instructions.
    Instructions
);
quantity!(
    /// Operations the program completed, as its operation source counts them.
    Ops
);
quantity!(
    /// Bytes.
    Bytes
);

impl Nanos {
    /// The duration in seconds.
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// A duration from seconds; negative and non-finite values become zero.
    #[must_use]
    pub fn from_seconds(seconds: f64) -> Nanos {
        Nanos((seconds.max(0.0) * 1e9) as u64)
    }
}

/// Cycles per instruction.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Cpi(pub f64);

/// Instructions per operation: the path length.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct PathLength(pub f64);

/// Cycles per second.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Hertz(pub f64);

macro_rules! quotient {
    ($over:ident / $under:ident = $result:ident) => {
        /// `None` when the divisor is zero.
        impl Div<$under> for $over {
            type Output = Option<$result>;
            fn div(self, under: $under) -> Option<$result> {
                (under.0 > 0).then(|| $result(self.0 as f64 / under.0 as f64))
            }
        }
    };
}

quotient!(Cycles / Instructions = Cpi);
quotient!(Instructions / Ops = PathLength);

/// Effective frequency: cycles over CPU time (not wall time).
impl Div<Nanos> for Cycles {
    type Output = Option<Hertz>;
    fn div(self, cpu_time: Nanos) -> Option<Hertz> {
        (cpu_time.0 > 0).then(|| Hertz(self.0 as f64 / cpu_time.seconds()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published RocksDB run at one thread (methods: worked example of the iron law).
    #[test]
    fn the_published_rocksdb_quotients_come_out_to_the_printed_digits() {
        let instructions = Instructions(3_129_398_329_928);
        let cycles = Cycles(1_136_230_674_488);
        let path = (instructions / Ops(1_510_002_999)).map(|p| p.0);
        assert!((path.unwrap_or(0.0) - 2_072.445_109).abs() < 1e-6, "{path:?}");
        let cpi = (cycles / instructions).map(|c| c.0);
        assert!((cpi.unwrap_or(0.0) - 0.363_083).abs() < 1e-6, "{cpi:?}");
    }

    #[test]
    fn a_quotient_over_zero_is_absent_not_zero() {
        assert_eq!(Cycles(5) / Instructions(0), None);
        assert_eq!(Cycles(5) / Nanos(0), None);
    }

    #[test]
    fn a_difference_never_wraps() {
        assert_eq!(Nanos(3) - Nanos(5), Nanos(0));
    }
}
