//! The counted hardware events in `meta.json`, in few bytes: what an event has in common with most is left out, and a
//! reason that comes again stands once. In full they would be most of a short recording.

use crate::model::{
    AbsentMetric, EventKind, EventSpec, HardwareEvent, HardwareGroup, HardwarePlan, Unit, unit_of_role,
};
use serde::{Deserialize, Serialize};

/// The long lists of [`HardwarePlan`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Counted {
    groups: Vec<Group>,
    /// Reasons, each with the metrics that are absent for it.
    absent: Vec<(String, Vec<String>)>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Group {
    events: Vec<Event>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    cpus: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Event {
    role: String,
    name: String,
    #[serde(flatten)]
    kind: Kind,
    /// A letter for each place where it does not count, as in [`WHERE`].
    #[serde(default, skip_serializing_if = "String::is_empty")]
    without: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unusual: Option<Unusual>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    /// `perf_event_attr.type` and the configs up to the last that is not 0.
    Raw(Vec<u64>),
    Kind(EventKind),
}

/// What hardly any event has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Unusual {
    precise: u8,
    group: Option<u16>,
    unit: Unit,
}

/// Letters of user mode, kernel, hypervisor, guests and host.
const WHERE: [char; 5] = ['u', 'k', 'v', 'g', 'h'];

impl Counted {
    /// Takes the lists out of the plan; `None` if they are empty.
    pub fn take(plan: &mut HardwarePlan) -> Option<Counted> {
        let groups = std::mem::take(&mut plan.groups).into_iter().zip(0..).map(Group::of).collect();
        let mut absent: Vec<(String, Vec<String>)> = Vec::new();
        for AbsentMetric { metric, why } in std::mem::take(&mut plan.absent) {
            match absent.last_mut() {
                Some((last, metrics)) if *last == why => metrics.push(metric),
                _ => absent.push((why, vec![metric])),
            }
        }
        Some(Counted { groups, absent }).filter(|counted| *counted != Counted::default())
    }

    /// Puts the lists back.
    pub fn restore(self, plan: &mut HardwarePlan) {
        plan.groups = self.groups.into_iter().zip(0..).map(|(group, number)| group.restored(number)).collect();
        let each = |(why, metrics): (String, Vec<String>)| {
            metrics.into_iter().map(move |metric| AbsentMetric { metric, why: why.clone() })
        };
        plan.absent = self.absent.into_iter().flat_map(each).collect();
    }
}

impl Group {
    fn of((group, number): (HardwareGroup, u16)) -> Group {
        Group { events: group.events.into_iter().map(|event| Event::of(event, number)).collect(), cpus: group.cpus }
    }

    fn restored(self, number: u16) -> HardwareGroup {
        let events = self.events.into_iter().map(|event| event.restored(number)).collect();
        HardwareGroup { events, cpus: self.cpus }
    }
}

impl Event {
    fn of(HardwareEvent { role, event }: HardwareEvent, group: u16) -> Event {
        let unusual = Unusual { precise: event.precise, group: event.group, unit: event.unit };
        let unusual = Some(unusual).filter(|unusual| *unusual != usual(&role, group));
        let excluded =
            [event.exclude_user, event.exclude_kernel, event.exclude_hv, event.exclude_guest, event.exclude_host];
        let without = WHERE.into_iter().zip(excluded).filter(|(_, excluded)| *excluded).map(|(letter, _)| letter);
        Event { role, name: event.name, kind: Kind::of(event.kind), without: without.collect(), unusual }
    }

    fn restored(self, group: u16) -> HardwareEvent {
        let excluded = |letter| self.without.contains(letter);
        let Unusual { precise, group, unit } = self.unusual.clone().unwrap_or_else(|| usual(&self.role, group));
        let [exclude_user, exclude_kernel, exclude_hv, exclude_guest, exclude_host] = WHERE.map(excluded);
        let event = EventSpec {
            name: self.name,
            kind: self.kind.restored(),
            exclude_user,
            exclude_kernel,
            exclude_hv,
            exclude_guest,
            exclude_host,
            precise,
            group,
            read_by_leader: false,
            access: None,
            unit,
        };
        HardwareEvent { role: self.role, event }
    }
}

