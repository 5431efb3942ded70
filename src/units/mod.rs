//! Numbers that carry their unit, so that units cannot be mixed up unnoticed.

mod calendar;

pub use calendar::Utc;

use serde::{Deserialize, Serialize};
use std::ops::{Add, AddAssign, Sub};

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

        /// Saturates: a recording may state any number.
        impl Add for $name {
            type Output = $name;
            fn add(self, other: $name) -> $name {
                $name(self.0.saturating_add(other.0))
            }
        }

        impl AddAssign for $name {
            fn add_assign(&mut self, other: $name) {
                *self = *self + other;
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
                values.fold($name(0), Add::add)
            }
        }
    };
}

quantity!(
    /// Nanoseconds: a duration, or an instant since the recording's start.
    Nanos
);
quantity!(
    /// Operations the program completed, as its operation source counts them.
    Ops
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_a_difference_nor_a_sum_wraps() {
        assert_eq!(Nanos(3) - Nanos(5), Nanos(0));
        assert_eq!([Nanos(u64::MAX), Nanos(1)].into_iter().sum::<Nanos>(), Nanos(u64::MAX));
    }
}
