//! Actions that the session handles itself; the open screen gets all others.
//! Actions that change the shown data return the effect that requests a new snapshot.

use super::state::{App, SessionPhase};
use crate::tui::command::SessionCommand;
use crate::tui::effect::{Effect, ShownFlame};
use crate::tui::keys::Action;
use crate::tui::layout::Areas;
use crate::tui::line::Line;
use crate::tui::overlay::{Overlay, Palette, PromptKind};
use crate::tui::panel::{PanelRequest, ScreenId};
use crate::tui::screens::SessionKind;
use crate::view::Axis;
use crate::view::query::TaskFilter;

impl App {
    /// Carries out an action.
    pub(super) fn act(&mut self, action: Action) -> Vec<Effect> {
        self.notice = None;
        let own = self.in_sweep(action).or_else(|| self.in_fleet(action)).or_else(|| self.in_comparison(action));
        if let Some(effects) = own {
            return effects;
        }
        match action {
            Action::Quit => vec![Effect::Quit],
            Action::PickTarget => self.choose(),
            Action::Help => self.open(Overlay::Help(0)),
            Action::Notes => self.open(Overlay::Notes(0)),
            Action::Palette => self.open(Overlay::Palette(Palette::default())),
            Action::Search => self.open(Overlay::Prompt(PromptKind::Search, Line::default())),
            Action::Record => self.open(Overlay::Prompt(PromptKind::Record, Line::default())),
            Action::Export => self.open(Overlay::Prompt(PromptKind::Export, Line::default())),
            Action::Screen(number) => match self.kind.numbered(number) {
                Some(screen) => self.go(screen),
                None => self.no_such_screen(),
            },
            Action::NextScreen => self.go(self.kind.after(self.screen, 1)),
            Action::PreviousScreen => self.go(self.kind.after(self.screen, -1)),
            Action::Mix => self.mix(),
            Action::OffCpu => self.toggle_axis(),
            Action::Copy => match self.panel().selected_name() {
                Some(name) => vec![Effect::Copy(name)],
                None => self.say("nothing is selected", false),
            },
            Action::Suspend => vec![Effect::Suspend],
            Action::Redraw => vec![Effect::Redraw],
            Action::Back => self.back(),
            action => match self.in_time(action) {
                Some(effects) => effects,
                None => self.on_screen(action),
            },
        }
    }

    fn open(&mut self, overlay: Overlay) -> Vec<Effect> {
        self.overlay = overlay;
        Vec::new()
    }

    /// Shows the picker; the session goes on behind it.
    fn choose(&mut self) -> Vec<Effect> {
        if let SessionPhase::Open { live } = self.phase {
            self.behind = Some(live);
        }
        (self.phase, self.from_picker) = (SessionPhase::Picking, true);
        vec![Effect::Choose]
    }

    /// Runs a command with arguments. What is open goes on until something else is.
    pub(super) fn command(&mut self, command: SessionCommand, arguments: &str) -> Vec<Effect> {
        self.notice = None;
        let effect = command.effect(arguments, self.panels.scaling.chosen());
        if let (Effect::Open(_), SessionPhase::Open { live }) = (&effect, self.phase) {
            (self.phase, self.behind, self.from_picker) = (SessionPhase::Opening, Some(live), false);
        }
        vec![effect]
    }

    /// Back to the session behind the picker, if there is one.
    pub(super) fn choose_nothing(&mut self) -> Vec<Effect> {
        let Some(live) = self.behind.take() else { return Vec::new() };
        self.phase = SessionPhase::Open { live };
        std::iter::once(Effect::Return).chain(self.request()).collect()
    }

    pub(super) fn go(&mut self, screen: ScreenId) -> Vec<Effect> {
        if !self.kind.has(screen) {
            return self.no_such_screen();
        }
        self.screen = screen;
        let text = self.search.clone();
        self.with_panel(|panel, _| panel.search(&text));
        self.problem = None;
        self.request()
    }

    fn no_such_screen(&mut self) -> Vec<Effect> {
        let text = match self.kind {
            SessionKind::Profile => "only a sweep has this screen: :sweep starts one, :open NAME.sweep reads one",
            SessionKind::Sweep => "a sweep has no such screen: the recordings of its runs have, :run opens one",
            SessionKind::Comparison => "a comparison has no such screen: its recordings have, ironlaw view RECORDING",
            SessionKind::Fleet => "a data set has no such screen: recordings of its hosts have, ironlaw view RECORDING",
        };
        self.say(text, false)
    }

