//! Groups of which the leader alone takes samples, on this kernel.

use super::steering::sampled_events;
use crate::collect::sampler::sampling_rate::SamplingRate;
use crate::model::{EventKind, EventSpec, Sample, Unit};

/// Both clocks of a thread count its CPU time: what one counts between two samples of the other, it counts itself.
#[test]
fn samples_of_the_leader_carry_what_the_member_counted() {
    let clock = |name, config| EventSpec {
        group: Some(0),
        read_by_leader: config == 1,
        ..EventSpec::new(name, EventKind::Software(config), Unit::Nanos)
    };
    let events = vec![clock("cpu-clock", 0), clock("task-clock", 1)];
    let Some((samples, ran, _)) = sampled_events(events, |rate| SamplingRate::new(rate.hertz, None, rate.cost)) else {
        return;
    };
    let (own, read): (Vec<Sample>, Vec<Sample>) = samples.iter().partition(|sample| sample.event == 0);
    assert!(own.len() > 100 && read.len() <= own.len(), "{} and {} samples", own.len(), read.len());
    assert!(read.len() * 10 > own.len() * 8, "{} of {} samples have counts", read.len(), own.len());
    let sum = |samples: &[Sample]| samples.iter().map(|sample| sample.weight as f64).sum::<f64>();
    // Where a timer was late, nobody knows what ran: the leader's sample weighs its period, the member has none.
    let known: Vec<Sample> = own.iter().filter(|own| read.iter().any(|read| read.at == own.at)).copied().collect();
    let ratio = sum(&read) / sum(&known);
    assert!((0.98..1.02).contains(&ratio), "{ratio} of the leader's time");
    assert!(sum(&read) < 1.1 * ran.as_f64(), "{} ns of {} ns", sum(&read), ran.0);
    assert!(read.iter().all(|read| read.stack.is_some() && known.iter().any(|own| own.stack == read.stack)));
}