fn usual(role: &str, group: u16) -> Unusual {
    Unusual { precise: 0, group: Some(group), unit: unit_of_role(role) }
}

impl Kind {
    fn of(kind: EventKind) -> Kind {
        let EventKind::Raw { pmu, config, config1, config2 } = kind else { return Kind::Kind(kind) };
        let numbers = [u64::from(pmu), config, config1, config2];
        let last = numbers.iter().rposition(|number| *number != 0).unwrap_or(0);
        Kind::Raw(numbers[..=last].to_vec())
    }

    fn restored(self) -> EventKind {
        match self {
            Kind::Kind(kind) => kind,
            Kind::Raw(numbers) => {
                let number = |at: usize| numbers.get(at).copied().unwrap_or(0);
                EventKind::Raw { pmu: number(0) as u32, config: number(1), config1: number(2), config2: number(3) }
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kind() -> impl Strategy<Value = EventKind> {
        let few = prop_oneof![Just(0), Just(1), any::<u64>()];
        let raw = (any::<u32>(), few.clone(), few.clone(), few);
        prop_oneof![
            any::<u64>().prop_map(EventKind::Hardware),
            any::<u64>().prop_map(EventKind::Cache),
            Just(EventKind::Tracepoint { category: "sched".into(), name: "sched_switch".into() }),
            raw.prop_map(|(pmu, config, config1, config2)| EventKind::Raw { pmu, config, config1, config2 }),
        ]
    }

    fn event() -> impl Strategy<Value = HardwareEvent> {
        let role = prop_oneof![Just("cycles"), Just("instructions@cpu_atom"), Just("llc-miss")];
        let unit = prop_oneof![Just(Unit::Cycles), Just(Unit::Instructions), Just(Unit::Count)];
        (role, kind(), any::<[bool; 5]>(), 0u8..4, any::<Option<u16>>(), unit).prop_map(
            |(
                role,
                kind,
                [exclude_user, exclude_kernel, exclude_hv, exclude_guest, exclude_host],
                precise,
                group,
                unit,
            )| {
                let exclude = EventSpec { exclude_user, exclude_kernel, exclude_hv, ..EventSpec::new("E", kind, unit) };
                let event = EventSpec { exclude_guest, exclude_host, precise, group, ..exclude };
                HardwareEvent { role: role.into(), event }
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_plan_reads_back(
            groups in proptest::collection::vec(proptest::collection::vec(event(), 0..5), 0..4),
            absent in proptest::collection::vec(("[ab]", "[ab]"), 0..6),
        ) {
            let group = |events| HardwareGroup { events, cpus: vec![] };
            let absent = absent.into_iter().map(|(metric, why)| AbsentMetric { metric, why }).collect();
            let plan = HardwarePlan { groups: groups.into_iter().map(group).collect(), absent, ..HardwarePlan::default() };
            let mut rest = plan.clone();
            if let Some(counted) = Counted::take(&mut rest) {
                let json = serde_json::to_string(&counted).unwrap();
                serde_json::from_str::<Counted>(&json).unwrap().restore(&mut rest);
            }
            prop_assert_eq!(rest, plan);
        }
    }

    #[test]
    fn an_ordinary_event_is_short() {
        let kind = EventKind::Raw { pmu: 4, config: 118, config1: 0, config2: 0 };
        let event = EventSpec { exclude_guest: true, group: Some(0), ..EventSpec::new("CYC", kind, Unit::Cycles) };
        let event = Event::of(HardwareEvent { role: "cycles".into(), event }, 0);
        let expected = r#"{"role":"cycles","name":"CYC","raw":[4,118],"without":"g"}"#;
        assert_eq!(serde_json::to_string(&event).unwrap(), expected);
    }
}