    /// Actions that differ in a comparison, which has sides instead of time. `None` if the action is not one of them.
    fn in_comparison(&mut self, action: Action) -> Option<Vec<Effect>> {
        if self.kind != SessionKind::Comparison {
            let text = "only a comparison can divide by something else: ironlaw diff --tui BASE NEW";
            return (action == Action::Per).then(|| self.say(text, false));
        }
        let by = match action {
            Action::StepBack => -1,
            Action::StepForward => 1,
            Action::StepBackMuch => i64::MIN,
            Action::StepForwardMuch => i64::MAX,
            Action::Per => return Some(self.next_per()),
            Action::Record => return Some(self.say("the compared recordings are already on disk", false)),
            Action::Export => {
                return Some(self.say("pictures: ironlaw diff BASE NEW --flamegraph d.svg, --format html", false));
            }
            action if action.is_of_time() => {
                return Some(self.say("a comparison has sides in place of a time; --time-range chooses one", false));
            }
            _ => return None,
        };
        let count = self.head.as_ref()?.comparison.as_ref()?.at[1];
        if count < 2 {
            return Some(
                self.say("one side is compared with the base: ironlaw diff --tui BASE NEW NEW2 compares two", false),
            );
        }
        self.side = i64::from(self.side).saturating_add(by).clamp(0, count as i64 - 1) as u32;
        Some(self.request())
    }

    /// Divides the costs of functions by the next available divisor.
    fn next_per(&mut self) -> Vec<Effect> {
        let head = self.head.as_ref().and_then(|head| head.comparison.as_ref());
        let Some((choices, now)) = head.map(|head| (&head.choices, self.per.or(head.per))) else { return Vec::new() };
        let here = now.and_then(|now| choices.iter().position(|per| *per == now));
        let next = here.map_or(0, |here| (here + 1) % choices.len());
        match choices.get(next).copied() {
            Some(per) if Some(per) != now => {
                self.per = Some(per);
                self.request()
            }
            _ => self.say("no event was sampled on both sides: only this unit is available", false),
        }
    }

    /// Actions that differ in a data set of many machines, which is shown as a whole. `None` if the action is not one of
    /// them.
    fn in_fleet(&mut self, action: Action) -> Option<Vec<Effect>> {
        let text = match action {
            _ if self.kind != SessionKind::Fleet => return None,
            Action::Record => "the data set is already on disk",
            Action::Export => "tables: ironlaw fleet DIR --format html -o page.html, --format json",
            Action::OffCpu => "a data set counts CPU time only",
            action if action.is_of_time() => "a data set is shown as a whole: it has no time to move in",
            _ => return None,
        };
        Some(self.say(text, false))
    }

    /// Actions that differ in a sweep, which has points instead of time. `None` if the action is not one of them.
    fn in_sweep(&mut self, action: Action) -> Option<Vec<Effect>> {
        let by = match action {
            _ if self.kind != SessionKind::Sweep => return None,
            Action::StepBack => -1,
            Action::StepForward => 1,
            Action::StepBackMuch => isize::MIN,
            Action::StepForwardMuch => isize::MAX,
            Action::Record => return Some(self.say("the sweep and its runs' recordings are on disk already", false)),
            Action::Export => {
                return Some(self.say("pictures: ironlaw report NAME.sweep --format html -o page.html", false));
            }
            action if action.is_of_time() => return Some(self.say("a sweep has points in place of a time", false)),
            _ => return None,
        };
        self.panels.scaling.step(by);
        // The sweep's own view contains all points.
        Some(if self.screen == ScreenId::Scaling { Vec::new() } else { self.request() })
    }

    /// Actions that change the shown time; `None` for all others.
    fn in_time(&mut self, action: Action) -> Option<Vec<Effect>> {
        const MANY: i64 = 10;
        let head = self.head.take()?;
        let mut effects = Vec::new();
        let mut moved = true;
        match action {
            Action::Pause => self.time.toggle_pause(&head),
            Action::Live => self.time.follow(),
            Action::StepBack => self.time.step(&head, -1),
            Action::StepForward => self.time.step(&head, 1),
            Action::StepBackMuch => self.time.step(&head, -MANY),
            Action::StepForwardMuch => self.time.step(&head, MANY),
            Action::RangeStart => self.time.toggle_range(&head),
            Action::Window => self.time.next_window(),
            Action::Mark => {
                let label = format!("mark {}", head.marks.len() + 1);
                self.time.set_mark(self.time.end.unwrap_or(head.now));
                effects.push(Effect::Mark(label));
            }
            Action::CompareMark => {
                if !self.time.toggle_compare() {
                    let mark = self.keys.first(Action::Mark);
                    self.say(
                        &format!("nothing to compare with: {mark} sets a mark; :baseline FILE loads a recording"),
                        false,
                    );
                }
            }
            _ => moved = false,
        }
        self.head = Some(head);
        if !moved {
            return None;
        }
        effects.extend(self.request());
        Some(effects)
    }

