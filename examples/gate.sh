#!/bin/sh
# Gates a merge on the CPU time of one operation: exit code 3, and a report for a comment, if the new program is dearer;
# 4 if the recordings cannot decide it.
#
#   examples/gate.sh 'BASE COMMAND' 'NEW COMMAND'
#
# Both commands print how many operations they did (OPS says how to read it). Without commands it gates a built-in
# workload on one that does two fifths more for each operation, and fails:
#
#   examples/gate.sh; echo $?
set -eu

ironlaw=${IRONLAW:-ironlaw}
base=${1:-"$ironlaw workload paced --seconds 5"}
new=${2:-"$ironlaw workload paced-dearer --seconds 5"}
ops=${OPS:-'regex:^ops ([0-9]+)'}
runs=${RUNS:-3}
limit=${LIMIT:-'cpu_ns_per_op > +5%'}
out=${OUT:-$(mktemp -d)}

record() {
    # The commands are split into words on purpose.
    # shellcheck disable=SC2086
    "$ironlaw" -q record --ops "$ops" -o "$out/$1" -- $2 >/dev/null
}

# Base and new take turns, and in turn who begins: what the machine does meanwhile falls on both alike.
bases= news= run=1
while [ "$run" -le "$runs" ]; do
    if [ $((run % 2)) -eq 1 ]; then
        record "base-$run" "$base"
        record "new-$run" "$new"
    else
        record "new-$run" "$new"
        record "base-$run" "$base"
    fi
    bases="$bases,$out/base-$run.ironlaw"
    news="$news,$out/new-$run.ironlaw"
    run=$((run + 1))
done

# More conditions may follow, e.g. --fail-if 'path_length > +1%' where the machine has hardware counters.
"$ironlaw" diff "${bases#,}" "${news#,}" --fail-if "$limit" --format md -o "$out/comment.md" || code=$?
cat "$out/comment.md"
exit "${code:-0}"
