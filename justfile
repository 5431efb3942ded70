# List the recipes.
default:
    @just --list

# Format, lint and test: what to run before a commit.
check: lint test

# Formatting and clippy, warnings as errors.
lint:
    cargo fmt --all --check
    cargo clippy --all-targets --locked -- -D warnings

# Every test, and what was skipped for lack of what.
test *ARGS:
    #!/usr/bin/env bash
    export IRONLAW_SKIPS=$(mktemp)
    cargo test --locked {{ARGS}}
    code=$?
    sort -u "$IRONLAW_SKIPS" | sed 's/^/skipped: /'
    rm -f "$IRONLAW_SKIPS"
    exit $code

# Every test, and a kernel test that cannot run is a failure (as root, tracefs mounted).
test-kernel *ARGS:
    IRONLAW_REQUIRE=perf,tracefs cargo test --locked {{ARGS}}

# Runs the tests that measure real programs RUNS times on a busy machine (stress-ng) and prints which failed how often; with TESTS, those alone, by parts of their names.
flaky RUNS *TESTS:
    tests/flaky.py {{RUNS}} {{TESTS}}

# What ironlaw costs beside perf, samply and inferno, and how its costs grow (20 minutes on a quiet machine; --quick, --only ROW,..., --write).
bench *ARGS:
    cargo build --release --locked --example synthesize
    cargo build --release --locked
    tests/benches/performance.py target/release/ironlaw {{ARGS}}

# Whether programs that repeat themselves at the sampling frequency have their true shares: how often the stated interval holds them, by
# frequency and cycle, of the command and of all CPUs (RUNS recordings of SECONDS each; root).
lockstep RUNS='4' SECONDS='3':
    cargo build --release --locked
    tests/lockstep.py target/release/ironlaw {{RUNS}} {{SECONDS}}

# What recording costs a program that switches some 50,000 times a second, beside what ironlaw states (15 rounds of half a minute on a quiet machine, root).
own-cost *ARGS:
    cargo build --release --locked
    tests/own_cost.py target/release/ironlaw {{ARGS}}

# Hot paths alone: reading and writing a recording, drawing a frame of the session (clippy in CI compiles them).
bench-paths *ARGS:
    cargo bench --locked {{ARGS}}

# Whether perf and ironlaw see the same functions of a running process in the same seconds.
bench-agreement PID *ARGS:
    cargo build --release --locked
    tests/benches/against_perf.py target/release/ironlaw {{PID}} {{ARGS}}

# What ironlaw measures in emulated machines whose counts are known: arm64, amd64 (QEMU, Debian packages; see tests/vm/test).
vm-test *ARGS:
    tests/vm/test {{ARGS}}

# Sweeps every workload whose diagnosis is known and prints which findings each gets (some minutes, on a quiet machine).
known-answers *ARGS:
    cargo build --release --locked
    tests/known_answers.py target/release/ironlaw {{ARGS}}

# Gives programs whose trouble is known to ironlaw and prints whether its first finding names the cause (root; a quiet machine).
situations *ARGS:
    cargo build --release --locked
    tests/situations.py target/release/ironlaw {{ARGS}}

# Fuzzes every reader of data that others write, SECONDS each (needs cargo-fuzz: cargo install cargo-fuzz; --address: with the address sanitizer).
fuzz SECONDS *TARGETS:
    tests/fuzz/run {{SECONDS}} {{TARGETS}}

# Measures how often what ironlaw says is right beside what it claims (hours on a quiet machine; --quick: some ten minutes, --write: the table of assets/calibration.md).
calibrate *ARGS:
    cargo build --release --locked
    tests/calibrate.py target/release/ironlaw {{ARGS}}

# Plants interference of known kinds beside a watched victim and prints what was told (some 20 minutes, root, a quiet machine).
interference *ARGS:
    cargo build --release --locked
    tests/interference.py target/release/ironlaw {{ARGS}}

# Causes the faults that take too long or too many rights for the tests (assets/guide/faults.md; some 25 minutes, root).
faults *ARGS:
    cargo build --release --locked
    tests/faults.py target/release/ironlaw {{ARGS}}

# Renews what DuckDB answers to the corpus of SQL (tests/fixtures/sql), which the engine's tests compare with; --fixture writes its tables anew first (needs python3 -m pip install duckdb).
sql *ARGS:
    {{ if ARGS == "--fixture" { "cargo test --locked --lib -- --ignored session::fleet::sql_fixture::write" } else { "true" } }}
    tests/sql_answers.py
    git diff --stat -- tests/fixtures/sql

# Whether the queries of assets/sql say what the report says (needs python3 -m pip install duckdb polars).
sql-reports *ARGS:
    cargo build --locked
    tests/benches/sql.py target/debug/ironlaw {{ARGS}}

# A day of a data set in fast motion: the bytes, files and time that the minutes of a recording take (minutes long; of a busy host).
dataset-day RECORDING:
    IRONLAW_RECORDING={{absolute_path(RECORDING)}} cargo test --release --locked --lib -- --ignored --nocapture a_day_of_a_recorded_host

