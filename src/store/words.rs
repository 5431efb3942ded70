//! The words that enumerations are stored as, so that a query over a recording is readable.
//! They are part of the format and do not change; a word of a later version reads as `None`.

use crate::model::{
    AccessKind, LossKind, MembershipSource, MemoryLevel, ModuleKind, NeighbourKind, PageKind, Snoop, StackEnd,
    TaskState, TlbResult, Unit, WaitBegan,
};

/// An enumeration with one word for each value.
pub(super) trait Word: Sized + Copy {
    /// The word.
    fn word(self) -> &'static str;
    /// The value; `None` for a word this version does not know.
    fn from_word(word: &str) -> Option<Self>;
}

macro_rules! words {
    ($($set:ident { $($value:ident = $word:literal),* $(,)? })*) => {
        $(impl Word for $set {
            fn word(self) -> &'static str {
                match self { $($set::$value => $word),* }
            }

            fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some($set::$value),)* _ => None }
            }
        })*
    };
}

words! {
    StackEnd { Whole = "whole", Truncated = "truncated", Broken = "broken", NotTaken = "not_taken" }
    TaskState { Runnable = "runnable", Sleeping = "sleeping", DiskSleep = "disk_sleep", Other = "other" }
    WaitBegan { Seen = "seen", Before = "before", LongBefore = "long_before" }
    LossKind {
        Ring = "ring", Samples = "samples", Switches = "switches", Wakeups = "wakeups", Tasks = "tasks", Throttled = "throttled", OffCpu = "off_cpu"
    }
    ModuleKind { File = "file", Kernel = "kernel", Vdso = "vdso", Jit = "jit" }
    AccessKind { Load = "load", Store = "store", Prefetch = "prefetch", Fetch = "fetch" }
    MemoryLevel {
        L1 = "l1", FillBuffer = "fill_buffer", L2 = "l2", L3 = "l3", L4 = "l4", PeerCache = "peer_cache",
        LocalDram = "local_dram", RemoteCache = "remote_cache", RemoteDram = "remote_dram", Pmem = "pmem", Cxl = "cxl",
        Io = "io", Uncached = "uncached", Unknown = "unknown"
    }
    Snoop {
        None = "none", Miss = "miss", Hit = "hit", Modified = "modified", Forwarded = "forwarded", Unknown = "unknown"
    }
    TlbResult { Hit = "hit", Miss = "miss", Unknown = "unknown" }
    MembershipSource { Sample = "sample", Process = "process", Parent = "parent" }
    PageKind { Anonymous = "anonymous", File = "file", Huge = "huge" }
    NeighbourKind { Process = "process", Cgroup = "cgroup", Resctrl = "resctrl", Rest = "rest" }
    Unit {
        Count = "count", Nanos = "nanos", Cycles = "cycles", Instructions = "instructions", Bytes = "bytes", Seconds = "s", Micros = "us",
        Hertz = "Hz", BytesPerSecond = "B/s", PerSecond = "1/s", PerKiloInstructions = "1/kinstr", Share = "share", Ratio = "ratio",
        Cores = "cores", Threads = "threads", Samples = "samples", Microsamples = "microsamples"
    }
}
