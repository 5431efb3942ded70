//! The limits of everything that reads data others wrote: files of profiled programs, recordings, settings, HTTP.
//! Each constant states what it bounds and what happens beyond it; `ironlaw doctor --limits` prints them.

/// A limit as it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Limit {
    /// The data, e.g. `symbol tables`.
    pub data: &'static str,
    /// What is bounded.
    pub bounds: &'static str,
    /// The largest value that is read.
    pub most: u64,
    /// What the value counts, e.g. `bytes`.
    pub unit: &'static str,
    /// What happens to data beyond the limit.
    pub beyond: &'static str,
}

macro_rules! limits {
    ($($data:literal { $($name:ident: $type:ty = $most:expr, $unit:literal, $bounds:literal, $beyond:literal;)* })*) => {
        $($(
            #[doc = concat!("Of ", $data, ": ", $bounds, ", in ", $unit, ". Beyond: ", $beyond, ".")]
            pub const $name: $type = $most;
        )*)*

        /// All limits, data by data.
        pub const ALL: &[Limit] = &[$($(
            Limit { data: $data, bounds: $bounds, most: $name as u64, unit: $unit, beyond: $beyond },
        )*)*];
    };
}

limits! {
    "mapped files" {
        USER_FILES: usize = 1 << 16, "files", "different files that one user's processes map", "later ones are one module without names";
        MODULE_FILES: usize = 8192, "files", "files open for names and unwinding, or a quarter of RLIMIT_NOFILE, half of them of one user", "unmapped ones are closed, later ones have no names";
    }
    "lists of /proc" {
        MAPS_BYTES: u64 = 32 << 20, "bytes", "the mappings of a process", "stacks end at code that is listed last";
        USER_MAPS_BYTES: u64 = 64 << 20, "bytes", "the mappings of all processes of one ordinary user", "later processes are unknown until they map something, and noted";
        MAPPED_PATH: usize = 4096, "bytes", "the path of a mapping", "it is cut";
        COMMAND_LINE: u64 = 4096, "bytes", "a command line", "it is cut";
        ENVIRONMENT_BYTES: u64 = 2 << 20, "bytes", "the environment of a process", "its switches are unknown";
        NUMA_MAPS_BYTES: u64 = 16 << 20, "bytes", "the pages of a process by NUMA node (numa_maps)", "the memory of mappings listed last is missing, and noted";
        NUMA_RESIDENT: u64 = 16 << 30, "bytes", "resident memory of a process whose pages by NUMA node are read", "they are not, and that is noted";
        NUMA_PROCESSES: usize = 64, "processes", "processes of the target whose pages are read", "the memory of others is missing, and noted";
        COPIED_FILE: u64 = 256 << 20, "bytes", "a mapped file that another process serves (FUSE, a network file system, a mount of a user), copied before it is read", "its code has no names, and stacks end there";
        PROC_BYTES: u64 = 8 << 20, "bytes", "any other file of /proc", "the rest is not read";
    }
    "the process that makes names" {
        NAMES_MEMORY: u64 = 2 << 30, "bytes", "its memory", "the module that it reads has no names";
        NAMES_CPU: u64 = 10, "seconds", "CPU time for one request, after three longer ones 1", "the module that it reads has no names";
        NAMES_SILENCE: u64 = 60, "seconds", "time without a word from it", "the module that it reads has no names";
        NAMES_END: u64 = 10, "seconds", "time for names after the end of a capture, or until it is interrupted", "the other functions have no names, and that is noted";
        FETCHED_NAMES_END: u64 = 120, "seconds", "the same with --debuginfod", "the other functions have no names, and that is noted";
        NAMES_MESSAGE: usize = 256 << 20, "bytes", "one message", "the module that it reads has no names";
    }
    "unwind tables" {
        UNWIND_TABLE: u64 = 64 << 20, "bytes", "one table", "stacks end at that code";
        UNSORTED_UNWIND_TABLE: u64 = 4 << 20, "bytes", "one table that no sorted index belongs to", "stacks end at that code";
        UNWIND_FUNCTION: usize = 64 << 10, "bytes", "the unwind instructions of one function", "stacks end at that function";
        UNWIND_STACK: usize = 256 << 10, "bytes", "the unwind instructions evaluated for one stack", "the stack is cut off";
        UNWIND_TABLES: usize = 512 << 20, "bytes", "all tables in memory", "stacks end at code that is met later";
    }
    "files of profiled programs" {
        FOREIGN_FILE: u64 = 16 << 30, "bytes", "a program, library, debug file or perf map", "the file is not opened";
        FUNCTION_CODE: u64 = 1 << 20, "bytes", "the code of one function, to be shown as instructions", "it ends there";
        OBJECT_HEADERS: u64 = 2 << 20, "bytes", "headers and notes of a mapped file", "it has no build id, and stacks end at its code";
        OBJECT_SYMBOLS: u64 = 512 << 20, "bytes", "symbols of a file to probe or to examine", "an error";
        OBJECT_SECTIONS: u64 = 3 << 29, "bytes", "tables of one file that names are read from", "the module has no names, or fewer";
        OBJECT_NOTES: usize = 1 << 16, "notes", "notes of a file that may hold its build id", "it has no build id";
        DEBUG_DATA: u64 = 64 << 20, "bytes", "compressed symbols that a stripped file carries, decompressed, and their dictionary", "they are not read";
        CHECKED_DEBUG_FILE: u64 = 1 << 30, "bytes", "a debug file that is named by its checksum", "the file is not used";
    }
    "USDT probes" {
        USDT_NOTES: usize = 1 << 16, "notes", "notes of a file that describe probes", "later ones are not found";
        USDT_PLACES: usize = 1024, "places", "places of one probe", "an error";
        USDT_NAME: usize = 256, "bytes", "the name of a probe or of its provider", "it is not found";
    }
    "symbol tables" {
        LINKER_NAME: usize = 16 << 10, "bytes", "one name as the linker writes it", "the name is cut";
        READABLE_NAME: usize = 4096, "bytes", "one demangled name", "the name is cut";
        PROBE_NAMES: usize = 16 << 20, "bytes", "names that are compared with that of a function to probe", "later ones are found only as the linker writes them";
        NAMELESS_SYMBOLS: usize = 1024, "symbols", "symbols without a name before one with a name", "the address has no name";
    }
    "debug information" {
        INFLATED_BYTES: u64 = 1 << 30, "bytes", "decompressed sections of one file", "no lines and inlined functions";
        INFLATED_RATIO: u64 = 64, "times", "growth of a section of more than 16 MiB by decompression", "no lines and inlined functions";
        INLINED_DEPTH: usize = 256, "levels", "inlined calls within each other", "no lines and inlined functions in that unit";
        UNITS_AT_ADDRESS: usize = 64, "units", "compilation units that claim one address", "the first ones are searched";
        SPLIT_UNITS: usize = 4096, "files", "split debug information (.dwo) of one program", "no inlined functions in the other units";
    }
    "perf maps and jitdumps" {
        JIT_MAP_BYTES: u64 = 256 << 20, "bytes", "a perf map", "the rest is not read";
        JIT_LINE: usize = 1 << 20, "bytes", "a line of a perf map", "the map is not read";
        JIT_RECORD: usize = 1 << 20, "bytes", "an incomplete record of a jitdump", "the rest is not read";
        JIT_NAMES: usize = 128 << 20, "bytes", "names of one process's functions, those of a jitdump twice", "later functions have no names";
        JIT_NAMES_IN_ALL: usize = 512 << 20, "bytes", "names of all processes' functions", "the process with the most has none";
        JIT_FUNCTIONS: usize = 1 << 20, "functions", "functions of one process", "later functions have no names";
        JIT_TABLES: usize = 1 << 15, "tables", "unwind tables of one process's functions", "stacks end at later functions";
    }
    "perf.data" {
        PERF_EVENTS: usize = u16::MAX as usize, "events", "events of a file", "further events are left out";
        PERF_UNPACKED_AT_ONCE: usize = 256 << 20, "bytes", "what one compressed record unpacks to", "the rest of the file is not read, and noted";
        PERF_UNPACKED_LEAST: u64 = 256 << 20, "bytes", "what all compressed records may unpack to whatever the file's size", "the next limit holds";
        PERF_UNPACKED_RATIO: u64 = 64, "times the file's size", "what all compressed records unpack to", "the rest of the file is not read, and noted";
        PERF_HELD_BYTES: usize = 256 << 20, "bytes", "records that wait for earlier ones", "the earlier half comes out";
    }
    "recordings" {
        META_BYTES: u64 = 64 << 20, "bytes", "meta.json", "an error";
        PART_BYTES: u64 = 1 << 30, "bytes", "a part file", "the part counts as damaged";
        PART_DECODED_BYTES: u64 = 512 << 20, "bytes", "the decompressed pages of a part", "the part counts as damaged";
        PART_ROWS: usize = 1 << 21, "rows", "a part", "the part counts as damaged";
        PART_COLUMNS: usize = 256, "columns", "a part", "the part counts as damaged";
        ROWS_LEAST: u64 = 4 << 20, "rows", "all parts, whatever their size", "the next limit holds";
        ROWS_PER_BYTE: u64 = 16, "rows a byte", "all parts", "the part counts as damaged";
        TEXT_LEAST: u64 = 256 << 20, "bytes", "the text of all rows, whatever their size on disk", "the next limit holds";
        TEXT_PER_BYTE: u64 = 64, "times their size on disk", "the text of all rows", "the part counts as damaged";
        TEXT_BYTES: usize = 4096, "bytes", "one name, path or label", "it is cut";
        FRAME_NAMES: usize = 4096, "names", "the inlined calls at one address", "the part counts as damaged";
        STAND_INS: u32 = 1 << 20, "definitions", "replacements for lost definitions", "the definitions are refused, and noted";
    }
    "remote sessions" {
        REMOTE_GREETING: usize = 64 << 10, "bytes", "what the login of the host prints before the stream", "an error";
        REMOTE_FRAME: usize = 16 << 20, "bytes", "one message", "the session ends with an error";
        REMOTE_WINDOW: u64 = 256 << 20, "bytes", "the events of one window", "the session ends with an error";
        REMOTE_DEFINITIONS: u64 = 256 << 20, "bytes", "definitions that a session never drops: modules, counters, neighbours", "the session ends with an error";
        REMOTE_BACKLOG: usize = 8 << 20, "bytes", "what waits on the host for a slow link", "samples are dropped, and counted as lost";
        REMOTE_BACKLOG_MOST: usize = 64 << 20, "bytes", "the same without samples", "the session ends with an error";
        REMOTE_SILENCE: u64 = 30, "seconds", "time without a word from the terminal's side", "the host ends the session";
    }
    "baselines" {
        BASELINE_BYTES: u64 = 256 << 20, "bytes", "a baseline", "an error";
        BASELINE_QUANTITIES: usize = 1_000, "quantities", "a baseline", "an error";
        BASELINE_WINDOWS: usize = 200_000, "windows", "a baseline", "an error";
        BASELINE_SOURCES: usize = 100_000, "recordings", "a baseline", "an error";
        BASELINE_STACKS: usize = 200_000, "stacks", "a baseline", "an error";
        BASELINE_FRAMES: usize = 4_096, "frames", "a stack of a baseline", "an error";
    }
    "sweeps and settings" {
        SWEEP_BYTES: u64 = 64 << 20, "bytes", "sweep.json", "an error";
        PMU_TABLE_BYTES: u64 = 64 << 20, "bytes", "a table of events (--pmu-table)", "an error";
        KALLSYMS_BYTES: u64 = 256 << 20, "bytes", "a list of kernel symbols (--kallsyms)", "an error";
        CONFIG_BYTES: u64 = 1 << 20, "bytes", "the configuration file", "an error";
    }
    "operations" {
        OPS_FILE_BYTES: u64 = 64 << 10, "bytes", "the start of a file that holds the total", "the rest is not read";
        OPS_LINE_BYTES: usize = 64 << 10, "bytes", "a line of a command's output", "it is not matched";
        OPS_HEAD_BYTES: usize = 64 << 10, "bytes", "the head of an HTTP response", "an error";
        OPS_PAGE_BYTES: usize = 64 << 20, "bytes", "a page of metrics", "an error";
        OPS_SERIES: usize = 10_000, "series", "the series of one metric", "an error";
    }
    "latencies" {
        LATENCY_OUTPUT_BYTES: usize = 16 << 20, "bytes", "the output of a load generator", "only its end is read, and that is noted";
        LATENCY_FILE_BYTES: u64 = 64 << 20, "bytes", "a file that describes a whole run", "the rest is not read";
        LATENCY_FILES: usize = 1024, "files", "files of one run, by their numbers", "later ones are not read";
        LATENCY_WINDOWS: usize = 100_000, "windows", "the windows of a run in a log without times of day", "later operations count in its first one";
        LATENCY_PAGE_BYTES: u64 = 64 << 20, "bytes", "latencies in a shared page", "an error";
    }
    "requests for the metrics page" {
        HTTP_CONNECTIONS: usize = 256, "connections", "connections at once", "others wait, and silent ones are closed early";
        HTTP_QUEUE: i32 = 4096, "connections", "connections that wait", "a client tries again";
        HTTP_MS: u64 = 2_000, "milliseconds", "one connection", "it is closed";
        HTTP_CROWDED_MS: u64 = 250, "milliseconds", "one connection while all places are taken", "it is closed";
        HTTP_HEAD: usize = 8 << 10, "bytes", "the head of a request", "it is refused";
        HTTP_IGNORED: usize = 64 << 10, "bytes", "what follows a request", "the connection is closed";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_is_described_once() {
        for (at, limit) in ALL.iter().enumerate() {
            assert!(limit.most > 0, "{limit:?}");
            let key = |limit: &Limit| (limit.data, limit.bounds, limit.unit);
            let same = ALL.iter().filter(|other| key(other) == key(limit)).count();
            assert_eq!(same, 1, "{at}: {limit:?}");
        }
    }
}
