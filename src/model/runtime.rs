//! Runtimes whose own functions hide those of the programs that they run, and the switches that make them write names.

/// A runtime.
#[derive(Debug, PartialEq, Eq)]
pub struct Runtime {
    /// As its users call it.
    pub name: &'static str,
    /// How the names of its programs and libraries begin.
    files: &'static [&'static str],
    /// Its functions that interpret: all code of the program that is not compiled runs below one of them.
    pub interpreters: &'static [&'static str],
    /// What gives just-in-time code names, if it makes such code.
    pub names_compiled: Option<&'static str>,
    interpreted: Option<Interpreted>,
}

/// What gives interpreted functions names.
#[derive(Debug, PartialEq, Eq)]
struct Interpreted {
    switch: &'static str,
    /// The first version that has it.
    since: (u32, u32),
}

const RUNTIMES: [Runtime; 9] = [
    Runtime {
        name: "Node",
        files: &["node", "libnode"],
        interpreters: &[],
        names_compiled: Some("Node: start it with --perf-basic-prof."),
        interpreted: None,
    },
    Runtime {
        name: "Java",
        files: &["libjvm.so"],
        interpreters: &[],
        names_compiled: Some(
            "Java: start it with -XX:+PreserveFramePointer and, while recording, run: jcmd PID Compiler.perfmap.",
        ),
        interpreted: None,
    },
    Runtime {
        name: "Python",
        files: &["python", "libpython"],
        interpreters: &["_PyEval_EvalFrameDefault", "PyEval_EvalFrameEx"],
        names_compiled: None,
        interpreted: Some(Interpreted {
            switch: "start it with `python -X perf`, or with PYTHONPERFSUPPORT=1 in its environment",
            since: (3, 12),
        }),
    },
    Runtime {
        name: "Ruby",
        files: &["ruby", "libruby"],
        interpreters: &["rb_vm_exec", "vm_exec", "vm_exec_core"],
        names_compiled: Some("Ruby: start it with --yjit-perf, from 3.3 on."),
        interpreted: Some(Interpreted {
            switch: "start it with `ruby --yjit --yjit-perf`, which names the functions that YJIT compiles",
            since: (3, 3),
        }),
    },
    Runtime {
        name: "PHP",
        files: &["php", "libphp"],
        interpreters: &["execute_ex"],
        names_compiled: Some("PHP: start it with -d opcache.jit_debug=0x10."),
        interpreted: Some(Interpreted {
            switch: "let its JIT compile them: `php -d opcache.enable_cli=1 -d opcache.jit_buffer_size=64M -d \
                     opcache.jit=tracing -d opcache.jit_debug=0x10`",
            since: (8, 0),
        }),
    },
    Runtime {
        name: "Erlang",
        files: &["beam"],
        interpreters: &[],
        names_compiled: Some("Erlang: start it with +JPperf true."),
        interpreted: None,
    },
    Runtime {
        name: ".NET",
        files: &["libcoreclr.so"],
        interpreters: &[],
        names_compiled: Some(".NET: start it with DOTNET_PerfMapEnabled=1 in its environment."),
        interpreted: None,
    },
    Runtime {
        name: "Mono",
        files: &["mono", "libmono"],
        interpreters: &[],
        names_compiled: Some("Mono: start it with --jitmap."),
        interpreted: None,
    },
    Runtime {
        name: "LuaJIT",
        files: &["luajit", "libluajit"],
        interpreters: &[],
        names_compiled: Some("LuaJIT writes no names for profilers: `luajit -jp` is its own profiler."),
        interpreted: None,
    },
];