    /// Shows the classes of instructions: of the function that is selected in the flame graph, else of the one selected
    /// last.
    fn mix(&mut self) -> Vec<Effect> {
        let selected = (self.screen == ScreenId::Flame && self.kind == SessionKind::Profile)
            .then(|| self.panel().selected_name())
            .flatten()
            .map(|name| PanelRequest::Detail(name, String::new()));
        self.grant(selected.into_iter().chain([PanelRequest::Mix]).collect())
    }

    /// Cycles through the events and off-CPU time.
    fn toggle_axis(&mut self) -> Vec<Effect> {
        let Some(head) = &self.head else { return Vec::new() };
        let next = match self.axis {
            Axis::Event(index) if usize::from(index) + 1 < head.events.len() => Axis::Event(index + 1),
            Axis::Event(_) if head.has_off_cpu => Axis::OffCpu,
            Axis::Event(_) if head.events.len() > 1 => Axis::Event(0),
            Axis::Event(_) => return self.say("time off the CPU was not recorded: start with --off-cpu", false),
            Axis::OffCpu => head.first_sampled,
        };
        (self.axis, self.chosen_axis) = (next, true);
        self.request()
    }

    /// Esc undoes one thing at a time: the search, the screen's own state, the time range, the thread filter.
    fn back(&mut self) -> Vec<Effect> {
        if !self.search.is_empty() {
            return self.find(String::new());
        }
        let body = Areas::of(self.size).body;
        let wishes = self.with_panel(|panel, cx| panel.act(Action::Back, cx, body)).flatten();
        if let Some(wishes) = wishes {
            return self.grant(wishes);
        }
        if self.time.range.is_some() {
            self.time.range = None;
        } else if self.filter != TaskFilter::default() {
            self.filter = TaskFilter::default();
            self.filter_label.clear();
        } else {
            let text = format!("nothing to undo: {} shows the keys", self.keys.first(Action::Help));
            return self.say(&text, false);
        }
        self.request()
    }

    fn on_screen(&mut self, action: Action) -> Vec<Effect> {
        let body = Areas::of(self.size).body;
        let wishes = self.with_panel(|panel, cx| panel.act(action, cx, body)).flatten();
        match wishes {
            Some(wishes) => self.grant(wishes),
            None if self.head.is_some() && !action.moves() => self.of_no_use(action),
            None => Vec::new(),
        }
    }

    /// An action that the open screen does not have.
    fn of_no_use(&mut self, action: Action) -> Vec<Effect> {
        let (key, help) = (self.keys.first(action), self.keys.first(Action::Help));
        self.say(&format!("{key} does nothing on this screen: {help} shows the keys"), false)
    }

    /// Carries out a panel's requests.
    pub(super) fn grant(&mut self, wishes: Vec<PanelRequest>) -> Vec<Effect> {
        wishes.into_iter().flat_map(|wish| self.grant_one(wish)).collect()
    }

    fn grant_one(&mut self, wish: PanelRequest) -> Vec<Effect> {
        match wish {
            PanelRequest::Refresh => self.request(),
            PanelRequest::Go(screen) => self.go(screen),
            PanelRequest::Zoom(path) => {
                self.panels.flame.zoom_to(path);
                self.go(ScreenId::Flame)
            }
            PanelRequest::Detail(name, _) if self.kind == SessionKind::Comparison => {
                self.panels.code.point_to(&name);
                self.go(ScreenId::Code)
            }
            PanelRequest::Detail(name, module) => {
                self.panels.functions.detail(name, module);
                self.go(ScreenId::Functions)
            }
            PanelRequest::Mix => {
                self.panels.functions.show_mix();
                self.go(ScreenId::Functions)
            }
            PanelRequest::Only(filter, label) => {
                (self.filter, self.filter_label) = (filter, label);
                self.request()
            }
            PanelRequest::Metric(id) => {
                self.panels.counters.point_to(id);
                self.go(ScreenId::Counters)
            }
            PanelRequest::Thread(tid) => {
                self.panels.threads.point_to(tid);
                self.go(ScreenId::Threads)
            }
            PanelRequest::Count(axis) => {
                (self.axis, self.chosen_axis) = (axis, true);
                self.request()
            }
            PanelRequest::At(moment) => {
                if let Some(head) = &self.head {
                    self.time.go(head, moment);
                }
                self.request()
            }
            PanelRequest::Say(text) => self.say(&text, false),
        }
    }

    /// What the flame graph shows.
    pub(super) fn flame_shown(&self) -> ShownFlame {
        self.panels.flame.shown()
    }
}
