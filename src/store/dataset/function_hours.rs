//! Adds up what functions used, hour by hour: a watch learns of them each minute and keeps an hour.

use super::layout::day_of;
use crate::model::FunctionRow;
use std::collections::BTreeMap;

const HOUR_S: i64 = 3600;

/// Functions of an hour that are told apart; what others use counts for `[others]`.
const MOST_FUNCTIONS: usize = 100;
/// Functions of the running hour that are remembered.
const MOST_REMEMBERED: usize = 5_000;

/// Hours that wait to be written.
const MOST_HOURS: usize = 240;

/// Version, function, module.
type Key = (Option<String>, String, String);

#[derive(Debug, Default)]
struct Hour {
    start_s: i64,
    length_s: f64,
    /// CPU time and samples.
    functions: BTreeMap<Key, (f64, i64)>,
}

/// The functions of a job by hour.
#[derive(Debug, Default)]
pub(super) struct FunctionHours {
    /// By number since the Unix epoch.
    hours: BTreeMap<i64, Hour>,
}

impl FunctionHours {
    /// Adds rows; those that start at the same time are of the same windows. Returns the days they belong to.
    pub fn add(&mut self, rows: Vec<FunctionRow>) -> Vec<i64> {
        let (mut days, mut last) = (Vec::new(), None);
        for row in rows {
            if !self.hours.contains_key(&row.start_s.div_euclid(HOUR_S)) {
                self.hours.values_mut().for_each(Hour::shrink);
                if self.hours.len() >= MOST_HOURS {
                    self.hours.pop_first();
                }
            }
            let hour = self.hours.entry(row.start_s.div_euclid(HOUR_S)).or_default();
            if last != Some(row.start_s) {
                hour.start_s = if hour.length_s == 0.0 { row.start_s } else { hour.start_s.min(row.start_s) };
                hour.length_s += row.length_s;
                days.push(day_of(row.start_s));
                last = Some(row.start_s);
            }
            let mut key = (row.version, row.function, row.module);
            if hour.functions.len() >= MOST_REMEMBERED && !hour.functions.contains_key(&key) {
                key = (key.0, FunctionRow::OTHERS.to_string(), String::new());
            }
            let (cpu_s, samples) = hour.functions.entry(key).or_default();
            *cpu_s += row.cpu_s;
            *samples += row.samples;
        }
        days.dedup();
        days
    }

    /// The rows of a day, most CPU time first in each hour.
    pub fn of_day(&self, day: i64) -> Vec<FunctionRow> {
        let hours = self.hours.values().filter(|hour| day_of(hour.start_s) == day);
        hours.flat_map(Hour::rows).collect()
    }

    /// Forgets the hours of a day.
    pub fn forget(&mut self, day: i64) {
        self.hours.retain(|_, hour| day_of(hour.start_s) != day);
    }
}

impl Hour {
    /// Keeps of an hour that is over what is written of it.
    fn shrink(&mut self) {
        if self.functions.len() > MOST_FUNCTIONS {
            let kept = self.rows().into_iter();
            self.functions =
                kept.map(|row| ((row.version, row.function, row.module), (row.cpu_s, row.samples))).collect();
        }
    }

    fn rows(&self) -> Vec<FunctionRow> {
        let row = |(version, function, module): &Key, (cpu_s, samples): &(f64, i64)| FunctionRow {
            start_s: self.start_s,
            length_s: self.length_s,
            version: version.clone(),
            function: function.clone(),
            module: module.clone(),
            cpu_s: *cpu_s,
            samples: *samples,
        };
        let rows = self.functions.iter().map(|(key, sum)| row(key, sum)).collect();
        FunctionRow::most(rows, MOST_FUNCTIONS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(start_s: i64, function: &str, cpu_s: f64) -> FunctionRow {
        let (function, module) = (function.to_string(), "app".to_string());
        FunctionRow { start_s, length_s: 60.0, version: None, function, module, cpu_s, samples: 1 }
    }

    #[test]
    fn minutes_add_up_to_hours_and_nothing_is_lost_with_the_least() {
        let mut hours = FunctionHours::default();
        for minute in 0..120 {
            let own = |at: i64| row(minute * 60, &format!("f{at}"), if at == 0 { 2.0 } else { 0.01 });
            hours.add((0..150).map(own).collect());
        }
        let rows = hours.of_day(0);
        assert_eq!(rows.len(), 2 * 101);
        assert_eq!((rows[0].start_s, rows[0].length_s, rows[0].function.as_str()), (0, 3600.0, "f0"));
        assert_eq!((rows[0].samples, rows[101].start_s), (60, 3600));
        let (cpu, samples) = rows.iter().fold((0.0, 0), |sum, row| (sum.0 + row.cpu_s, sum.1 + row.samples));
        assert!((cpu - 120.0 * 3.49).abs() < 1e-6 && samples == 120 * 150, "{cpu} {samples}");
        assert!(rows.iter().any(|row| row.function == FunctionRow::OTHERS && row.samples == 50 * 60));
        hours.forget(0);
        assert!(hours.of_day(0).is_empty());
    }
}