impl Runtime {
    /// The runtime that a program or library belongs to.
    #[must_use]
    pub fn of_file(path: &str) -> Option<&'static Runtime> {
        let name = file_name(path);
        RUNTIMES.iter().find(|runtime| runtime.files.iter().any(|start| follows(name, start).is_some()))
    }

    /// What gives its interpreted functions names, for the version that a file's name states.
    #[must_use]
    pub fn names_interpreted(&self, path: &str) -> Option<String> {
        let Interpreted { switch, since } = self.interpreted.as_ref()?;
        let named = format!("{}.{}", since.0, since.1);
        Some(match self.version(path) {
            Some(version) if version >= *since => format!("To see them, {switch}."),
            Some((major, minor)) => {
                format!("{} {major}.{minor} cannot name them. From {named} on: {switch}.", self.name)
            }
            None => format!("From {} {named} on: {switch}.", self.name),
        })
    }

    /// The version in the name of one of its files: `libpython3.13.so.1.0`, `python3.11`, `libruby-3.1.so.3.1.2`, `php8.2`.
    fn version(&self, path: &str) -> Option<(u32, u32)> {
        let name = file_name(path);
        let rest = self.files.iter().find_map(|start| follows(name, start))?;
        let mut numbers = rest.trim_start_matches('-').split('.');
        let minor =
            |text: &str| text.split(|c: char| !c.is_ascii_digit()).next().and_then(|digits| digits.parse().ok());
        Some((numbers.next()?.parse().ok()?, minor(numbers.next()?)?))
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// What follows the start of a file's name: nothing, or what cannot be the rest of another word.
fn follows<'a>(name: &'a str, start: &str) -> Option<&'a str> {
    name.strip_prefix(start).filter(|rest| !rest.starts_with(|next: char| next.is_alphabetic() || next == '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runtime_is_known_by_the_names_of_its_files_and_by_no_others() {
        for (path, expected) in [
            ("/usr/bin/python3.11", Some("Python")),
            ("/opt/lib/libpython3.13.so.1.0", Some("Python")),
            ("/usr/bin/node", Some("Node")),
            ("/usr/lib/jvm/java-17/lib/server/libjvm.so", Some("Java")),
            ("libruby-3.1.so.3.1.2", Some("Ruby")),
            ("/usr/bin/php8.2", Some("PHP")),
            ("/usr/lib/erlang/erts-13.1.5/bin/beam.smp", Some("Erlang")),
            ("/usr/bin/mono-sgen", Some("Mono")),
            ("/usr/bin/luajit-2.1.0-beta3", Some("LuaJIT")),
            ("/usr/share/dotnet/shared/libcoreclr.so", Some(".NET")),
            ("/usr/bin/node_exporter", None),
            ("/usr/bin/monogram", None),
            ("/home/python/server", None),
            ("", None),
        ] {
            assert_eq!(Runtime::of_file(path).map(|runtime| runtime.name), expected, "{path}");
        }
    }

    #[test]
    fn what_to_do_depends_on_the_version_in_the_name() {
        let fix = |path: &str| Runtime::of_file(path).and_then(|runtime| runtime.names_interpreted(path));
        let start = |path| fix(path).unwrap_or_default().split(": ").next().unwrap_or_default().to_string();
        for (path, expected) in [
            (
                "libpython3.12.so.1.0",
                "To see them, start it with `python -X perf`, or with PYTHONPERFSUPPORT=1 in its environment.",
            ),
            (
                "python4.0",
                "To see them, start it with `python -X perf`, or with PYTHONPERFSUPPORT=1 in its environment.",
            ),
            ("python3.11", "Python 3.11 cannot name them. From 3.12 on"),
            ("python2.7", "Python 2.7 cannot name them. From 3.12 on"),
            ("libruby-3.1.so.3.1.2", "Ruby 3.1 cannot name them. From 3.3 on"),
            ("python3", "From Python 3.12 on"),
            ("libruby.so", "From Ruby 3.3 on"),
            ("php8.2", "To see them, let its JIT compile them"),
        ] {
            assert_eq!(start(path), expected, "{path}");
        }
        assert_eq!(fix("/usr/bin/node"), None);
    }
}
