//! A recording of any contents: random names, stacks, samples and waits.

use crate::synthetic::{Synthetic, ms};
use ironlaw::model::profile::{Profile, ProfileBuilder};
use ironlaw::model::{Definition, Event, StackEnd, Symbol, TaskState};
use proptest::prelude::*;

/// Names that a page, a terminal, a spreadsheet, a shell or a parser must not obey, and plain ones.
pub const NAMES: [&str; 24] = [
    "main",
    "parse(int, char const*)",
    "std::vector<int, std::allocator<int> >::push_back(int&&)",
    "</text><script>alert(1)</script>",
    "<![CDATA[ x ]]>",
    "a & b &amp; c",
    "\"quoted\" 'twice'",
    "=HYPERLINK(\"http://x\")",
    "+1+1",
    "-2-3",
    "@SUM(A1)",
    "a,b;c\td",
    "line\nbreak\r\n",
    "\u{1b}[31mred\u{1b}[0m",
    "\u{202e}reversed",
    "| pipe ` tick ` * star _ under",
    "back\\slash \\n \\u0041",
    "nul\u{0}byte",
    "日本語の関数",
    "émoji 🦀 name",
    " leading and trailing ",
    "",
    "{}[]():",
    "../../etc/passwd",
];

/// The threads that may be in a recording.
pub const THREADS: [u32; 4] = [41, 42, 43, 44];

/// One sample: when (ms), by which thread, where (indices of functions from the root), how heavy.
#[derive(Debug, Clone)]
pub struct Taken {
    pub at: u64,
    pub tid: u32,
    pub path: Vec<usize>,
    pub weight: u64,
    pub end: StackEnd,
}

/// One wait: when it ended (ms), whose, how long blocked and queued (ms), where.
#[derive(Debug, Clone)]
pub struct Waited {
    pub at: u64,
    pub tid: u32,
    pub blocked: u64,
    pub queued: Option<u64>,
    pub path: Vec<usize>,
}

/// Everything a recording is made of.
#[derive(Debug, Clone)]
pub struct Recipe {
    /// Functions by number: the name, and the module's number.
    pub functions: Vec<(String, usize)>,
    pub taken: Vec<Taken>,
    pub waited: Vec<Waited>,
    pub comms: Vec<String>,
}

const MODULES: [&str; 5] = ["/usr/bin/app", "/usr/lib/libc.so.6", "[kernel]", "[jit]", "/opt/a \"b\",<c>.so"];

fn name() -> impl Strategy<Value = String> {
    prop_oneof![3 => prop::sample::select(&NAMES[..]).prop_map(String::from), 1 => "\\PC{0,12}"]
}

fn end() -> impl Strategy<Value = StackEnd> {
    prop_oneof![8 => Just(StackEnd::Whole), 1 => Just(StackEnd::Truncated), 1 => Just(StackEnd::Broken)]
}

pub fn recipe() -> impl Strategy<Value = Recipe> {
    let functions = prop::collection::vec((name(), 0..MODULES.len()), 8);
    let path = || prop::collection::vec(0usize..8, 0..6);
    let tid = || prop::sample::select(&THREADS[..]);
    let taken = (1u64..9_999, tid(), path(), 1u64..5_000_000, end()).prop_map(|(at, tid, path, weight, end)| Taken {
        at,
        tid,
        path,
        weight,
        end,
    });
    let waited = (1u64..9_999, tid(), 1u64..500, prop::option::of(0u64..50), path())
        .prop_map(|(at, tid, blocked, queued, path)| Waited { at, tid, blocked, queued, path });
    let comms = prop::collection::vec(name(), THREADS.len());
    (functions, prop::collection::vec(taken, 0..60), prop::collection::vec(waited, 0..12), comms)
        .prop_map(|(functions, taken, waited, comms)| Recipe { functions, taken, waited, comms })
}

impl Recipe {
    /// The recording. Functions get their names at the end, so that a name may hold anything.
    pub fn profile(&self) -> Profile {
        let mut s = Synthetic::new();
        s.meta.plan.off_cpu = !self.waited.is_empty();
        for (tid, comm) in THREADS.iter().zip(&self.comms) {
            s.alive(*tid, comm);
        }
        for taken in &self.taken {
            s.weight = taken.weight;
            s.ended(taken.at, taken.tid, &self.stack(&taken.path), 1, taken.end);
        }
        for waited in &self.waited {
            let state = if waited.tid % 2 == 0 { TaskState::Sleeping } else { TaskState::DiskSleep };
            s.off_cpu(waited.at, waited.tid, state, waited.blocked, waited.queued, &self.stack(&waited.path));
        }
        s.tick(10_000, 10_000);
        self.named(s.finish())
    }

    /// Placeholders, which [`Recipe::named`] replaces.
    fn stack(&self, path: &[usize]) -> String {
        let frames = path.iter().map(|&number| format!("{}!f{number}", MODULES[self.functions[number].1]));
        frames.collect::<Vec<_>>().join(";")
    }

    fn named(&self, profile: Profile) -> Profile {
        let meta = profile.meta.clone();
        let mut names = Vec::new();
        for (frame, symbols) in profile.names.iter().enumerate() {
            let Some(number) = symbols.first().and_then(|symbol| symbol.function.strip_prefix('f')) else { continue };
            let function = self.functions[number.parse::<usize>().unwrap()].0.clone();
            let symbols = vec![Symbol::named(function)];
            names.push(Definition::Names { frame: ironlaw::model::FrameId(frame as u32), symbols });
        }
        let mut builder = ProfileBuilder::of(profile);
        names.into_iter().for_each(|names| builder.apply(Event::Define(names)));
        builder.finish(meta)
    }

    pub fn weight(&self) -> u64 {
        self.taken.iter().map(|taken| taken.weight).sum()
    }

    /// What a flame graph of the samples counts: samples where they weigh as much as periods that vary around one frequency.
    pub fn height(&self) -> u64 {
        let weights = || self.taken.iter().map(|taken| taken.weight);
        let alike = weights().max().unwrap_or(0) <= weights().min().unwrap_or(0).saturating_mul(3);
        if alike { self.taken.len() as u64 } else { self.weight() }
    }

    /// Time blocked and queued together, nanoseconds.
    pub fn waiting(&self) -> u64 {
        self.waited.iter().map(|waited| ms(waited.blocked + waited.queued.unwrap_or(0)).0).sum()
    }
}