# The SQL engine as it ships, and what asks it: clippy, the corpus of SQL, `ironlaw query` and `ironlaw fleet`.
fleet-test *ARGS:
    cargo clippy --release --all-targets --locked -p ironlaw-fleet -- -D warnings
    cargo build --release --locked -p ironlaw-fleet
    cargo test --release --locked -p ironlaw-fleet {{ARGS}}
    IRONLAW_REQUIRE=engine cargo test --locked --test it -- query:: dataset:: {{ARGS}}

# Whether polars, Spark and DuckDB answer the fleet's queries alike (needs Java; python3 -m pip install duckdb pyspark).
fleet-engines *ARGS:
    cargo build --release --locked
    cargo build --release --locked -p ironlaw-fleet
    tests/fleet_engines.py target/release/ironlaw {{ARGS}}

# Whether speedscope and Go's pprof show what `ironlaw export` writes (needs npm, Chromium and Go; what is missing is skipped).
open-exports:
    cargo build --release --locked
    tests/viewers.py target/release/ironlaw

# Whether imported perf.data files hold what `perf report` sees in them (--names for files recorded on this machine).
bench-import FOLDER *ARGS:
    cargo build --release --locked --bins --example count_samples
    tests/benches/import.py target/release/ironlaw target/release/examples/count_samples {{FOLDER}} {{ARGS}}

# What perf counts in the perf.data files of the tests.
import-counts:
    tests/benches/import.py --counts tests/fixtures/perfdata > tests/fixtures/perfdata/counts.tsv

# Take over changed golden files after reading the diff.
accept:
    INSTA_UPDATE=always cargo test --locked
    git diff --stat -- tests/golden

# Take the pictures of the README anew, from real terminal sessions (needs tmux).
pictures:
    cargo build --release --locked
    tests/pictures.py target/release/ironlaw assets/pictures

# What CI runs.
ci:
    .ci/run

# Check with the oldest Rust the manifest promises (rustup installs it).
msrv:
    #!/usr/bin/env bash
    set -euo pipefail
    oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    cargo "+$oldest" check --all-targets --locked --target-dir target/msrv

# Check for 64-bit Arm (needs the rustup target and aarch64-linux-gnu-gcc).
arm:
    cargo check --locked --target aarch64-unknown-linux-gnu

# One program without libraries, for any Linux of this architecture, in target/static: with Rust's musl target where it is installed (and musl-tools), else static against glibc.
static:
    #!/usr/bin/env bash
    set -euo pipefail
    musl=$(uname -m)-unknown-linux-musl
    if [ -d "$(rustc --print target-libdir --target "$musl")" ]; then
        target=$musl
    else
        target=$(uname -m)-unknown-linux-gnu
        export RUSTFLAGS="-C target-feature=+crt-static"
    fi
    cargo build --profile dist --locked --target "$target"
    # Apart: together they would be built with each other's features.
    cargo build --profile dist --locked --target "$target" -p ironlaw-fleet
    mkdir -p target/static
    cp "target/$target/dist/ironlaw" "target/$target/dist/ironlaw-fleet" target/static/
    ldd target/static/ironlaw 2>&1 | grep -E "statically linked|not a dynamic executable"

# The Debian package, with manual pages, completions, units and the guide (needs cargo-deb: cargo install cargo-deb).
deb:
    cargo build --profile dist --locked
    cargo build --profile dist --locked -p ironlaw-fleet
    rm -rf target/deb
    mkdir -p target/deb/man target/deb/completions
    target/dist/ironlaw man > target/deb/man/ironlaw.1
    for command in $(target/dist/ironlaw --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' | grep -vx help); do \
        target/dist/ironlaw man $command > target/deb/man/ironlaw-$command.1; done
    target/dist/ironlaw completions bash > target/deb/completions/ironlaw
    target/dist/ironlaw completions zsh > target/deb/completions/_ironlaw
    target/dist/ironlaw completions fish > target/deb/completions/ironlaw.fish
    cargo deb --no-build --no-strip --profile dist

# Runs the README and the guide on what is shipped: `cargo install`, the Debian package and the static program (an hour on 2 CPUs).
shipped:
    tests/shipped

# Profile the built-in program and print the report.
demo *ARGS:
    cargo run --release --locked -- demo {{ARGS}}

# Size of the release program, and what of it is code and symbols.
size:
    cargo build --release --locked
    size -A target/release/ironlaw | awk 'NR <= 2 || $2 > 100000'

# Licences, sources, doubled versions and known advisories of all dependencies, with cargo-deny (see .ci/deny.toml).
deny:
    .ci/deny

# The direct dependencies; no HTTP stack may be below them.
deps:
    cargo tree --locked --edges normal --depth 1
    ! cargo tree --locked -p ironlaw -i reqwest 2>/dev/null
