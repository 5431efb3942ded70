"""What is known on a machine of two memory nodes: where a program's pages are, because its control group says so."""

# Two CPUs and half of the memory in each node.
SMP = "4,sockets=2,cores=2"
SCRIPT = """
    echo '+cpuset' >/sys/fs/cgroup/cgroup.subtree_control
    # Else the kernel moves pages to the CPUs that use them, between two readings.
    echo 0 >/proc/sys/kernel/numa_balancing
    sums() { awk '
        { page = 4; for (i = 1; i <= NF; i++) if ($i ~ /^kernelpagesize_kB=/) page = substr($i, 19) }
        { for (i = 1; i <= NF; i++) if ($i ~ /^N[0-9]+=/) { split($i, at, "="); kib[at[1]] += at[2] * page } }
        END { printf "[%d, %d]", kib["N0"] * 1024, kib["N1"] * 1024 }' "/proc/$1/numa_maps"; }
    resident() { grep -m1 VmRSS "/proc/$load/status"; }
    place() {
        group=/sys/fs/cgroup/$1; mkdir $group; echo "$2" >$group/cpuset.cpus; echo "$3" >$group/cpuset.mems
        # A file's pages lie where it was written: each case has a program of its own.
        sh -c "echo 0 >$group/cgroup.procs; cp ironlaw own; exec ./own -q workload stream --threads 2 --seconds 600s" & load=$!
        sleep 5; before=; while [ "$before" != "$(resident)" ]; do before=$(resident); sleep 3; done
        ironlaw -q record -p $load -d 6 -F 97 -o $1; sums $load >/share/out/$1-maps.json
        kill $load; wait $load; rm own; report $1.ironlaw $1
    }
"""


def shares(places):
    """By node: bytes, threads, share of the samples."""
    kinds = ("anonymous_bytes", "file_bytes", "huge_bytes")
    nodes = sorted(places["nodes"], key=lambda node: node["node"])
    return [(sum(node[kind]["value"] for kind in kinds), node["threads"], node["cpu_share"]["value"]) for node in nodes]


def numa(checks, guest):
    """Pages, threads and the accesses to expect of a program that is bound to one node, to the other, and to none."""
    cases = {"local": ("0-1", "0"), "remote": ("0-1", "1"), "spread": ("0,2", "0-1")}
    _, found = guest.run(SCRIPT + "\n".join(f"place {name} {cpus} {memory}" for name, (cpus, memory) in cases.items()), smp=SMP)
    for name in cases:
        places, maps = found[name]["places"], found[f"{name}-maps"]
        nodes = shares(places)
        checks.same(f"{name}: bytes of each node, as in /proc/PID/numa_maps", [int(node[0]) for node in nodes], maps)
        expected = sum(cpu * maps[1 - at] / sum(maps) for at, (_, _, cpu) in enumerate(nodes))
        checks.near(f"{name}: accesses expected to leave their node", places["expected_remote"].get("value"), expected, 1e-9,
                    "shares of samples times shares of pages")
        pairs = {(pair["cpu_node"], pair["memory_node"]): pair["share"] for pair in places["expected_pairs"]}
        checks.near(f"{name}: all pairs of nodes", sum(pairs.values()), 1, 1e-9, "rounding")
        checks.near(f"{name}: pairs that leave their node", pairs.get((0, 1), 0) + pairs.get((1, 0), 0), expected, 1e-9, "rounding")
    for name, memory in (("local", 0), ("remote", 1)):
        places = found[name]["places"]
        (_, threads, cpu), (_, others, other) = shares(places)
        checks.same(f"{name}: share of the samples by node", (cpu, other), (1, 0))
        checks.same(f"{name}: threads by node", (threads >= 2, others), (True, 0))
        anonymous = [node["anonymous_bytes"]["value"] for node in places["nodes"]]
        checks.between(f"{name}: anonymous bytes of node {memory}", anonymous[memory], 16 << 20, 256 << 20, "two arrays")
        checks.between(f"{name}: anonymous bytes of the other node", anonymous[1 - memory], 0, 1 << 20, "of before it joined its group")
    remote, local = (found[name]["places"]["expected_remote"]["value"] for name in ("remote", "local"))
    checks.between("remote: accesses expected to leave their node", remote, 0.95, 1, "libraries are where the guest's start put them")
    checks.between("local: accesses expected to leave their node", local, 0, 0.05, "libraries are where the guest's start put them")
    (_, threads, cpu), (_, others, other) = shares(found["spread"]["places"])
    checks.same("spread: threads by node", (threads >= 1, others >= 1), (True, True))
    checks.between("spread: share of the samples on node 1", other, 0.35, 0.65, "a CPU for each of two busy threads")
